package schema

import (
	"slices"
	"strings"
)

const maxNear = 5

// nearest gives the names that are most like name: all, where there are few.
func nearest(name string, names []string) []string {
	distances := make(map[string]int, len(names))
	for _, n := range names {
		distances[n] = distance(strings.ToLower(name), strings.ToLower(n))
		if last(n) == last(name) {
			distances[n] = 0 // of another package
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := distances[a] - distances[b]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	names = slices.Compact(names)
	return names[:min(len(names), maxNear)]
}

func last(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// distance is Levenshtein's: how many letters to add, drop or change.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
