package lean

import (
	"fmt"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2/hpack"

	"github.com/tare-bench/tare/protocol"
)

// Call is a frame made ready for the connections of one client. It may be made
// any number of times, and by several slots at once.
type Call struct {
	check func(protocol.Answer) error
	verb  string

	wire []byte // HTTP/1.1: all of it

	head *head  // HTTP/2: its header
	body []byte // HTTP/2: what its DATA frames carry
}

// head is the header of HTTP/2 calls. Calls whose headers are equal share one,
// so that a connection can tell by its address that it has sent it before.
type head struct{ fields []hpack.HeaderField }

// heads are the headers that were prepared, by their text.
type heads struct {
	mu     sync.Mutex
	byText map[string]*head
}

// Prepare makes the bytes of a frame. It keeps f.Body where it need not copy.
func (c *Client) Prepare(f protocol.Frame) (*Call, error) {
	for _, h := range f.Header {
		if !httpguts.ValidHeaderFieldName(h.Name) || !httpguts.ValidHeaderFieldValue(h.Value) {
			return nil, fmt.Errorf("header field %q: %q is not one of HTTP", h.Name, h.Value)
		}
	}
	if strings.ContainsAny(f.Verb+f.Path, " \r\n\x00") || f.Verb == "" || !strings.HasPrefix(f.Path, "/") {
		return nil, fmt.Errorf("%q %q is not a request of HTTP", f.Verb, f.Path)
	}
	call := &Call{check: f.Check, verb: f.Verb}
	if c.config.Carriage.HTTP2 {
		call.head, call.body = c.heads.of(fields2(f, c.config.Addr)), f.Body
	} else {
		call.wire = wire1(f, c.config)
	}
	return call, nil
}

// wire1 writes an HTTP/1.1 request. Names are spelled as net/http spells them,
// so that a server parses what its usual clients send.
func wire1(f protocol.Frame, c Config) []byte {
	var b strings.Builder
	field := func(name, value string) {
		b.WriteString(textproto.CanonicalMIMEHeaderKey(name) + ": " + value + "\r\n")
	}
	b.WriteString(f.Verb + " " + f.Path + " HTTP/1.1\r\n")
	field("host", c.Addr)
	closes := false
	for _, h := range f.Header {
		field(h.Name, h.Value)
		closes = closes || h.Name == "connection"
	}
	if len(f.Body) > 0 || f.Verb == http.MethodPost || f.Verb == http.MethodPut || f.Verb == http.MethodPatch {
		field("content-length", strconv.Itoa(len(f.Body)))
	}
	if !c.Carriage.KeepAlive && !closes {
		field("connection", "close")
	}
	b.WriteString("\r\n")
	b.Write(f.Body)
	return []byte(b.String())
}

// fields2 gives the fields of an HTTP/2 request in the order in which Go's
// clients send them. Those that ask for trailers do not know their body's
// length beforehand, and send none.
func fields2(f protocol.Frame, authority string) []hpack.HeaderField {
	all := []hpack.HeaderField{
		{Name: ":method", Value: f.Verb}, {Name: ":scheme", Value: "http"},
		{Name: ":path", Value: f.Path}, {Name: ":authority", Value: authority},
	}
	trailers := false
	for _, h := range f.Header {
		all = append(all, hpack.HeaderField{Name: h.Name, Value: h.Value})
		trailers = trailers || h.Name == "te"
	}
	if len(f.Body) > 0 && !trailers {
		all = append(all, hpack.HeaderField{Name: "content-length", Value: strconv.Itoa(len(f.Body))})
	}
	return all
}

// maxHeads is how many are kept to be shared. Where headers differ from call to
// call there is nothing to share.
const maxHeads = 1024

func (h *heads) of(fields []hpack.HeaderField) *head {
	var text strings.Builder
	for _, f := range fields {
		text.WriteString(f.Name + "\n" + f.Value + "\n")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if known, ok := h.byText[text.String()]; ok {
		return known
	}
	if h.byText == nil || len(h.byText) == maxHeads {
		h.byText = make(map[string]*head)
	}
	made := &head{fields}
	h.byText[text.String()] = made
	return made
}
