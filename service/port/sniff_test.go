package port

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// frames gives what a client of HTTP/2 sends: the preface, settings, and what
// write adds.
func frames(write func(*http2.Framer)) []byte {
	var b bytes.Buffer
	b.WriteString(http2.ClientPreface)
	f := http2.NewFramer(&b, nil)
	f.AllowIllegalWrites = true
	_ = f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20})
	write(f)
	return b.Bytes()
}

func fields(media string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for _, f := range []hpack.HeaderField{
		{Name: ":method", Value: "POST"}, {Name: ":scheme", Value: "http"}, {Name: ":path", Value: "/a.A/Do"},
		{Name: ":authority", Value: "tare"}, {Name: "content-type", Value: media},
	} {
		_ = e.WriteField(f)
	}
	return b.Bytes()
}

func request(f *http2.Framer, media string) {
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: fields(media), EndHeaders: true})
}

// openings are what clients begin with, and how it must be understood.
var openings = []struct {
	name  string
	bytes []byte
	http2 bool
	media string
}{
	{"HTTP/1.1", []byte("POST /v1/orders HTTP/1.1\r\nContent-Type: application/grpc\r\n\r\n"), false, ""},
	{"a method like the preface", []byte("PROPFIND / HTTP/1.1\r\n\r\n"), false, ""},
	{"HTTP/1.0", []byte("GET / HTTP/1.0\r\n\r\n"), false, ""},
	{"TLS", []byte{0x16, 3, 1, 0, 5, 1, 2, 3, 4, 5}, false, ""},
	{"gRPC", frames(func(f *http2.Framer) { request(f, "application/grpc") }), true, "application/grpc"},
	{"gRPC-Web", frames(func(f *http2.Framer) { request(f, "application/grpc-web+proto") }), true, "application/grpc-web+proto"},
	{"no content type", frames(func(f *http2.Framer) { request(f, "") }), true, ""},
	{"acknowledged first", frames(func(f *http2.Framer) {
		_ = f.WriteSettingsAck()
		request(f, "a/b")
	}), true, "a/b"},
	{"acknowledged afterwards", frames(func(f *http2.Framer) {
		request(f, "a/b")
		_ = f.WriteSettingsAck()
		_ = f.WriteData(1, true, []byte("body"))
		_ = f.WriteSettingsAck()
	}), true, "a/b"},
	{"everything before the request", frames(func(f *http2.Framer) {
		_ = f.WritePing(false, [8]byte{1, 2, 3})
		_ = f.WriteWindowUpdate(0, 1<<20)
		_ = f.WritePriority(3, http2.PriorityParam{Weight: 7})
		_ = f.WriteRawFrame(0xfe, 0, 0, []byte("unknown"))
		_ = f.WriteSettings()
		_ = f.WritePing(true, [8]byte{})
		request(f, "a/b")
	}), true, "a/b"},
	{"padded, in three parts", frames(func(f *http2.Framer) {
		b := fields("a/b")
		_ = f.WriteHeaders(http2.HeadersFrameParam{
			StreamID: 1, BlockFragment: b[:3], PadLength: 9, Priority: http2.PriorityParam{StreamDep: 5, Weight: 1},
		})
		_ = f.WriteContinuation(1, false, b[3:9])
		_ = f.WriteContinuation(1, true, b[9:])
	}), true, "a/b"},
	{"data without a request", frames(func(f *http2.Framer) { _ = f.WriteData(1, true, []byte("x")) }), true, ""},
	{"no settings", append([]byte(http2.ClientPreface), frames(func(f *http2.Framer) { request(f, "a/b") })[len(http2.ClientPreface)+15:]...), true, ""},
	{"a header in pieces of another", frames(func(f *http2.Framer) {
		_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: fields("a/b")[:4]})
		_ = f.WritePing(false, [8]byte{})
	}), true, ""},
	{"padding longer than its frame", frames(func(f *http2.Framer) {
		_ = f.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersPadded|http2.FlagHeadersEndHeaders, 1, []byte{200, 1})
	}), true, ""},
	{"a broken header", frames(func(f *http2.Framer) {
		_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0xff, 0xff, 0xff}, EndHeaders: true})
	}), true, ""},
	{"a frame too long", frames(func(f *http2.Framer) { _ = f.WriteRawFrame(0xfe, 0, 0, make([]byte, longestFrame+1)) }), true, ""},
	{"a header without end", frames(func(f *http2.Framer) {
		_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: fields("a/b")})
		for range 10 {
			_ = f.WriteContinuation(1, false, make([]byte, longestFrame))
		}
	}), true, ""},
}

