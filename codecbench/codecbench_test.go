package codecbench_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/codec/proto"
	"github.com/tare-bench/tare/codecbench"
	"github.com/tare-bench/tare/compress"
	"github.com/tare-bench/tare/compress/gzip"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload"
)

// spoilt is a sound codec but for one thing.
type spoilt struct {
	codec.Codec
	name  string
	bind  error
	plain func(any) any
}

func (s spoilt) Spec() codec.Spec {
	spec := s.Codec.Spec()
	spec.Name = s.name
	return spec
}

func (s spoilt) Bind(t *rpc.Type) (codec.Binding, error) {
	if s.bind != nil {
		return nil, s.bind
	}
	b, err := s.Codec.Bind(t)
	return spoiltBinding{b, s}, err
}

type spoiltBinding struct {
	codec.Binding
	s spoilt
}

func (b spoiltBinding) Plain(native any) any {
	plain := b.Binding.Plain(native)
	if b.s.plain != nil {
		return b.s.plain(plain)
	}
	return plain
}

func samples() []workload.Sample {
	one := func(text string) any { return &conformance.EchoRequest{Item: &conformance.Item{Text: text}} }
	return []workload.Sample{
		{Name: "record", Type: conformance.Echo.In, Items: 1, Messages: []any{one("a"), one("abc")}},
		{Name: "batch", Type: conformance.Echo.In, Items: 3, Messages: []any{one(strings.Repeat("abc", 100))}},
	}
}

