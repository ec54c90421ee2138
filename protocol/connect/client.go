package connect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"connectrpc.com/connect"
	statuspb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// Dial readies a client; it connects with its first calls.
func (p Protocol) Dial(_ context.Context, addr string, svc *rpc.Service, o protocol.Options) (protocol.Conn, error) {
	pool := newPool(o)
	c := &conn{pool: pool, callers: make(map[*rpc.Method]*caller, len(svc.Methods))}
	for _, declared := range svc.Methods {
		m, err := bindMethod(declared, o)
		if err != nil {
			return nil, err
		}
		options := append(clientCompression(o), p.client...)
		options = append(options,
			connect.WithCodec(&wire{name: o.Codec.Spec().Subtype, sends: m.in, receives: m.out}),
			connect.WithReadMaxBytes(o.MaxMessage))
		client := connect.NewClient[message, message](pool.client(), "http://"+addr+m.path, options...)
		c.callers[declared] = &caller{method: m, client: client, refusal: carries(m.Kind, o.Settings)}
	}
	return c, nil
}

// streamsPerConn is how many calls net/http's server takes at a time on one
// HTTP/2 connection.
const streamsPerConn = 250

// pool is the HTTP clients that a client's calls use in turn. Over HTTP/1.1 one
// keeps all the connections; over HTTP/2 each keeps one. There are none where
// each call has its own: over HTTP/2 a transport that may not keep connections
// dials several for calls that begin at once.
type pool struct {
	options protocol.Options
	clients []*http.Client
	turn    atomic.Uint64
}

func newPool(o protocol.Options) *pool {
	p := &pool{options: o}
	n, each := 1, kept(o)
	if o.Settings[version.Name] == http2 {
		n, each = each, 1
	}
	if o.Settings[keepAlive.Name] == off {
		each = 0 // as many as calls in flight
		if o.Settings[version.Name] == http2 {
			n = 0
		}
	}
	for range n {
		p.clients = append(p.clients, newClient(o, each))
	}
	return p
}

// newClient gives an HTTP client that keeps so many connections; with none it
// opens one for each call.
func newClient(o protocol.Options, keeps int) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext:         o.DialContext,
		Protocols:           protocols(o),
		MaxConnsPerHost:     keeps,
		MaxIdleConnsPerHost: keeps,
		DisableKeepAlives:   keeps == 0,
		// Else net/http dials on where a connection's streams are all in use,
		// of which it takes there to be 100 until the server has said.
		HTTP2: &http.HTTP2Config{StrictMaxConcurrentRequests: true},
	}}
}

// kept is how many connections a client keeps, unless each call has its own.
func kept(o protocol.Options) int {
	if o.Settings[version.Name] == http2 {
		return o.SharedConns(streamsPerConn)
	}
	return o.Conns()
}

// client is what connect clients call: with one transport, what their users
// give them.
func (p *pool) client() connect.HTTPClient {
	if len(p.clients) == 1 {
		return p.clients[0]
	}
	return p
}

// Do makes a request with the client whose turn it is.
func (p *pool) Do(r *http.Request) (*http.Response, error) {
	if len(p.clients) == 0 {
		return newClient(p.options, 0).Do(r)
	}
	return p.clients[p.turn.Add(1)%uint64(len(p.clients))].Do(r)
}

type conn struct {
	pool    *pool
	callers map[*rpc.Method]*caller
}

func (c *conn) Handle(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
	to, ok := c.callers[m]
	if !ok {
		return rpc.Errorf(rpc.Unimplemented, "call %s: not a method of the service dialled", m.Path())
	}
	return to.call(ctx, s)
}

func (c *conn) Close() error {
	for _, client := range c.pool.clients {
		client.CloseIdleConnections()
	}
	return nil
}

// caller calls one method.
type caller struct {
	*method
	client  *connect.Client[message, message]
	refusal error // why the method cannot be carried, or nil
}

func (c *caller) call(ctx context.Context, s rpc.Stream) error {
	if c.refusal != nil {
		return rpc.Errorf(rpc.Unimplemented, "call %s: %v", c.path, c.refusal)
	}
	if c.Kind == rpc.Unary {
		return c.callOne(ctx, s)
	}
	// A stream that is left early ends with its context.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if c.Kind == rpc.ServerStream {
		return c.callMany(ctx, s)
	}
	if c.Kind == rpc.ClientStream {
		return c.collect(ctx, s)
	}
	return c.converse(ctx, cancel, s)
}

// unaryRequest is the one allocation of a unary call's request.
type unaryRequest struct {
	connect.Request[message]
	in message
}

func (c *caller) request(ctx context.Context, plain any) (*connect.Request[message], error) {
	r := &unaryRequest{in: message{native: c.in.Native(plain)}}
	r.Msg = &r.in
	if c.fields.None() {
		return &r.Request, nil
	}
	return &r.Request, c.fields.ToHeader(ctx, r.Header())
}

