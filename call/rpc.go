package call

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/tare-bench/tare/call/schema"
	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/compress"
	"github.com/tare-bench/tare/rpc"
)

// Method is a method, and how its messages are carried.
type Method struct {
	Descriptor protoreflect.MethodDescriptor
	Schema     *schema.Schema
	Codec      codec.Codec
	Compressor compress.Compressor // nil for none
}

// path is the method's path below a server's base.
func path(m protoreflect.MethodDescriptor) string {
	return "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
}

// kind is the method's kind.
func kind(m protoreflect.MethodDescriptor) rpc.Kind {
	switch in, out := m.IsStreamingClient(), m.IsStreamingServer(); {
	case in && out:
		return rpc.Bidi
	case in:
		return rpc.ClientStream
	case out:
		return rpc.ServerStream
	}
	return rpc.Unary
}

// caller makes one call of a method.
type caller struct {
	Method
	Options
	*methodCodec
	input *Input // nil: nothing was given
	tap   *tap
	stub  *connect.Client[carried, carried]
}

// Call calls a method with what in has: one message each value. A nil in is an
// empty message where one must be sent, and else none. What fails is a *Failure,
// an *InputError, or an error of reading in.
func (o Options) Call(ctx context.Context, m Method, in *Input) (Timing, error) {
	k, err := newMethodCodec(m.Codec, m.Descriptor, m.Schema.Types())
	if err != nil {
		return Timing{}, err
	}
	c := &caller{Method: m, Options: o, methodCodec: k, input: in}
	c.tap = &tap{client: o.client(kind(m.Descriptor) == rpc.Bidi), watch: o.Watch}
	options := append(k.options(m.Compressor), o.Dialect.options...)
	c.stub = connect.NewClient[carried, carried](c.tap, o.Target.base()+path(m.Descriptor), options...)
	var request *connect.Request[carried]
	if !kind(m.Descriptor).StreamsIn() {
		// Its deadline begins when it is there: a person may type it.
		if request, err = c.only(ctx); err != nil {
			return Timing{}, c.failure(ctx, err, ending{})
		}
	}
	ctx, cancel := o.within(ctx)
	defer cancel()
	trailer, err := c.call(ctx, request)
	end := c.tap.close()
	// Of an answer without messages the trailer is the header, which has been told.
	maps.DeleteFunc(trailer, func(name string, values []string) bool { return slices.Equal(values, end.header[name]) })
	if len(trailer) > 0 {
		o.Watch.Trailer(trailer)
	}
	return c.tap.meter.timing(), c.failure(ctx, err, end)
}

// call makes the call, and gives the trailer. request is nil where messages stream
// in.
func (c *caller) call(ctx context.Context, request *connect.Request[carried]) (http.Header, error) {
	// The cause tells what went wrong on this side from what came of it.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	switch kind(c.Descriptor) {
	case rpc.Unary:
		answer, err := c.stub.CallUnary(ctx, request)
		if err != nil {
			return trailerOf(err), err
		}
		return answer.Trailer(), c.show(answer.Msg)
	case rpc.ServerStream:
		stream, err := c.stub.CallServerStream(ctx, request)
		if err != nil {
			return trailerOf(err), err
		}
		conn, err := stream.Conn()
		if err != nil {
			return nil, err
		}
		err = c.receiveAll(conn)
		return conn.ResponseTrailer(), err
	case rpc.ClientStream:
		conn, err := c.stub.CallClientStream(ctx).Conn()
		return c.converse(ctx, cancel, conn, err)
	default:
		conn, err := c.stub.CallBidiStream(ctx).Conn()
		return c.converse(ctx, cancel, conn, err)
	}
}

// trailerOf gives what came beside an error.
func trailerOf(err error) http.Header {
	var e *connect.Error
	if errors.As(err, &e) {
		return e.Meta()
	}
	return nil
}

// only reads the one message of a method that takes one.
func (c *caller) only(ctx context.Context) (*connect.Request[carried], error) {
	m, err := c.next(ctx)
	switch {
	case errors.Is(err, io.EOF) && c.input == nil:
		m = dynamicpb.NewMessage(c.Descriptor.Input())
	case errors.Is(err, io.EOF):
		return nil, &InputError{c.input.Name, 1, 1, "there is no JSON value; without -d an empty message is sent"}
	case err != nil:
		return nil, err
	case c.input != nil:
		if more, err := c.input.next(ctx); err == nil {
			return nil, &InputError{c.input.Name, more.line, more.column, string(c.Descriptor.Name()) + " takes one message, and here is another"}
		} else if !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	request := connect.NewRequest(c.pack(m))
	c.fields(request.Header())
	return request, nil
}

// next reads the next message to send, or gives io.EOF.
func (c *caller) next(ctx context.Context) (proto.Message, error) {
	if c.input == nil {
		return nil, io.EOF
	}
	v, err := c.input.next(ctx)
	if err != nil {
		return nil, err
	}
	m := dynamicpb.NewMessage(c.Descriptor.Input())
	return m, c.input.parse(v, m, c.Schema.Types())
}

// converse sends and receives at once, so that replies are seen while a person
// still types.
func (c *caller) converse(ctx context.Context, cancel context.CancelCauseFunc, conn connect.StreamingClientConn, err error) (http.Header, error) {
	if err != nil {
		return nil, err
	}
	c.fields(conn.RequestHeader())
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		if err := c.sendAll(ctx, conn); err != nil {
			cancel(err)
		}
	}()
	err = c.receiveAll(conn)
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), ctx.Err()) {
		err = context.Cause(ctx)
	}
	cancel(nil)
	<-sent
	return conn.ResponseTrailer(), err
}

func (c *caller) sendAll(ctx context.Context, conn connect.StreamingClientConn) error {
	// The header goes ahead: the server may speak first.
	if err := conn.Send(nil); err != nil {
		return nil // receiving tells why
	}
	for {
		m, err := c.next(ctx)
		if errors.Is(err, io.EOF) {
			_ = conn.CloseRequest() // receiving tells what became of it
			return nil
		}
		if err != nil {
			return err
		}
		if err := conn.Send(c.pack(m)); err != nil {
			return nil
		}
	}
}

func (c *caller) receiveAll(conn connect.StreamingClientConn) error {
	defer func() { _ = conn.CloseResponse() }() // all was read, or something worse came first
	for {
		in := new(carried)
		err := conn.Receive(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.show(in); err != nil {
			return err
		}
	}
}

func (c *caller) show(in *carried) error {
	m, err := c.unpack(in)
	if err != nil {
		return err
	}
	return c.tap.tell(func(w Watcher) error { return w.Message(m) })
}
