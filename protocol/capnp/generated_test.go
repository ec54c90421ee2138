package capnp_test

import (
	"context"
	"net"
	"testing"

	lib "capnproto.org/go/capnp/v3"
	libnet "capnproto.org/go/capnp/v3/rpc"

	codec "github.com/tare-bench/tare/codec/capnp"
	generated "github.com/tare-bench/tare/gen/capnp/conformance"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/capnp"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
)

// Who has the schema alone, and what its compiler makes, calls the service.
func TestAnswersGeneratedClients(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	o := protocol.Options{Codec: codec.Codec{}, InFlight: 1, MaxMessage: protocol.DefaultMaxMessage}
	go func() { served <- capnp.New().Serve(ctx, l, conformance.Service, conformance.Handler{}, o) }()
	socket, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn := libnet.NewConn(libnet.NewStreamTransport(socket), nil)
	service := generated.ConformanceService(conn.Bootstrap(ctx))
	t.Run("unary", func(t *testing.T) { echoes(t, service) })
	t.Run("server stream", func(t *testing.T) { expands(t, service) })
	t.Run("client stream", func(t *testing.T) { collects(t, service) })
	service.Release()
	_ = conn.Close() // the server may have been first
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func echoes(t *testing.T, service generated.ConformanceService) {
	answer, release := service.Echo(t.Context(), func(in generated.EchoRequest) error {
		item, err := in.NewItem()
		if err != nil {
			return err
		}
		return item.SetText("by hand")
	})
	defer release()
	out, err := answer.Struct()
	if err != nil {
		t.Fatal(err)
	}
	if out.Which() != generated.EchoResult_Which_reply {
		t.Fatalf("the result is a %s", out.Which())
	}
	reply, err := out.Reply()
	if err != nil {
		t.Fatal(err)
	}
	item, err := reply.Item()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := item.Text(); err != nil || text != "by hand" {
		t.Errorf("text is %q, error %v", text, err)
	}
}

// counting is a generated server of what takes replies.
type counting struct{ n int }

func (c *counting) Send(_ context.Context, _ generated.ExpandReplies_send) error {
	c.n++
	return nil
}

func expands(t *testing.T, service generated.ConformanceService) {
	got := new(counting)
	answer, release := service.Expand(t.Context(), func(in generated.ConformanceService_expand_Params) error {
		request, err := in.NewRequest()
		if err != nil {
			return err
		}
		request.SetCount(100)
		return in.SetReplies(generated.ExpandReplies_ServerToClient(got))
	})
	defer release()
	out, err := answer.Struct()
	if err != nil {
		t.Fatal(err)
	}
	if got.n != 100 || out.HasFailure() {
		t.Errorf("%d replies, failed: %v", got.n, out.HasFailure())
	}
}

func collects(t *testing.T, service generated.ConformanceService) {
	answer, release := service.Collect(t.Context(), nil)
	defer release()
	requests := answer.Requests()
	for range 100 {
		if err := requests.Send(t.Context(), func(generated.CollectRequest) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	ended, done := requests.End(t.Context(), nil)
	defer done()
	out, err := ended.Struct()
	if err != nil {
		t.Fatal(err)
	}
	if !lib.Struct(out).HasPtr(0) || out.Which() != generated.CollectResult_Which_reply {
		t.Fatalf("the result is a %s", out.Which())
	}
	reply, err := out.Reply()
	if err != nil {
		t.Fatal(err)
	}
	if reply.Count() != 100 {
		t.Errorf("%d requests are counted", reply.Count())
	}
}
