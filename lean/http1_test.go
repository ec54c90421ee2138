package lean

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tare-bench/tare/protocol"
)

var responses = []struct {
	text  string
	right string // "status body|name=value …", or "" for an error, or "…" if more must come
}{
	{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Y:  a b \r\n\r\nhello", "200 hello|content-length=5 x-y=a b"},
	{"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "204 |content-length=5"},
	{"HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n", "200 |content-length=0"},
	{"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "200 ok|content-length=2"},
	{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 1\r\n\r\nx", "404 x|content-length=1"},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nX-Sum: 11\r\n\r\n", "200 hello world|transfer-encoding=chunked x-sum=11"},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n00A\r\n0123456789\r\n000\r\n\r\n", "200 0123456789|transfer-encoding=Chunked"},
	{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", "200 abc|content-length=3 content-length=3"},
	{"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", "…"},
	{"HTTP/1.1 200 OK\r\n\r\nhello", "…"},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", "…"},
	{"HTTP/1.1 200 OK\r\nContent-Len", "…"},
	{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", ""},
	{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", ""},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", ""},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", ""},
	{"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ""},
	{"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", ""},
	{"HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx", ""},
	{"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551617\r\n\r\nx", ""},
	{"HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n", ""},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n", ""},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", ""},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n", ""},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", ""},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n", ""},
	{"HTTP/1.1 101 Switching Protocols\r\n\r\n", ""},
	{"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", ""},
	{"HTTP/1.1 200 OK\r\nspace : x\r\n\r\n", ""},
	{"HTTP/1.1 200 OK\r\na: b\r\n folded\r\n\r\n", ""},
	{"HTTP/1.1 200 OK\r\na: \x00\r\n\r\n", ""},
	{"HTTP/1.1 20 OK\r\n\r\n", ""},
	{"HTTP/1.1 2000 OK\r\n\r\n", ""},
	{"HTTP/2 200 OK\r\n\r\n", ""},
	{"\r\n", ""},
}

const fewBytes = 100 // the longest body of these tests

// parsed parses what comes in pieces of a size, in a buffer that moves.
func parsed(text string, piece int) (r response, buf []byte, done bool, err error) {
	r = response{limit: fewBytes}
	r.reset(false)
	for {
		moved := make([]byte, len(buf), len(text))
		copy(moved, buf)
		buf = moved
		if done, err = r.parse(buf); done || err != nil || len(buf) == len(text) {
			return r, buf, done, err
		}
		buf = append(buf, text[len(buf):min(len(text), len(buf)+piece)]...)
	}
}

func shown(a protocol.Answer) string {
	var fields []string
	for _, f := range a.Fields {
		fields = append(fields, f.Name+"="+f.Value)
	}
	return fmt.Sprintf("%d %s|%s", a.Status, a.Body, strings.Join(fields, " "))
}

func TestResponses(t *testing.T) {
	for _, c := range responses {
		for _, piece := range []int{1, 2, 7, 1000} {
			r, buf, done, err := parsed(c.text, piece)
			got := "…"
			if done {
				got = shown(r.answer(buf))
			}
			if err != nil {
				got = ""
			}
			if got != c.right {
				t.Errorf("%q in pieces of %d: got %q (%v), want %q", c.text, piece, got, err, c.right)
			}
		}
	}
}

func TestResponsesEndlessInOneWay(t *testing.T) {
	for _, c := range []struct{ begin, again string }{
		{"HTTP/1.1 200 OK\r\n", "a: b\r\n"},
		{"HTTP/1.1 200 OK\r\na:", "b"},
		{"HTTP/1.1 200 OK\r\n\r\n", "a body without an end. "},
		{"", "HTTP/1.1 100 Continue\r\n\r\n"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1;" + strings.Repeat("x", 3000) + "\r\nx\r\n"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "a: b\r\n"},
	} {
		text := c.begin + strings.Repeat(c.again, (2*maxHead)/len(c.again))
		if _, buf, done, err := parsed(text, 16<<10); done || err == nil || len(buf) > maxHead+64<<10 {
			t.Errorf("%q again and again: %v after %d bytes", c.again, err, len(buf))
		}
	}
}

// FuzzResponse holds that no input makes the parser panic, that how it comes
// in pieces does not matter, and that what it takes net/http takes too.
func FuzzResponse(f *testing.F) {
	for _, c := range responses {
		f.Add(c.text, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, piece uint8) {
		r, buf, done, err := parsed(text, len(text)+1)
		r2, buf2, done2, err2 := parsed(text, int(piece)+1)
		if done != done2 || (err == nil) != (err2 == nil) {
			t.Fatalf("whole: %v, %v; in pieces: %v, %v", done, err, done2, err2)
		}
		if !done {
			return
		}
		a, a2 := r.answer(buf), r2.answer(buf2)
		if shown(a) != shown(a2) || r.at != r2.at || r.closes != r2.closes {
			t.Fatalf("whole: %s to %d; in pieces: %s to %d", shown(a), r.at, shown(a2), r2.at)
		}
		agreesWithStandard(t, text, a)
	})
}

func agreesWithStandard(t *testing.T, text string, a protocol.Answer) {
	in := bufio.NewReader(strings.NewReader(text))
	for {
		std, err := http.ReadResponse(in, nil) //nolint:bodyclose // closing it does nothing: it is read from a string
		if err != nil {
			return // stricter than we are, which does no harm
		}
		if std.StatusCode < 200 {
			continue
		}
		body, err := io.ReadAll(std.Body)
		if err != nil {
			return
		}
		if std.StatusCode != a.Status || !bytes.Equal(body, a.Body) {
			t.Fatalf("net/http reads %d %q, we %d %q", std.StatusCode, body, a.Status, a.Body)
		}
		for name, values := range std.Header {
			is := func(f protocol.Field) bool { return f.Name == strings.ToLower(name) && f.Value == values[0] }
			if !slices.ContainsFunc(a.Fields, is) {
				t.Fatalf("net/http has %s: %q, we %v", name, values, a.Fields)
			}
		}
		return
	}
}

func TestParsingAllocatesNothing(t *testing.T) {
	text := []byte(responses[0].text)
	buf := make([]byte, len(text))
	r := response{limit: fewBytes}
	if n := testing.AllocsPerRun(100, func() {
		copy(buf, text)
		r.reset(false)
		if done, err := r.parse(buf); !done || err != nil || r.answer(buf).Status != 200 {
			t.Fatal(done, err)
		}
	}); n != 0 {
		t.Errorf("a response costs %v allocations", n)
	}
}
