package calibrate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
)

// weighWait: a call to a server that waits for d takes d and what the way there
// and back takes, which the median must put below 0.3 ms. Calls come so often that
// they find caches and processors warm: each d after the last they would cost four
// times as much. The waits are no multiple of the time between two of them, or each
// answer would fall due as another call comes. The lean driver
// makes them, since a client library's own time is no fault of the scale.
func weighWait(ctx context.Context, s *Scale) ([]Reading, error) {
	const excess = 300e-6
	waits := []time.Duration{time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond}
	e := experiment{driver: plan.Lean, rate: 3470, arrivals: plan.Constant, slice: 2 * time.Second, rounds: 2, blocks: 1}
	for _, d := range waits {
		e.stacks = append(e.stacks, s.laden("wait", d))
	}
	run, err := s.run(ctx, e, nil)
	if err != nil {
		return nil, err
	}
	var out []Reading
	for i, d := range waits {
		p50 := merged(run, i).Quantile(0.5).Seconds()
		r := within(fmt.Sprintf("latency p50, d = %v", d), "s", d.Seconds(), p50, d.Seconds()+excess)
		r.Truth = d.Seconds()
		r.Note = fmt.Sprintf("excess %.0f µs", 1e6*(p50-d.Seconds()))
		out = append(out, r)
	}
	return out, nil
}

// weighStall: for one second nothing is answered. In an open loop all calls that
// fall due in it are late by what is left of it; in a closed loop of N only N
// callers notice.
func weighStall(ctx context.Context, s *Scale) ([]Reading, error) {
	const (
		length = 1.0
		under  = 8.0  // seconds that count
		after  = "6s" // of the first call: past the warm-up, and well before the trial's end
		n      = 16
	)
	stack := s.laden("stall", "1s:"+after)
	slice := seconds(under / (1 - counted))
	open, err := s.run(ctx, experiment{
		stacks: []string{stack}, rate: 500, arrivals: plan.Constant, slice: slice, rounds: 1, blocks: 1,
	}, nil)
	if err != nil {
		return nil, err
	}
	closed, err := s.run(ctx, experiment{
		stacks: []string{stack + "@wait=1ms"}, inFlight: n, slice: slice, rounds: 1, blocks: 1,
	}, nil)
	if err != nil {
		return nil, err
	}
	var out []Reading
	h := merged(open, 0)
	for _, c := range []struct{ q, tolerance float64 }{{0.90, 0.15}, {0.95, 0.15}, {0.99, 0.10}} {
		out = append(out, near(fmt.Sprintf("open loop, p%.0f", 100*c.q), "s",
			stallQuantile(c.q, length, under), h.Quantile(c.q).Seconds(), c.tolerance))
	}
	long := longer(merged(closed, 0), length/2)
	return append(out, within(fmt.Sprintf("closed loop of %d, calls above 0.5 s", n), "1", 1, long, n)), nil
}

// longer counts the latencies above x seconds.
func longer(h record.Histogram, x float64) float64 {
	n := int(h.Count())
	for k := range n {
		if h.Quantile(1-float64(k)/float64(n)).Seconds() <= x {
			return float64(k)
		}
	}
	return float64(n)
}

// weighQueue: servers of several service times, side by side, get the same
// arrivals. What a call takes without a queue is what one takes that waits as
// long as the mean service, and nothing more; it comes off all others.
func weighQueue(ctx context.Context, s *Scale) ([]Reading, error) {
	const (
		rate   = 40.0
		slice  = 4 * time.Second
		rounds = 5
		rhoMM1 = 0.5
		plain  = 10 * time.Millisecond
	)
	rhos := []float64{0.3, 0.5, 0.7, 0.8}
	e := experiment{
		driver: plan.Lean, rate: rate, arrivals: plan.Poisson, inFlight: plan.DefaultInFlight, // in a queue before the driver it waits as long
		slice: slice, rounds: rounds, blocks: 1,
		seeds: typical(rounds, 20_000, rate, slice.Seconds(), rhos),
	}
	for _, rho := range rhos {
		e.stacks = append(e.stacks, s.laden("serial", service(rho, rate)))
	}
	e.stacks = append(e.stacks, s.laden("serial", "exp:"+service(rhoMM1, rate).String()), s.laden("wait", plain))
	run, err := s.run(ctx, e, nil)
	if err != nil {
		return nil, err
	}
	mm1, unloaded := len(rhos), len(rhos)+1
	var out []Reading
	for i, rho := range rhos {
		d := service(rho, rate)
		truth := meanWaitMD1(rho, d.Seconds())
		longer := differences(run, i, unloaded, func(t *record.Trial) float64 { return t.Load.Latency.Mean().Seconds() })
		wait := middle(longer) - (d - plain).Seconds()
		r := near(fmt.Sprintf("M/D/1, ρ = %.1f: mean wait", rho), "s", truth, wait, 0.10*truth)
		r.Note = spread(longer, -(d - plain).Seconds())
		out = append(out, r)
	}
	// So few calls, each delayed by those before it, give the quantiles of random
	// service times within 8 % (p50) and 11 % (p90) of the long run's, one sigma.
	const chance = 0.25
	way := merged(run, unloaded).Quantile(0.5) - plain
	for _, q := range []float64{0.5, 0.9} {
		truth := responseMM1(q, rhoMM1, service(rhoMM1, rate).Seconds())
		out = append(out, near(fmt.Sprintf("M/M/1, ρ = %.1f: p%.0f of response", rhoMM1, 100*q), "s",
			truth, (merged(run, mm1).Quantile(q)-way).Seconds(), chance*truth))
	}
	return append(out, shown("way there and back", "s", way.Seconds())), nil
}

// service is the time for each call that keeps one server busy for a share rho.
func service(rho, rate float64) time.Duration {
	return seconds(rho / rate).Round(time.Microsecond)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// weighLittle: what is in flight in the mean, added up call by call, is the rate
// times the mean latency, whatever the two are (Little's law). It holds but for
// the calls at a trial's ends; a stall of the machine there would count, so that
// the trial in the middle of several is taken.
func weighLittle(ctx context.Context, s *Scale) ([]Reading, error) {
	run, err := s.run(ctx, experiment{
		stacks: []string{s.unladen}, inFlight: plan.DefaultInFlight, slice: time.Second, rounds: 5, blocks: 1,
	}, nil)
	if err != nil {
		return nil, err
	}
	var all []float64
	for _, t := range trialsOf(run, 0) {
		all = append(all, little(t.Load))
	}
	slices.Sort(all)
	return []Reading{near("throughput × mean latency ÷ mean in flight", "1", 1, middle(all), 0.01)}, nil
}

// little is throughput times mean latency over the mean number in flight.
func little(l *record.Load) float64 {
	rate, inFlight := float64(l.WindowCalls)/l.WindowS, l.BusyS/l.WindowS
	return rate * l.Latency.Mean().Seconds() / inFlight
}
