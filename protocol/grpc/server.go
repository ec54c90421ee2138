package grpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/tap"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// Serve answers calls of svc.
func (Protocol) Serve(ctx context.Context, l net.Listener, svc *rpc.Service, h rpc.Handler, o protocol.Options) error {
	defer func() { _ = l.Close() }() // closed already, where it has served
	desc, err := describe(svc, o)
	if err != nil {
		return err
	}
	server := grpc.NewServer(append(serverOptions(o), refusing([]*rpc.Service{svc}, h)...)...)
	server.RegisterService(desc, h)
	// Serve returns only when GracefulStop has.
	unhook := context.AfterFunc(ctx, server.GracefulStop)
	err = server.Serve(l)
	if unhook() {
		server.Stop()
	}
	if err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serve gRPC: %w", err)
	}
	return nil
}

func serverOptions(o protocol.Options) []grpc.ServerOption {
	options := []grpc.ServerOption{
		grpc.ForceServerCodecV2(wire(contentSubtype(o.Codec))),
		grpc.MaxRecvMsgSize(o.MaxMessage),
	}
	if o.Compressor != nil {
		options = append(options,
			grpc.RPCCompressor(newCompressor(o.Compressor)),                   //nolint:staticcheck // see compressor
			grpc.RPCDecompressor(newDecompressor(o.Compressor, o.MaxMessage))) //nolint:staticcheck // see compressor
	}
	return options
}

// refusing has grpc-go ask h, if it is one that may refuse unasked, before it
// makes a stream of a call.
func refusing(svcs []*rpc.Service, h rpc.Handler) []grpc.ServerOption {
	r, ok := h.(rpc.Refuser)
	if !ok {
		return nil
	}
	methods := make(map[string]*rpc.Method)
	for _, svc := range svcs {
		for _, m := range svc.Methods {
			methods[m.Path()] = m
		}
	}
	return []grpc.ServerOption{grpc.InTapHandle(func(ctx context.Context, i *tap.Info) (context.Context, error) {
		if m := methods[i.FullMethodName]; m != nil {
			if err := r.Refuse(m); err != nil {
				return ctx, statusOf(err)
			}
		}
		return ctx, nil
	})}
}

// describe gives what protoc-gen-go-grpc would have generated for svc.
func describe(svc *rpc.Service, o protocol.Options) (*grpc.ServiceDesc, error) {
	desc := &grpc.ServiceDesc{ServiceName: svc.Name, HandlerType: (*rpc.Handler)(nil)}
	for _, declared := range svc.Methods {
		m, err := bindMethod(declared, o)
		if err != nil {
			return nil, err
		}
		if m.Kind == rpc.Unary {
			desc.Methods = append(desc.Methods, grpc.MethodDesc{MethodName: m.Name, Handler: m.answerOne})
			continue
		}
		stream := *m.desc
		stream.Handler = m.answerStream
		desc.Streams = append(desc.Streams, stream)
	}
	return desc, nil
}

// answerOne is a unary method's handler in grpc-go's form.
//
//nolint:revive // grpc-go sets the order of a handler's arguments
func (m *method) answerOne(h any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	if !m.fields.None() {
		var err error
		if ctx, err = m.fieldsOf(ctx); err != nil {
			return nil, statusOf(err)
		}
	}
	c := &unaryCall{method: m, decode: decode, message: slot{binding: m.in}}
	if err := h.(rpc.Handler).Handle(ctx, m.Method, c); err != nil {
		return nil, statusOf(err)
	}
	if c.replies != 1 {
		return nil, statusOf(rpc.Errorf(rpc.Internal, "%s gave %d replies to a unary call", m.path, c.replies))
	}
	return &c.message, nil
}

// answerStream is any other method's handler in grpc-go's form.
func (m *method) answerStream(h any, stream grpc.ServerStream) error {
	ctx := stream.Context()
	if !m.fields.None() {
		var err error
		if ctx, err = m.fieldsOf(ctx); err != nil {
			return statusOf(err)
		}
	}
	c := &streamCall{method: m, stream: stream, in: slot{binding: m.in}, out: slot{binding: m.out}}
	if err := h.(rpc.Handler).Handle(ctx, m.Method, c); err != nil {
		return statusOf(err)
	}
	return nil
}

// fieldsOf gives ctx the fields that came with its call.
func (m *method) fieldsOf(ctx context.Context) (context.Context, error) {
	return m.fields.In(ctx, func(name string) []string { return metadata.ValueFromIncomingContext(ctx, name) })
}

func unparsable(err error) error {
	return rpc.Errorf(rpc.InvalidArgument, "parse request: %v", err)
}

// unaryCall is a unary call as its handler holds it, in one allocation. Its slot
// holds first the request and then the reply. The request is decompressed and
// parsed when it is asked for; its bytes grpc-go takes from the connection as
// they come, up to the stream's window.
type unaryCall struct {
	method  *method
	decode  func(any) error
	message slot
	taken   bool
	replies int
}

func (c *unaryCall) Recv() (any, error) {
	if c.taken {
		return nil, io.EOF
	}
	c.taken = true
	if err := c.decode(&c.message); err != nil {
		return nil, answerOf(err)
	}
	plain, err := c.message.take()
	if err != nil {
		return nil, unparsable(err)
	}
	return plain, nil
}

func (c *unaryCall) Send(plain any) error {
	c.taken = true
	c.message = slot{binding: c.method.out, native: c.method.out.Native(plain)}
	c.replies++
	return nil
}

// streamCall is a call of the other kinds as its handler holds it.
type streamCall struct {
	method  *method
	stream  grpc.ServerStream
	in, out slot // one each, since Recv may run beside Send
	taken   bool
}

func (c *streamCall) Recv() (any, error) {
	if c.taken {
		return nil, io.EOF
	}
	err := c.stream.RecvMsg(&c.in)
	if errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	if err != nil {
		return nil, answerOf(err)
	}
	c.taken = !c.method.Kind.StreamsIn()
	plain, err := c.in.take()
	if err != nil {
		return nil, unparsable(err)
	}
	return plain, nil
}

func (c *streamCall) Send(plain any) error {
	c.out.native = c.out.binding.Native(plain)
	if err := c.stream.SendMsg(&c.out); err != nil {
		return answerOf(err)
	}
	return nil
}
