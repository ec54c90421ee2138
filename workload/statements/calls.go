package statements

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strconv"
	"sync"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/statements/clinical"
	"github.com/tare-bench/tare/workload/statements/records"
)

// generator makes the calls of one seed. It holds nothing that changes.
type generator struct {
	seed                   uint64
	batch, stream, records int
}

func newGenerator(params setting.Values, seed uint64) generator {
	return generator{seed: seed, batch: params.Int(batchParam), stream: params.Int(streamParam), records: params.Int(recordsParam)}
}

// models are what the statements that are written look like. Made one by one they
// would take longer to make than to carry; copied, with an ID of their own, they
// cost little enough to be made while the clock runs.
var models = sync.OnceValue(func() []*clinical.MedicationStatement {
	const count = 4096 // more than any window of a compressor holds
	all := make([]*clinical.MedicationStatement, count)
	for i := range all {
		all[i] = normal(records.Statement(modelSeed, i))
	}
	return all
})

// Seeds of what is the same in every run.
const (
	modelSeed = 0x6d6f64656c
	keptSeed  = 0x6b657074
)

// normal gives a statement as it comes off the wire: what is empty is nil.
func normal(s *clinical.MedicationStatement) *clinical.MedicationStatement {
	t := clinical.StatementType
	return t.FromProto(t.ToProto(s)).(*clinical.MedicationStatement)
}

// statements gives those that message n of the seed brings.
func (g generator) statements(n uint64) []clinical.MedicationStatement {
	models, all := models(), make([]clinical.MedicationStatement, g.batch)
	for i := range all {
		number := n*uint64(g.batch) + uint64(i)
		all[i] = *models[(g.seed+number)%uint64(len(models))]
		all[i].StatementID = newID(g.seed, number)
	}
	return all
}

func (g generator) writes(yield func(workload.Call) bool) {
	check := func(i int, out any) error {
		r, ok := out.(*clinical.BatchWriteResponse)
		if !ok || r == nil {
			return workload.Wrong("reply %d is %T", i, out)
		}
		return checkWritten(g.batch, int64(r.Written), int64(r.Unchanged), r.Rejected)
	}
	for n := uint64(0); ; n++ {
		c := workload.Call{
			Method: clinical.BatchWrite, In: []any{&clinical.BatchWriteRequest{Statements: g.statements(n)}},
			Want: rpc.OK, Replies: 1, Items: g.batch, Check: check,
		}
		if !yield(c) {
			return
		}
	}
}

func (g generator) imports(yield func(workload.Call) bool) {
	items := g.batch * g.stream
	check := func(i int, out any) error {
		r, ok := out.(*clinical.ImportResponse)
		if !ok || r == nil {
			return workload.Wrong("reply %d is %T", i, out)
		}
		return checkWritten(items, r.Written, r.Unchanged, r.Rejected)
	}
	for n := uint64(0); ; n++ {
		feed := g.feed(n, func(_ int, s []clinical.MedicationStatement) any { return &clinical.ImportRequest{Statements: s} })
		if !yield(workload.Call{Method: clinical.Import, Feed: feed, Want: rpc.OK, Replies: 1, Items: items, Check: check}) {
			return
		}
	}
}

// feed gives the messages of stream n of the seed, made of the statements that
// each brings.
func (g generator) feed(n uint64, message func(i int, s []clinical.MedicationStatement) any) func(i int) (any, bool) {
	first := n * uint64(g.stream) //nolint:gosec // as all its fields, above 0
	return func(i int) (any, bool) {
		if i >= g.stream {
			return nil, false
		}
		return message(i, g.statements(first+uint64(i))), true //nolint:gosec // likewise
	}
}

func (g generator) syncs(yield func(workload.Call) bool) {
	check := func(i int, out any) error {
		r, ok := out.(*clinical.SyncResponse)
		switch {
		case !ok || r == nil:
			return workload.Wrong("reply %d is %T", i, out)
		case r.Sequence != int64(i)+1:
			return workload.Wrong("reply %d is of message %d", i, r.Sequence)
		}
		return checkWritten(g.batch, int64(r.Written), int64(r.Unchanged), r.Rejected)
	}
	for n := uint64(0); ; n++ {
		feed := g.feed(n, func(i int, s []clinical.MedicationStatement) any {
			return &clinical.SyncRequest{Sequence: int64(i) + 1, Statements: s}
		})
		c := workload.Call{Method: clinical.Sync, Feed: feed, Want: rpc.OK, Replies: g.stream, Items: g.batch * g.stream, Check: check}
		if !yield(c) {
			return
		}
	}
}

