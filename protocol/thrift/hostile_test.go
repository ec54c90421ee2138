package thrift_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apache "github.com/apache/thrift/lib/go/thrift"

	native "github.com/tare-bench/tare/gen/thrift/conformance"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/protocol/thrift"
	"github.com/tare-bench/tare/rpc"
)

// frame puts a length before text.
func frame(text string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
}

// Messages in the binary form.
const (
	call   = "\x80\x01\x00\x01\x00\x00\x00\x04Echo\x00\x00\x00\x07"
	oneway = "\x80\x01\x00\x04\x00\x00\x00\x04Echo\x00\x00\x00\x07"
	empty  = "\x0c\x00\x01\x00\x00" // arguments with an empty request
)

// TestServerAnswersWhatItCan has a server answer what generated clients never
// send, and go on on the same connection.
func TestServerAnswersWhatItCan(t *testing.T) {
	for name, test := range map[string]struct{ sent, want string }{
		"no request":                 {call + "\x00", "message is not there"},
		"another field alone":        {call + "\x0c\x00\x02\x00\x00", "message is not there"},
		"a request of another type":  {call + "\x08\x00\x01\x00\x00\x00\x01\x00", "message is not there"},
		"arguments cut short":        {call + "\x0c\x00\x01", "parse request"},
		"noise for arguments":        {call + "\xff\xff\xff\xff\xff", "parse request"},
		"a reply for a request":      {"\x80\x01\x00\x02" + call[4:] + empty, "only calls are answered"},
		"a method of no service":     {strings.Replace(call, "Echo", "Ecko", 1) + empty, `no method "Ecko"`},
		"fields of a newer client":   {call + "\x08\x00\x09\x00\x00\x00\x01" + "\x0c\x00\x01\x00" + "\x0b\x00\x02\x00\x00\x00\x01a\x00", "success"},
		"a message without version":  {"\x00\x00\x00\x04Echo\x01\x00\x00\x00\x07" + empty, "success"},
		"one that expects no answer": {oneway + empty, ""},
	} {
		t.Run(name, func(t *testing.T) {
			conn := connect(t, serve(t, conformance.Service, conformance.Handler{}, options(t, forms[0].codec)))
			exchange := func(sent, want string) {
				t.Helper()
				if _, err := conn.Write(frame(sent)); err != nil {
					t.Fatal(err)
				}
				if want == "" {
					return
				}
				answer := readFrame(t, conn)
				if want == "success" { // the reply's first field is that of results
					if !strings.Contains(answer, "Echo\x00\x00\x00\x07\x0c\x00\x00") {
						t.Errorf("answer is %q", answer)
					}
				} else if !strings.Contains(answer, want) {
					t.Errorf("answer is %q, want %q in it", answer, want)
				}
			}
			exchange(test.sent, test.want)
			exchange(call+empty, "success")
		})
	}
}

// TestServerClosesOnNoise has a server close connections on which nothing can be
// answered, for as little memory as came.
func TestServerClosesOnNoise(t *testing.T) {
	addr := serve(t, conformance.Service, conformance.Handler{}, options(t, forms[0].codec))
	for name, sent := range map[string][]byte{
		"a request of HTTP":         []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n" + strings.Repeat(" ", 1<<13)),
		"a length below zero":       []byte("\xff\xff\xff\xff"),
		"a frame of nothing":        frame(""),
		"another version":           frame("\x80\x02\x00\x01\x00\x00\x00\x04Echo\x00\x00\x00\x07"),
		"a name of 2 GB":            frame("\x80\x01\x00\x01\x7f\xff\xff\xffEcho"),
		"the compact form":          frame("\x82\x21\x07\x04Echo\x1c\x00\x00"),
		"a name that fills a frame": append(binary.BigEndian.AppendUint32(nil, 1<<20), "\x80\x01\x00\x01\x00\x0f\x00\x00"+strings.Repeat("a", 8<<10)...),
	} {
		t.Run(name, func(t *testing.T) {
			conn := connect(t, addr)
			if _, err := conn.Write(sent); err != nil {
				t.Fatal(err)
			}
			if n, err := io.Copy(io.Discard, conn); n > 0 || isTimeout(err) {
				t.Errorf("the server answers %d bytes, and then %v", n, err)
			}
		})
	}
}

