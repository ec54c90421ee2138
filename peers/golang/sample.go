package golang

import (
	"compress/gzip"
	"iter"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/workload"
)

// Bounds of a sample: what is beyond them tells nothing new.
const (
	sampledCalls = 64
	sampledBytes = 4 << 20
)

// sample sums up messages as the driver's stack encodes them, and how small
// gzip makes each: what is all zeros shrinks as no user's data does.
type sample struct {
	codec codec.Codec
	zip   *gzip.Writer // nil until it is needed, and once it no longer is
	sum   record.Payload
}

func nextCodec(c catalog.Catalog, start peer.Start) (codec.Codec, error) {
	_, stack, err := following(c, start)
	return stack.Codec, err
}

// add takes a message into the sample. One that the codec cannot encode is for
// others to find.
func (s *sample) add(t *rpc.Type, plain any) {
	if s.sum.Bytes >= sampledBytes {
		return
	}
	b, err := s.codec.Bind(t)
	if err != nil {
		return
	}
	encoded, err := b.Append(nil, b.Native(plain))
	if err != nil {
		return
	}
	var small counted
	if s.zip == nil {
		s.zip = gzip.NewWriter(nil)
	}
	s.zip.Reset(&small)
	if _, err := s.zip.Write(encoded); err != nil || s.zip.Close() != nil {
		return
	}
	s.sum.Messages++
	s.sum.Bytes += int64(len(encoded))
	s.sum.Gzipped += int64(small)
}

// requests takes the first calls of a sequence.
func (s *sample) requests(calls iter.Seq[workload.Call]) {
	n := 0
	for call := range calls {
		for i := 0; s.sum.Bytes < sampledBytes; i++ {
			in, more := call.Message(i)
			if !more {
				break
			}
			s.add(call.Method.In, in)
		}
		if n++; n == sampledCalls || s.sum.Bytes >= sampledBytes {
			return
		}
	}
}

func (d *driver) payload() *record.Payload {
	d.sampled.requests(d.work.Calls(d.start.Leg, setting.Values(d.start.Params), 0))
	out := d.sampled.sum
	d.sampled.sum, d.sampled.zip = record.Payload{}, nil
	return &out
}

// counted counts what is written to it.
type counted int64

func (c *counted) Write(p []byte) (int, error) {
	*c += counted(len(p))
	return len(p), nil
}