func TestSniffTellsWhoIsToAnswer(t *testing.T) {
	for _, o := range openings {
		for _, chunk := range []int{1, 7, 1 << 20} {
			c := &recorded{rest: o.bytes, chunk: chunk}
			got, err := sniff(c, DefaultLimits)
			if err != nil || got.http2 != o.http2 || got.media != o.media {
				t.Errorf("%s by %d bytes: HTTP/2 %v, content type %q, error %v", o.name, chunk, got.http2, got.media, err)
			}
			if !c.limit.IsZero() {
				t.Errorf("%s: whoever takes over has until %v", o.name, c.limit)
			}
			if o.http2 && !bytes.HasPrefix(c.written.Bytes(), settings(DefaultLimits)) {
				t.Errorf("%s: the client got no settings", o.name)
			}
			if !o.http2 && c.written.Len() > 0 {
				t.Errorf("%s: the client got %q", o.name, c.written.Bytes())
			}
		}
	}
}

// FuzzSniff has whoever takes over read what was sent, but for what the port
// has to do with: pings that it answered, and the first acknowledgement.
func FuzzSniff(f *testing.F) {
	for _, o := range openings {
		if len(o.bytes) > 1024 {
			continue // what fuzzing makes of it is as long, and slow to make small
		}
		f.Add(o.bytes, uint16(len(o.bytes)))
		f.Add(o.bytes, uint16(1))
	}
	f.Fuzz(func(t *testing.T, sent []byte, chunk uint16) {
		c := &recorded{rest: sent, chunk: 1 + int(chunk)}
		begins, err := sniff(c, DefaultLimits)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Fatalf("it ends with %v, and not with what was sent", err)
			}
			return
		}
		want := sent
		if begins.http2 {
			want = without(want, c.pongs(t), isPing)
		}
		wantRead(t, &conn{Conn: c, read: bytes.Clone(begins.read)}, want)
		if !begins.http2 {
			return
		}
		c = &recorded{rest: sent, chunk: 1 + int(chunk)}
		if begins, err = sniff(c, DefaultLimits); err != nil {
			t.Fatal(err)
		}
		web := &conn{Conn: c, read: begins.read}
		web.acks = newAckFilter(web.next)
		wantRead(t, web, without(want, 1, isAck))
	})
}

func wantRead(t *testing.T, c *conn, want []byte) {
	t.Helper()
	got, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("read %q, %v, want %q", got, err, want)
	}
}

// without gives what a client of HTTP/2 sent less the first n frames of a kind.
func without(sent []byte, n int, kind func([]byte) bool) (kept []byte) {
	kept, sent = append(kept, sent[:len(http2.ClientPreface)]...), sent[len(http2.ClientPreface):]
	for len(sent) >= frameHeader && n > 0 {
		length := min(len(sent), frameHeader+int(sent[0])<<16+int(sent[1])<<8+int(sent[2]))
		if kind(sent[:length]) {
			n--
		} else {
			kept = append(kept, sent[:length]...)
		}
		sent = sent[length:]
	}
	return append(kept, sent...)
}

func isPing(frame []byte) bool { return len(frame) == 17 && frame[3] == 6 && frame[4]&1 == 0 }
func isAck(frame []byte) bool  { return bytes.HasPrefix(frame, []byte{0, 0, 0, 4}) && frame[4]&1 == 1 }

// recorded is a connection on which so many bytes at a time arrive, then none.
type recorded struct {
	net.Conn
	rest    []byte
	chunk   int
	written bytes.Buffer
	limit   time.Time // of reads
}

func (c *recorded) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.rest[:min(len(c.rest), c.chunk)])
	c.rest = c.rest[n:]
	return n, nil
}

func (c *recorded) Write(p []byte) (int, error) { return c.written.Write(p) }

