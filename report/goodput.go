package report

import (
	"fmt"
	"slices"
)

const throughput = "throughput"

// What a call that failed says of an overload. Source: the classes of
// rpc.Class.
var (
	refusals = []string{"resource_exhausted", "unavailable"}
	timeOuts = []string{"deadline_exceeded"}
)

// goodputTable says what each stack carried of the rates that it was offered, in
// a sweep of rates.
func (s *Sweep) goodputTable() Table {
	t := Table{Title: "good-put"}
	t.Head = []string{s.Axis, "stack", "offered", "good-put", "to the closed loop", "refused", "timed out", "other errors", "not started"}
	t.Units = []string{"", "", "calls/s", s.Points[0].Document.Conditions.unit() + "s/s", "", "%", "%", "%", "%"}
	for _, p := range s.Points {
		for _, one := range p.Document.Scenarios {
			t.Rows = append(t.Rows, s.goodput(p, one))
		}
	}
	return t
}

func (s *Sweep) goodput(p Point, one Scenario) []string {
	due := float64(one.Calls + one.NotStarted)
	percent := func(n int) string {
		if due == 0 {
			return "–"
		}
		return number(100 * float64(n) / due)
	}
	failed := 0
	for _, n := range one.Errors {
		failed += n
	}
	refused, timedOut := sum(one.Errors, refusals), sum(one.Errors, timeOuts)
	carried := one.Metrics[throughput]
	return []string{
		p.Value, one.Stack, p.rate(), cell(carried, scale{"calls/s", 1}), s.toCapacity(one.Stack, carried),
		percent(refused), percent(timedOut), percent(failed - refused - timedOut), percent(one.NotStarted),
	}
}

// toCapacity is a good-put as a ratio to the throughput of the same stack in the
// sweep's closed loop. The two are of separate runs, so that its bounds are those
// of the two intervals' ends, which are wider than need be.
func (s *Sweep) toCapacity(stack string, carried Value) string {
	i := slices.IndexFunc(s.Points, func(p Point) bool { return p.Document.Conditions.Rate == 0 })
	if i < 0 {
		return "–"
	}
	most := s.Points[i].level(stack, Metric{Name: throughput})
	if carried.Value == nil || most.Value == nil || *most.Value == 0 {
		return "–"
	}
	ratio := Value{Value: new(*carried.Value / *most.Value)}
	if carried.Low == nil || most.Low == nil || *most.Low <= 0 {
		return "–"
	}
	ratio.Low, ratio.High = new(*carried.Low / *most.High), new(*carried.High / *most.Low)
	return fmt.Sprintf("%s (%s)", Ratio(ratio), RatioInterval(ratio))
}

func sum(counts map[string]int, classes []string) (n int) {
	for _, class := range classes {
		n += counts[class]
	}
	return n
}
