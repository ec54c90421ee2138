package connect

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/tare-bench/tare/compress"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// framing is what tells the two protocols' unary calls apart on the wire.
type framing interface {
	// header gives the fields of a request; coding is the stack's compressor's
	// name, or "".
	header(subtype, coding string, timeout time.Duration) []protocol.Field
	// body gives what carries a message.
	body(message []byte, c compress.Compressor) ([]byte, error)
	// check gives what Frame.Check does.
	check(c compress.Compressor) func(protocol.Answer) error
	// media gives the content types of requests, streams among them.
	media(subtype string) []string
}

// Carriage says that frames travel as the client's requests would.
func (Protocol) Carriage(o protocol.Options) (protocol.Carriage, error) {
	return protocol.Carriage{
		HTTP2:     o.Settings[version.Name] == http2,
		Conns:     kept(o),
		KeepAlive: o.Settings[keepAlive.Name] != off,
	}, nil
}

// Frame prepares a unary call.
func (p Protocol) Frame(m *rpc.Method, in any, o protocol.Options) (protocol.Frame, error) {
	bound, err := bindMethod(m, o)
	if err != nil {
		return protocol.Frame{}, err
	}
	encoded, err := bound.in.Append(nil, bound.in.Native(in))
	if err != nil {
		return protocol.Frame{}, fmt.Errorf("encode request of %s: %w", bound.path, err)
	}
	body, err := p.framing.body(encoded, o.Compressor)
	if err != nil {
		return protocol.Frame{}, fmt.Errorf("frame request of %s: %w", bound.path, err)
	}
	coding := ""
	if o.Compressor != nil {
		coding = o.Compressor.Spec().Name
	}
	header := p.framing.header(o.Codec.Spec().Subtype, coding, o.Timeout)
	if o.Settings[version.Name] == http1 && o.Settings[keepAlive.Name] == off {
		header = append(header, protocol.Field{Name: "connection", Value: "close"})
	}
	return protocol.Frame{
		Verb: http.MethodPost, Path: bound.path,
		Header: header,
		Body:   body,
		Check:  p.framing.check(o.Compressor),
	}, nil
}

