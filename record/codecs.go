package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// The steps of a codec, as codec.Binding has them, by which a CodecTrial tells
// what each takes.
const (
	StepNative = "to_native" // map, on the way out
	StepEncode = "encode"
	StepDecode = "decode"
	StepPlain  = "to_plain" // map, on the way in
)

// Steps are all of them, in the order in which a message meets them.
var Steps = []string{StepNative, StepEncode, StepDecode, StepPlain}

// CodecLine is one line of a results file of codecs: exactly one field is set.
// The file is a Codecs line, then the others in the order of events.
type CodecLine struct {
	Codecs *CodecHeader `json:"codecs,omitempty"`
	Size   *CodecSize   `json:"size,omitempty"`
	Trial  *CodecTrial  `json:"codec_trial,omitempty"`
	End    *End         `json:"end,omitempty"`
}

// CodecHeader says what a run of codecs is.
type CodecHeader struct {
	Format      int               `json:"format"`
	Version     string            `json:"version"` // of tare
	Started     time.Time         `json:"started"`
	Command     []string          `json:"command"`
	Workload    string            `json:"workload"`
	Seed        uint64            `json:"seed"`
	Batch       int               `json:"batch"` // items of a message that holds many
	SliceS      float64           `json:"slice_s"`
	Blocks      int               `json:"blocks"` // as planned
	Rounds      int               `json:"rounds"` // of a block, as planned
	Margin      float64           `json:"margin"`
	Baseline    string            `json:"baseline"`        // a codec's name
	Limit       string            `json:"limit,omitempty"` // the contender that is no codec: it copies bytes
	Messages    []CodecMessage    `json:"messages"`
	Codecs      []CodecContender  `json:"codecs"`
	LeftOut     []Omission        `json:"left_out,omitempty"`
	Environment map[string]string `json:"environment"`
	Libraries   map[string]string `json:"libraries"`
}

// CodecMessage is one kind of message. Its index in the header is its number.
type CodecMessage struct {
	Name  string `json:"name"`
	Type  string `json:"type"`  // full protobuf name
	Items int    `json:"items"` // of the workload's, in each message
	Kinds int    `json:"kinds"` // how many messages, alike in kind, take turns
}

// CodecContender is a codec, or the limit. Its index in the header is its number.
type CodecContender struct {
	Name   string `json:"name"`
	Remark string `json:"remark,omitempty"`
}

// CodecSize is how large a codec makes a kind of message, in bytes, as the mean
// of those that take turns.
type CodecSize struct {
	Message int     `json:"message"`
	Codec   int     `json:"codec"`
	Bytes   float64 `json:"bytes"`
	// Compressed is the same after each compressor, by name.
	Compressed map[string]float64 `json:"compressed,omitempty"`
}

// CodecTrial is a codec's turn with a kind of message.
type CodecTrial struct {
	Block   int             `json:"block"`
	Round   int             `json:"round"`
	Message int             `json:"message"`
	Codec   int             `json:"codec"`
	Steps   map[string]Cost `json:"steps"` // by Steps
}

// Cost is what so many repetitions of a step took, garbage collection included.
type Cost struct {
	N      int     `json:"n"`
	CPUS   float64 `json:"cpu_s"` // of the whole process
	Allocs float64 `json:"allocs"`
	Bytes  float64 `json:"bytes"` // allocated
}

// CodecRun is a results file of codecs, read, or gathered line by line with Add.
type CodecRun struct {
	Header CodecHeader
	Sizes  []CodecSize
	Trials []CodecTrial
	End    *End // nil where the run was cut short
}

// WriteCodecs writes one line, in one call of w.Write.
func WriteCodecs(w io.Writer, l CodecLine) error { return writeLine(w, l) }

// ReadCodecs reads a whole results file of codecs, as Read does one of stacks:
// it skips what it does not know, and a last line that was cut short.
func ReadCodecs(r io.Reader) (*CodecRun, error) {
	var run CodecRun
	err := eachLine(r, func(text []byte, whole bool) error {
		var l CodecLine
		err := json.Unmarshal(text, &l)
		if err == nil || run.Header.Format == 0 { // which Add says of what is no results file
			err = errors.Join(err, run.Add(l))
		}
		if err != nil && !whole && run.Header.Format != 0 {
			return nil // cut short
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if run.Header.Format == 0 {
		return nil, fmt.Errorf("read results: %w: it is empty", ErrNotResults)
	}
	return &run, nil
}

// Add takes in one line, as it comes in the file: the header first.
func (r *CodecRun) Add(l CodecLine) error {
	switch {
	case l.Codecs != nil && r.Header.Format != 0:
		return errors.New("a second header")
	case l.Codecs != nil:
		return r.begin(*l.Codecs)
	case r.Header.Format == 0:
		return fmt.Errorf("%w of codecs: it does not begin with their header", ErrNotResults)
	case l.Size != nil:
		if err := r.names(l.Size.Message, l.Size.Codec); err != nil {
			return err
		}
		r.Sizes = append(r.Sizes, *l.Size)
	case l.Trial != nil:
		t := l.Trial
		if err := r.names(t.Message, t.Codec); err != nil {
			return err
		}
		if slices.ContainsFunc(r.Trials[max(0, len(r.Trials)-len(r.Header.Codecs)*len(r.Header.Messages)):], func(o CodecTrial) bool {
			return o.Block == t.Block && o.Round == t.Round && o.Message == t.Message && o.Codec == t.Codec
		}) {
			return fmt.Errorf("a second trial of codec %d with message %d in block %d, round %d", t.Codec, t.Message, t.Block, t.Round)
		}
		r.Trials = append(r.Trials, *t)
	case l.End != nil:
		r.End = l.End
	}
	return nil
}

func (r *CodecRun) begin(h CodecHeader) error {
	switch {
	case h.Format < 1:
		return fmt.Errorf("%w of codecs: its header has no format", ErrNotResults)
	case h.Format > Format:
		return fmt.Errorf("format %d was written by a newer tare; this one reads up to %d", h.Format, Format)
	case !slices.ContainsFunc(h.Codecs, func(c CodecContender) bool { return c.Name == h.Baseline }):
		return fmt.Errorf("baseline %q is no codec of the run", h.Baseline)
	}
	r.Header = h
	return nil
}

func (r *CodecRun) names(message, codec int) error {
	if message < 0 || message >= len(r.Header.Messages) {
		return fmt.Errorf("no message %d; there are %d", message, len(r.Header.Messages))
	}
	if codec < 0 || codec >= len(r.Header.Codecs) {
		return fmt.Errorf("no codec %d; there are %d", codec, len(r.Header.Codecs))
	}
	return nil
}
