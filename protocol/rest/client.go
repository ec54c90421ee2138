package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// streamsPerConn is how many calls net/http's server takes at a time on one
// HTTP/2 connection.
const streamsPerConn = 250

// Dial implements protocol.Protocol. It connects with the first calls.
func (Protocol) Dial(_ context.Context, addr string, svc *rpc.Service, o protocol.Options) (protocol.Conn, error) {
	endpoints, err := bind(svc, o)
	if err != nil {
		return nil, err
	}
	c := &conn{options: o, methods: make(map[*rpc.Method]*caller, len(endpoints))}
	for range transports(o) {
		c.clients = append(c.clients, newClient(o))
	}
	for _, e := range endpoints {
		c.methods[e.method] = &caller{
			endpoint: e, conn: c, refused: carries(e.method.Kind, o.Settings),
			template: &http.Request{
				Method: e.verb, URL: &url.URL{Scheme: "http", Host: addr, Path: e.path}, Host: addr,
				Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
				Header: e.requestHeader(),
			},
		}
	}
	return c, nil
}

// transports is how many transports a client's calls use in turn: over HTTP/1.1
// one keeps all the connections, over HTTP/2 each keeps one. There are none
// where each call has its own: over HTTP/2 a transport that may not keep
// connections dials several for a call, and uses one.
func transports(o protocol.Options) int {
	switch {
	case o.Settings[version.Name] == http1:
		return 1
	case o.Settings[keepAlive.Name] == keepAliveOff:
		return 0
	}
	return connsOf(o)
}

// connsOf is how many connections a client keeps.
func connsOf(o protocol.Options) int {
	if o.Settings[version.Name] == http1 {
		return o.Conns()
	}
	return o.SharedConns(streamsPerConn)
}