func (c *recorded) SetReadDeadline(t time.Time) error {
	c.limit = t
	return nil
}

func (c *recorded) SetWriteDeadline(time.Time) error { return nil }
func (c *recorded) SetDeadline(t time.Time) error    { return c.SetReadDeadline(t) }

// pongs counts the pings that were answered, behind the settings.
func (c *recorded) pongs(t *testing.T) int {
	rest, found := bytes.CutPrefix(c.written.Bytes(), settings(DefaultLimits))
	if !found || len(rest)%17 != 0 {
		t.Fatalf("the client got %q", c.written.Bytes())
	}
	return len(rest) / 17
}

// TestPingsBeforeTheFirstRequestAreAnswered as clients want that keep a
// connection without calls.
func TestPingsBeforeTheFirstRequestAreAnswered(t *testing.T) {
	c := &recorded{chunk: 1, rest: frames(func(f *http2.Framer) {
		_ = f.WritePing(false, [8]byte{8, 7, 6, 5, 4, 3, 2, 1})
		request(f, "a/b")
	})}
	if _, err := sniff(c, DefaultLimits); err != nil {
		t.Fatal(err)
	}
	var pong bytes.Buffer
	_ = http2.NewFramer(&pong, nil).WritePing(true, [8]byte{8, 7, 6, 5, 4, 3, 2, 1})
	if !bytes.HasSuffix(c.written.Bytes(), pong.Bytes()) {
		t.Errorf("the client got %q", c.written.Bytes())
	}
}

// TestSlowClientsAreGivenUp says how long each may take over what.
func TestSlowClientsAreGivenUp(t *testing.T) {
	l := DefaultLimits
	hello := string(frames(func(*http2.Framer) {}))
	for _, test := range []struct {
		name  string
		sends []string
		every time.Duration
		after time.Duration // when it is given up
		bye   bool          // told so by HTTP/2
	}{
		{"nothing", nil, 0, l.HeaderTimeout, false},
		{"half of the preface", []string{"PRI * "}, 0, l.HeaderTimeout, false},
		{"the preface by bytes", strings.Split(http2.ClientPreface, ""), time.Second, l.HeaderTimeout, false},
		{"no settings", []string{http2.ClientPreface}, 0, l.HeaderTimeout, true},
		{"no request", []string{hello}, 0, l.IdleTimeout, true},
		{"a request by bytes", append([]string{hello}, strings.Split(string(make([]byte, 9)), "")...), 2 * time.Second, 2*time.Second + l.HeaderTimeout, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			client, server := net.Pipe()
			got := make(chan []byte)
			go func() {
				b, _ := io.ReadAll(client)
				got <- b
			}()
			var sending sync.WaitGroup
			sending.Go(func() {
				for _, s := range test.sends {
					_, _ = client.Write([]byte(s))
					time.Sleep(test.every)
				}
			})
			began := time.Now()
			_, err := sniff(server, l)
			if d := time.Since(began); d != test.after || !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s: given up after %v with %v, want %v", test.name, d, err, test.after)
			}
			_ = server.Close()
			if b := <-got; bytes.HasSuffix(b, goAway) != test.bye {
				t.Errorf("%s: the client got %q", test.name, b)
			}
			sending.Wait()
		})
	}
}

// TestClientsThatReadNothingAreGivenUp, though they send all the while: sooner
// where the port ends.
func TestClientsThatReadNothingAreGivenUp(t *testing.T) {
	for _, test := range []struct {
		hurried bool
		after   time.Duration
	}{{false, DefaultLimits.HeaderTimeout}, {true, untilCut}} {
		synctest.Test(t, func(t *testing.T) {
			client, server := net.Pipe()
			go func() {
				_, _ = client.Write(frames(func(f *http2.Framer) { _ = f.WritePing(false, [8]byte{}) }))
			}()
			c := &conn{Conn: server, left: func() {}}
			if test.hurried {
				go func() {
					synctest.Wait()
					c.hurry()
				}()
			}
			began := time.Now()
			_, err := sniff(c, DefaultLimits)
			if d := time.Since(began); d != test.after || !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("hurried %v: given up after %v with %v, want %v", test.hurried, d, err, test.after)
			}
			_ = c.Close()
		})
	}
}
