package stats

import (
	"errors"
	"fmt"

	"github.com/tare-bench/tare/record"
)

// Slowest gives the stack that carried the fewest calls, and its throughput: the
// most that every stack of the run can carry. A stack of which too many calls
// failed, and one that tells no throughput, is an error: half of what it can
// carry is not known.
func Slowest(run *record.Run) (*record.Pilot, error) {
	a, err := Analyze(run)
	if err != nil {
		return nil, err
	}
	slowest := &record.Pilot{}
	for _, s := range a.Scenarios {
		if s.Tally.share() > mostErrors {
			return nil, errors.New(tooManyFailed(s.Tally, s.Name))
		}
		carried := unknown
		for _, l := range s.Levels {
			if l.Metric.Name == "throughput" {
				carried = l.Interval
			}
		}
		if run.Header.Item != "" { // rates of arrivals are of calls
			carried.Value /= s.Tally.PerCall()
		}
		if !carried.Known() {
			return nil, fmt.Errorf("%s tells no throughput: fewer calls ended in its trials than were in flight", s.Name)
		}
		if slowest.Stack == "" || carried.Value < slowest.Throughput {
			slowest.Stack, slowest.Throughput = s.Name, carried.Value
		}
	}
	return slowest, nil
}
