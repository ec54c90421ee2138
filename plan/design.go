package plan

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tare-bench/tare/stats"
)

// Sizes of the design; METHOD.md gives the measurements behind them.
const (
	leastCalls   = 50                     // of a trial: fewer say little of a rate
	leastTurns   = 10                     // of a trial, for each slot: the first fills the pipeline, the last drains it
	bulkTurns    = 3                      // likewise of calls that move items, which count for what of them lies in a trial's middle
	usualCalls   = 1500                   // of a trial that exact work ends
	usualBulk    = 150                    // likewise of calls that move items: a driver holds them all
	leastRounds  = 2                      // of a block: an order and its reverse
	mostRounds   = 500_000                // of a run; a plan is held in memory
	brisk        = 10_000                 // calls/s, of small calls on the machine of METHOD.md
	closedSlice  = 250 * time.Millisecond // where the workload has no wish
	openSlice    = 2 * time.Second        // of an open loop, at least
	usualPhases  = time.Second            // of a profiled trial: some 100 samples for each busy core
	leastPhases  = 50 * time.Millisecond  // likewise, for any samples at all
	mostProfiled = 5                      // of profiled trials, by themselves, one part in so many of the time
	preciseBlock = DefaultFor / DefaultBlocks
)

// design lays out blocks, rounds and trials: by work, or by time.
func (p *Plan) design(r Request, wish time.Duration) error {
	if p.Calls > 0 {
		p.Phases = orNone(r.Phases)
		return p.byWork(r.Blocks)
	}
	return p.byTime(r, wish)
}

// byTime divides the time under load into slices of one length.
func (p *Plan) byTime(r Request, wish time.Duration) error {
	p.Slice = p.slice(r.Slice, wish)
	total := cmp.Or(r.For, DefaultFor)
	blocks := cmp.Or(r.Blocks, DefaultBlocks)
	if p.Precision > 0 {
		total = cmp.Or(r.For, DefaultBound)
		// Blocks keep their usual length, so that there are many at whose end
		// the run may stop.
		blocks = cmp.Or(r.Blocks, max(stats.MinBlocks, int(total/preciseBlock)))
	}
	round := p.Slice * time.Duration(len(p.Scenarios))
	block := total / time.Duration(blocks)
	p.Phases = p.phases(r.Phases, block)
	profiled := p.Phases * time.Duration(len(p.Scenarios))
	rounds := even(max(leastRounds, int((block-profiled)/round)))
	if blocks*rounds > mostRounds {
		return fmt.Errorf("--for %s: gives %d rounds, more than %d; a longer --slice gives fewer", total, blocks*rounds, mostRounds)
	}
	trial := Trial{Duration: p.Slice, AtLeast: p.leastCalls()}
	if p.open() {
		trial.AtLeast = 0 // the schedule alone says how many calls fall due
	}
	p.lay(blocks, rounds, func(int) Trial { return trial })

	if float64(trial.AtLeast) >= brisk*p.Slice.Seconds() {
		p.note("a trial takes at least %d calls with %d in flight: it may last longer than its slice of %s, and the run longer "+
			"than --for; a longer --slice gives fewer of them", trial.AtLeast, p.InFlight, p.Slice)
	}
	const filled = 0.9 // of the time asked for
	under := round*time.Duration(blocks*rounds) + profiled*time.Duration(blocks)
	switch {
	case p.Precision > 0:
		p.note("stops at the end of a block, from the %dth on, once every headline interval is within ±%.3g %%; "+
			"the %s of load are the most it will take", stats.MinBlocks, 100*p.Precision, under)
	case under > total:
		p.note("%s of load are needed for %d rounds in each of %d blocks%s; --for %s is too short for that",
			under, rounds, blocks, andPhases(profiled*time.Duration(blocks)), total)
	case float64(under) < filled*float64(total):
		p.note("fills %s of --for %s: a block holds rounds in pairs, an order and its reverse", under, total)
	}
	return nil
}

// phases is how long a profiled trial lasts, in blocks of so long: what is asked
// for, or a second, as far as it leaves other trials four fifths of the time. An
// open loop's is at least as long as its other trials, and one across a link has
// enough round trips.
func (p *Plan) phases(asked *time.Duration, block time.Duration) time.Duration {
	least := max(leastPhases, tripsOfSlice*p.RoundTrip())
	if p.open() {
		least = p.Slice
	}
	fits := (block / time.Duration(mostProfiled*len(p.Scenarios))).Truncate(time.Millisecond)
	switch {
	case asked != nil && *asked == 0, asked == nil && fits < least:
		return 0
	case asked != nil:
		return max(*asked, least)
	}
	return min(fits, max(usualPhases, least))
}

func andPhases(of time.Duration) string {
	if of == 0 {
		return ""
	}
	return fmt.Sprintf(" and %s of profiled trials", of)
}

