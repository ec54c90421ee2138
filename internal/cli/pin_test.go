package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/record"
)

func TestDriverAndServersShareNoCore(t *testing.T) {
	for _, c := range []struct {
		cores [][]int
		want  record.Pinned
	}{
		{[][]int{{0}, {1}}, record.Pinned{Driver: []int{0}, Servers: []int{1}}},
		{[][]int{{0, 4}, {1, 5}, {2, 6}}, record.Pinned{Driver: []int{0, 4}, Servers: []int{1, 5, 2, 6}}},
	} {
		if d := cmp.Diff(c.want, apart(c.cores)); d != "" {
			t.Errorf("%v (-want +got):\n%s", c.cores, d)
		}
	}
}
