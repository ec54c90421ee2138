package plan

import "github.com/tare-bench/tare/record"

// Header begins the record of a run of p. What the plan cannot know, its caller
// fills in: Version, Started, Command, Environment, Libraries, and the kind of the
// link where nobody asked for one.
func (p *Plan) Header() record.Header {
	h := record.Header{
		Format: record.Format, Workload: p.Workload, Leg: p.Leg, Path: p.Path, VariedTier: new(p.VariedTier()), Params: p.Params,
		Store: p.Store, Driver: p.Driver, InFlight: p.InFlight, Item: p.Item, Streams: p.Streams, Workers: p.Workers, Admit: p.Admit, Rate: p.Rate, Arrivals: p.Arrivals,
		RateShare: p.RateShare, Pilot: p.Pilot, Sweep: p.Sweep,
		TimeoutS: p.Timeout.Seconds(), Seed: p.Seed, SliceS: p.Slice.Seconds(), Calls: p.Calls,
		Blocks: len(p.Blocks), Rounds: len(p.Blocks[0].Rounds), Precision: p.Precision, Margin: p.Margin, PhasesS: p.Phases.Seconds(),
		Baseline: p.Baseline, Scenarios: p.Scenarios, LeftOut: p.LeftOut,
	}
	if p.Link != nil {
		h.Link = p.Link.Record(p.Link.By)
	}
	return h
}
