// Package compresstest is the contract of package compress as tests. It knows
// no compressor.
package compresstest

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/tare-bench/tare/compress"
)

// Run holds c to the contract.
func Run(t *testing.T, c compress.Compressor) {
	t.Run("any bytes round-trip, and writers and readers are used again", func(t *testing.T) { roundTrips(t, c) })
	t.Run("what is not of the coding is an error", func(t *testing.T) { refuses(t, c) })
	t.Run("a bomb expands no further than it is read", func(t *testing.T) { bomb(t, c) })
}

func roundTrips(t *testing.T, c compress.Compressor) {
	w, r := c.NewWriter(), c.NewReader()
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		var packed bytes.Buffer
		pack(t, w, &packed, in)
		if err := r.Reset(&packed); err != nil {
			t.Fatalf("reset reader: %v", err)
		}
		out, err := io.ReadAll(r)
		if err != nil {
			t.Fatalf("read: %v", err)
		}
		if !bytes.Equal(in, out) {
			t.Fatalf("%d bytes came back as %d others", len(in), len(out))
		}
	})
}

func refuses(t *testing.T, c compress.Compressor) {
	var packed bytes.Buffer
	pack(t, c.NewWriter(), &packed, []byte("a message of some length"))
	for name, src := range map[string][]byte{
		"plain text":  []byte("a message of some length"),
		"an end lost": packed.Bytes()[:packed.Len()-1],
	} {
		r := c.NewReader()
		err := r.Reset(bytes.NewReader(src))
		if err == nil {
			_, err = io.ReadAll(r)
		}
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// bomb reads the first kilobyte of 32 MB; a reader that expands them at once,
// or keeps more than a window, allocates far more than it may.
func bomb(t *testing.T, c compress.Compressor) {
	const length, chunk, allowed = 32 << 20, 1 << 20, 24 << 20
	var packed bytes.Buffer
	w := c.NewWriter()
	w.Reset(&packed)
	zeros := make([]byte, chunk)
	for range length / chunk {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := c.NewReader()
	if err := r.Reset(&packed); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, r, 1024); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > allowed {
		t.Errorf("reading 1 kB of %d bytes that unpack to %d allocated %d", packed.Len(), length, grown)
	}
}

func pack(t interface{ Fatalf(string, ...any) }, w compress.Writer, dst io.Writer, in []byte) {
	w.Reset(dst)
	if _, err := w.Write(in); err != nil {
		t.Fatalf("write: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatalf("close writer: %v", err)
	}
}