func compressed(prefix, message []byte, c compress.Compressor) ([]byte, error) {
	out := bytes.NewBuffer(prefix)
	w := c.NewWriter()
	w.Reset(out)
	if _, err := w.Write(message); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// connectFraming is a unary call of Connect: the message alone is the body.
// Source: connectrpc.com/docs/protocol, Unary-Request.
type connectFraming struct{}

func (connectFraming) header(subtype, coding string, timeout time.Duration) []protocol.Field {
	fields := []protocol.Field{
		{Name: "user-agent", Value: fmt.Sprintf("connect-go/%s (%s)", connect.Version, runtime.Version())},
		{Name: "connect-protocol-version", Value: "1"},
		{Name: "content-type", Value: "application/" + subtype},
		{Name: "connect-timeout-ms", Value: strconv.FormatInt(timeout.Milliseconds(), 10)},
	}
	if coding == "" {
		return append(fields, protocol.Field{Name: "accept-encoding", Value: "identity"})
	}
	return append(fields,
		protocol.Field{Name: "accept-encoding", Value: coding},
		protocol.Field{Name: "content-encoding", Value: coding})
}

func (connectFraming) body(message []byte, c compress.Compressor) ([]byte, error) {
	if c == nil {
		return message, nil
	}
	return compressed(nil, message, c)
}

// check reads the status: a failure of Connect is one of HTTP, and its body is
// JSON whatever the codec.
func (connectFraming) check(compress.Compressor) func(protocol.Answer) error {
	return func(a protocol.Answer) error {
		if a.Status == http.StatusOK {
			return nil
		}
		var e struct {
			Code    connect.Code `json:"code"`
			Message string       `json:"message"`
		}
		if err := json.Unmarshal(a.Body, &e); err != nil {
			return notOfProtocol("HTTP status %d without an error", a.Status)
		}
		return &rpc.Error{Code: rpc.Code(e.Code), Message: e.Message}
	}
}

// webFraming is a call of gRPC-Web: messages in envelopes, the trailer in the
// last of them.
// Source: github.com/grpc/grpc, doc/PROTOCOL-WEB.md.
type webFraming struct{}

const (
	prefixLen      = 5
	flagCompressed = 0x01
	flagTrailer    = 0x80
	statusField    = "grpc-status"
	messageField   = "grpc-message"
	detailsField   = "grpc-status-details-bin"
)

func (webFraming) header(subtype, coding string, timeout time.Duration) []protocol.Field {
	agent := fmt.Sprintf("grpc-go-connect/%s (%s)", connect.Version, runtime.Version())
	fields := []protocol.Field{
		{Name: "user-agent", Value: agent},
		{Name: "x-user-agent", Value: agent},
		{Name: "content-type", Value: "application/grpc-web+" + subtype},
		{Name: "accept-encoding", Value: "identity"},
		{Name: "grpc-timeout", Value: protocol.FormatTimeout(timeout)},
	}
	if coding == "" {
		return fields
	}
	return append(fields,
		protocol.Field{Name: "grpc-encoding", Value: coding},
		protocol.Field{Name: "grpc-accept-encoding", Value: coding})
}

func (webFraming) body(message []byte, c compress.Compressor) ([]byte, error) {
	prefix := make([]byte, prefixLen)
	body := append(prefix, message...)
	if c != nil {
		prefix[0] = flagCompressed
		var err error
		if body, err = compressed(prefix, message, c); err != nil {
			return nil, err
		}
	}
	binary.BigEndian.PutUint32(body[1:prefixLen], uint32(len(body)-prefixLen))
	return body, nil
}

// check reads the trailer, which is in the header where the server had no
// message to send.
func (webFraming) check(c compress.Compressor) func(protocol.Answer) error {
	inflate := newInflater(c)
	return func(a protocol.Answer) error {
		if a.Status != http.StatusOK {
			return notOfProtocol("HTTP status %d", a.Status)
		}
		if code := a.Field(statusField); code != "" {
			return statusError(code, a.Field(messageField))
		}
		trailer, flags, ok := lastEnvelope(a.Body)
		if !ok || flags&flagTrailer == 0 {
			return notOfProtocol("no trailer in %d bytes", len(a.Body))
		}
		if flags&flagCompressed != 0 {
			var err error
			if trailer, err = inflate(trailer); err != nil {
				return notOfProtocol("decompress trailer: %v", err)
			}
		}
		return statusError(trailerField(trailer, statusField), trailerField(trailer, messageField))
	}
}

// lastEnvelope gives the last of a body's envelopes.
func lastEnvelope(body []byte) (content []byte, flags byte, ok bool) {
	for len(body) >= prefixLen {
		n := int(binary.BigEndian.Uint32(body[1:prefixLen]))
		flags, body = body[0], body[prefixLen:]
		if n > len(body) {
			return nil, 0, false
		}
		content, body, ok = body[:n], body[n:], true
	}
	return content, flags, ok && len(body) == 0
}

// trailerField finds a field of a trailer, whose lines end with CRLF.
func trailerField(trailer []byte, name string) string {
	for len(trailer) > 0 {
		line, rest, _ := bytes.Cut(trailer, []byte("\r\n"))
		trailer = rest
		key, value, _ := bytes.Cut(line, []byte(":"))
		if strings.EqualFold(string(key), name) {
			return string(textproto.TrimBytes(value))
		}
	}
	return ""
}

// longestTrailer is many times what servers put into one.
const longestTrailer = 256 << 10

// newInflater gives a function that decompresses trailers.
func newInflater(c compress.Compressor) func([]byte) ([]byte, error) {
	if c == nil {
		return func([]byte) ([]byte, error) { return nil, fmt.Errorf("not a coding of the stack") }
	}
	readers := sync.Pool{New: func() any { return c.NewReader() }}
	return func(src []byte) ([]byte, error) {
		r := readers.Get().(compress.Reader)
		defer readers.Put(r)
		if err := r.Reset(bytes.NewReader(src)); err != nil {
			return nil, err
		}
		plain, err := io.ReadAll(io.LimitReader(r, longestTrailer+1))
		if err == nil && len(plain) > longestTrailer {
			err = fmt.Errorf("longer than %d bytes", longestTrailer)
		}
		return plain, err
	}
}

func statusError(code, message string) error {
	if code == "0" {
		return nil
	}
	n, err := strconv.Atoi(code)
	if err != nil {
		return notOfProtocol("grpc-status %q", code)
	}
	if plain, err := url.PathUnescape(message); err == nil {
		message = plain
	}
	// Unescaped or not, message may be the answer's own memory.
	return &rpc.Error{Code: rpc.Code(n), Message: strings.Clone(message)}
}

func notOfProtocol(format string, args ...any) error {
	return &rpc.Error{Code: rpc.Unavailable, Message: fmt.Sprintf(format, args...), Transport: rpc.Protocol}
}