func (c *caller) callOne(ctx context.Context, s rpc.Stream) error {
	plain, err := s.Recv()
	if err != nil {
		return c.noRequest(err)
	}
	request, err := c.request(ctx, plain)
	if err != nil {
		return err
	}
	response, err := c.client.CallUnary(ctx, request)
	if err != nil {
		return failureOf(ctx, err)
	}
	return c.deliver(response.Msg, s)
}

func (c *caller) callMany(ctx context.Context, s rpc.Stream) error {
	plain, err := s.Recv()
	if err != nil {
		return c.noRequest(err)
	}
	request, err := c.request(ctx, plain)
	if err != nil {
		return err
	}
	stream, err := c.client.CallServerStream(ctx, request)
	if err != nil {
		return failureOf(ctx, err)
	}
	conn, err := stream.Conn()
	if err != nil {
		return failureOf(ctx, err)
	}
	return c.receiveAll(ctx, conn, s)
}

func (c *caller) collect(ctx context.Context, s rpc.Stream) error {
	conn, err := c.client.CallClientStream(ctx).Conn()
	if err != nil {
		return failureOf(ctx, err)
	}
	if err := c.fields.ToHeader(ctx, conn.RequestHeader()); err != nil {
		return err
	}
	if err := c.sendAll(ctx, conn, s); err != nil {
		return err
	}
	return c.receiveAll(ctx, conn, s)
}

// converse sends and receives at once. It waits for s.Recv to return: a
// stream's Recv ends with its caller's context at the latest.
func (c *caller) converse(ctx context.Context, cancel context.CancelFunc, s rpc.Stream) error {
	conn, err := c.client.CallBidiStream(ctx).Conn()
	if err != nil {
		return failureOf(ctx, err)
	}
	if err := c.fields.ToHeader(ctx, conn.RequestHeader()); err != nil {
		return err
	}
	// The request's header goes ahead: the handler may speak first.
	if err := conn.Send(nil); err != nil && !errors.Is(err, io.EOF) {
		return failureOf(ctx, err)
	}
	sent := make(chan error, 1)
	go func() {
		err := c.sendAll(ctx, conn, s)
		sent <- err
		if err != nil {
			cancel() // the server would wait for more
		}
	}()
	received := c.receiveAll(ctx, conn, s)
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

// sendAll sends what s gives and ends the client's side. It returns nil where
// the server ended the call meanwhile: the next receipt says how.
func (c *caller) sendAll(ctx context.Context, conn connect.StreamingClientConn, s rpc.Stream) error {
	var out message
	for {
		plain, err := s.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		out.native = c.in.Native(plain)
		if err := conn.Send(&out); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return failureOf(ctx, err)
		}
	}
	if err := conn.CloseRequest(); err != nil {
		return failureOf(ctx, err)
	}
	return nil
}

// receiveAll hands each reply to s until the server ends the call.
func (c *caller) receiveAll(ctx context.Context, conn connect.StreamingClientConn, s rpc.Stream) error {
	var in message
	for n := 0; ; n++ {
		err := conn.Receive(&in)
		if errors.Is(err, io.EOF) && (c.Kind.StreamsOut() || n == 1) {
			if err := conn.CloseResponse(); err != nil {
				return failureOf(ctx, err)
			}
			return nil
		}
		if errors.Is(err, io.EOF) {
			return &rpc.Error{
				Code: rpc.Internal, Transport: rpc.Protocol,
				Message: fmt.Sprintf("call %s: %d replies to a %s call", c.path, n, c.Kind),
			}
		}
		if err != nil {
			if !connect.IsWireError(err) && ctx.Err() == nil {
				if answer := headerStatus(conn.ResponseHeader()); answer != nil {
					return answer
				}
			}
			return failureOf(ctx, err)
		}
		if err := c.deliver(&in, s); err != nil {
			return err
		}
	}
}

// headerStatus gives the failure that an answer of gRPC-Web without messages
// has in its header, or nil. connect does not look there where the connection
// ended with the answer, as one over HTTP/1.1 does if the server answers before
// it has read the whole request.
func headerStatus(h http.Header) error {
	code := h.Get(statusField)
	if code == "" {
		return nil
	}
	err := statusError(code, h.Get(messageField))
	var e *rpc.Error
	var all statuspb.Status
	packed, _ := connect.DecodeBinaryHeader(h.Get(detailsField)) // what cannot be read says nothing
	if errors.As(err, &e) && e.Transport == rpc.NoFault && len(packed) > 0 && proto.Unmarshal(packed, &all) == nil {
		e.Message = all.GetMessage()
		for _, d := range all.GetDetails() {
			if detail, err := d.UnmarshalNew(); err == nil {
				protocol.TakeDetail(e, detail)
			}
		}
	}
	return err
}

// deliver hands a reply to s.
func (c *caller) deliver(m *message, s rpc.Stream) error {
	plain, err := m.take(c.out)
	if err != nil {
		return &rpc.Error{Code: rpc.Internal, Message: "parse reply: " + err.Error(), Transport: rpc.Protocol}
	}
	return s.Send(plain)
}

// noRequest says why there is no message to send.
func (c *caller) noRequest(err error) error {
	if errors.Is(err, io.EOF) {
		return rpc.Errorf(rpc.Internal, "call %s: no request", c.path)
	}
	return err
}
