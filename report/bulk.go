package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/tare-bench/tare/stats"
)

// unit is what costs are by.
func (c Conditions) unit() string {
	if c.Item != "" {
		return c.Item
	}
	return "call"
}

// call is what the driver makes one after the other, and latency is of.
func (c Conditions) call() string {
	if c.Streams {
		return "stream"
	}
	return "call"
}

// one puts the article before a noun.
func one(noun string) string {
	if strings.IndexAny(noun, "aeiou") == 0 {
		return "an " + noun
	}
	return "a " + noun
}

// bulk ends a sentence on the load: what each call moves; "" where it is nothing
// but itself.
func (c Conditions) bulk() string {
	call := c.call()
	switch n := c.ItemsPerCall; {
	case c.Item == "" || n == 0:
		return ""
	case n == 1:
		return fmt.Sprintf(", 1 %s a %s", c.Item, call)
	case n == math.Trunc(n):
		return fmt.Sprintf(", %s a %s", stats.Counted(int(n), c.Item), call)
	default:
		return fmt.Sprintf(", %s %ss a %s in the mean", number(n), c.Item, call)
	}
}

// servers ends a sentence on the load: how many processors each server may use;
// "" for all.
func (c Conditions) servers() string {
	switch c.Workers {
	case 0:
		return ""
	case 1:
		return ", single-threaded servers"
	}
	return fmt.Sprintf(", servers on %s each", stats.Counted(c.Workers, "processor"))
}
