package lean

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	wire "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/tare-bench/tare/load"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// bench is an HTTP/2 connection without a socket: tests say what the server
// does, and see what became of the calls.
type bench struct {
	*http2
	loop  *loop
	ended map[int]string // class of each call that ended
	twice bool           // a call ended twice
}

func (b *bench) Record(_ int, o load.Observation) {
	_, b.twice = b.ended[o.N]
	b.ended[o.N] = rpc.Class(o.Err)
}

// begun has calls under way, each with a body, on streams 1, 3, 5 ….
func begun(t *testing.T, calls int, body []byte) *bench {
	t.Helper()
	b := newBench(calls, body)
	if err := b.feed(settings, len(settings)); err != nil {
		t.Fatal(err)
	}
	return b
}

// newBench waits for its server's settings.
func newBench(calls int, body []byte) *bench {
	client := &Client{config: Config{
		Carriage: protocol.Carriage{HTTP2: true, Conns: 1, KeepAlive: true},
		InFlight: calls, Deadline: time.Hour, MaxMessage: fewBytes,
	}}
	call, err := client.Prepare(protocol.Frame{
		Verb: "POST", Path: "/a", Body: body,
		Check: func(a protocol.Answer) error {
			if a.Status != 200 || a.Field("grpc-status") != "0" {
				return rpc.Errorf(rpc.Aborted, "%d %v", a.Status, a.Fields)
			}
			return nil
		},
	})
	if err != nil {
		panic(err)
	}
	l := &loop{client: client}
	c := newConn(l, 0, calls)
	b := &bench{http2: c.speaks.(*http2), loop: l, ended: make(map[int]string)}
	l.ready(&trial{
		pace: load.ClosedPace(load.Extent{Exactly: calls}), rec: b, began: time.Now(),
		call: func(int) *Call { return call },
	}, 0, calls)
	c.state = opening
	c.greet()
	return b
}

// feed gives the machine what its server says, in pieces, and lets the loop
// begin calls in between.
func (b *bench) feed(says []byte, piece int) error {
	var held []byte
	for len(says) > 0 && b.conn.state != closed {
		n := min(piece, len(says))
		held, says = append(held, says[:n]...), says[n:]
		used, err := b.http2.feed(held)
		if err != nil {
			b.conn.lose(err)
			return err
		}
		held = held[used:]
		b.loop.offer(b.conn)
		b.loop.begin()
	}
	return nil
}

// says is what a server writes.
func says(write func(f *wire.Framer)) []byte {
	var b bytes.Buffer
	f := wire.NewFramer(&b, nil)
	f.AllowIllegalWrites = true
	write(f)
	return b.Bytes()
}

var settings = says(func(f *wire.Framer) { _ = f.WriteSettings() })

func block(fields ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(fields); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return b.Bytes()
}

func header(f *wire.Framer, id uint32, end bool, fields ...string) {
	_ = f.WriteHeaders(wire.HeadersFrameParam{
		StreamID: id, BlockFragment: block(fields...), EndHeaders: true, EndStream: end,
	})
}

