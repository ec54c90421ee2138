package link

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// set gives a link what a word says.
type set func(*Spec)

// word is one kind of word in a link's spelling.
type word struct {
	kind  string
	mark  string // what it begins with
	takes string // for a person
	// read gives what sets the value; nil where text is no such word at all.
	read func(text string) (set, error)
	// text is the canonical word; "" where the value needs none.
	text func(s Spec) string
}

// words are tried in order, and make up a canonical spelling in that order.
var words = []word{
	{"rate", "", "100mbit; from 1kbit to 100gbit", readRate, rateText},
	{"round trip", "", "10ms; from 0ms to 10s", readRoundTrip, func(s Spec) string { return millis(s.RoundTrip) }},
	{"jitter", "jitter=", "2ms; each way, up and down, at most half the round trip", readJitter, func(s Spec) string {
		return unlessZero(s.Jitter == 0, "jitter="+millis(s.Jitter))
	}},
	{"loss", "loss=", "0.1%; of packets, each way", readLoss, func(s Spec) string {
		return unlessZero(s.Loss == 0, "loss="+strconv.FormatFloat(s.Loss, 'f', -1, 64))
	}},
	{"kind", "by=", strings.Join(Kinds, " or "), readBy, func(s Spec) string { return unlessZero(s.By == "", "by="+s.By) }},
}

// Takes is the grammar in one line, for help and errors.
func Takes() string {
	var presets, each []string
	for _, p := range Presets {
		presets = append(presets, fmt.Sprintf("%s (%s)", p.Name, p.Spec))
	}
	for _, w := range words {
		each = append(each, fmt.Sprintf("%s (%s%s)", w.kind, w.mark, w.takes))
	}
	return strings.Join(presets, ", ") + "; or words with commas between them: " + strings.Join(each, ", ")
}

// Parse reads one link.
func Parse(text string) (Spec, error) {
	all, err := ParseList(text)
	if err != nil {
		return Spec{}, err
	}
	if len(all) > 1 {
		return Spec{}, fmt.Errorf("%q is %d links: a preset comes first, and each kind of word once", text, len(all))
	}
	return all[0], nil
}

// ParseList reads one link after another: a preset, or a word of a kind that
// the link before already has, begins the next.
func ParseList(text string) ([]Spec, error) {
	var all []Spec
	var has []string // kinds of word that the last one has
	begin := func(s Spec, kinds ...string) { all, has = append(all, s), kinds }
	for text := range strings.SplitSeq(text, ",") {
		text = strings.TrimSpace(text)
		if i := slices.IndexFunc(Presets, func(p Preset) bool { return p.Name == text }); i >= 0 {
			begin(Presets[i].Spec, words[0].kind, words[1].kind)
			continue
		}
		kind, say, err := readWord(text)
		if err != nil {
			return nil, err
		}
		if len(all) == 0 || slices.Contains(has, kind) {
			begin(Spec{})
		}
		has = append(has, kind)
		say(&all[len(all)-1])
	}
	for _, s := range all {
		if err := s.check(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// check holds the words of a link against each other.
func (s Spec) check() error {
	switch {
	case s.Jitter > s.OneWay():
		return fmt.Errorf("jitter=%s of a round trip of %s: takes up to half of it", millis(s.Jitter), millis(s.RoundTrip))
	case s.By != "" && !s.May(s.By):
		return fmt.Errorf("loss with by=%s: a relay carries bytes and loses no packet; have by=%s", Relay, Tunnel)
	}
	return nil
}

// readWord finds what kind a word is of, and what it says.
func readWord(text string) (kind string, say set, err error) {
	for _, w := range words {
		rest, marked := strings.CutPrefix(text, w.mark)
		if !marked {
			continue
		}
		say, err := w.read(rest)
		switch {
		case err != nil:
			return "", nil, fmt.Errorf("%s: takes %s%s", text, w.mark, w.takes)
		case say != nil:
			return w.kind, say, nil
		}
	}
	return "", nil, fmt.Errorf("%q is no word of a link; it takes %s", text, Takes())
}

// String is the canonical spelling, which Parse reads back.
func (s Spec) String() string {
	var all []string
	for _, w := range words {
		if text := w.text(s); text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, ",")
}

// MarshalText gives the canonical spelling, for plans in JSON.
func (s Spec) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

var errBounds = errors.New("out of bounds")

// units of a rate, the greatest first: all of them end in the last.
var units = []struct {
	name string
	bits float64
}{{"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}, {"bit", 1}}

func readRate(text string) (set, error) {
	for _, u := range units {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		x, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return nil, err
		}
		bits := math.Round(x * u.bits)
		if !(bits >= 1e3 && bits <= 100e9) {
			return nil, errBounds
		}
		return func(s *Spec) { s.Rate = int64(bits) }, nil
	}
	return nil, nil
}

func rateText(s Spec) string {
	for _, u := range units {
		if float64(s.Rate) >= u.bits {
			return strconv.FormatFloat(float64(s.Rate)/u.bits, 'f', -1, 64) + u.name
		}
	}
	return ""
}

func readRoundTrip(text string) (set, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil, nil // another kind of word, or none
	}
	if d < 0 || d > 10*time.Second {
		return nil, errBounds
	}
	return func(s *Spec) { s.RoundTrip = d }, nil
}

func readJitter(text string) (set, error) {
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = errBounds
	}
	return func(s *Spec) { s.Jitter = d }, err
}

func readLoss(text string) (set, error) {
	number, percent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(number, 64)
	if percent {
		x /= 100
	}
	if err == nil && !(x >= 0 && x < 1) {
		err = errBounds
	}
	return func(s *Spec) { s.Loss = x }, err
}

func readBy(text string) (set, error) {
	if !slices.Contains(Kinds, text) {
		return nil, errBounds
	}
	return func(s *Spec) { s.By = text }, nil
}

// millis spells a duration without the Greek letter of Go's own spelling.
func millis(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64) + "ms"
}

func unlessZero(zero bool, text string) string {
	if zero {
		return ""
	}
	return text
}
