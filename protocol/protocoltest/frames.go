package protocoltest

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
)

var frameChecks = []check{
	{"a prepared frame is answered rightly", unary, frameAnswered},
	{"a prepared frame tells a failure", unary, frameRefused},
	{"a prepared frame gives its call a deadline", unary, frameDeadline},
	{"a prepared frame is what a client sends", unary, frameEqual},
	{"a carriage is what the settings say", unary, carriage},
}

// framer gives what the protocol frames with, or skips the test.
func (s *suite) framer(t *testing.T) (protocol.Framer, protocol.Options, protocol.Carriage) {
	t.Helper()
	f, ok := s.protocol.(protocol.Framer)
	if !ok {
		t.Skip("the protocol prepares no frames")
	}
	o := s.options()
	o.Timeout = time.Hour
	c, err := f.Carriage(o)
	if err != nil {
		t.Skipf("no carriage: %v", err)
	}
	return f, o, c
}

func frameAnswered(t *testing.T, s *suite) {
	f, o, carriage := s.framer(t)
	taken := make(chan any, 1)
	srv := s.serve(t, rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, st rpc.Stream) error {
		in, err := st.Recv()
		if err != nil {
			return err
		}
		taken <- in
		return st.Send(&conformance.EchoResponse{Item: conformance.Ordinary()})
	}))
	in := &conformance.EchoRequest{Item: conformance.Ordinary()}
	frame := prepare(t, f, in, o)
	answer := send(t, frame, srv.addr(), carriage)
	if err := frame.Check(answer); err != nil {
		t.Fatalf("the frame's check refuses a right answer: %v (status %d, %v)", err, answer.Status, answer.Fields)
	}
	if diff := conformance.Diff(in, await(t, taken, "the handler")); diff != "" {
		t.Errorf("the handler got another message: %s", diff)
	}
}

func frameRefused(t *testing.T, s *suite) {
	f, o, carriage := s.framer(t)
	srv := s.serve(t, conformance.Handler{})
	in := &conformance.EchoRequest{FailCode: int32(rpc.NotFound), FailMessage: "no such account"}
	frame := prepare(t, f, in, o)
	answer, overwrite := lent(send(t, frame, srv.addr(), carriage))
	err := frame.Check(answer)
	if err == nil {
		t.Fatal("the frame's check takes a failure for a success")
	}
	text := strings.Clone(err.Error())
	overwrite()
	if got := err.Error(); got != text {
		t.Errorf("the error keeps memory of the answer: %q has become %q", text, got)
	}
	if e := rpc.ErrorOf(err); e.Code != rpc.NotFound || e.Transport != rpc.NoFault {
		t.Errorf("the frame's check says %q of a failure with %s", rpc.Class(err), rpc.NotFound)
	}
}

func frameDeadline(t *testing.T, s *suite) {
	f, o, carriage := s.framer(t)
	left := make(chan time.Duration, 1)
	srv := s.serve(t, rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, st rpc.Stream) error {
		d, _ := ctx.Deadline()
		left <- time.Until(d)
		return conformance.Handler{}.Handle(ctx, m, st)
	}))
	send(t, prepare(t, f, &conformance.EchoRequest{}, o), srv.addr(), carriage)
	if got := await(t, left, "the handler"); got < o.Timeout-time.Minute || got > o.Timeout+time.Minute {
		t.Errorf("the handler has %s left of %s", got, o.Timeout)
	}
}

// frameEqual compares what a client of the stack sends with what the frame
// says. Values that differ between two calls of the client, as that of a
// deadline does, need only be there.
func frameEqual(t *testing.T, s *suite) {
	item := &conformance.Item{Text: "framed", Counts: map[string]conformance.Int64{"a": 1}}
	for m, in := range map[*rpc.Method]any{
		conformance.Echo:  &conformance.EchoRequest{Item: item},
		conformance.Find:  conformance.OrdinaryQuery(),
		conformance.Amend: &conformance.AmendRequest{Name: "a/b", Item: item},
	} {
		t.Run(m.Name, func(t *testing.T) { frameEqualOf(t, s, m, in) })
	}
}

