package call

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"
)

// Field is one field of a header as it crossed, or one of HTTP/2's own.
type Field struct{ Name, Value string }

// Watcher is told what crosses, one thing at a time.
type Watcher interface {
	Request(fields []Field)
	Answer(proto, status string, h http.Header)
	Message(m proto.Message) error
	Body(r io.Reader, h http.Header) error
	Trailer(h http.Header)
}

// Timing is what a call took. A duration is 0 for what did not happen.
type Timing struct {
	Dial, TLS, FirstByte, Total time.Duration // FirstByte and Total from the beginning
	Sent, Received              int64         // bytes at the socket
}

// meter times one exchange and counts its bytes.
type meter struct {
	sent, received atomic.Int64

	mu                    sync.Mutex
	begun, dialed, answer time.Time
	dial, tls             time.Duration
	request               []Field
	heard                 []byte // what the server says first
}

func (m *meter) hear(b []byte) {
	const enough = 16
	m.received.Add(int64(len(b)))
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.heard == nil {
		m.heard = bytes.Clone(b[:min(len(b), enough)])
	}
}

// timing gives what was measured until now.
func (m *meter) timing() Timing {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.begun.IsZero() {
		return Timing{}
	}
	t := Timing{Dial: m.dial, TLS: m.tls, Total: time.Since(m.begun), Sent: m.sent.Load(), Received: m.received.Load()}
	if !m.answer.IsZero() {
		t.FirstByte = m.answer.Sub(m.begun)
	}
	return t
}

// tap is an HTTP client that tells what passes it, until it is closed: a
// request may outlive the call that gave it up.
type tap struct {
	*client
	watch Watcher

	mu     sync.Mutex
	closed bool
	end    ending // of the last answer
}

// tell has one thing told at a time.
func (t *tap) tell(what func(Watcher) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	return what(t.watch)
}

// ending is what is left of an answer in the end; its zero is of none.
type ending struct {
	code   int // HTTP's
	status string
	header http.Header
}

// close ends the telling, and gives the end of the last answer.
func (t *tap) close() ending {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.CloseIdleConnections()
	return t.end
}

// Do makes a request.
func (t *tap) Do(r *http.Request) (*http.Response, error) {
	r = r.WithContext(httptrace.WithClientTrace(r.Context(), t.trace()))
	// Once there is an answer, HTTP/2 of net/http waits for more of the body and
	// not for the end of the context.
	if body := r.Body; body != nil {
		context.AfterFunc(r.Context(), func() { _ = body.Close() })
	}
	answer, err := t.client.Do(r)
	if err != nil {
		return nil, err
	}
	return answer, t.tell(func(w Watcher) error {
		t.end = ending{answer.StatusCode, answer.Status, answer.Header}
		w.Answer(answer.Proto, answer.Status, answer.Header.Clone())
		return nil
	})
}

func (t *tap) trace() *httptrace.ClientTrace {
	m := &t.meter
	locked := func(do func()) {
		m.mu.Lock()
		defer m.mu.Unlock()
		do()
	}
	locked(func() { m.begun = time.Now() })
	return &httptrace.ClientTrace{
		ConnectDone: func(_, _ string, err error) {
			locked(func() {
				if err == nil {
					m.dialed, m.dial = time.Now(), time.Since(m.begun)
				}
			})
		},
		TLSHandshakeDone: func(tls.ConnectionState, error) {
			locked(func() { m.tls = time.Since(m.dialed) })
		},
		WroteHeaderField: func(name string, values []string) {
			locked(func() {
				for _, v := range values {
					m.request = append(m.request, Field{name, v})
				}
			})
		},
		WroteHeaders: func() {
			_ = t.tell(func(w Watcher) error {
				m.mu.Lock()
				defer m.mu.Unlock()
				w.Request(m.request)
				return nil
			})
		},
		GotFirstResponseByte: func() { locked(func() { m.answer = time.Now() }) },
	}
}