// exchanges are what a server says to calls on streams 1, 3, 5, after its
// settings, and how each call then stands: "" is under way.
var exchanges = []struct {
	about string
	says  func(f *wire.Framer)
	calls [3]string
	fails bool // the connection
}{
	{"answers in another order", func(f *wire.Framer) {
		for _, id := range []uint32{5, 1, 3} {
			header(f, id, false, ":status", "200")
			_ = f.WriteData(id, false, []byte("abc"))
			header(f, id, true, "grpc-status", "0")
		}
	}, [3]string{"ok", "ok", "ok"}, false},
	{"a failure without a body", func(f *wire.Framer) {
		header(f, 1, true, ":status", "200", "grpc-status", "5")
	}, [3]string{"aborted", "", ""}, false},
	{"an interim answer before the right one", func(f *wire.Framer) {
		header(f, 1, false, ":status", "103", "grpc-status", "9")
		header(f, 1, true, ":status", "200", "grpc-status", "0")
	}, [3]string{"ok", "", ""}, false},
	{"padding, priority, continuation", func(f *wire.Framer) {
		b := block(":status", "200", "grpc-status", "0", "x", "y")
		_ = f.WriteHeaders(wire.HeadersFrameParam{
			StreamID: 3, BlockFragment: b[:2], PadLength: 7, Priority: wire.PriorityParam{StreamDep: 1, Weight: 3},
		})
		_ = f.WriteContinuation(3, false, b[2:4])
		_ = f.WriteContinuation(3, true, b[4:])
		_ = f.WriteDataPadded(3, true, []byte("abc"), make([]byte, 9))
	}, [3]string{"", "ok", ""}, false},
	{"unknown frames and settings", func(f *wire.Framer) {
		_ = f.WriteRawFrame(0xfa, 0xff, 1, []byte("?"))
		_ = f.WriteSettings(wire.Setting{ID: 0xf000, Val: 1})
		_ = f.WriteSettingsAck()
		_ = f.WritePriority(1, wire.PriorityParam{})
	}, [3]string{}, false},
	{"a reset", func(f *wire.Framer) {
		_ = f.WriteRSTStream(3, wire.ErrCodeRefusedStream)
		_ = f.WriteData(3, false, []byte("that was under way"))
		header(f, 3, true, "grpc-status", "0")
	}, [3]string{"", "reset", ""}, false},
	{"going away", func(f *wire.Framer) {
		_ = f.WriteGoAway(1, wire.ErrCodeNo, nil)
		header(f, 1, true, ":status", "200", "grpc-status", "0")
	}, [3]string{"ok", "reset", "reset"}, false},
	{"a body longer than the limit", func(f *wire.Framer) {
		header(f, 1, false, ":status", "200")
		_ = f.WriteData(1, true, make([]byte, fewBytes+1))
	}, [3]string{"protocol", "", ""}, false},
	{"a body before its header", func(f *wire.Framer) {
		_ = f.WriteData(1, true, []byte("abc"))
	}, [3]string{"protocol", "", ""}, false},
	{"a header without a status", func(f *wire.Framer) {
		header(f, 1, false, "grpc-status", "0")
	}, [3]string{"protocol", "", ""}, false},
	{"a second header that is no trailer", func(f *wire.Framer) {
		header(f, 1, false, ":status", "200")
		header(f, 1, false, "grpc-status", "0")
	}, [3]string{"protocol", "", ""}, false},
	{"a stream's window that overflows", func(f *wire.Framer) {
		_ = f.WriteWindowUpdate(1, 1<<31-1)
	}, [3]string{"protocol", "", ""}, false},
	{"the connection's window that overflows", func(f *wire.Framer) {
		_ = f.WriteWindowUpdate(0, 1<<31-1)
	}, [3]string{}, true},
	{"a window that grows by nothing", func(f *wire.Framer) {
		_ = f.WriteWindowUpdate(0, 0)
	}, [3]string{}, true},
	{"a push", func(f *wire.Framer) {
		_ = f.WritePushPromise(wire.PushPromiseParam{StreamID: 1, PromiseID: 2, EndHeaders: true})
	}, [3]string{}, true},
	{"a stream that no call opened", func(f *wire.Framer) { header(f, 7, true, ":status", "200") }, [3]string{}, true},
	{"a stream of the server's", func(f *wire.Framer) { header(f, 2, true, ":status", "200") }, [3]string{}, true},
	{"a continuation of nothing", func(f *wire.Framer) { _ = f.WriteContinuation(1, true, nil) }, [3]string{}, true},
	{"a frame amid a header", func(f *wire.Framer) {
		_ = f.WriteHeaders(wire.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x88}})
		_ = f.WritePing(false, [8]byte{})
	}, [3]string{}, true},
	{"a header that is no HPACK", func(f *wire.Framer) {
		_ = f.WriteHeaders(wire.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0xff, 0xff, 0xff}, EndHeaders: true})
	}, [3]string{}, true},
	{"a few bytes that name much", func(f *wire.Framer) {
		b := block("large", strings.Repeat("x", 4000))
		_ = f.WriteHeaders(wire.HeadersFrameParam{
			StreamID: 1, BlockFragment: append(b, bytes.Repeat([]byte{0x80 | 62}, 10_000)...), EndHeaders: true,
		})
	}, [3]string{}, true},
	{"a frame longer than allowed", func(f *wire.Framer) { _ = f.WriteRawFrame(0, 0, 1, make([]byte, 16385)) }, [3]string{}, true},
	{"more padding than frame", func(f *wire.Framer) { _ = f.WriteRawFrame(0, 8, 1, []byte{3, 1, 1}) }, [3]string{}, true},
	{"a ping cut short", func(f *wire.Framer) { _ = f.WriteRawFrame(6, 0, 0, []byte{1}) }, [3]string{}, true},
	{"settings cut short", func(f *wire.Framer) { _ = f.WriteRawFrame(4, 0, 0, []byte{1}) }, [3]string{}, true},
}