func frameEqualOf(t *testing.T, s *suite, m *rpc.Method, in any) {
	f, o, carriage := s.framer(t)
	requests := record(t)
	var sent [2]request
	for i := range sent {
		ctx, cancel := context.WithTimeout(t.Context(), o.Timeout-time.Duration(i)*time.Minute)
		c := s.dial(t, requests.addr)
		_, _ = call(ctx, c, m, in) // the recorder answers no protocol
		cancel()
		sent[i] = await(t, requests.taken, "the client's request")
	}
	frame := prepareOf(t, f, m, in, o)
	want := sent[0]
	if frame.Verb != want.verb || frame.Path != want.path {
		t.Errorf("frame goes to %s %s, the client to %s %s", frame.Verb, frame.Path, want.verb, want.path)
	}
	if want.http2 != carriage.HTTP2 {
		t.Errorf("frame goes over HTTP/2: %v, the client: %v", carriage.HTTP2, want.http2)
	}
	if !bytes.Equal(frame.Body, want.body) {
		t.Errorf("frame's body is %q, the client's %q", frame.Body, want.body)
	}
	got := make(map[string]string)
	for _, field := range frame.Header {
		if field.Name != strings.ToLower(field.Name) {
			t.Errorf("field name %q is not in lower case", field.Name)
		}
		got[field.Name] = field.Value
	}
	for name, value := range want.fields {
		if has, ok := got[name]; !ok {
			t.Errorf("the frame lacks the client's %s: %s", name, value)
		} else if value == sent[1].fields[name] && has != value {
			t.Errorf("the frame has %s: %s, the client %s", name, has, value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want.fields[name]; !ok {
			t.Errorf("the frame has %s: %s, the client nothing", name, got[name])
		}
	}
}

func carriage(t *testing.T, s *suite) {
	_, _, c := s.framer(t)
	if c.KeepAlive == s.stack.ConnPerCall {
		t.Errorf("carriage keeps connections: %v", c.KeepAlive)
	}
	if n, err := strconv.Atoi(s.settings["conns"]); err == nil && c.Conns != n {
		t.Errorf("carriage has %d connections, want %d", c.Conns, n)
	}
}

func prepare(t *testing.T, f protocol.Framer, in any, o protocol.Options) protocol.Frame {
	t.Helper()
	return prepareOf(t, f, conformance.Echo, in, o)
}

func prepareOf(t *testing.T, f protocol.Framer, m *rpc.Method, in any, o protocol.Options) protocol.Frame {
	t.Helper()
	frame, err := f.Frame(m, in, o)
	if err != nil {
		t.Fatalf("frame: %v", err)
	}
	return frame
}

// send carries a frame with net/http's client, which knows no stack.
func send(t *testing.T, f protocol.Frame, addr string, c protocol.Carriage) protocol.Answer {
	t.Helper()
	tr := &http.Transport{DisableCompression: true, DisableKeepAlives: !c.KeepAlive, Protocols: new(http.Protocols)}
	tr.Protocols.SetHTTP1(!c.HTTP2)
	tr.Protocols.SetUnencryptedHTTP2(c.HTTP2)
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(patient(t), f.Verb, "http://"+addr+f.Path, bytes.NewReader(f.Body))
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range f.Header {
		req.Header.Set(field.Name, field.Value)
	}
	res, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatalf("send frame: %v", err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("read answer: %v", err)
	}
	answer := protocol.Answer{Status: res.StatusCode, Body: body}
	for _, h := range []http.Header{res.Header, res.Trailer} {
		for name, values := range h {
			for _, v := range values {
				answer.Fields = append(answer.Fields, protocol.Field{Name: strings.ToLower(name), Value: v})
			}
		}
	}
	return answer
}

// lent moves an answer into one buffer that its sender uses again, as the lean
// driver's are. overwrite does so.
func lent(a protocol.Answer) (_ protocol.Answer, overwrite func()) {
	size := len(a.Body)
	for _, f := range a.Fields {
		size += len(f.Name) + len(f.Value)
	}
	buffer := make([]byte, 0, size) // which must not move
	keep := func(s string) []byte {
		buffer = append(buffer, s...)
		return buffer[len(buffer)-len(s):]
	}
	view := func(s string) string {
		b := keep(s)
		return unsafe.String(unsafe.SliceData(b), len(b))
	}
	out := protocol.Answer{Status: a.Status, Body: keep(string(a.Body))}
	for _, f := range a.Fields {
		out.Fields = append(out.Fields, protocol.Field{Name: view(f.Name), Value: view(f.Value)})
	}
	return out, func() {
		for i := range buffer {
			buffer[i] = '#'
		}
	}
}

// request is what the recorder was sent.
type request struct {
	verb, path string
	http2      bool
	fields     map[string]string // but host and content-length
	body       []byte
}

type recorder struct {
	addr  string
	taken <-chan request
}

// record starts a server that takes any HTTP request and answers none well.
func record(t *testing.T) recorder {
	t.Helper()
	taken := make(chan request, 16)
	l := listen(t)
	srv := &http.Server{Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req := request{verb: r.Method, path: r.URL.RequestURI(), http2: r.ProtoMajor == 2, fields: make(map[string]string)}
		req.body, _ = io.ReadAll(r.Body)
		for name, values := range r.Header {
			req.fields[strings.ToLower(name)] = strings.Join(values, ", ")
		}
		delete(req.fields, "content-length")
		taken <- req
		w.WriteHeader(http.StatusTeapot)
	})}
	srv.Protocols.SetHTTP1(true)
	srv.Protocols.SetUnencryptedHTTP2(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	t.Cleanup(func() {
		_ = srv.Close()
		await(t, done, "the recorder to end")
	})
	return recorder{addr: l.addr(), taken: taken}
}
