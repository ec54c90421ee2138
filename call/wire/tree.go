package wire

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

var typeNames = map[protowire.Type]string{
	protowire.VarintType: "varint", protowire.Fixed64Type: "fixed64", protowire.Fixed32Type: "fixed32",
}

// Limits on what is printed of one field's bytes.
const (
	maxText   = 4096
	maxHex    = 64
	maxPacked = 16
)

// Print writes fields one a line, those of messages and groups indented below.
// What follows a # is another guess at the same bytes.
func Print(w io.Writer, fields []Field) error {
	var b strings.Builder
	printFields(&b, fields, "")
	_, err := io.WriteString(w, b.String())
	return err
}

func printFields(b *strings.Builder, fields []Field, indent string) {
	for _, f := range fields {
		b.WriteString(indent)
		switch {
		case f.Type == protowire.StartGroupType:
			fmt.Fprintf(b, "%d group {\n", f.Number)
		case f.Nested:
			fmt.Fprintf(b, "%d {%s\n", f.Number, notMessage(f))
		default:
			fmt.Fprintf(b, "%d: %s%s\n", f.Number, value(f), guesses(f))
			continue
		}
		printFields(b, f.Fields, indent+"  ")
		b.WriteString(indent + "}\n")
	}
}

// Line gives fields on one line, without other guesses: text within text that
// may be a message would double with each depth.
func Line(fields []Field) string {
	var all []string
	for _, f := range fields {
		text := fmt.Sprintf("%d: %s", f.Number, value(f))
		if f.Nested || f.Type == protowire.StartGroupType {
			text = fmt.Sprintf("%d {%s}", f.Number, Line(f.Fields))
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func value(f Field) string {
	switch f.Type {
	case protowire.VarintType:
		if f.Value > math.MaxInt64 {
			return fmt.Sprintf("varint %d (int64 %d)", f.Value, int64(f.Value))
		}
		return fmt.Sprintf("varint %d (zigzag %d)", f.Value, protowire.DecodeZigZag(f.Value))
	case protowire.Fixed64Type:
		return fmt.Sprintf("fixed64 %d (double %v)", f.Value, math.Float64frombits(f.Value))
	case protowire.Fixed32Type:
		return fmt.Sprintf("fixed32 %d (float %v)", f.Value, math.Float32frombits(uint32(f.Value)))
	}
	if isText(f.Bytes) {
		return quoted(f.Bytes)
	}
	return fmt.Sprintf("%d bytes %s", len(f.Bytes), hexadecimal(f.Bytes))
}

// notMessage gives the other guess at what is taken for a message.
func notMessage(f Field) string {
	text := ""
	if f.Cut {
		text = "  # cut off"
	}
	if isText(f.Bytes) {
		return text + or([]string{quoted(f.Bytes)})
	}
	return text + or(packedFloats(f.Bytes))
}

// guesses gives what else a field's bytes may be.
func guesses(f Field) string {
	if f.Cut {
		return "  # cut off"
	}
	var all []string
	if f.Type == protowire.BytesType && !isText(f.Bytes) {
		if values := packed(f.Bytes, 0); len(values) > 1 {
			all = append(all, "packed varints "+list(values, func(v uint64) string { return strconv.FormatUint(v, 10) }))
		}
		all = append(all, packedFloats(f.Bytes)...)
	}
	if len(f.Fields) > 0 {
		all = append(all, "{"+Line(f.Fields)+"}")
	}
	return or(all)
}

func or(guesses []string) string {
	if len(guesses) == 0 {
		return ""
	}
	return "  # or " + strings.Join(guesses, ", or ")
}

func quoted(b []byte) string {
	if len(b) <= maxText {
		return strconv.Quote(string(b))
	}
	return fmt.Sprintf("%s… (%d bytes)", strconv.Quote(strings.ToValidUTF8(string(b[:maxText]), "")), len(b))
}

func hexadecimal(b []byte) string {
	if len(b) <= maxHex {
		return fmt.Sprintf("% x", b)
	}
	return fmt.Sprintf("% x…", b[:maxHex])
}

// packedFloats gives bytes as floating-point numbers of both sizes, where they
// are likely to be any.
func packedFloats(b []byte) (guesses []string) {
	for _, r := range []struct {
		size  int
		name  string
		float func(uint64) float64
	}{
		{8, "packed doubles ", math.Float64frombits},
		{4, "packed floats ", func(v uint64) float64 { return float64(math.Float32frombits(uint32(v))) }},
	} {
		values := packed(b, r.size)
		if len(values) > 0 && !slices.ContainsFunc(values, func(v uint64) bool { return !plausible(r.float(v)) }) {
			guesses = append(guesses, r.name+list(values, func(v uint64) string {
				return strconv.FormatFloat(r.float(v), 'g', -1, 8*r.size)
			}))
		}
	}
	return guesses
}

func list(values []uint64, format func(uint64) string) string {
	var all []string
	for _, v := range values[:min(len(values), maxPacked)] {
		all = append(all, format(v))
	}
	if more := len(values) - maxPacked; more > 0 {
		all = append(all, fmt.Sprintf("… (%d more)", more))
	}
	return "[" + strings.Join(all, " ") + "]"
}
