package call_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/tare-bench/tare/call"
	"github.com/tare-bench/tare/call/schema"
	"github.com/tare-bench/tare/catalog"
	pb "github.com/tare-bench/tare/gen/tare/conformance/v1"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
)

const service = "tare.conformance.v1.ConformanceService"

// serve answers the conformance service over a stack of the catalogue.
func serve(t *testing.T, stack string) (addr string) {
	t.Helper()
	s, err := catalog.Default().Stack(stack)
	if err != nil {
		t.Fatal(err)
	}
	l := listen(t)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Protocol.Serve(ctx, l, conformance.Service, conformance.Handler{}, s.Options(1)) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("serve %s: %v", stack, err)
		}
	})
	return l.Addr().String()
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// stock is the conformance service as users of grpc-go write it, with what
// tare's own protocols do not carry: metadata and details.
type stock struct {
	pb.UnimplementedConformanceServiceServer
}

func (stock) Echo(ctx context.Context, r *pb.EchoRequest) (*pb.EchoResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	err := errors.Join(
		grpc.SetHeader(ctx, metadata.Pairs("seen", strings.Join(md["token"], "+")+" at "+md[":authority"][0])),
		grpc.SetTrailer(ctx, metadata.Pairs("cost", "3")))
	if err != nil {
		return nil, err
	}
	if r.FailCode != 0 {
		s, err := status.New(codes.Code(r.FailCode), r.FailMessage).WithDetails(
			&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: "item.text", Description: "too short"}}},
			&errdetails.RetryInfo{RetryDelay: durationpb.New(1500 * time.Millisecond)},
			&pb.CollectResponse{Count: 7})
		if err != nil {
			return nil, err
		}
		return nil, s.Err()
	}
	return &pb.EchoResponse{Item: r.Item}, nil
}

func (stock) Converse(s grpc.BidiStreamingServer[pb.ConverseRequest, pb.ConverseResponse]) error {
	for {
		in, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.Send(&pb.ConverseResponse{Item: in.Item}); err != nil {
			return err
		}
	}
}

// The ways in which a server tells its schema.
func reflects(s *grpc.Server) { reflection.Register(s) }
func reflectsOld(s *grpc.Server) {
	reflectionv1alpha.RegisterServerReflectionServer(s, reflection.NewServer(reflection.ServerOptions{Services: s}))
}
func silent(*grpc.Server) {}

// serveStock answers by grpc-go.
func serveStock(t *testing.T, tells func(*grpc.Server), options ...grpc.ServerOption) (addr string) {
	t.Helper()
	s := grpc.NewServer(options...)
	pb.RegisterConformanceServiceServer(s, stock{})
	tells(s)
	l := listen(t)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Stop()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return l.Addr().String()
}

// request is what a test asks for.
type request struct {
	url     string
	stack   string // "": what the URL means
	in      *call.Input
	given   *schema.Schema
	options call.Options
	printer call.Printer
}

func text(s string) *call.Input { return &call.Input{Name: "-d", Reader: strings.NewReader(s)} }

// ask makes a call as the command does, and gives what it printed.
func ask(ctx context.Context, t *testing.T, r request) (out, notes string, timing call.Timing, err error) {
	t.Helper()
	var stdout, stderr strings.Builder
	r.printer.Out, r.printer.Err = &stdout, &stderr
	timing, err = askOn(ctx, t, r)
	return stdout.String(), stderr.String(), timing, err
}

// askOn is ask, on the request's own printer.
func askOn(ctx context.Context, t *testing.T, r request) (timing call.Timing, err error) {
	t.Helper()
	c, o := catalog.Default(), r.options
	if o.Target, err = call.ParseTarget(r.url); err != nil {
		t.Fatal(err)
	}
	if o.Dialect, err = call.Choose(c.Dialects, o.Target); err != nil {
		t.Fatal(err)
	}
	name := r.stack
	if name == "" {
		name = o.Dialect.Stack
	}
	stack, err := c.Stack(name)
	if err != nil {
		t.Fatal(err)
	}
	if r.stack != "" {
		if o.Dialect, err = c.Dialect(stack.Protocol.Spec().Name); err != nil {
			t.Fatal(err)
		}
		o.HTTP = stack.Protocol.Spec().Transport(stack.Options(1)).HTTP
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	o.Watch = &r.printer
	if !o.Dialect.CallsMethods() {
		return o.Fetch(ctx, "", r.in)
	}
	m, s, done, err := o.Find(ctx, r.given)
	if err != nil {
		return timing, err
	}
	defer done()
	r.printer.Types = s.Types()
	return o.Call(ctx, call.Method{Descriptor: m, Schema: s, Codec: stack.Codec, Compressor: stack.Compressor}, r.in)
}
