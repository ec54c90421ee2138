package clinical

import (
	"strings"
	"unicode"
)

// FieldMask names fields, as the schema spells them. Its JSON is one string of
// names in lowerCamelCase with commas between them.
type FieldMask struct{ Paths []string }

// MarshalText gives the names.
func (m FieldMask) MarshalText() ([]byte, error) {
	var b strings.Builder
	for i, path := range m.Paths {
		if i > 0 {
			b.WriteByte(',')
		}
		upper := false
		for _, c := range path {
			switch {
			case c == '_':
				upper = true
			case upper:
				b.WriteRune(unicode.ToUpper(c))
				upper = false
			default:
				b.WriteRune(c)
			}
		}
	}
	return []byte(b.String()), nil
}

// UnmarshalText takes names.
func (m *FieldMask) UnmarshalText(text []byte) error {
	m.Paths = nil
	if len(text) == 0 {
		return nil
	}
	for path := range strings.SplitSeq(string(text), ",") {
		var b strings.Builder
		for _, c := range path {
			if unicode.IsUpper(c) {
				b.WriteByte('_')
			}
			b.WriteRune(unicode.ToLower(c))
		}
		m.Paths = append(m.Paths, b.String())
	}
	return nil
}