// TestLengthsThatLieTakeNoMemory has many connections claim the longest frames,
// and bring nothing of them.
func TestLengthsThatLieTakeNoMemory(t *testing.T) {
	const conns = 50
	addr := serve(t, conformance.Service, conformance.Handler{}, options(t, forms[0].codec))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range conns {
		conn := connect(t, addr)
		long := append(binary.BigEndian.AppendUint32(nil, 60<<20), call...)
		if _, err := conn.Write(append(long, make([]byte, 8<<10)...)); err != nil {
			t.Fatal(err)
		}
	}
	c := dial(t, addr, conformance.Service, options(t, forms[0].codec))
	if _, err := rpc.Invoke(t.Context(), c, conformance.Echo, &conformance.EchoRequest{}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > conns<<20 {
		t.Errorf("%d connections took %d bytes", conns, took)
	}
}

// TestClientOfNoise has servers answer what is no reply to the call.
func TestClientOfNoise(t *testing.T) {
	reply := "\x80\x01\x00\x02" + call[4:len(call)-1]
	for name, test := range map[string]struct {
		answer []byte
		fault  rpc.Fault
	}{
		"nothing":               {nil, rpc.Reset},
		"half a frame":          {frame(reply + "\x01" + empty)[:20], rpc.Reset},
		"HTTP":                  {[]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), rpc.NoFault}, // a length beyond the limit
		"a length below zero":   {[]byte("\xff\xff\xff\xff"), rpc.Protocol},
		"noise in a frame":      {frame("noise"), rpc.Protocol},
		"another call's number": {frame(reply + "\x02" + empty), rpc.Protocol},
		"another call's name":   {frame(strings.Replace(reply, "Echo", "Find", 1) + "\x01" + empty), rpc.Protocol},
		"no field":              {frame(reply + "\x01\x00"), rpc.Protocol},
		"an unknown field":      {frame(reply + "\x01\x0c\x00\x09\x00\x00"), rpc.Protocol},
		"a failure cut short":   {frame(reply + "\x01\x0c\x00\x01"), rpc.Protocol},
		"a reply cut short":     {frame(reply + "\x01\x0c\x00\x00"), rpc.Protocol},
	} {
		t.Run(name, func(t *testing.T) {
			l := listen(t)
			defer l.Close()
			done := make(chan error, 1)
			go func() {
				conn, err := l.Accept()
				if err == nil {
					_, err = io.ReadFull(conn, make([]byte, len(frame(call+empty))))
					_, _ = conn.Write(test.answer)
					_ = conn.Close()
				}
				done <- err
			}()
			c := dial(t, l.Addr().String(), conformance.Service, options(t, forms[0].codec))
			_, err := rpc.Invoke(t.Context(), c, conformance.Echo, &conformance.EchoRequest{})
			if err == nil || rpc.ErrorOf(err).Transport != test.fault {
				t.Errorf("error is %v with fault %q, want %q", err, rpc.ErrorOf(err).Transport, test.fault)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestEndClosesIdleConnections has a server end that a client keeps a connection
// to.
func TestEndClosesIdleConnections(t *testing.T) {
	l := listen(t)
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	o := options(t, forms[0].codec)
	go func() { done <- thrift.New().Serve(ctx, l, conformance.Service, conformance.Handler{}, o) }()
	idle := connect(t, l.Addr().String())
	if _, err := idle.Write(frame(call + empty)); err != nil {
		t.Fatal(err)
	}
	readFrame(t, idle)
	end()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("the server waits for a connection without a call")
	}
	if n, err := idle.Read(make([]byte, 1)); n > 0 || isTimeout(err) {
		t.Errorf("the connection is open: %v", err)
	}
}

// TestLongCallsLeaveTheirConnection has a handler work for longer than the server
// waits before it looks after the caller.
func TestLongCallsLeaveTheirConnection(t *testing.T) {
	work := 4 * 5 * time.Millisecond
	h := rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
		select {
		case <-time.After(work):
		case <-ctx.Done():
			return ctx.Err()
		}
		return conformance.Handler{}.Handle(ctx, m, s)
	})
	c := native.NewConformanceServiceClientFactory(
		foreignTransport(t, serve(t, conformance.Service, h, options(t, forms[0].codec))), apache.NewTBinaryProtocolFactoryConf(nil))
	for range 5 {
		if _, err := c.Echo(t.Context(), &native.EchoRequest{}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStalledFramesEnd has a client send part of a frame, and then nothing, in
// virtual time: the server gives up.
func TestStalledFramesEnd(t *testing.T) {
	for name, sent := range map[string]string{
		"half a length":                "\x00\x00",
		"half a heading":               "\x00\x00\x00\x40" + call[:6],
		"half a request":               "\x00\x10\x00\x00" + call + strings.Repeat("a", 64<<10),
		"half of one that is declined": "\x7f\x00\x00\x00" + call + strings.Repeat("a", 64<<10),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancel(t.Context())
				ours, theirs := net.Pipe()
				l := &piped{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
				l.conns <- theirs
				done := make(chan error, 1)
				go func() {
					done <- thrift.New().Serve(ctx, l, conformance.Service, conformance.Handler{}, options(t, forms[0].codec))
				}()
				closed := make(chan error, 1)
				began := time.Now()
				go func() {
					_, err := io.Copy(io.Discard, ours) // what declines it
					closed <- err
				}()
				if _, err := io.WriteString(ours, sent); err != nil {
					t.Fatal(err)
				}
				if err := <-closed; err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took < 20*time.Second || took > time.Minute {
					t.Errorf("the server gave up after %s", took)
				}
				end()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestCallerThatLeavesLateIsNoticed has a request come in two parts, the first of
// which makes the server impatient, and its sender leave a working handler long
// after that.
func TestCallerThatLeavesLateIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		ours, theirs := net.Pipe()
		l := &piped{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
		l.conns <- theirs
		ended := make(chan time.Time, 1)
		h := rpc.HandlerFunc(func(ctx context.Context, _ *rpc.Method, _ rpc.Stream) error {
			<-ctx.Done()
			ended <- time.Now()
			return ctx.Err()
		})
		done := make(chan error, 1)
		go func() { done <- thrift.New().Serve(ctx, l, conformance.Service, h, options(t, forms[0].codec)) }()
		for _, part := range [][]byte{frame(call + empty)[:8], frame(call + empty)[8:]} {
			if _, err := ours.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		const stays = 10 * time.Minute
		left := time.NewTimer(stays)
		select {
		case <-left.C:
		case <-ended:
			t.Fatal("the handler's context ends while its caller waits")
		}
		leaves := time.Now()
		_ = ours.Close()
		if at := <-ended; at.Sub(leaves) > time.Second {
			t.Errorf("the handler goes on for %s", at.Sub(leaves))
		}
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// piped is a listener within the process.
type piped struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *piped) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *piped) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *piped) Addr() net.Addr { return &net.UnixAddr{} }

// FuzzFrames has a server take any frame: it answers, or it closes the connection,
// and answers others either way.
func FuzzFrames(f *testing.F) {
	for _, sent := range []string{call + empty, oneway + empty, call + "\x00", "noise", ""} {
		f.Add([]byte(sent))
	}
	addr := serve(f, conformance.Service, conformance.Handler{}, options(f, forms[0].codec))
	other := dial(f, addr, conformance.Service, options(f, forms[0].codec))
	f.Fuzz(func(t *testing.T, sent []byte) {
		conn := connect(t, addr)
		if _, err := conn.Write(frame(string(sent))); err != nil {
			t.Fatal(err)
		}
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			return // the server has closed it
		}
		if _, err := io.Copy(io.Discard, conn); isTimeout(err) {
			t.Errorf("the server neither answers nor closes: %v", err)
		}
		if _, err := rpc.Invoke(t.Context(), other, conformance.Find, &conformance.FindRequest{Name: "a"}); err != nil {
			t.Errorf("another call fails: %v", err)
		}
	})
}

func connect(t testing.TB, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

func readFrame(t *testing.T, conn net.Conn) string {
	t.Helper()
	var length [4]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(conn, b); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
