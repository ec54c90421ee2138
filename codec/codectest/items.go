package codectest

import (
	"pgregory.net/rapid"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
)

// item generates any item that c takes, absent ones too, nested at most so
// deep. Numbers that JSON has no form for are left to conformance.Examples.
func item(c codec.Codec, depth int) *rapid.Generator[*conformance.Item] {
	moods := rapid.Int32()
	if c.Spec().ClosedEnums {
		moods = rapid.Int32Range(0, 2)
	}
	return rapid.Custom(func(t *rapid.T) *conformance.Item {
		if rapid.Bool().Draw(t, "absent") {
			return nil
		}
		i := &conformance.Item{
			Text:   rapid.String().Draw(t, "text"),
			Number: rapid.Int64().Draw(t, "number"),
			Ratio:  rapid.Float64().Draw(t, "ratio"),
			Blob:   rapid.SliceOf(rapid.Byte()).Draw(t, "blob"),
			Mood:   conformance.Mood(moods.Draw(t, "mood")),
			Tags:   rapid.SliceOf(rapid.String()).Draw(t, "tags"),
			Maybe:  rapid.Ptr(rapid.Int32(), true).Draw(t, "maybe"),
			Counts: rapid.MapOf(rapid.String(), rapid.Custom(func(t *rapid.T) conformance.Int64 {
				return conformance.Int64(rapid.Int64().Draw(t, "count"))
			})).Draw(t, "counts"),
		}
		if depth > 0 {
			i.Child = item(c, depth-1).Draw(t, "child")
		}
		return i
	})
}