func TestFrames(t *testing.T) {
	for _, c := range exchanges {
		for _, piece := range []int{1, 5, 1 << 20} {
			b := begun(t, 3, []byte("body"))
			err := b.feed(says(c.says), piece)
			if (err != nil) != c.fails {
				t.Errorf("%s, in pieces of %d: %v", c.about, piece, err)
			}
			if c.fails {
				continue
			}
			for n, want := range c.calls {
				if b.ended[n] != want {
					t.Errorf("%s, in pieces of %d: call %d ended as %q, want %q", c.about, piece, n, b.ended[n], want)
				}
			}
		}
	}
}

func TestServerMustBeginWithSettings(t *testing.T) {
	b := newBench(1, nil)
	if err := b.feed(says(func(f *wire.Framer) { _ = f.WritePing(false, [8]byte{}) }), 99); err == nil {
		t.Error("a ping was taken for a beginning")
	}
}

// written reads what the machine has queued, after the preface.
func (b *bench) written(t *testing.T) *wire.Framer {
	out, ok := strings.CutPrefix(string(b.conn.out), preface)
	if !ok {
		t.Fatalf("begins with %.40q", b.conn.out)
	}
	return wire.NewFramer(nil, strings.NewReader(out))
}

// sent counts bytes of bodies by stream, and those that ended.
func (b *bench) sent(t *testing.T) (bytes map[uint32]int, ended int) {
	bytes = make(map[uint32]int)
	frames := b.written(t)
	for {
		f, err := frames.ReadFrame()
		if err != nil {
			return bytes, ended
		}
		if d, ok := f.(*wire.DataFrame); ok {
			bytes[d.StreamID] += len(d.Data())
			if d.StreamEnded() {
				ended++
			}
		}
	}
}

func TestBodiesKeepToTheWindows(t *testing.T) {
	b := newBench(3, make([]byte, 50_000))
	begin := says(func(f *wire.Framer) {
		_ = f.WriteSettings(wire.Setting{ID: wire.SettingInitialWindowSize, Val: 20_000})
	})
	var sizes [3][]int
	step := func(i int, more []byte) {
		if err := b.feed(more, 1<<20); err != nil {
			t.Fatal(err)
		}
		b.drained()
		bytes, _ := b.sent(t)
		sizes[i] = []int{bytes[1], bytes[3], bytes[5]}
	}
	step(0, begin) // the streams' windows bind
	step(1, says(func(f *wire.Framer) {
		_ = f.WriteSettings(wire.Setting{ID: wire.SettingInitialWindowSize, Val: 30_000}) // 10,000 more for each
	}))
	if sum := sizes[1][0] + sizes[1][1] + sizes[1][2]; slices.Max(sizes[0]) != 20_000 || slices.Max(sizes[1]) > 30_000 || sum != 65_535 {
		t.Errorf("sent %v, want at most 20,000, then 30,000, of each stream and 65,535 of all", sizes)
	}
	step(2, says(func(f *wire.Framer) {
		_ = f.WriteWindowUpdate(0, 1<<20)
		for _, id := range []uint32{1, 3, 5} {
			_ = f.WriteWindowUpdate(id, 1<<20)
		}
	}))
	if _, ended := b.sent(t); ended != 3 || slices.Min(sizes[2]) != 50_000 || slices.Max(sizes[2]) != 50_000 {
		t.Errorf("sent %v and ended %d bodies, want all of three", sizes[2], ended)
	}
}

