// Package stats says what a run means: levels, ratios with their intervals, and
// verdicts, exactly as METHOD.md states. It takes a results file as data and
// gives an Analysis as data; report renders it. It is pure, and knows no
// protocol, codec or workload.
package stats

// MinBlocks is the least number of blocks for a verdict: with fewer, the t
// quantile says more of its own degrees of freedom than of the run.
const MinBlocks = 5
