package port_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	conformancev1 "github.com/tare-bench/tare/gen/tare/conformance/v1"
	"github.com/tare-bench/tare/gen/tare/conformance/v1/conformancev1connect"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/port"
)

// client makes one call of Echo, as the library that it stands for has it, and
// gives the text that came back.
type client struct {
	name string
	echo func(ctx context.Context, text string) (string, error)
}

// transport gives net/http's client of one version of HTTP.
func transport(t *testing.T, version string, secure *tls.Config) *http.Client {
	p := new(http.Protocols)
	switch {
	case version == "1.1":
		p.SetHTTP1(true)
	case secure != nil:
		p.SetHTTP2(true)
	default:
		p.SetUnencryptedHTTP2(true)
	}
	tr := &http.Transport{Protocols: p, TLSClientConfig: secure.Clone()}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func channel(t *testing.T, addr string, secure *tls.Config) *grpc.ClientConn {
	t.Helper()
	creds := insecure.NewCredentials()
	if secure != nil {
		creds = credentials.NewTLS(secure)
	}
	cc, err := grpc.NewClient(addr, grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cc.Close() })
	return cc
}

func byGRPC(t *testing.T, addr string, secure *tls.Config) client {
	c := conformancev1.NewConformanceServiceClient(channel(t, addr, secure))
	return client{"grpc-go", func(ctx context.Context, text string) (string, error) {
		out, err := c.Echo(ctx, &conformancev1.EchoRequest{Item: &conformancev1.Item{Text: text}})
		return out.GetItem().GetText(), err
	}}
}

func byConnect(name string, h *http.Client, url string, o ...connect.ClientOption) client {
	c := conformancev1connect.NewConformanceServiceClient(h, url, o...)
	return client{name, func(ctx context.Context, text string) (string, error) {
		out, err := c.Echo(ctx, connect.NewRequest(&conformancev1.EchoRequest{Item: &conformancev1.Item{Text: text}}))
		if err != nil {
			return "", err
		}
		return out.Msg.GetItem().GetText(), nil
	}}
}

func byREST(name string, h *http.Client, url string) client {
	return client{name, func(ctx context.Context, text string) (string, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/echo", strings.NewReader(fmt.Sprintf(`{"item":{"text":%q,"ratio":0}}`, text)))
		if err != nil {
			return "", err
		}
		r.Header.Set("Content-Type", "application/json")
		res, err := h.Do(r)
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			return "", errors.Join(err, errors.New(res.Status))
		}
		return textOf(body)
	}}
}

func textOf(reply []byte) (string, error) {
	var out conformance.EchoResponse
	if err := json.Unmarshal(reply, &out); err != nil {
		return "", err
	}
	return out.Item.Text, nil
}

// byHand speaks HTTP/1.0 without a library and without a content type, a
// connection for each call.
func byHand(addr string) client {
	return client{"HTTP/1.0 by hand", func(ctx context.Context, text string) (string, error) {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if err != nil {
			return "", err
		}
		defer c.Close()
		body := fmt.Sprintf(`{"item":{"text":%q,"ratio":0}}`, text)
		fmt.Fprintf(c, "POST /v1/echo HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		answer, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.0 200 OK\r\n") {
			return "", errors.Join(err, fmt.Errorf("answer is %q", answer))
		}
		_, reply, _ := strings.Cut(string(answer), "\r\n\r\n")
		return textOf([]byte(reply))
	}}
}

// clients are those of every protocol and version of HTTP.
func clients(t *testing.T, addr string, secure *tls.Config) []client {
	url := "http://" + addr
	if secure != nil {
		url = "https://" + addr
	}
	all := []client{byGRPC(t, addr, secure)}
	if secure == nil {
		all = append(all, byHand(addr))
	}
	for _, version := range []string{"1.1", "2"} {
		h := transport(t, version, secure)
		all = append(all,
			byREST("REST over "+version, h, url),
			byConnect("Connect over "+version, h, url),
			byConnect("Connect with JSON over "+version, h, url, connect.WithProtoJSON()),
			byConnect("gRPC-Web over "+version, h, url, connect.WithGRPCWeb()),
			byConnect("gRPC-Web with JSON over "+version, h, url, connect.WithGRPCWeb(), connect.WithProtoJSON()))
	}
	// gRPC on a connection that began with another protocol, as a proxy might
	// have it, and on one that began with gRPC.
	among, alone := transport(t, "2", secure), transport(t, "2", secure)
	if res, err := among.Get(url + "/healthz"); err == nil { // else the calls say it
		_ = res.Body.Close()
	}
	all = append(all, byConnect("gRPC among others", among, url, connect.WithGRPC()),
		byConnect("Connect among others", among, url),
		byConnect("gRPC of connect-go", alone, url, connect.WithGRPC(), unknownAgent))
	return all
}

