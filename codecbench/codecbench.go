// Package codecbench weighs codecs by themselves, without protocol and socket:
// the bytes that they make of a workload's messages, and the CPU, garbage
// collection included, and allocations that each of their steps takes.
//
// Contenders take turns in an order drawn from the seed, in blocks that are
// processes of their own. It measures and judges nothing: package stats reads
// what it records. It is given codecs, and knows none by its name.
package codecbench

import (
	"bytes"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/compress"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload"
)

// Limit names the contender that is no codec: it copies the smallest encoding of
// the others, which no codec can do without.
const Limit = "memcpy"

// WrongError says that a codec does not give back what it was given, so that to
// time it would compare unequal work.
type WrongError struct{ Codec, Message, Text string }

func (e *WrongError) Error() string {
	return fmt.Sprintf("%s does not give back the %s that it was given: %s", e.Codec, e.Message, e.Text)
}

// Bench is codecs, bound to a workload's messages. The limit, where there is one,
// stands behind the codecs.
type Bench struct {
	samples []workload.Sample
	codecs  []codec.Codec
	bound   [][]codec.Binding // by message and codec
	limits  []copied          // by message
	sizes   []record.CodecSize
}

// New binds codecs to messages, and holds what each makes of them to what it was
// given: a difference is a *WrongError. Codecs that have no form for a type are
// left out.
func New(samples []workload.Sample, codecs []codec.Codec, compressors []compress.Compressor) (*Bench, []record.Omission, error) {
	b := &Bench{samples: samples}
	var out []record.Omission
	for _, k := range codecs {
		why := unbound(k, samples)
		switch {
		case errors.Is(why, codec.ErrUnbound):
			out = append(out, record.Omission{Stack: k.Spec().Name, Reason: why.Error()})
		case why != nil:
			return nil, nil, fmt.Errorf("%s: %w", k.Spec().Name, why)
		default:
			b.codecs = append(b.codecs, k)
		}
	}
	if len(b.codecs) == 0 {
		return nil, out, errors.New("no codec has a form for these messages")
	}
	for m := range samples {
		if err := b.check(m, compressors); err != nil {
			return nil, nil, err
		}
	}
	return b, out, nil
}

func unbound(k codec.Codec, samples []workload.Sample) error {
	for _, s := range samples {
		if _, err := k.Bind(s.Type); err != nil {
			return err
		}
	}
	return nil
}

// check binds all codecs to one kind of message, and finds the smallest encoding.
func (b *Bench) check(m int, compressors []compress.Compressor) error {
	s := b.samples[m]
	var bound []codec.Binding
	var smallest [][]byte
	add := func(number int, encoded [][]byte) error {
		size := record.CodecSize{Message: m, Codec: number, Bytes: mean(encoded), Compressed: make(map[string]float64)}
		for _, c := range compressors {
			small, err := compressed(c, encoded)
			if err != nil {
				return err
			}
			size.Compressed[c.Spec().Name] = small
		}
		b.sizes = append(b.sizes, size)
		return nil
	}
	for n, k := range b.codecs {
		binding, err := k.Bind(s.Type)
		if err != nil {
			return fmt.Errorf("%s: %w", k.Spec().Name, err)
		}
		encoded, err := giveBack(k.Spec().Name, binding, s)
		if err != nil {
			return err
		}
		if smallest == nil || mean(encoded) < mean(smallest) {
			smallest = encoded
		}
		if err := add(n, encoded); err != nil {
			return err
		}
		bound = append(bound, binding)
	}
	b.bound, b.limits = append(b.bound, bound), append(b.limits, copied{smallest})
	return add(len(b.codecs), smallest)
}

// giveBack takes all messages of a kind to bytes and back, and compares them in
// the schema of record.
func giveBack(name string, b codec.Binding, s workload.Sample) ([][]byte, error) {
	var all [][]byte
	for i, plain := range s.Messages {
		encoded, err := b.Append(nil, b.Native(plain))
		if err != nil {
			return nil, fmt.Errorf("%s encodes %s: %w", name, s.Name, err)
		}
		native, err := b.Parse(encoded)
		if err != nil {
			return nil, &WrongError{name, s.Name, err.Error()}
		}
		if back := b.Plain(native); !same(s.Type, plain, back) {
			return nil, &WrongError{name, s.Name, fmt.Sprintf("number %d of seed's differs", i)}
		}
		all = append(all, encoded)
	}
	return all, nil
}

func same(t *rpc.Type, a, b any) bool { return proto.Equal(t.ToProto(a), t.ToProto(b)) }

func mean(all [][]byte) float64 {
	sum := 0
	for _, b := range all {
		sum += len(b)
	}
	return float64(sum) / float64(len(all))
}

// compressed is the mean size of messages, each compressed by itself.
func compressed(c compress.Compressor, all [][]byte) (float64, error) {
	w := c.NewWriter()
	small := make([][]byte, 0, len(all))
	for _, text := range all {
		var out bytes.Buffer
		w.Reset(&out)
		if _, err := w.Write(text); err != nil {
			return 0, fmt.Errorf("compress by %s: %w", c.Spec().Name, err)
		}
		if err := w.Close(); err != nil {
			return 0, fmt.Errorf("compress by %s: %w", c.Spec().Name, err)
		}
		small = append(small, out.Bytes())
	}
	return mean(small), nil
}

// Messages are the kinds of message, as a header has them.
func (b *Bench) Messages() (out []record.CodecMessage) {
	for _, s := range b.samples {
		out = append(out, record.CodecMessage{Name: s.Name, Type: s.Type.Name, Items: s.Items, Kinds: len(s.Messages)})
	}
	return out
}

// Contenders are the codecs that were not left out, and the limit.
func (b *Bench) Contenders() (out []record.CodecContender) {
	for _, k := range b.codecs {
		out = append(out, record.CodecContender{Name: k.Spec().Name, Remark: k.Spec().Remark})
	}
	return append(out, record.CodecContender{Name: Limit})
}

// Sizes are the bytes that contenders make of each kind of message.
func (b *Bench) Sizes() []record.CodecSize { return b.sizes }

// copied is the limit for one kind of message, whose plain form is its bytes.
type copied struct{ encoded [][]byte }

func (copied) Native(plain any) any { return plain }
func (copied) Plain(native any) any { return native }

func (copied) Append(dst []byte, native any) ([]byte, error) {
	return append(dst, native.([]byte)...), nil
}
func (copied) Parse(src []byte) (any, error) { return bytes.Clone(src), nil }
