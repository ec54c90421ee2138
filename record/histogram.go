package record

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The one geometry that histograms have here: equal ones merge without loss.
const (
	lowest  = 1
	highest = int64(time.Hour)
	digits  = 3
)

// mostCounted bounds a histogram that is read, so that sums of many fit int64.
const mostCounted = 1 << 40

// Histogram counts durations with three significant digits, from 1 ns to an
// hour. In JSON it is a string: the compressed form that the HdrHistogram
// libraries of all languages share. It is not safe for concurrent use.
//
// One that is made here is dense, 270 kB and quick to record into; one that is
// read is sparse, a few kB, since a results file holds thousands.
type Histogram struct{ h counts }

// counts is what the dense and the sparse form have in common.
type counts interface {
	RecordValue(int64) error
	TotalCount() int64
	ValueAtPercentile(float64) int64
	Max() int64
	Mean() float64
}

// NewHistogram makes an empty histogram.
func NewHistogram() Histogram {
	return Histogram{hdrhistogram.New(lowest, highest, digits)}
}

// Record counts d; what lies outside the bounds counts at the nearer one.
func (h Histogram) Record(d time.Duration) {
	// The clamp leaves nothing for RecordValue to refuse.
	_ = h.h.RecordValue(int64(min(max(d, lowest), time.Hour)))
}

// Merge adds other's counts to h's.
func (h Histogram) Merge(other Histogram) {
	// Equal geometries drop nothing, so the counts of what was dropped are 0.
	switch to := h.h.(type) {
	case *hdrhistogram.Histogram:
		switch from := other.h.(type) {
		case *hdrhistogram.Histogram:
			to.Merge(from)
		case *hdrhistogram.PackedHistogram:
			from.MergeInto(to)
		}
	case *hdrhistogram.PackedHistogram:
		switch from := other.h.(type) {
		case *hdrhistogram.Histogram:
			to.MergeFrom(from)
		case *hdrhistogram.PackedHistogram:
			to.Merge(from)
		}
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
	return time.Duration(h.h.ValueAtPercentile(100 * q))
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
	switch from := h.h.(type) {
	case *hdrhistogram.Histogram:
		return from.EncodeV2()
	case *hdrhistogram.PackedHistogram:
		return from.EncodeV2()
	}
	return NewHistogram().MarshalText()
}

// UnmarshalText decodes what MarshalText made, here or in another language. A
// histogram of other bounds or digits is an error, for it would not merge.
func (h *Histogram) UnmarshalText(text []byte) error {
	if err := checkGeometry(text); err != nil {
		return fmt.Errorf("read histogram: %w", err)
	}
	decoded, err := hdrhistogram.DecodePacked(text)
	if err != nil {
		return fmt.Errorf("read histogram: %w", err)
	}
	if n := decoded.TotalCount(); n > mostCounted {
		return fmt.Errorf("read histogram: counts %d, more than any run makes", n)
	}
	h.h = decoded
	return nil
}

// checkGeometry reads the header alone: the library makes room for whatever
// geometry the header claims.
func checkGeometry(text []byte) error {
	raw, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return err
	}
	const outer = 8 // cookie and length, before the compressed part
	if len(raw) < outer {
		return errors.New("too short")
	}
	z, err := zlib.NewReader(bytes.NewReader(raw[outer:]))
	if err != nil {
		return err
	}
	var header struct {
		Cookie, Payload, Offset, Digits int32
		Lowest, Highest                 int64
	}
	if err := binary.Read(io.Reader(z), binary.BigEndian, &header); err != nil {
		return err
	}
	if header.Digits != digits || header.Lowest != lowest || header.Highest != highest {
		return fmt.Errorf("holds %d to %d with %d digits; must hold %d to %d with %d",
			header.Lowest, header.Highest, header.Digits, lowest, highest, digits)
	}
	return nil
}
