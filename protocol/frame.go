package protocol

import "github.com/tare-bench/tare/rpc"

// Framer is implemented by a protocol whose unary calls are HTTP exchanges, so
// that the lean driver can send them as prepared bytes without the stack's own
// client library. What it sends must be, field for field, what the protocol's
// Conn sends, so that the server does equal work.
type Framer interface {
	// Carriage says how a client of these options connects; an error says why
	// the lean driver cannot stand for it.
	Carriage(o Options) (Carriage, error)
	// Frame prepares one unary call, with o.Timeout to be answered in.
	Frame(m *rpc.Method, in any, o Options) (Frame, error)
}

// Carriage says how frames travel.
type Carriage struct {
	HTTP2     bool // over HTTP/2 with prior knowledge, else HTTP/1.1
	Conns     int  // connections kept
	KeepAlive bool // false: each call opens and closes a connection
}

// Frame is one prepared HTTP exchange.
type Frame struct {
	Verb, Path string
	Header     []Field // besides host, and content-length where Body has one
	Body       []byte
	// Check says whether the answer is a success, as cheaply as it can; it does
	// not decode the reply. It may keep nothing of the answer.
	Check func(Answer) error
}

// Answer is what came back, valid until Check returns.
type Answer struct {
	Status int
	Fields []Field // header and trailer, names in lower case
	Body   []byte
}

// Field gives the first value of a field, or "".
func (a Answer) Field(name string) string {
	for _, f := range a.Fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}
