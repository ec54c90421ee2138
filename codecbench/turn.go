package codecbench

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"time"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/record"
)

// table is what a turn stands on: one contender's forms of one kind of message.
// It is made anew for each turn, so that no more is alive than a service would
// hold: what is alive sets how often garbage is collected.
type table struct {
	binding codec.Binding
	sizer   codec.Sizer // nil where the codec knows no sizes
	plains  []any
	natives []any
	encoded [][]byte
	parsed  []any
	buffer  []byte
	sink    any // keeps results alive, so that nothing is optimized away
}

func (b *Bench) table(t Turn) (*table, error) {
	out := &table{plains: b.samples[t.Message].Messages}
	if t.Codec < len(b.codecs) {
		out.binding = b.bound[t.Message][t.Codec]
	} else {
		limit := b.limits[t.Message]
		out.binding, out.plains = limit, nil
		for _, text := range limit.encoded {
			out.plains = append(out.plains, text)
		}
	}
	out.sizer, _ = out.binding.(codec.Sizer)
	for _, plain := range out.plains {
		native := out.binding.Native(plain)
		encoded, err := out.binding.Append(nil, native)
		if err != nil {
			return nil, fmt.Errorf("encode: %w", err)
		}
		parsed, err := out.binding.Parse(encoded)
		if err != nil {
			return nil, fmt.Errorf("decode: %w", err)
		}
		out.natives, out.encoded, out.parsed = append(out.natives, native), append(out.encoded, encoded), append(out.parsed, parsed)
	}
	return out, nil
}

// steps are what record.Steps name: each repeats a step n times, the messages in
// turn.
var steps = map[string]func(t *table, n int) error{
	record.StepNative: func(t *table, n int) error {
		for i := 0; n > 0; n-- {
			t.sink = t.binding.Native(t.plains[i])
			if i++; i == len(t.plains) {
				i = 0
			}
		}
		return nil
	},
	// Protocols append into a pooled buffer, by the size where it is known.
	record.StepEncode: func(t *table, n int) (err error) {
		for i := 0; n > 0 && err == nil; n-- {
			if native := t.natives[i]; t.sizer == nil {
				t.buffer, err = t.binding.Append(t.buffer[:0], native)
			} else {
				if size := t.sizer.Size(native); cap(t.buffer) < size {
					t.buffer = make([]byte, 0, size)
				}
				t.buffer, err = t.sizer.AppendSized(t.buffer[:0], native)
			}
			if i++; i == len(t.natives) {
				i = 0
			}
		}
		return err
	},
	record.StepDecode: func(t *table, n int) (err error) {
		for i := 0; n > 0 && err == nil; n-- {
			t.sink, err = t.binding.Parse(t.encoded[i])
			if i++; i == len(t.encoded) {
				i = 0
			}
		}
		return err
	},
	record.StepPlain: func(t *table, n int) error {
		for i := 0; n > 0; n-- {
			t.sink = t.binding.Plain(t.parsed[i])
			if i++; i == len(t.parsed) {
				i = 0
			}
		}
		return nil
	},
}

const mostRepeats = 1 << 28

// calibrate finds how often a step is to be repeated to fill a slice. It is a
// multiple of the messages, so that all contenders do each as often.
func (t *table) calibrate(step string, slice time.Duration) (int, error) {
	for n := len(t.plains); ; n *= 2 {
		from := cpu()
		if err := steps[step](t, n); err != nil {
			return 0, err
		}
		took := cpu() - from
		if took < slice/4 && n < mostRepeats {
			continue
		}
		times := float64(n) * float64(slice) / float64(max(took, 1)) / float64(len(t.plains))
		return len(t.plains) * max(1, int(times+0.5)), nil
	}
}

// measure repeats a step n times on the clock. Before that it is repeated as it
// comes, off the clock: so the heap is anywhere between two collections when the
// clock starts, and a slice is charged for as many as its garbage makes, on average.
func (t *table) measure(step string, n int, random *rand.Rand) (record.Cost, error) {
	runtime.GC() // of what others have left
	const share = 3
	if err := steps[step](t, 1+random.IntN(max(1, n/share))); err != nil {
		return record.Cost{}, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	from := cpu()
	err := steps[step](t, n)
	took := cpu() - from
	runtime.ReadMemStats(&after)
	return record.Cost{
		N: n, CPUS: took.Seconds(),
		Allocs: float64(after.Mallocs - before.Mallocs), Bytes: float64(after.TotalAlloc - before.TotalAlloc),
	}, err
}

// cpu is what this process has used, in all its threads: the collector's too, and
// nothing of what other programs do.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it takes no argument that could be wrong
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
