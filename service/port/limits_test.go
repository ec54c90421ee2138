package port_test

import (
	"context"
	"crypto/rand"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/port"
)

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestSlowAndBrokenClientsHarmNobody has clients that never get to a request
// beside others, and ends them.
func TestSlowAndBrokenClientsHarmNobody(t *testing.T) {
	r := serve(t, func(c *port.Config) { c.Limits.HeaderTimeout = 2 * time.Second })
	var slow []net.Conn
	for _, begins := range []string{"", "P", "PRI * HTTP/2.0\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00", "POST /v1/echo HTTP/1.1\r\nHost: a"} {
		for range 20 {
			c := dial(t, r.addr)
			io.WriteString(c, begins)
			slow = append(slow, c)
		}
	}
	for range 20 {
		c := dial(t, r.addr)
		garbage := make([]byte, 4096)
		rand.Read(garbage)
		c.Write(garbage)
		slow = append(slow, c)
	}
	wantAnswered(t, clients(t, r.addr, nil))
	for _, c := range slow {
		c.SetReadDeadline(time.Now().Add(patience))
		if _, err := io.Copy(io.Discard, c); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Fatal("a client that sends no request is not given up")
		}
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	r := serve(t, func(c *port.Config) { c.Conns = 1 })
	first := dial(t, r.addr)
	io.WriteString(first, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
	if n, err := first.Read(make([]byte, 1)); n != 1 {
		t.Fatal(err)
	}
	second := dial(t, r.addr) // as far as the kernel is concerned
	io.WriteString(second, "GET /healthz HTTP/1.0\r\n\r\n")
	second.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, _ := second.Read(make([]byte, 1)); n != 0 {
		t.Error("two connections are served, want one")
	}
	_ = first.Close()
	second.SetReadDeadline(time.Now().Add(patience))
	if n, err := second.Read(make([]byte, 1)); n != 1 {
		t.Errorf("the second connection is not served after the first: %v", err)
	}
}

func TestLongHeadersAreRefused(t *testing.T) {
	r := serve(t, func(c *port.Config) { c.Limits.HeaderBytes = 8 << 10 })
	long := strings.Repeat("x", 20<<10)
	for _, version := range []string{"1.1", "2"} {
		req, err := http.NewRequest(http.MethodGet, "http://"+r.addr+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Long", long)
		res, err := transport(t, version, nil).Do(req)
		if err != nil {
			continue // net/http's client of HTTP/2 knows the limit
		}
		res.Body.Close()
		if res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("over %s: status %d, want 431", version, res.StatusCode)
		}
	}
	ctx := metadata.AppendToOutgoingContext(patient(t), "x-long", long)
	if _, err := byGRPC(t, r.addr, nil).echo(ctx, "x"); err == nil {
		t.Error("gRPC takes a header longer than the limit")
	}
	wantAnswered(t, clients(t, r.addr, nil))
}

// TestLongMessagesAreRefused in each protocol's own words.
func TestLongMessagesAreRefused(t *testing.T) {
	const limit = 1 << 20
	r := serve(t, func(c *port.Config) {
		for i := range c.Stacks {
			c.Stacks[i].Options.MaxMessage = limit
		}
	})
	short, long := strings.Repeat("x", limit/2), strings.Repeat("x", 2*limit)
	for _, c := range clients(t, r.addr, nil) {
		if _, err := c.echo(patient(t), short); err != nil {
			t.Errorf("%s: a message below the limit gives %v", c.name, err)
		}
		_, err := c.echo(patient(t), long)
		switch {
		case err == nil:
			t.Errorf("%s: a message beyond the limit is taken", c.name)
		case status.Code(err) == codes.ResourceExhausted, connect.CodeOf(err) == connect.CodeResourceExhausted, strings.Contains(err.Error(), "413"):
		default:
			t.Errorf("%s: a message beyond the limit gives %v, want RESOURCE_EXHAUSTED or 413", c.name, err)
		}
	}
}

func TestCallersOfUnknownContentTypesAreToldTheRightOnes(t *testing.T) {
	r := serve(t)
	const path = "/tare.conformance.v1.ConformanceService/Echo"
	res, err := transport(t, "2", nil).Post("http://"+r.addr+path, "application/grpc+cbor", strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusUnsupportedMediaType || !strings.Contains(res.Header.Get("Accept-Post"), "application/connect+proto") {
		t.Errorf("status %d, Accept-Post %q", res.StatusCode, res.Header.Get("Accept-Post"))
	}
	for _, media := range []string{"application/json; charset=utf-8", "Application/JSON"} {
		res, err := transport(t, "1.1", nil).Post("http://"+r.addr+path, media, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("content type %s gives status %d", media, res.StatusCode)
		}
	}
}

func TestPagesOfOtherOriginsMayNotCallUnlessTheyAreNamed(t *testing.T) {
	preflight := func(addr, origin string) http.Header {
		req, err := http.NewRequest(http.MethodOptions, "http://"+addr+"/tare.conformance.v1.ConformanceService/Echo", nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Origin": origin, "Access-Control-Request-Method": "POST",
			"Access-Control-Request-Headers": "connect-protocol-version,content-type,x-grpc-web,x-mine",
		} {
			req.Header.Set(name, value)
		}
		res, err := transport(t, "1.1", nil).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.Header
	}
	none := serve(t)
	if h := preflight(none.addr, "https://shop.example"); h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a port without origins allows %v", h)
	}
	r := serve(t, func(c *port.Config) { c.Origins = []string{"https://shop.example"} })
	if h := preflight(r.addr, "https://evil.example"); h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("another origin is allowed %v", h)
	}
	h := preflight(r.addr, "https://shop.example")
	if h.Get("Access-Control-Allow-Origin") != "https://shop.example" || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "x-grpc-web") {
		t.Errorf("the origin is answered %v", h)
	}
	req, _ := http.NewRequest(http.MethodPost, "http://"+r.addr+"/v1/echo", strings.NewReader("{}"))
	req.Header.Set("Origin", "https://shop.example")
	res, err := transport(t, "1.1", nil).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if got := res.Header.Get("Access-Control-Expose-Headers"); !strings.Contains(strings.ToLower(got), "grpc-status") {
		t.Errorf("a page sees the headers %q", got)
	}
}