// leastCalls is how many calls a trial takes. Throughput is counted between the
// first tenth of a trial and its last start: with few calls for each in flight,
// hardly any would end there. Items are spread over the time of the call that moves
// them, so that calls which are as long as a trial tell a rate too.
func (p *Plan) leastCalls() int {
	if p.Item != "" {
		return bulkTurns * p.InFlight
	}
	return max(leastCalls, leastTurns*p.InFlight)
}

func (p *Plan) turns() int {
	if p.Item != "" {
		return bulkTurns
	}
	return leastTurns
}

// even leaves out a last round that would lack its reverse; one is kept.
func even(rounds int) int { return max(1, rounds-rounds%2) }

// slice is how long a trial lasts. An open loop's is long enough for a stall to
// pass within it and for enough arrivals, and one across a link for enough round
// trips.
func (p *Plan) slice(asked, wish time.Duration) time.Duration {
	if asked > 0 {
		return asked
	}
	slice := cmp.Or(wish, closedSlice)
	if p.open() {
		slice = max(slice, openSlice)
	}
	if p.Rate > 0 { // and not yet to be found
		slice = max(slice, time.Duration(leastCalls/p.Rate*float64(time.Second)))
	}
	if least := tripsOfSlice * p.RoundTrip(); slice < least {
		p.note("a trial lasts %s, %d round trips of the link, and not %s", least, tripsOfSlice, slice)
		slice = least
	}
	return slice
}

// byWork divides each scenario's calls over its trials: none is lost.
func (p *Plan) byWork(askedBlocks int) error {
	least := p.leastCalls()
	blocks := cmp.Or(askedBlocks, DefaultBlocks)
	switch {
	case p.Calls >= blocks*least:
	case askedBlocks > 1:
		return fmt.Errorf("--calls %d: is too few for --blocks %d; a trial takes at least %d calls with %d in flight",
			p.Calls, blocks, least, p.InFlight)
	case blocks > 1:
		blocks = max(1, p.Calls/least)
		p.note("only %d %s, since a trial takes at least %d calls with %d in flight",
			blocks, plural(blocks, "block", "blocks"), least, p.InFlight)
	}
	if p.Calls < least {
		p.note("--calls %d gives each of %d in flight fewer than %d: throughput will be of a trial's ends more than of its middle",
			p.Calls, p.InFlight, p.turns())
	}
	usual := usualCalls
	if p.Item != "" {
		usual = usualBulk
	}
	rounds := max(leastRounds, p.Calls/(blocks*usual))
	rounds = even(min(rounds, p.Calls/(blocks*least), mostRounds/blocks))
	n := blocks * rounds
	p.lay(blocks, rounds, func(round int) Trial {
		calls := p.Calls / n
		if round < p.Calls%n {
			calls++ // the remainder, one call a round
		}
		return Trial{Calls: calls}
	})
	return nil
}

// lay puts every scenario into every round: in a shuffled order, then in its
// reverse, so that a steady drift cancels within two rounds (ABBA).
func (p *Plan) lay(blocks, rounds int, trial func(round int) Trial) {
	const orders, calls, profiles = 1, 2, 3 // streams, so that none depends on another's length
	shuffler := rand.New(rand.NewPCG(p.Seed, orders))
	seeds := rand.New(rand.NewPCG(p.Seed, calls))
	profiler := rand.New(rand.NewPCG(p.Seed, profiles))
	order := make([]int, len(p.Scenarios))
	for i := range order {
		order[i] = i
	}
	p.Blocks = make([]Block, blocks)
	for b := range p.Blocks {
		p.Blocks[b].Rounds = make([]Round, rounds)
		for r := range p.Blocks[b].Rounds {
			if r%2 == 0 {
				shuffler.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			} else {
				slices.Reverse(order)
			}
			round := Round{Seed: seeds.Uint64N(1 << 53), Trials: make([]Trial, len(order))}
			for i, scenario := range order {
				round.Trials[i] = trial(b*rounds + r)
				round.Trials[i].Scenario = scenario
			}
			p.Blocks[b].Rounds[r] = round
		}
		p.Blocks[b].Profiled = p.profiled(profiler)
	}
}

// profiled is the round that tells phases; nil for none.
func (p *Plan) profiled(rng *rand.Rand) *Round {
	if p.Phases == 0 {
		return nil
	}
	round := Round{Seed: rng.Uint64N(1 << 53)}
	trial := Trial{Duration: p.Phases, AtLeast: p.leastCalls()}
	if p.open() {
		trial.AtLeast = 0
	}
	for _, scenario := range rng.Perm(len(p.Scenarios)) {
		trial.Scenario = scenario
		round.Trials = append(round.Trials, trial)
	}
	return &round
}
