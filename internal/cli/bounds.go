package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/report"
	"github.com/tare-bench/tare/stats"
)

func declareBounds(c *cobra.Command, words *[]string) {
	c.Flags().StringArrayVar(words, "fail-if", nil,
		"exit with 3 if this is so beyond doubt, such as 'grpc+proto.latency_p99 > 20ms' or 'grpc+proto/rest+json.throughput < 1.2'; may be repeated")
}

// bounds reads what a run with these scenarios is to fail on. Every error of it
// is one of usage.
func bounds(words []string, scenarios []record.Scenario) ([]stats.Bound, error) {
	var names []string
	for _, s := range scenarios {
		names = append(names, s.Name)
	}
	var out []stats.Bound
	for _, word := range words {
		b, err := report.ParseBound(word)
		if err != nil {
			return nil, usage(fmt.Errorf("--fail-if: %w", err))
		}
		for _, name := range []string{b.Stack, b.Over} {
			if name != "" && !slices.Contains(names, name) {
				return nil, usage(fmt.Errorf("--fail-if: bound %q: no stack %q in this run; there is %s", word, name, strings.Join(names, ", ")))
			}
		}
		out = append(out, b)
	}
	return out, nil
}

var (
	errBroken   = errors.New("a bound was broken")
	errUnjudged = errors.New("cannot judge every bound that was set")
)

// tell says on standard error what became of each bound that was not kept, and of
// which point of a sweep: where, or "". Its
// error is errBroken where one was broken, else errUnjudged where one has no
// figure to judge.
func (a *app) tell(where string, all []report.Bound) (err error) {
	for _, b := range all {
		switch state := stats.State(b.Outcome); state {
		case stats.Kept:
			continue
		case stats.Broken:
			err = errBroken
		case stats.BoundUnknown, stats.BoundWithheld:
			if err == nil {
				err = errUnjudged
			}
		}
		fmt.Fprintf(a.Err, "tare: bound %s: %s%s\n", b.Outcome, where, b.Sentence)
	}
	return err
}