func newClient(o protocol.Options) *http.Client {
	each := connsOf(o) / max(1, transports(o))
	return &http.Client{
		Transport: &http.Transport{
			DialContext:         o.DialContext,
			Protocols:           protocols(o.Settings),
			MaxConnsPerHost:     each,
			MaxIdleConnsPerHost: each,
			DisableKeepAlives:   o.Settings[keepAlive.Name] == keepAliveOff,
			DisableCompression:  true, // it would ask for gzip, and undo it
			// Else net/http dials on where a connection's streams are all in use,
			// of which it takes there to be 100 until the server has said.
			HTTP2: &http.HTTP2Config{StrictMaxConcurrentRequests: true},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// conn is a client. Its calls use its HTTP clients in turn.
type conn struct {
	options protocol.Options
	clients []*http.Client
	turn    atomic.Uint64
	methods map[*rpc.Method]*caller
}

// Handle implements protocol.Conn.
func (c *conn) Handle(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
	e, ok := c.methods[m]
	switch {
	case !ok:
		return rpc.Errorf(rpc.Unimplemented, "no method %s", m.Path())
	case e.refused != nil:
		return rpc.Errorf(rpc.Unimplemented, "%s: %v", m.Path(), e.refused)
	case m.Kind.StreamsIn():
		return asError(e.streamed(ctx, s))
	default:
		return asError(e.whole(ctx, s))
	}
}

// asError keeps an *rpc.Error as it is, and a nil one from being an error.
func asError(err error) error {
	if e := rpc.ErrorOf(err); e != nil {
		return e
	}
	return nil
}

// Close implements protocol.Conn.
func (c *conn) Close() error {
	for _, client := range c.clients {
		client.CloseIdleConnections()
	}
	return nil
}

func (c *conn) do(r *http.Request) (*http.Response, error) {
	switch len(c.clients) {
	case 0:
		return newClient(c.options).Do(r)
	case 1:
		return c.clients[0].Do(r)
	}
	return c.clients[c.turn.Add(1)%uint64(len(c.clients))].Do(r)
}

// caller makes one endpoint's calls.
type caller struct {
	*endpoint
	conn     *conn
	template *http.Request // copied for each call; its header is shared
	refused  error
}

// requestHeader is what every request of the endpoint carries. A message that
// is the whole body is compressed as a body; what a stream's framing compresses
// HTTP does not see.
func (e *endpoint) requestHeader() http.Header {
	h := make(http.Header)
	switch {
	case e.bodyless && e.method.Kind.StreamsOut():
		h.Set("Accept", e.streamOut.media()+", "+problemMedia)
	case e.bodyless:
		h.Set("Accept", e.media+", "+problemMedia) // no content type tells a server of several codecs
	case e.method.Kind.StreamsIn():
		h.Set("Content-Type", e.streamIn.media())
	default:
		h.Set("Content-Type", e.media)
		if e.coding != nil {
			h.Set("Content-Encoding", e.coding.name)
		}
	}
	if e.coding != nil && !e.method.Kind.StreamsOut() {
		h.Set("Accept-Encoding", e.coding.name)
	}
	return h
}

// request begins a call's request.
func (c *caller) request(ctx context.Context) (*http.Request, error) {
	r := c.template.WithContext(ctx)
	d, limited := ctx.Deadline()
	if !limited && c.fields.None() {
		return r, nil // with the template's own header
	}
	r.Header = make(http.Header, len(r.Header)+1)
	maps.Copy(r.Header, c.template.Header)
	if limited {
		left := time.Until(d)
		if left <= 0 {
			return nil, context.DeadlineExceeded
		}
		r.Header[timeoutField] = []string{protocol.FormatTimeout(left)}
	}
	return r, c.fields.ToHeader(ctx, r.Header)
}

// whole makes a call whose request is one message.
func (c *caller) whole(ctx context.Context, s rpc.Stream) error {
	r, err := c.request(ctx)
	if err != nil {
		return err
	}
	in, err := s.Recv()
	if err != nil {
		return err
	}
	if c.targeted() {
		if in, err = c.target(r, in); err != nil {
			return err
		}
	}
	var body []byte
	if !c.bodyless {
		if body, err = c.body(in); err != nil {
			return err
		}
	}
	r.Body = http.NoBody
	if len(body) > 0 { // net/http takes a length of 0 for one that is not known
		r.ContentLength = int64(len(body))
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	return c.exchange(ctx, r, s)
}

// target has r go where in says, and gives what is left of it for the body.
func (c *caller) target(r *http.Request, in any) (rest any, err error) {
	path, query, rest, err := c.aim(in)
	if err != nil {
		return nil, err
	}
	u := *r.URL
	u.RawPath, u.RawQuery = path, query
	if u.Path, err = url.PathUnescape(path); err != nil {
		return nil, rpc.Errorf(rpc.Internal, "route %s %s: %v", c.verb, c.path, err)
	}
	r.URL = &u
	return rest, nil
}

// exchange sends r and hands every reply to s.
func (c *caller) exchange(ctx context.Context, r *http.Request, s rpc.Stream) error {
	res, err := c.conn.do(r)
	if err != nil {
		return transportError(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	buf := newBuffer()
	defer buf.free()
	switch {
	case res.StatusCode != http.StatusOK:
		return failed(ctx, buf, res)
	case c.method.Kind.StreamsOut():
		return c.download(ctx, res, buf, s)
	}
	out, err := c.reply(ctx, res, buf)
	if err != nil {
		return err
	}
	return s.Send(out)
}

// body encodes a request's body. It stands in no pooled buffer: net/http may
// read it after the answer has come, and sends it in one packet with its header
// only out of a reader that it knows, which does not say when it is done.
func (e *endpoint) body(in any) ([]byte, error) {
	if e.coding == nil {
		return e.encode(nil, in)
	}
	plain, packed := newBuffer(), newBuffer()
	defer plain.free()
	defer packed.free()
	var err error
	if plain.b, err = e.encode(plain.b, in); err != nil {
		return nil, err
	}
	if err := e.coding.pack(packed, plain.b); err != nil {
		return nil, rpc.Errorf(rpc.Internal, "compress: %v", err)
	}
	return bytes.Clone(packed.b), nil // its length was not known
}

// encode appends a request's message to dst, to which it gives room at once
// where the codec knows how much.
func (e *endpoint) encode(dst []byte, in any) ([]byte, error) {
	native := e.in.Native(in)
	appended := e.in.Append
	if s, ok := e.in.(codec.Sizer); ok {
		dst, appended = slices.Grow(dst, s.Size(native)), s.AppendSized
	}
	dst, err := appended(dst, native)
	if err != nil {
		return dst, rpc.Errorf(rpc.InvalidArgument, "encode %s: %v", e.method.In.Name, err)
	}
	return dst, nil
}

// reply reads a unary answer.
func (c *caller) reply(ctx context.Context, res *http.Response, buf *buffer) (any, error) {
	if err := wantMedia(res.Header, c.media); err != nil {
		return nil, protocolError("%v", err)
	}
	packed, err := c.packed(res.Header)
	if err != nil {
		return nil, protocolError("%v", err)
	}
	limit := c.maxMessage
	if packed {
		limit = packedLimit(limit)
	}
	if err := buf.fill(res.Body, res.ContentLength, limit); err != nil {
		return nil, c.unread(ctx, err)
	}
	src := buf.b
	if packed {
		plain := newBuffer()
		defer plain.free()
		if err := c.coding.unpack(plain, src, c.maxMessage); errors.Is(err, errTooLong) {
			return nil, protocol.TooLong(c.maxMessage)
		} else if err != nil {
			return nil, protocolError("decompress reply: %v", err)
		}
		src = plain.b
	}
	return c.parse(src)
}

func (c *caller) parse(src []byte) (any, error) {
	native, err := c.out.Parse(src)
	if err != nil {
		return nil, protocolError("parse %s: %v", c.method.Out.Name, err)
	}
	return c.out.Plain(native), nil
}

// unread is why an answer was not read.
func (c *caller) unread(ctx context.Context, err error) error {
	if errors.Is(err, errTooLong) {
		return protocol.TooLong(c.maxMessage)
	}
	return transportError(ctx, err)
}

// failed reads an answer that is not a success.
func failed(ctx context.Context, buf *buffer, res *http.Response) error {
	if err := buf.fill(res.Body, res.ContentLength, longestFailure); err != nil && !errors.Is(err, errTooLong) {
		return transportError(ctx, err)
	}
	return decodeFailure(res.StatusCode, buf.b, res.Header.Get(protocol.RetryAfterField), res.Header.Get("Date"))
}

// protocolError is an answer that a server of this protocol would not give.
func protocolError(format string, args ...any) *rpc.Error {
	return &rpc.Error{Code: rpc.Internal, Message: fmt.Sprintf(format, args...), Transport: rpc.Protocol}
}

func transportError(ctx context.Context, err error) *rpc.Error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // the URL is every call's
	}
	return rpc.TransportError(ctx, err)
}