func checkWritten(want int, written, unchanged int64, rejected []clinical.Reject) error {
	switch {
	case len(rejected) != 0:
		return workload.Wrong("statement %d is rejected: %s; and %d more", rejected[0].Index, rejected[0].Message, len(rejected)-1)
	case written != int64(want) || unchanged != 0:
		return workload.Wrong("%d statements are written and %d unchanged, not %d written", written, unchanged, want)
	}
	return nil
}

// lists asks for pages that begin anywhere.
func (g generator) lists(yield func(workload.Call) bool) {
	random := rand.New(rand.NewPCG(g.seed, 0x7a7265))
	size := min(g.batch, g.records)
	is := keptIDs(g.records)
	for {
		first := random.IntN(g.records - size + 1)
		c := workload.Call{
			Method: clinical.ListStatements, Want: rpc.OK, Replies: 1, Items: size,
			In: []any{&clinical.ListStatementsRequest{PageSize: int32(size), PageToken: tokenAfter(first)}}, //nolint:gosec // at most maxBatch
			Check: func(i int, out any) error {
				r, ok := out.(*clinical.ListStatementsResponse)
				if !ok || r == nil {
					return workload.Wrong("reply %d is %T", i, out)
				}
				next := ""
				if first+size < g.records {
					next = tokenAfter(first + size)
				}
				return checkKept(r.Statements, is[first:first+size], first, "next_page_token", r.NextPageToken, next)
			},
		}
		if !yield(c) {
			return
		}
	}
}

// exports are all the same: the last of what is kept, as many as the messages of
// one call hold.
func (g generator) exports(yield func(workload.Call) bool) {
	begin := max(0, g.records-g.batch*g.stream)
	count := g.records - begin
	is := keptIDs(g.records)
	check := func(i int, out any) error {
		r, ok := out.(*clinical.ExportResponse)
		first := begin + i*g.batch
		if !ok || r == nil || first >= g.records {
			return workload.Wrong("reply %d is %T", i, out)
		}
		end := min(first+g.batch, g.records)
		return checkKept(r.Statements, is[first:end], first, "resume_token", r.ResumeToken, tokenAfter(end))
	}
	for {
		c := workload.Call{
			Method: clinical.Export, Want: rpc.OK, Replies: (count + g.batch - 1) / g.batch, Items: count, Check: check,
			In: []any{&clinical.ExportRequest{BatchSize: int32(g.batch), ResumeToken: tokenAfter(begin)}}, //nolint:gosec // at most maxBatch
		}
		if !yield(c) {
			return
		}
	}
}

// tokenAfter asks for what stands behind the first n of all statements kept
// beforehand, whose numbers fill sees to.
func tokenAfter(n int) string {
	if n == 0 {
		return ""
	}
	return workload.PageToken(int64(n), "")
}

// visits gives visits to create.
func (g generator) visits(yield func(workload.Call) bool) {
	random := rand.New(rand.NewPCG(g.seed, 0x7a7265))
	for n := uint64(0); ; n++ {
		r := &clinical.CreateVisitRequest{
			VisitID: newID(g.seed, n), PatientID: "p-" + strconv.Itoa(random.IntN(100_000)),
		}
		for range random.IntN(4) {
			r.ProcedureCodes = append(r.ProcedureCodes, procedures[random.IntN(len(procedures))])
		}
		c := workload.Call{Method: clinical.CreateVisit, In: []any{r}, Want: rpc.OK, Replies: 1, Check: func(i int, out any) error {
			return checkCreated(r, i, out)
		}}
		if !yield(c) {
			return
		}
	}
}

// procedures are codes of what is done in visits, as CPT has them.
var procedures = []string{"99213", "99214", "99203", "36415", "80053", "85025", "93000", "90471", "83036", "81002", "96372", "71046"}

// newID makes an ID that only this seed and n have: it is a permutation of 128
// bits.
func newID(seed, n uint64) string {
	a, b := seed, n
	for range 2 { // a Feistel network: each half, mixed, is added to the other
		a ^= mix(b)
		b ^= mix(a)
	}
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], a)
	binary.BigEndian.PutUint64(raw[8:], b)
	return hex.EncodeToString(raw[:])
}

// mix scatters its argument's bits. Source: SplitMix64, Steele, Lea and Flood,
// Fast splittable pseudorandom number generators (2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
