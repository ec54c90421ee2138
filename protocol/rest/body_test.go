package rest

import (
	"bytes"
	"io"
	"testing"

	"github.com/tare-bench/tare/protocol"
)

// ways are how a buffer takes a message that says how long it is.
var ways = map[string]func(b *buffer, r io.Reader, length int) error{
	"a body": func(b *buffer, r io.Reader, length int) error {
		return b.fill(r, int64(length), protocol.DefaultMaxMessage)
	},
	"a frame": func(b *buffer, r io.Reader, length int) error { return b.take(r, length) },
}

// A caller must not have the server set much aside for a few bytes.
func TestLengthAloneTakesLittleMemory(t *testing.T) {
	for name, read := range ways {
		t.Run(name, func(t *testing.T) {
			var b buffer
			_ = read(&b, bytes.NewReader([]byte("short")), protocol.DefaultMaxMessage)
			if got := cap(b.b); got > 2*onTrust {
				t.Errorf("%d bytes are set aside for a message of 5 that says it is long", got)
			}
		})
	}
}

func TestLongMessageComesWhole(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789abcde"), 5*onTrust/15)
	for name, read := range ways {
		t.Run(name, func(t *testing.T) {
			var b buffer
			if err := read(&b, bytes.NewReader(want), len(want)); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b.b, want) {
				t.Errorf("%d bytes came, not the %d sent", len(b.b), len(want))
			}
			if most := 2 * len(want); cap(b.b) > most {
				t.Errorf("room for %d bytes, want at most %d", cap(b.b), most)
			}
		})
	}
}
