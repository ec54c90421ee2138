package grpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// streamsPerChannel is how many calls a pool puts on one channel. grpc-go's
// server takes any number, but many others take a hundred, and users who open
// more channels do so for that.
// Source: grpc.io/docs/guides/performance, "use a pool of gRPC channels".
const streamsPerChannel = 100

// Dial readies the channels; each connects with its first call.
func (Protocol) Dial(_ context.Context, addr string, svc *rpc.Service, o protocol.Options) (protocol.Conn, error) {
	methods := make(map[*rpc.Method]*method, len(svc.Methods))
	for _, declared := range svc.Methods {
		m, err := bindMethod(declared, o)
		if err != nil {
			return nil, err
		}
		methods[declared] = m
	}
	options := dialOptions(o) // once: channels share the compressor's pools
	dial := func() (*grpc.ClientConn, error) {
		// "passthrough" hands addr to the dialer as it stands.
		cc, err := grpc.NewClient("passthrough:///"+addr, options...)
		if err != nil {
			return nil, fmt.Errorf("open channel to %s: %w", addr, err)
		}
		return cc, nil
	}
	if o.Settings[channel.Name] == perCall {
		return &dialer{methods: methods, dial: dial}, nil
	}
	p := &pool{methods: methods}
	for range o.SharedConns(streamsPerChannel) {
		cc, err := dial()
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		p.channels = append(p.channels, cc)
	}
	return p, nil
}

func dialOptions(o protocol.Options) []grpc.DialOption {
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) {
			return o.DialContext(ctx, "tcp", addr)
		}),
		grpc.WithDefaultCallOptions(
			grpc.ForceCodecV2(wire(contentSubtype(o.Codec))),
			grpc.MaxCallRecvMsgSize(o.MaxMessage),
			grpc.StaticMethod(),
		),
	}
	if o.Compressor != nil {
		options = append(options,
			grpc.WithCompressor(newCompressor(o.Compressor)),                   //nolint:staticcheck // see compressor
			grpc.WithDecompressor(newDecompressor(o.Compressor, o.MaxMessage))) //nolint:staticcheck // see compressor
	}
	return options
}

// pool is a Conn over channels that are used in turn.
type pool struct {
	methods  map[*rpc.Method]*method
	channels []*grpc.ClientConn
	turn     atomic.Uint64
}

func (p *pool) Handle(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
	bound, ok := p.methods[m]
	if !ok {
		return undeclared(m)
	}
	return bound.call(ctx, p.channels[p.turn.Add(1)%uint64(len(p.channels))], s)
}

func (p *pool) Close() error {
	var errs []error
	for _, cc := range p.channels {
		errs = append(errs, cc.Close())
	}
	return errors.Join(errs...)
}

// dialer is a Conn that opens a channel for every call.
type dialer struct {
	methods map[*rpc.Method]*method
	dial    func() (*grpc.ClientConn, error)
}

func (d *dialer) Handle(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
	bound, ok := d.methods[m]
	if !ok {
		return undeclared(m)
	}
	cc, err := d.dial()
	if err != nil {
		return rpc.ErrorOf(err)
	}
	defer func() { _ = cc.Close() }() // errs only for a channel that is closed already
	return bound.call(ctx, cc, s)
}

func (d *dialer) Close() error { return nil }

func undeclared(m *rpc.Method) error {
	return rpc.Errorf(rpc.Unimplemented, "call %s: not a method of the service dialled", m.Path())
}

// call carries one call over cc.
func (m *method) call(ctx context.Context, cc *grpc.ClientConn, s rpc.Stream) error {
	if !m.fields.None() {
		var err error
		if ctx, err = m.withFields(ctx); err != nil {
			return err
		}
	}
	if m.Kind == rpc.Unary {
		return m.callOne(ctx, cc, s)
	}
	// Left with an error, a stream lives until its context ends.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := cc.NewStream(ctx, m.desc, m.path)
	if err != nil {
		return failureOf(ctx, err)
	}
	if m.Kind == rpc.Bidi {
		return m.converse(ctx, cancel, stream, s)
	}
	if err := m.sendAll(ctx, stream, s); err != nil {
		return err
	}
	return m.receiveAll(ctx, stream, s)
}

