package port_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/net/http2"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	conformancev1 "github.com/tare-bench/tare/gen/tare/conformance/v1"
	"github.com/tare-bench/tare/gen/tare/conformance/v1/conformancev1connect"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/port"
)

// held answers each call of Echo once it is let go, and says that it has come.
type held struct{ came, letGo chan struct{} }

func newHeld() held { return held{make(chan struct{}, 100), make(chan struct{})} }

func (h held) Handle(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
	h.came <- struct{}{}
	select {
	case <-h.letGo:
	case <-ctx.Done():
		return ctx.Err()
	}
	return conformance.Handler{}.Handle(ctx, m, s)
}

func TestCallsInFlightFinish(t *testing.T) {
	h := newHeld()
	r := serve(t, func(c *port.Config) { c.Handler = h })
	w, err := healthv1.NewHealthClient(channel(t, r.addr, nil)).Watch(patient(t), &healthv1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := w.Recv(); err != nil || got.GetStatus() != serving {
		t.Fatalf("health is %v, %v", got, err)
	}
	all := clients(t, r.addr, nil)
	answered := make(chan error, len(all))
	for _, c := range all {
		go func() {
			_, err := c.echo(patient(t), "late")
			answered <- err
		}()
	}
	for range all {
		await(t, h.came, "a call to come")
	}
	r.end()
	if got, err := w.Recv(); err != nil || got.GetStatus() != notServing {
		t.Errorf("health says %v, %v at the end, want NOT_SERVING", got, err)
	}
	if _, err := w.Recv(); err == nil {
		t.Error("the watch goes on")
	}
	eventually(t, "connections are refused", func() bool {
		c, err := net.Dial("tcp", r.addr)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	close(h.letGo)
	for range all {
		if err := await(t, answered, "an answer"); err != nil {
			t.Errorf("a call in flight gives %v", err)
		}
	}
	if err := r.ended(t); err != nil {
		t.Errorf("Serve returned %v", err)
	}
}

// endless answers Expand without end, as long as its context lives.
var endless = rpc.HandlerFunc(func(ctx context.Context, _ *rpc.Method, s rpc.Stream) error {
	if err := s.Send(&conformance.ExpandResponse{}); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
})

func TestEndlessStreamsEndAtTheBeginningOfTheGrace(t *testing.T) {
	r := serve(t, func(c *port.Config) { c.Handler = endless })
	native, err := conformancev1.NewConformanceServiceClient(channel(t, r.addr, nil)).Expand(patient(t), &conformancev1.ExpandRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := native.Recv(); err != nil {
		t.Fatal(err)
	}
	web := map[string]*connect.ServerStreamForClient[conformancev1.ExpandResponse]{}
	for _, version := range []string{"1.1", "2"} {
		for name, o := range map[string]connect.ClientOption{"Connect": connect.WithClientOptions(), "gRPC-Web": connect.WithGRPCWeb(), "gRPC": connect.WithGRPC()} {
			if name == "gRPC" && version == "1.1" {
				continue
			}
			c := conformancev1connect.NewConformanceServiceClient(transport(t, version, nil), "http://"+r.addr, o)
			s, err := c.Expand(patient(t), connect.NewRequest(&conformancev1.ExpandRequest{}))
			if err != nil || !s.Receive() {
				t.Fatal(name, err)
			}
			web[name+" over "+version] = s
		}
	}
	r.end()
	if _, err := native.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("gRPC's stream ends with %v, want UNAVAILABLE", err)
	}
	for name, s := range web {
		if s.Receive() || connect.CodeOf(s.Err()) != connect.CodeUnavailable {
			t.Errorf("%s: the stream ends with %v, want UNAVAILABLE", name, s.Err())
		}
	}
	if err := r.ended(t); err != nil {
		t.Errorf("Serve returned %v", err)
	}
}

func TestCallsThatDoNotFinishAreCut(t *testing.T) {
	ended := make(chan error, 100)
	r := serve(t, func(c *port.Config) {
		c.Grace = 50 * time.Millisecond
		h := newHeld()
		c.Handler = rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
			ended <- nil
			err := h.Handle(ctx, m, s)
			ended <- err
			return err
		})
	})
	all := clients(t, r.addr, nil)
	answered := make(chan error, len(all))
	for _, c := range all {
		go func() {
			_, err := c.echo(patient(t), "never")
			answered <- err
		}()
	}
	for range all {
		await(t, ended, "a call to come")
	}
	r.end()
	for range all {
		if err := await(t, ended, "a handler to end"); !errors.Is(err, context.Canceled) {
			t.Errorf("a handler ends with %v", err)
		}
		if await(t, answered, "an answer") == nil {
			t.Error("a call that was cut has an answer")
		}
	}
	var cut *port.CutError
	if err := r.ended(t); !errors.As(err, &cut) || cut.Calls != len(all) {
		t.Errorf("Serve returned %v, want %d calls cut", err, len(all))
	}
}

// TestConnectionsWithoutARequestAreLetGo has them told in HTTP/2 that nothing
// was begun, so that their next request goes elsewhere.
func TestConnectionsWithoutARequestAreLetGo(t *testing.T) {
	r := serve(t)
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, http2.ClientPreface)
	f := http2.NewFramer(c, c)
	f.WriteSettings()
	if got, err := f.ReadFrame(); err != nil || got.Header().Type != http2.FrameSettings {
		t.Fatalf("the port begins with %v, %v, want settings", got, err)
	}
	r.end()
	if got, err := f.ReadFrame(); err != nil || got.Header().Type != http2.FrameGoAway {
		t.Errorf("the port ends with %v, %v, want GOAWAY", got, err)
	}
	if err := r.ended(t); err != nil {
		t.Errorf("Serve returned %v", err)
	}
}

func TestReflectionDoesNotHoldTheEnd(t *testing.T) {
	r := serve(t)
	s, err := reflectionv1.NewServerReflectionClient(channel(t, r.addr, nil)).ServerReflectionInfo(patient(t))
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}})
	if _, err := s.Recv(); err != nil {
		t.Fatal(err)
	}
	r.end()
	if _, err := s.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("reflection ends with %v, want its end", err)
	}
	if err := r.ended(t); err != nil {
		t.Errorf("Serve returned %v", err)
	}
}
