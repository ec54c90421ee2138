package hop

import "sync/atomic"

// budget bounds repetitions to a share of the calls that were answered, as the
// retry throttling of gRPC does (github.com/grpc/proposal, A6). Its unit is a
// thousandth of a repetition.
type budget struct {
	kept atomic.Int64
	each int64 // that an answered call adds
}

const (
	repetition = 1000
	most       = 10 * repetition // kept, and there to begin with
)

func (b *budget) begin(share float64) {
	b.each = int64(share * repetition)
	b.kept.Store(most)
}

func (b *budget) has() bool { return b.kept.Load() >= repetition }

// earn adds an answered call's share.
func (b *budget) earn() {
	if kept := b.kept.Load(); kept < most { // what is lost to a race is little
		b.kept.CompareAndSwap(kept, min(kept+b.each, most))
	}
}

// spend takes a repetition, if there is one.
func (b *budget) spend() bool {
	for {
		kept := b.kept.Load()
		if kept < repetition {
			return false
		}
		if b.kept.CompareAndSwap(kept, kept-repetition) {
			return true
		}
	}
}
