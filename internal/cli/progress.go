package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/tare-bench/tare/runner"
)

// progress shows how far a run is: a bar with the time left on a terminal, a
// line for each block elsewhere.
type progress struct {
	out    io.Writer
	blocks int
	bar    *progressbar.ProgressBar // nil where there is no terminal
}

func (a *app) progress(blocks, trials int) *progress {
	p := &progress{out: a.Err, blocks: blocks}
	if columns, ok := a.Terminal(a.Err); ok && columns > 0 {
		p.bar = progressbar.NewOptions(trials,
			progressbar.OptionSetWriter(a.Err), progressbar.OptionFullWidth(),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetRenderBlankState(true))
	}
	return p
}

func (p *progress) watch(s runner.Progress) {
	block := fmt.Sprintf("block %d of %d", s.Block+1, p.blocks)
	switch {
	case p.bar != nil && s.Step == runner.StepTrial:
		p.bar.Describe(block)
		_ = p.bar.Set(s.Trial) // a bar that cannot be drawn must not end a run
	case p.bar != nil:
		p.bar.Describe(block + ": " + s.Step)
	case s.Step == runner.StepStart:
		fmt.Fprintf(p.out, "%s: %d of %d trials done%s\n", block, s.Trial, s.Trials, left(s))
	}
}

// left foretells how long the rest takes, from how long the first part did.
func left(s runner.Progress) string {
	if s.Trial == 0 {
		return ""
	}
	rest := time.Duration(float64(s.Elapsed) / float64(s.Trial) * float64(s.Trials-s.Trial))
	return fmt.Sprintf(", about %v left", rest.Round(time.Second))
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