// withFields has the fields of ctx go out as gRPC's metadata.
func (m *method) withFields(ctx context.Context) (context.Context, error) {
	out, err := m.fields.Out(ctx)
	if err != nil || len(out) == 0 {
		return ctx, err
	}
	pairs := make([]string, 0, 2*len(out))
	for _, f := range out {
		pairs = append(pairs, f.Name, f.Value)
	}
	return metadata.AppendToOutgoingContext(ctx, pairs...), nil
}

// callOne is a unary call.
func (m *method) callOne(ctx context.Context, cc *grpc.ClientConn, s rpc.Stream) error {
	plain, err := s.Recv()
	if err != nil {
		return m.noRequest(err)
	}
	x := exchanges.Get().(*exchange)
	defer func() {
		*x = exchange{}
		exchanges.Put(x)
	}()
	x.in = slot{binding: m.in, native: m.in.Native(plain)}
	x.out = slot{binding: m.out}
	if err := cc.Invoke(ctx, m.path, &x.in, &x.out); err != nil {
		return failureOf(ctx, err)
	}
	reply, err := x.out.take()
	if err != nil {
		return unreadable(err)
	}
	return s.Send(reply)
}

// exchange is the two messages of a unary call. Invoke keeps neither when it
// has returned, so that exchanges are used again.
type exchange struct{ in, out slot }

var exchanges = sync.Pool{New: func() any { return new(exchange) }}

// sendAll sends what s gives, one message where the method takes one, and ends
// the client's side. It returns nil where the server ended the call meanwhile:
// the next receipt says how.
func (m *method) sendAll(ctx context.Context, stream grpc.ClientStream, s rpc.Stream) error {
	out := slot{binding: m.in}
	for {
		plain, err := s.Recv()
		if errors.Is(err, io.EOF) && m.Kind.StreamsIn() {
			break
		}
		if err != nil {
			return m.noRequest(err)
		}
		out.native = m.in.Native(plain)
		if err := stream.SendMsg(&out); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return failureOf(ctx, err)
		}
		if !m.Kind.StreamsIn() {
			break
		}
	}
	if err := stream.CloseSend(); err != nil {
		return failureOf(ctx, err)
	}
	return nil
}

// receiveAll hands each reply to s until the server ends the call.
func (m *method) receiveAll(ctx context.Context, stream grpc.ClientStream, s rpc.Stream) error {
	in := slot{binding: m.out}
	for {
		if err := stream.RecvMsg(&in); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return failureOf(ctx, err)
		}
		reply, err := in.take()
		if err != nil {
			return unreadable(err)
		}
		if err := s.Send(reply); err != nil {
			return err
		}
		if !m.Kind.StreamsOut() {
			return nil // RecvMsg has read the end too
		}
	}
}

// converse sends and receives at once. It waits for s.Recv to return: a
// stream's Recv ends with its caller's context at the latest.
func (m *method) converse(ctx context.Context, cancel context.CancelFunc, stream grpc.ClientStream, s rpc.Stream) error {
	sent := make(chan error, 1)
	go func() {
		err := m.sendAll(ctx, stream, s)
		sent <- err
		if err != nil {
			cancel() // the server would wait for more
		}
	}()
	received := m.receiveAll(ctx, stream, s)
	select {
	case err := <-sent:
		if received != nil && err != nil {
			return err // the cause of received
		}
	default:
		cancel()
		_ = <-sent // whatever sending met after the end is of no account
	}
	return received
}

// noRequest says why there is no message to send.
func (m *method) noRequest(err error) error {
	if errors.Is(err, io.EOF) {
		return rpc.Errorf(rpc.Internal, "call %s: no request", m.path)
	}
	return err
}

// unreadable is a reply that the codec cannot parse.
func unreadable(err error) error {
	return &rpc.Error{Code: rpc.Internal, Message: "parse reply: " + err.Error(), Transport: rpc.Protocol}
}
