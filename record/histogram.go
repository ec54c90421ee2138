package record

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Histogram counts durations with three significant digits, from 1 ns to an
// hour. In JSON it is a string: the compressed form that the HdrHistogram
// libraries of all languages share. It is not safe for concurrent use.
type Histogram struct{ h *hdrhistogram.Histogram }

// NewHistogram makes an empty histogram.
func NewHistogram() Histogram {
	return Histogram{hdrhistogram.New(1, int64(time.Hour), 3)}
}

// Record counts d; what lies outside the bounds counts at the nearer one.
func (h Histogram) Record(d time.Duration) {
	// The clamp leaves nothing for RecordValue to refuse.
	_ = h.h.RecordValue(int64(min(max(d, 1), time.Hour)))
}

// Merge adds other's counts to h's.
func (h Histogram) Merge(other Histogram) {
	if other.h != nil {
		h.h.Merge(other.h)
	}
}

// Count is how many durations were recorded.
func (h Histogram) Count() int64 {
	if h.h == nil {
		return 0
	}
	return h.h.TotalCount()
}

// Quantile is the duration that a share q, 0 to 1, of those recorded does not
// exceed; 0 if none was.
func (h Histogram) Quantile(q float64) time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(h.h.ValueAtQuantile(100 * q))
}

// Max is the longest duration recorded, 0 if none was.
func (h Histogram) Max() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(h.h.Max())
}

// Mean is the mean of the durations recorded, 0 if none was.
func (h Histogram) Mean() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(h.h.Mean())
}

// MarshalText encodes h in HdrHistogram's compressed form, V2, in base 64.
func (h Histogram) MarshalText() ([]byte, error) {
	if h.h == nil {
		h = NewHistogram()
	}
	return h.h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
}

// UnmarshalText decodes what MarshalText made.
func (h *Histogram) UnmarshalText(text []byte) (err error) {
	defer func() { // the library indexes what it reads without looking
		if r := recover(); r != nil {
			err = fmt.Errorf("histogram is damaged: %v", r)
		}
	}()
	decoded, err := hdrhistogram.Decode(text)
	if err != nil {
		return fmt.Errorf("histogram is damaged: %w", err)
	}
	h.h = decoded
	return nil
}