func TestCodecsThatCannotAreLeftOut(t *testing.T) {
	cannot := spoilt{Codec: proto.Codec{}, name: "cannot", bind: codec.ErrUnbound}
	b, out, err := codecbench.New(samples(), []codec.Codec{cannot, proto.Codec{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != 1 || out[0].Stack != "cannot" || len(b.Contenders()) != 2 {
		t.Errorf("left out %v, of %v", out, b.Contenders())
	}
	if _, _, err := codecbench.New(samples(), []codec.Codec{cannot}, nil); err == nil {
		t.Error("no codec at all is a bench")
	}
	broken := spoilt{Codec: proto.Codec{}, name: "broken", bind: errors.New("broken")}
	if _, _, err := codecbench.New(samples(), []codec.Codec{broken}, nil); err == nil {
		t.Error("an error of a codec is taken for one that cannot")
	}
}

func TestWhatIsNotGivenBackIsNotTimed(t *testing.T) {
	lies := spoilt{Codec: proto.Codec{}, name: "lies", plain: func(p any) any {
		p.(*conformance.EchoRequest).Item.Number++
		return p
	}}
	var wrong *codecbench.WrongError
	if _, _, err := codecbench.New(samples(), []codec.Codec{proto.Codec{}, lies}, nil); !errors.As(err, &wrong) || wrong.Codec != "lies" {
		t.Errorf("a codec that changes a field: %v", err)
	}
}

func TestSizes(t *testing.T) {
	fat := spoilt{Codec: fatCodec{proto.Codec{}}, name: "fat"}
	b, _, err := codecbench.New(samples(), []codec.Codec{fat, proto.Codec{}}, []compress.Compressor{gzip.Compressor{}})
	if err != nil {
		t.Fatal(err)
	}
	const fatBytes = 3
	sizes := b.Sizes()
	if len(sizes) != 6 {
		t.Fatalf("%d sizes, want one for each contender and message", len(sizes))
	}
	if d := sizes[0].Bytes - sizes[1].Bytes; d != fatBytes {
		t.Errorf("the fat codec takes %g more bytes", d)
	}
	// Texts of 1 and 3 bytes, each with a tag and a length, in an item with both.
	if sizes[1].Bytes != 2+4 {
		t.Errorf("the mean of 5 and 7 bytes is %g", sizes[1].Bytes)
	}
	if sizes[2].Bytes != sizes[1].Bytes || sizes[5].Bytes != sizes[4].Bytes {
		t.Error("the limit does not copy the smallest encoding")
	}
	if z := sizes[4].Compressed["gzip"]; z == 0 || z >= sizes[4].Bytes/3 {
		t.Errorf("300 bytes that repeat come to %g", z)
	}
}

// fatCodec writes three bytes more than it reads.
type fatCodec struct{ codec.Codec }

func (f fatCodec) Bind(t *rpc.Type) (codec.Binding, error) {
	b, err := f.Codec.Bind(t)
	return fatBinding{b}, err
}

type fatBinding struct{ codec.Binding }

func (f fatBinding) Append(dst []byte, native any) ([]byte, error) {
	dst, err := f.Binding.Append(dst, native)
	return append(dst, "fat"...), err
}

func (f fatBinding) Parse(src []byte) (any, error) { return f.Binding.Parse(src[:len(src)-3]) }

func TestOrder(t *testing.T) {
	const messages, codecs = 2, 5
	first, second := codecbench.Order(1, 0, 0, messages, codecs), codecbench.Order(1, 0, 1, messages, codecs)
	seen := make(map[codecbench.Turn]bool)
	for _, turn := range first {
		seen[turn] = true
	}
	if len(first) != messages*codecs || len(seen) != messages*codecs {
		t.Fatalf("%v is not everybody's turn once", first)
	}
	slices.Reverse(second)
	if !slices.Equal(first, second) {
		t.Errorf("a round of an odd number is not the reverse of the one before")
	}
	for what, other := range map[string][]codecbench.Turn{
		"round": codecbench.Order(1, 0, 2, messages, codecs),
		"block": codecbench.Order(1, 1, 0, messages, codecs),
		"seed":  codecbench.Order(2, 0, 0, messages, codecs),
	} {
		if slices.Equal(first, other) {
			t.Errorf("another %s has the same order", what)
		}
	}
	if !slices.Equal(first, codecbench.Order(1, 0, 0, messages, codecs)) {
		t.Error("the same arguments give another order")
	}
}

func TestRounds(t *testing.T) {
	for _, test := range []struct {
		total time.Duration
		want  int
	}{{time.Second, 2}, {96 * time.Second, 10}, {115 * time.Second, 10}, {116 * time.Second, 12}} {
		// A round of a block takes 20 turns of 4 steps of 20 ms: 1.6 s, six blocks 9.6 s.
		if got := codecbench.Rounds(test.total, 20*time.Millisecond, 6, 20); got != test.want {
			t.Errorf("%v: %d rounds, want %d", test.total, got, test.want)
		}
	}
}

func job(b *codecbench.Bench, rounds int) codecbench.Job {
	return codecbench.Job{Block: 3, Header: record.CodecHeader{
		Format: 1, Seed: 1, SliceS: 1e-4, Blocks: 4, Rounds: rounds, Messages: b.Messages(), Codecs: b.Contenders(),
	}}
}

func TestServeMeasuresABlock(t *testing.T) {
	b, _, err := codecbench.New(samples(), []codec.Codec{proto.Codec{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const rounds = 2
	text, err := json.Marshal(job(b, rounds))
	if err != nil {
		t.Fatal(err)
	}
	in, said := io.Pipe()
	go func() { _, _ = said.Write(append(text, '\n')) }() // and keep it open
	var out strings.Builder
	if err := codecbench.Serve(t.Context(), in, &out, func(record.CodecHeader) (*codecbench.Bench, error) { return b, nil }); err != nil {
		t.Fatal(err)
	}
	if err := said.Close(); err != nil {
		t.Fatal(err)
	}
	var order []codecbench.Turn
	for d := json.NewDecoder(strings.NewReader(out.String())); d.More(); {
		var trial record.CodecTrial
		if err := d.Decode(&trial); err != nil {
			t.Fatal(err)
		}
		order = append(order, codecbench.Turn{Message: trial.Message, Codec: trial.Codec})
		if trial.Block != 3 || len(trial.Steps) != len(record.Steps) {
			t.Errorf("trial %+v", trial)
		}
		for step, cost := range trial.Steps {
			if cost.N < 1 || cost.N%len(samples()[trial.Message].Messages) != 0 {
				t.Errorf("%s is repeated %d times, which does not do all messages as often", step, cost.N)
			}
		}
		limit := trial.Codec == 1
		if alloc := trial.Steps[record.StepDecode].Allocs / float64(trial.Steps[record.StepDecode].N); alloc < 1 || limit && alloc > 3 {
			t.Errorf("codec %d decodes with %g allocations", trial.Codec, alloc)
		}
		if encode := trial.Steps[record.StepEncode]; encode.Allocs/float64(encode.N) > 0.5 {
			t.Errorf("codec %d encodes into a kept buffer with %g allocations", trial.Codec, encode.Allocs/float64(encode.N))
		}
	}
	want := append(codecbench.Order(1, 3, 0, 2, 2), codecbench.Order(1, 3, 1, 2, 2)...)
	if !slices.Equal(order, want) {
		t.Errorf("turns %v, want %v", order, want)
	}
}

func TestMeasureEndsWithItsContext(t *testing.T) {
	b, _, err := codecbench.New(samples(), []codec.Codec{proto.Codec{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	trials := 0
	err = b.Measure(ctx, job(b, 1000), func(record.CodecTrial) error {
		trials++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || trials != 1 {
		t.Errorf("%d trials, %v", trials, err)
	}
}

func TestServeRefusesWhatIsNoJob(t *testing.T) {
	for _, in := range []string{"", "tare\n"} {
		if err := codecbench.Serve(t.Context(), strings.NewReader(in), io.Discard, nil); err == nil {
			t.Errorf("takes %q", in)
		}
	}
}

func TestForkTellsWhatAProcessSaid(t *testing.T) {
	h := record.CodecHeader{Blocks: 1}
	none := func(record.CodecTrial) error { return nil }
	for _, test := range []struct{ script, says string }{
		{"read job; echo 'no such thing' >&2; exit 3", "no such thing"},
		{"read job; echo nonsense", "read a trial"},
	} {
		err := codecbench.Fork(t.Context(), []string{"sh", "-c", test.script}, h, none)
		if err == nil || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), "block 0") {
			t.Errorf("%s: %v", test.script, err)
		}
	}
	full := errors.New("disk full")
	err := codecbench.Fork(t.Context(), []string{"sh", "-c", `read job; echo '{"codec":1}'; cat`}, h, func(record.CodecTrial) error { return full })
	if !errors.Is(err, full) {
		t.Errorf("what cannot be kept: %v", err)
	}
}

func TestForkMeasuresEachBlockInAProcess(t *testing.T) {
	var blocks []int
	script := `read job; test "$GOMAXPROCS" = 1 && expr "$job" : '.*"block":1}$' >/dev/null && echo '{"block":1}' || echo '{"block":0}'`
	err := codecbench.Fork(t.Context(), []string{"sh", "-c", script}, record.CodecHeader{Blocks: 2}, func(c record.CodecTrial) error {
		blocks = append(blocks, c.Block)
		return nil
	})
	if err != nil || !slices.Equal(blocks, []int{0, 1}) {
		t.Errorf("blocks %v, %v", blocks, err)
	}
}
