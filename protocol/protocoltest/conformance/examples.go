package conformance

import (
	"bytes"
	"math"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	pb "github.com/tare-bench/tare/gen/tare/conformance/v1"
)

// Example is one item worth sending.
type Example struct {
	Name string
	Item *Item
	// NotJSON says that the item holds a number that RFC 8259 has no form for,
	// so that a codec may refuse it; it may not change it.
	NotJSON bool
}

// Unnamed says whether an item holds a mood that the schema has no name for,
// so that a codec whose enums are closed refuses it.
func (i *Item) Unnamed() bool { return i != nil && (i.Mood.Unnamed() || i.Child.Unnamed()) }

// Unnamed says whether the schema has no name for the mood.
func (m Mood) Unnamed() bool { return pb.Mood_name[int32(m)] == "" }

// Examples gives the items that codecs and protocols get wrong.
func Examples() []Example {
	return []Example{
		{Name: "absent", Item: nil},
		{Name: "empty", Item: &Item{}},
		{Name: "ordinary", Item: Ordinary()},
		{Name: "greatest int64", Item: &Item{Number: math.MaxInt64}},
		{Name: "least int64", Item: &Item{Number: math.MinInt64}},
		{Name: "int64 just beyond a double", Item: &Item{Number: 1<<53 + 1}},
		{Name: "negative zero", Item: &Item{Ratio: math.Copysign(0, -1)}},
		{Name: "least double", Item: &Item{Ratio: math.SmallestNonzeroFloat64}},
		{Name: "greatest double", Item: &Item{Ratio: math.MaxFloat64}},
		{Name: "double of 17 digits", Item: &Item{Ratio: 0.1 + 0.2}},
		{Name: "not a number", Item: &Item{Ratio: math.NaN()}, NotJSON: true},
		{Name: "infinity", Item: &Item{Ratio: math.Inf(1)}, NotJSON: true},
		{Name: "negative infinity", Item: &Item{Ratio: math.Inf(-1)}, NotJSON: true},
		{Name: "unicode", Item: &Item{Text: "Zoë 日本語 🜚 \u2028 e\u0301 \U0010FFFF"}},
		{Name: "escapes", Item: &Item{Text: "\x00\t\r\n\"\\/<>&%00\x7f"}},
		{Name: "text like another type", Item: &Item{Text: "null", Tags: []string{"", "007", "true"}}},
		{Name: "every byte", Item: &Item{Blob: everyByte()}},
		{Name: "unknown enum", Item: &Item{Mood: 77}},
		{Name: "negative enum", Item: &Item{Mood: -1}},
		{Name: "optional zero", Item: &Item{Maybe: new(int32)}},
		{Name: "child empty", Item: &Item{Child: &Item{}}},
		{Name: "child of child", Item: &Item{Child: &Item{Text: "a", Child: &Item{Text: "b"}}}},
		{Name: "map", Item: &Item{Counts: map[string]Int64{"": 0, "a": 1, "ä.b$": math.MinInt64, "null": math.MaxInt64}}},
		{Name: "long", Item: &Item{Text: strings.Repeat("long ", 20_000), Blob: make([]byte, 100_000)}},
	}
}

// Ordinary gives an item with every field set, none of them extreme.
func Ordinary() *Item {
	maybe := int32(-7)
	return &Item{
		Text:   "two dozen oranges",
		Number: 1234567,
		Ratio:  2.5,
		Blob:   []byte("raw bytes"),
		Mood:   2,
		Tags:   []string{"citrus", "fresh"},
		Child:  &Item{Text: "one orange", Mood: 1},
		Maybe:  &maybe,
		Counts: map[string]Int64{"boxes": 2, "pieces": 24},
	}
}

// Asked gives requests of Find that paths and queries get wrong.
func Asked() []*FindRequest {
	zero, minus, closed := int32(0), int64(-1), false
	return []*FindRequest{
		{Name: "plain"},
		{Name: "levels", Level: -7, PageSize: math.MinInt64},
		{Name: "a/b c?d#e%2F+&=;:@é日本", Tags: []string{"", "a&b=c", "100 %", "+", "é日本", ";", "a.b"}},
		{Name: ".", Token: everyByte()},
		{Name: "..", Token: []byte("?>~")},
		{Name: "%2E", Ratio: 0.1 + 0.2, Exact: true},
		{Name: "ratio", Ratio: math.NaN()},
		{Name: "ratio", Ratio: math.Inf(-1)},
		{Name: "ratio", Ratio: math.Copysign(0, -1)},
		{Name: "mood", Mood: 2, Moods: []Mood{1, 0, 77, 1}},
		{Name: "mood", Mood: -1},
		{Name: "presence", Range: &Range{}},
		{Name: "presence", Maybe: &zero, Range: &Range{To: &minus}, Open: &closed},
		{Name: "nested", Range: &Range{From: math.MaxInt64}},
		OrdinaryQuery(),
	}
}

// OrdinaryQuery gives a request of Find with every field set, none of them
// extreme.
func OrdinaryQuery() *FindRequest {
	maybe, to, open := int32(-7), int64(9), true
	since := time.Date(2026, 12, 1, 8, 0, 0, 120_000_000, time.UTC)
	return &FindRequest{
		Name: "two dozen oranges", Level: 2, PageSize: 50, Ratio: 2.5, Exact: true, Token: []byte("raw bytes"),
		Mood: 2, Tags: []string{"citrus", "fresh"}, Moods: []Mood{1, 2}, Maybe: &maybe,
		Range: &Range{From: 3, To: &to}, SinceTime: &since, Open: &open,
	}
}

func everyByte() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// Diff says how got differs from want, "" where it does not. An empty list,
// map or blob equals an absent one, as in protobuf; negative zero is not zero.
func Diff(want, got any) string {
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), sameBytes, cmp.Comparer(func(a, b float64) bool {
		return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
	}))
}

// sameBytes compares blobs whole: cmp would visit each of 20 million bytes.
var sameBytes = cmp.FilterValues(
	func(a, b []byte) bool { return len(a)+len(b) > 0 },
	cmp.Comparer(bytes.Equal),
)
