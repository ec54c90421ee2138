package stats

import (
	"fmt"

	"github.com/tare-bench/tare/record"
)

// auditCodecs says what makes figures of codecs doubtful, and what every such run
// leaves unsaid.
func auditCodecs(a *CodecAnalysis) (warnings, notes []Finding) {
	h := a.Run.Header
	if a.Blocks < MinBlocks {
		warnings = append(warnings, Finding{
			"few_blocks", "", fmt.Sprintf("a verdict takes %s; %s", Counted(MinBlocks, "block"), thereAre(a.Blocks)),
			fmt.Sprintf("measure again with --blocks %d or more", MinBlocks),
		})
	}
	if a.ShortBlocks > 0 {
		warnings = append(warnings, Finding{
			"cut_short", "", fmt.Sprintf("%s ended before half of its rounds, and entered no estimate", Counted(a.ShortBlocks, "block")),
			"let the run end by itself",
		})
	}
	for _, rule := range machineRules {
		if text, _ := rule.look(&record.Run{End: a.Run.End}); text != "" {
			warnings = append(warnings, Finding{rule.code, "", text, "end other programs and measure again: CPU is counted apart from theirs, and caches and clock rate are shared"})
		}
	}
	for _, c := range h.Codecs {
		if c.Remark != "" {
			notes = append(notes, Finding{"remark", c.Name, c.Remark, ""})
		}
	}
	if h.Limit != "" {
		notes = append(notes, Finding{"limit", h.Limit, "copies the smallest encoding of them all, into a buffer that is kept or into a new one: no codec can take less", ""})
	}
	notes = append(notes, Finding{
		"warm", "", "a step is repeated on one processor with nothing between, so that its code and tables stay in the caches; in a service that does other work each call costs more",
		"tare compare weighs codecs in services, --stacks rest+CODEC,…",
	})
	return warnings, notes
}
