package thrift_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	apache "github.com/apache/thrift/lib/go/thrift"
	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/codec"
	thriftcodec "github.com/tare-bench/tare/codec/thrift"
	native "github.com/tare-bench/tare/gen/thrift/conformance"
	"github.com/tare-bench/tare/gen/thrift/failure"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/protocoltest"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/protocol/thrift"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
)

// patience is how long a test waits before it calls something stuck.
const patience = time.Minute

func TestRefusesEarly(t *testing.T) {
	protocoltest.RefusesEarly(t, thrift.New(), protocoltest.Stack{Codec: thriftcodec.New()})
}

// forms are the codecs, and Apache's own protocol for each.
var forms = []struct {
	codec   codec.Codec
	factory apache.TProtocolFactory
}{
	{thriftcodec.New(), apache.NewTBinaryProtocolFactoryConf(nil)},
	{thriftcodec.NewCompact(), apache.NewTCompactProtocolFactoryConf(nil)},
}

func options(t testing.TB, c codec.Codec) protocol.Options {
	t.Helper()
	settings, err := setting.Resolve(thrift.New().Spec().Settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	return protocol.Options{Codec: c, Settings: settings, InFlight: 1, MaxMessage: protocol.DefaultMaxMessage}
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// serve serves svc until the test ends, and gives its address.
func serve(t testing.TB, svc *rpc.Service, h rpc.Handler, o protocol.Options) string {
	t.Helper()
	l := listen(t)
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- thrift.New().Serve(ctx, l, svc, h, o) }()
	t.Cleanup(func() {
		end()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return l.Addr().String()
}

func dial(t testing.TB, addr string, svc *rpc.Service, o protocol.Options) protocol.Conn {
	t.Helper()
	c, err := thrift.New().Dial(t.Context(), addr, svc, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// foreignTransport is how Thrift's users connect.
func foreignTransport(t testing.TB, addr string) apache.TTransport {
	t.Helper()
	conf := &apache.TConfiguration{SocketTimeout: patience, ConnectTimeout: patience, MaxFrameSize: 64 << 20}
	transport := apache.NewTFramedTransportConf(apache.NewTSocketConf(addr, conf), conf)
	if err := transport.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = transport.Close() })
	return transport
}

// TestForeignClient has a client that Apache's compiler has made call the server.
func TestForeignClient(t *testing.T) {
	for _, form := range forms {
		t.Run(form.codec.Spec().Name, func(t *testing.T) {
			addr := serve(t, conformance.Service, conformance.Handler{}, options(t, form.codec))
			c := native.NewConformanceServiceClientFactory(foreignTransport(t, addr), form.factory)
			ctx := t.Context()

			item := &native.Item{Text: "Zoë", Number: -1, Ratio: 2.5, Blob: []byte{0}, Tags: []string{"a"}, Counts: map[string]int64{"b": 1}}
			out, err := c.Echo(ctx, &native.EchoRequest{Item: item})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(item, out.Item); diff != "" {
				t.Error(diff)
			}

			_, err = c.Echo(ctx, &native.EchoRequest{FailCode: int32(rpc.NotFound), FailMessage: "none such"})
			var failed *failure.Failure
			if !errors.As(err, &failed) || failed.Code != int32(rpc.NotFound) || failed.Message != "none such" {
				t.Errorf("failure is %v", err)
			}
			if out, err := c.Amend(ctx, &native.AmendRequest{Name: "a"}); err != nil || out.Name != "a" {
				t.Errorf("afterwards %v, %v", out, err)
			}
		})
	}
}

// TestForeignClientOfAnUnknownMethod has one call what the server has not.
func TestForeignClientOfAnUnknownMethod(t *testing.T) {
	fewer := &rpc.Service{Name: conformance.Service.Name, Methods: []*rpc.Method{conformance.Find}}
	addr := serve(t, fewer, conformance.Handler{}, options(t, forms[0].codec))
	c := native.NewConformanceServiceClientFactory(foreignTransport(t, addr), forms[0].factory)
	_, err := c.Echo(t.Context(), &native.EchoRequest{})
	var unknown apache.TApplicationException
	if !errors.As(err, &unknown) || unknown.TypeId() != apache.UNKNOWN_METHOD {
		t.Errorf("error is %v", err)
	}
	if _, err := c.Find(t.Context(), &native.FindRequest{Name: "a"}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestForeignClientOfSeveralServices names the service beside the method, as a
// multiplexed client does.
func TestForeignClientOfSeveralServices(t *testing.T) {
	addr := serve(t, conformance.Service, conformance.Handler{}, options(t, forms[0].codec))
	transport := foreignTransport(t, addr)
	plain := forms[0].factory.GetProtocol(transport)
	find := func(service string) error {
		named := apache.NewTMultiplexedProtocol(plain, service)
		// What answers bears the name without the service's, by Apache's server.
		_, err := native.NewConformanceServiceClientProtocol(transport, plain, named).Find(t.Context(), &native.FindRequest{Name: "a"})
		return err
	}
	var unknown apache.TApplicationException
	if err := find("OtherService"); !errors.As(err, &unknown) || unknown.TypeId() != apache.UNKNOWN_METHOD {
		t.Errorf("of a service that is not there: %v", err)
	}
	if err := find("ConformanceService"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestForeignServer has the client call a server that Apache's compiler has made.
func TestForeignServer(t *testing.T) {
	for _, form := range forms {
		t.Run(form.codec.Spec().Name, func(t *testing.T) {
			c := dial(t, serveForeign(t, foreignHandler{}, form.factory), conformance.Service, options(t, form.codec))
			for _, in := range []*conformance.EchoRequest{{}, {Item: conformance.Ordinary()}} {
				out, err := rpc.Invoke(t.Context(), c, conformance.Echo, in)
				if err != nil {
					t.Fatal(err)
				}
				if diff := conformance.Diff(&conformance.EchoResponse{Item: in.Item}, out); diff != "" {
					t.Error(diff)
				}
			}
			_, err := rpc.Invoke(t.Context(), c, conformance.Echo, &conformance.EchoRequest{FailCode: int32(rpc.NotFound)})
			if e := rpc.ErrorOf(err); e == nil || e.Code != rpc.NotFound || e.RetryAfter != time.Second || len(e.Violations) != 1 {
				t.Errorf("failure is %#v", e)
			}
			_, err = rpc.Invoke(t.Context(), c, conformance.Find, &conformance.FindRequest{})
			if e := rpc.ErrorOf(err); e == nil || e.Code != rpc.Internal || !strings.Contains(e.Message, "disk is full") || e.Transport != rpc.NoFault {
				t.Errorf("an error that is not declared is %#v", e)
			}
			_, err = rpc.Invoke(t.Context(), c, conformance.Amend, &conformance.AmendRequest{})
			if e := rpc.ErrorOf(err); e == nil || e.Code != rpc.Internal {
				t.Errorf("no result is %#v", e)
			}
		})
	}
}

// foreignHandler is the service as Thrift's users write it.
type foreignHandler struct{}

func (foreignHandler) Echo(_ context.Context, in *native.EchoRequest) (*native.EchoResponse, error) {
	if in.FailCode != 0 {
		return nil, &failure.Failure{
			Code: in.FailCode, RetryAfterNanos: int64(time.Second), Violations: []*failure.Violation{{Field: "item"}},
		}
	}
	return &native.EchoResponse{Item: in.Item}, nil
}

func (foreignHandler) Find(context.Context, *native.FindRequest) (*native.FindResponse, error) {
	return nil, errors.New("disk is full")
}

func (foreignHandler) Amend(context.Context, *native.AmendRequest) (*native.AmendResponse, error) {
	return nil, nil //nolint:nilnil // on purpose
}

// serveForeign serves h by Apache's own server until the test ends.
func serveForeign(t testing.TB, h native.ConformanceService, factory apache.TProtocolFactory) string {
	t.Helper()
	p := native.NewConformanceServiceProcessor(h)
	l := listen(t)
	conf := &apache.TConfiguration{MaxFrameSize: 64 << 20}
	server := apache.NewTSimpleServer4(p, accepting{l}, apache.NewTFramedTransportFactoryConf(apache.NewTTransportFactory(), conf), factory)
	done := make(chan error, 1)
	go func() { done <- server.Serve() }()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String()
}

// accepting is a listener as Apache's server has it; its own gives no address
// before it serves.
type accepting struct{ net.Listener }

func (accepting) Listen() error      { return nil }
func (a accepting) Interrupt() error { return a.Close() }
func (a accepting) Close() error     { return a.Listener.Close() }

func (a accepting) Accept() (apache.TTransport, error) {
	conn, err := a.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return apache.NewTSocketFromConnConf(conn, nil), nil
}
