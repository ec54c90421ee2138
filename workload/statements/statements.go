// Package statements is the second system of ORIGINS.md: medication statements
// move in bulk between services, straight into a database and out of it, and
// visits are kept beside them.
//
// A statement that breaks a rule of the schema is reported by itself, and the
// others of its batch are kept. What is kept is the schema's own encoding.
package statements

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

// The tiers, and the legs that load one each.
const (
	statementTier = "statement"
	visitTier     = "visit"

	writeLeg  = "write"
	listLeg   = "list"
	exportLeg = "export"
	importLeg = "import"
	syncLeg   = "sync"
	visitLeg  = "visit"
)

// item is what all legs but that of visits move.
const item = "record"

// Bounds of params. What a message may bring stands in the schema.
const (
	batchParam   = "batch"
	streamParam  = "stream"
	recordsParam = "records"

	maxBatch = 5000

	// usualStream keeps the streams of a trial, some fifty, to seconds on two
	// processors: a run has dozens of trials. streamSlice is what they take there.
	usualStream = 4
	streamSlice = time.Second
)

// Workload is the workload.
type Workload struct{}

// Spec describes the workload.
func (Workload) Spec() workload.Spec {
	leg := func(name string, calls *rpc.Method, about string) workload.Leg {
		l := workload.Leg{Name: name, About: about, Item: item, Tiers: []workload.Tier{{
			Name: statementTier, Service: clinical.StatementService, Stack: workload.Varied, Calls: []*rpc.Method{calls},
		}}}
		if calls.Kind != rpc.Unary {
			l.Slice = streamSlice
		}
		return l
	}
	return workload.Spec{
		Name:  "statements",
		About: "medication statements move in bulk into a service's store and out of it",
		Legs: []workload.Leg{
			leg(writeLeg, clinical.BatchWrite, "the driver posts a batch of statements with each call"),
			leg(listLeg, clinical.ListStatements, "the driver asks for a page of the statements that are kept"),
			leg(exportLeg, clinical.Export, "the driver is streamed the last of the statements that are kept"),
			leg(importLeg, clinical.Import, "the driver streams batches of statements, and is answered at the end"),
			leg(syncLeg, clinical.Sync, "the driver streams batches of statements, and each is answered"),
			{
				Name:  visitLeg,
				About: "the driver creates a visit with each call: a small message, beside those in bulk",
				Tiers: []workload.Tier{{
					Name: visitTier, Service: clinical.VisitService, Stack: workload.Varied, Calls: []*rpc.Method{clinical.CreateVisit},
				}},
			},
		},
		Example: visitLeg,
		Params: []setting.Setting{
			setting.Int(batchParam, "statements of a message", 500, 1, maxBatch),
			setting.Int(streamParam, "messages of a call that streams", usualStream, 1, 10_000),
			setting.Int(recordsParam, "statements that are kept beforehand on the legs "+listLeg+" and "+exportLeg, 10_000, 1, 10_000_000),
		},
		Stacks: []string{"rest+json", "grpc+proto", "rest+proto", "grpc+json"},
		Slice:  500 * time.Millisecond,
	}
}

// Handler answers the calls of one tier.
func (Workload) Handler(ctx context.Context, env workload.Env) (rpc.Handler, error) {
	switch env.Tier {
	case statementTier:
		return newStatementService(ctx, env)
	case visitTier:
		return newVisitService(env)
	}
	return nil, fmt.Errorf("no tier %q", env.Tier)
}

// Calls gives the calls of a leg.
func (Workload) Calls(leg string, params setting.Values, seed uint64) iter.Seq[workload.Call] {
	g := newGenerator(params, seed)
	calls := map[string]iter.Seq[workload.Call]{
		writeLeg: g.writes, listLeg: g.lists, exportLeg: g.exports, importLeg: g.imports, syncLeg: g.syncs, visitLeg: g.visits,
	}
	return calls[leg]
}

// Probes gives calls whose answers are known beforehand, if they are made in
// turn on a store that holds what the leg keeps beforehand and nothing else.
func (Workload) Probes(leg string, params setting.Values) []workload.Call {
	switch leg {
	case listLeg:
		return listProbes(params)
	case exportLeg:
		return exportProbes(params)
	case importLeg:
		return importProbes()
	case syncLeg:
		return syncProbes()
	case visitLeg:
		return visitProbes()
	}
	return writeProbes()
}
