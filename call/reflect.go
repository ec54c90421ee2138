package call

import (
	"bytes"
	"context"
	"errors"
	"io"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tare-bench/tare/call/schema"
)

// Find finds the method that the target names: in given or, where that is nil,
// in what the server tells of itself or, where it tells nothing, in what the
// program was built with. done ends the use of the schema.
func (o Options) Find(ctx context.Context, given *schema.Schema) (m protoreflect.MethodDescriptor, s *schema.Schema, done func(), err error) {
	service, method, err := o.Target.Method()
	if err != nil {
		return nil, nil, nil, err
	}
	if given != nil {
		m, err = given.Method(service, method)
		return m, given, func() {}, err
	}
	s, done = o.Reflect(ctx)
	m, err = s.Method(service, method)
	if err == nil {
		return m, s, done, nil
	}
	done()
	var unknown *schema.UnknownError
	if errors.As(err, &unknown) {
		return nil, nil, nil, err
	}
	builtin := schema.Builtin()
	m, missing := builtin.Method(service, method)
	switch {
	case missing == nil:
		return m, builtin, func() {}, nil
	case errors.As(missing, &unknown) && unknown.What != schema.Service:
		return nil, nil, nil, missing // the service is known, so this is what is wrong
	}
	return nil, nil, nil, o.Explain(ctx, err)
}

// Reflect gives the schema that the server tells of itself, by gRPC whatever
// the call is to speak. It asks for what is looked up until ctx ends or done is
// called.
func (o Options) Reflect(ctx context.Context) (s *schema.Schema, done func()) {
	asked := Options{Target: o.Target, Dialect: GRPC(o.Dialect.Stack), Header: o.Header, Authority: o.Authority, TLS: o.TLS}
	client := asked.client(true)
	ctx, cancel := o.within(ctx)
	s, reset := schema.Reflect(ctx, o.Target.Address(), &channel{asked, client})
	return s, func() {
		reset()
		cancel()
		client.CloseIdleConnections()
	}
}

// channel is a gRPC channel as far as reflection needs one: bidirectional
// streams of generated messages.
type channel struct {
	Options
	client *client
}

var errNotHere = errors.New("a channel for reflection makes no unary call")

// Invoke is there for the interface.
func (c *channel) Invoke(context.Context, string, any, any, ...grpc.CallOption) error {
	return errNotHere
}

// NewStream begins a stream.
func (c *channel) NewStream(ctx context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	client := connect.NewClient[encoded, encoded](c.client, c.Target.base()+method,
		connect.WithGRPC(), connect.WithCodec(encodedCodec{}), connect.WithAcceptCompression(stock, nil, nil))
	s := &stream{conn: client.CallBidiStream(ctx)}
	c.fields(s.conn.RequestHeader())
	return s, nil
}

type stream struct {
	grpc.ClientStream // nil: generated code has no use for the rest
	conn              *connect.BidiStreamForClient[encoded, encoded]
}

// SendMsg sends a generated message.
func (s *stream) SendMsg(m any) error {
	b, err := proto.Marshal(m.(proto.Message))
	if err != nil {
		return err
	}
	return statusOf(s.conn.Send(&encoded{b}))
}

// RecvMsg receives a generated message.
func (s *stream) RecvMsg(m any) error {
	in, err := s.conn.Receive()
	if err != nil {
		return statusOf(err)
	}
	return proto.Unmarshal(in.b, m.(proto.Message))
}

// CloseSend ends this side of the stream.
func (s *stream) CloseSend() error { return statusOf(s.conn.CloseRequest()) }

// encoded is a message in protobuf's binary form.
type encoded struct{ b []byte }

// encodedCodec passes on what is encoded.
type encodedCodec struct{}

func (encodedCodec) Name() string                  { return grpcproto.Name }
func (encodedCodec) Marshal(v any) ([]byte, error) { return v.(*encoded).b, nil }

func (encodedCodec) Unmarshal(b []byte, v any) error {
	if e, ok := v.(*encoded); ok {
		e.b = bytes.Clone(b)
		return nil
	}
	return proto.Unmarshal(b, v.(proto.Message)) // what gRPC tells of errors
}

// statusError is connect's error as grpc-go's users look for it.
type statusError struct{ err *connect.Error }

func statusOf(err error) error {
	var e *connect.Error
	switch {
	case errors.Is(err, io.EOF):
		return io.EOF // receiving tells why
	case errors.As(err, &e):
		return statusError{e}
	}
	return err
}

func (e statusError) Error() string { return e.err.Error() }
func (e statusError) Unwrap() error { return e.err }

// GRPCStatus is what grpc-go's status package asks for.
func (e statusError) GRPCStatus() *status.Status {
	return status.New(codes.Code(e.err.Code()), e.err.Message())
}
