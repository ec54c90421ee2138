package evolution

import (
	"fmt"
	"strings"

	"github.com/tare-bench/tare/codec"
)

// Table says in Markdown what becomes of each change with each codec; one that is
// Resolving stands there twice.
func Table(all []codec.Codec) (string, error) {
	var b strings.Builder
	var codecs []codec.Codec
	for _, k := range all {
		codecs = append(codecs, k)
		if r, ok := k.(Resolving); ok {
			codecs = append(codecs, Told(r))
		}
	}
	b.WriteString("| change | who |")
	rule := "|:---|:---|"
	for _, k := range codecs {
		fmt.Fprintf(&b, " %s |", k.Spec().Name)
		rule += ":---|"
	}
	fmt.Fprintf(&b, "\n%s\n", rule)
	for _, c := range Cases {
		fmt.Fprintf(&b, "| %s | %s |", c.Change, c.Who)
		for _, k := range codecs {
			outcome, err := Try(k, c)
			if err != nil {
				return "", fmt.Errorf("%s: %s, %s: %w", k.Spec().Name, c.Change, c.Who, err)
			}
			fmt.Fprintf(&b, " %s |", outcome)
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}
