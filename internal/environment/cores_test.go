package environment

import (
	"slices"
	"testing"
)

func TestParseList(t *testing.T) {
	for text, want := range map[string][]int{
		"0": {0}, "0-2,7": {0, 1, 2, 7}, "0,4": {0, 4}, "": nil, "a-b": nil, "3-1": nil, "99999999": nil,
	} {
		if got := parseList(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v; want %v", text, got, want)
		}
	}
}

func TestCoresAreThoseOfThisProcess(t *testing.T) {
	cores, err := Cores()
	if err != nil || len(cores) == 0 {
		t.Fatalf("%v, %v; want one at least", cores, err)
	}
	seen := map[int]bool{}
	for _, core := range cores {
		for _, cpu := range core {
			if seen[cpu] {
				t.Errorf("processor %d is listed twice in %v", cpu, cores)
			}
			seen[cpu] = true
		}
	}
}