func TestExtraHandlersStandBesideCalls(t *testing.T) {
	said := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) })
	}
	r := serve(t, func(c *port.Config) {
		c.Extra = map[string]http.Handler{"GET /metrics": said("metrics"), "/admin/": said("admin")}
	})
	for path, want := range map[string]string{"/metrics": "metrics", "/admin/x": "admin"} {
		if _, got := get(t, transport(t, "1.1", nil), "http://"+r.addr+path); got != want {
			t.Errorf("%s answers %q, want %q", path, got, want)
		}
	}
	wantAnswered(t, clients(t, r.addr, nil))
	for _, pattern := range []string{"GET /healthz", "not a pattern", "/{a}/{a}"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		c := config(t, endless)
		c.Extra = map[string]http.Handler{pattern: said("")}
		if err := port.Serve(patient(t), l, c); err == nil || !strings.Contains(err.Error(), pattern) {
			t.Errorf("pattern %q gives %v, want an error that names it", pattern, err)
		}
		if _, err := l.Accept(); err == nil {
			t.Error("the listener is open after an error")
		}
	}
}

// TestAHandlerThatPanicsEndsItsCallAlone where gRPC's own server would end the
// process.
func TestAHandlerThatPanicsEndsItsCallAlone(t *testing.T) {
	r := serve(t, func(c *port.Config) {
		c.Handler = rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error { panic("secret") })
	})
	for _, c := range clients(t, r.addr, nil) {
		_, err := c.echo(patient(t), "x")
		if status.Code(err) != codes.Internal && connect.CodeOf(err) != connect.CodeInternal && (err == nil || !strings.Contains(err.Error(), "500")) {
			t.Errorf("%s: a panic gives %v", c.name, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the caller is told of the panic: %v", c.name, err)
		}
	}
	if !strings.Contains(r.log.String(), "secret") || !strings.Contains(r.log.String(), "limits_test.go") {
		t.Errorf("the log does not say where it panicked: %s", r.log)
	}
}
