package lean

import (
	"encoding/binary"
	"testing"

	wire "golang.org/x/net/http2"

	"github.com/tare-bench/tare/load"
)

func TestCallsAllocateNothing(t *testing.T) {
	b := begun(t, 1, []byte("body"))
	b.loop.pace, b.loop.over = load.ClosedPace(load.Extent{Exactly: 1 << 30}), false
	first := says(func(f *wire.Framer) { header(f, 1, true, ":status", "200", "grpc-status", "0") })
	if err := b.feed(first, 99); err != nil || b.ended[0] != "ok" {
		t.Fatal(err, b.ended)
	}
	b.loop.rec = nothing{}
	answer := says(func(f *wire.Framer) {
		header(f, 1, false, ":status", "200")
		_ = f.WriteData(1, false, []byte("abc"))
		_ = f.WriteHeaders(wire.HeadersFrameParam{
			StreamID: 1, BlockFragment: []byte{0x80 | 62}, EndHeaders: true, EndStream: true, // grpc-status: 0, of the table
		})
	})
	id := uint32(3)
	if n := testing.AllocsPerRun(2000, func() {
		for at := 0; at < len(answer); {
			binary.BigEndian.PutUint32(answer[at+5:], id)
			at += frameHeader + int(answer[at+2])
		}
		id += 2
		b.conn.out = b.conn.out[:0]
		if _, err := b.http2.feed(answer); err != nil {
			t.Fatal(err)
		}
		b.loop.offer(b.conn)
		b.loop.begin()
	}); n != 0 {
		t.Errorf("a call costs %v allocations", n)
	}
}

type nothing struct{}

func (nothing) Record(int, load.Observation) {}