// wantAnswered has all clients call at the same time.
func wantAnswered(t *testing.T, all []client) {
	t.Helper()
	const each = 20
	ctx := patient(t)
	var calling sync.WaitGroup
	for _, c := range all {
		calling.Go(func() {
			for i := range each {
				want := fmt.Sprintf("%s %d", c.name, i)
				if got, err := c.echo(ctx, want); err != nil || got != want {
					t.Errorf("%s: got %q, %v, want %q", c.name, got, err, want)
					return
				}
			}
		})
	}
	calling.Wait()
}

func TestEveryClientIsAnsweredOnOnePort(t *testing.T) {
	wantAnswered(t, clients(t, serve(t).addr, nil))
}

// TestGRPCIsAnsweredByItsOwnServer counts what came by net/http's server, where gRPC
// costs several times as much.
func TestGRPCIsAnsweredByItsOwnServer(t *testing.T) {
	var byNetHTTP atomic.Int64
	r := serve(t, func(c *port.Config) {
		for i, s := range c.Stacks {
			c.Stacks[i].Protocol = counting{s.Protocol, &byNetHTTP}
		}
	})
	wantAnswered(t, []client{byGRPC(t, r.addr, nil)})
	if n := byNetHTTP.Load(); n != 0 {
		t.Errorf("%d calls of gRPC came by net/http, want none", n)
	}
	h := transport(t, "2", nil)
	wantAnswered(t, []client{byConnect("Connect", h, "http://"+r.addr)})
	wantAnswered(t, []client{byConnect("gRPC", h, "http://"+r.addr, connect.WithGRPC())})
	if n := byNetHTTP.Load(); n == 0 {
		t.Error("gRPC on a connection of Connect came by another way than net/http")
	}
}

// TestAConnectionOfGRPCCarriesNothingElseUnlessMixed says what the port cannot
// do, and what it can if it is told so, or knows the client.
func TestAConnectionOfGRPCCarriesNothingElseUnlessMixed(t *testing.T) {
	for _, test := range []struct{ mixed, known, taken bool }{{false, false, false}, {true, false, true}, {false, true, true}} {
		r := serve(t, func(c *port.Config) { c.Mixed = test.mixed })
		h := transport(t, "2", nil)
		o := []connect.ClientOption{connect.WithGRPC()}
		if !test.known {
			o = append(o, unknownAgent)
		}
		if _, err := byConnect("", h, "http://"+r.addr, o...).echo(patient(t), ""); err != nil {
			t.Fatal(err)
		}
		if _, err := byConnect("", h, "http://"+r.addr).echo(patient(t), ""); test.taken != (err == nil) {
			t.Errorf("%+v: Connect on a connection of gRPC gives %v", test, err)
		}
	}
}

// unknownAgent has a client of connect not say what it is.
var unknownAgent = connect.WithInterceptors(connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		r.Header().Set("User-Agent", "someone")
		return next(ctx, r)
	}
}))

// counting counts the requests to any path that net/http's server hands to a
// protocol with a server of its own.
type counting struct {
	protocol.Mounter
	n *atomic.Int64
}

func (c counting) Mount(svcs []*rpc.Service, h rpc.Handler, o protocol.Options, l protocol.Limits) (protocol.Mount, error) {
	m, err := c.Mounter.Mount(svcs, h, o, l)
	if m.Native != nil {
		answer := m.Any
		m.Any = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c.n.Add(1)
			answer.ServeHTTP(w, r)
		})
	}
	return m, err
}