func TestPingIsAnswered(t *testing.T) {
	b := begun(t, 1, nil)
	ping := says(func(f *wire.Framer) { _ = f.WritePing(false, [8]byte{1, 2, 3}) })
	if err := b.feed(ping, 4); err != nil {
		t.Fatal(err)
	}
	for frames := b.written(t); ; {
		f, err := frames.ReadFrame()
		if err != nil {
			t.Fatal("no answer to a ping")
		}
		if p, ok := f.(*wire.PingFrame); ok && p.IsAck() && p.Data == [8]byte{1, 2, 3} {
			return
		}
	}
}

func TestWindowIsRenewed(t *testing.T) {
	b := begun(t, 1, nil)
	b.eaten = window / 2
	b.conn.out = nil
	if err := b.feed(says(func(f *wire.Framer) {
		header(f, 1, false, ":status", "200")
		_ = f.WriteDataPadded(1, false, []byte("abc"), make([]byte, 6)) // a length byte goes with it
	}), 99); err != nil {
		t.Fatal(err)
	}
	if want := appendWindow(nil, 0, window/2+10); !bytes.Equal(b.conn.out, want) {
		t.Errorf("the server was told %x, want %x", b.conn.out, want)
	}
}

func TestHeadersAreTheSameHoweverTheyAreSent(t *testing.T) {
	b := newBench(1, nil)
	b.loop.pace = load.ClosedPace(load.Extent{Exactly: 6})
	if err := b.feed(settings, 99); err != nil {
		t.Fatal(err)
	}
	for n := range 6 {
		if n == 3 { // the server forgets what it was told
			_ = b.feed(says(func(f *wire.Framer) { _ = f.WriteSettings(wire.Setting{ID: wire.SettingHeaderTableSize}) }), 99)
		}
		_ = b.feed(says(func(f *wire.Framer) { header(f, uint32(2*n+1), true, ":status", "200", "grpc-status", "0") }), 99)
	}
	frames, seen := b.written(t), 0
	frames.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	for {
		f, err := frames.ReadFrame()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		h, ok := f.(*wire.MetaHeadersFrame)
		if !ok {
			continue
		}
		seen++
		if h.PseudoValue("path") != "/a" || h.PseudoValue("method") != "POST" || len(h.Fields) != 4 {
			t.Errorf("header %d has %v", seen, h.Fields)
		}
	}
	if block := b.encode(b.loop.call(0).head); len(block) == 4 {
		t.Errorf("%x names fields of a table that was emptied", block)
	}
	if seen != 6 {
		t.Errorf("%d headers were sent, want 6", seen)
	}
}

func TestConnectionThatHadItsLastCallIsClosed(t *testing.T) {
	b := begun(t, 3, nil)
	if err := b.feed(says(func(f *wire.Framer) { _ = f.WriteGoAway(5, wire.ErrCodeNo, nil) }), 99); err != nil {
		t.Fatal(err)
	}
	b.loop.fail(errDeadline)
	if b.conn.state != closed {
		t.Error("a connection stays open that neither takes calls nor has any")
	}
}

func (l *loop) inFlight() (n int) {
	for s := l.oldest; s != nil; s = s.newer {
		n++
	}
	return n
}
