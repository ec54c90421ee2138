package stats

import (
	"fmt"
	"strconv"
	"strings"
)

// Counted gives a number with its noun: "1 block", "1,200 calls".
func Counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Thousands(strconv.Itoa(n)) + " " + noun
}

// Thousands puts a comma before each three digits of a decimal number's whole
// part.
func Thousands(number string) string {
	whole, rest, fraction := strings.Cut(number, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction {
		rest = "." + rest
	}
	return sign + whole + rest
}

// shareOf says how many of how many: "2 of 1,200 calls".
func shareOf(n, all int, noun string) string {
	return fmt.Sprintf("%s of %s", Thousands(strconv.Itoa(n)), Counted(all, noun))
}
