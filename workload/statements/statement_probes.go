package statements

import (
	"fmt"
	"slices"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

// awkward is text that codecs get wrong: what JSON and HTML escape, letters of
// one to four bytes, combining, joining and right-to-left ones, line ends.
const awkward = "Zo\u00eb e\u0301 \"<b>&'</b>\" \\ / \t\n\u2028 \U0001F469\u200D\U0001F680 עברית \u202e𠮷 ﷽ %s {}"

// shortAwkward is what fits a code.
const shortAwkward = "\u00df/?#[]@ %41 \"<&>\\ \u2028 𠮷"

// probed gives n statements whose IDs begin alike.
func probed(prefix string, n int) []clinical.MedicationStatement {
	all := make([]clinical.MedicationStatement, n)
	for i := range all {
		all[i] = *models()[i%len(models())]
		all[i].StatementID = fmt.Sprintf("%s-%d", prefix, i)
	}
	return all
}

// awkwardStatement has what is awkward in every text that may be anything, and
// the ends of ranges.
func awkwardStatement() *clinical.MedicationStatement {
	concept := &clinical.CodeableConcept{Coding: []clinical.Coding{{System: awkward, Code: shortAwkward, Display: awkward}}, Text: awkward}
	date := func(d clinical.DateTime) *clinical.DateTime { return &d }
	return &clinical.MedicationStatement{
		StatementID: "probe.-Z9", Status: clinical.StatementNotTaken, StatusReason: []clinical.CodeableConcept{*concept, *concept},
		Category: concept, Medication: concept, Subject: &clinical.Reference{Reference: "Patient/a.-Z9", Display: awkward}, VisitID: "v.-1",
		EffectivePeriod: &clinical.Period{
			Start: date(clinical.DateTime{Time: firstMoment, Precision: clinical.PrecisionYear}),
			End:   date(clinical.DateTime{Time: lastMoment, Precision: clinical.PrecisionMillisecond, UTCOffsetMinutes: -840}),
		},
		DateAsserted:      date(clinical.DateTime{Time: lastMoment, Precision: clinical.PrecisionSecond, UTCOffsetMinutes: 840}),
		InformationSource: &clinical.Reference{Reference: "Practitioner/1"}, ReasonCode: []clinical.CodeableConcept{*concept},
		Note: []clinical.Annotation{{Author: awkward, Time: date(clinical.DateTime{Time: firstMoment, Precision: clinical.PrecisionDay}), Text: awkward}},
		Dosage: []clinical.Dosage{{
			Sequence: 1<<31 - 1, Text: awkward, PatientInstruction: awkward, AsNeeded: true, Route: concept,
			Timing:       &clinical.Timing{Frequency: 1000, Period: "0.5", PeriodUnit: "mo", When: []string{"AC", "PCV"}},
			DoseQuantity: &clinical.Quantity{Value: "-999999999999999999.00000000000000001", Unit: shortAwkward, System: awkward, Code: shortAwkward},
		}},
	}
}

func written(written, unchanged int32, rejected ...clinical.Reject) *clinical.BatchWriteResponse {
	return &clinical.BatchWriteResponse{Written: written, Unchanged: unchanged, Rejected: rejected}
}

// writeProbes write to an empty store, and look at what that has left.
func writeProbes() []workload.Call {
	write := func(want *clinical.BatchWriteResponse, all ...clinical.MedicationStatement) workload.Call {
		return workload.Reading(clinical.BatchWrite, &clinical.BatchWriteRequest{Statements: all}, want, nil)
	}
	first, odd := probed("first", 3), awkwardStatement()
	changed, twice := slices.Clone(first), probed("twice", 3)
	changed[1].Status = clinical.StatementStopped
	twice[2].StatementID, twice[2].Status = twice[0].StatementID, clinical.StatementOnHold
	bad, rejected := thirteenBad("bad", 500)
	other := odd.Subject.Reference
	return append([]workload.Call{
		write(written(3, 0), first...),
		write(written(0, 3), first...), // again: nothing changes
		write(written(1, 2), changed...),
		write(written(3, 0), twice...), // of equal IDs the later wins
		write(written(1, 0), *odd),
		write(written(500-13, 0, rejected...), bad...),
		write(written(0, 500-13, rejected...), bad...),
		workload.Failing(clinical.BatchWrite, rpc.InvalidArgument, new(clinical.BatchWriteRequest)),
		workload.Failing(clinical.BatchWrite, rpc.InvalidArgument, &clinical.BatchWriteRequest{Statements: make([]clinical.MedicationStatement, maxBatch+1)}),
		readingOne(&changed[1]), readingOne(&twice[2]), readingOne(odd), readingOne(&bad[499]),
		workload.Failing(clinical.GetStatement, rpc.NotFound, &clinical.GetStatementRequest{StatementID: bad[badFrom+2].StatementID}),
		listing(clinical.ListStatementsRequest{PageSize: 2}, tokenAfter(2), first[0], changed[1]),
		listing(clinical.ListStatementsRequest{PageSize: 3, PageToken: tokenAfter(2)}, tokenAfter(5), first[2], twice[2], twice[1]),
		listing(clinical.ListStatementsRequest{Subject: other}, "", *odd),
		workload.Failing(clinical.ListStatements, rpc.InvalidArgument, &clinical.ListStatementsRequest{Subject: other, PageToken: tokenAfter(2)}),
	}, refusedReads()...)
}

func readingOne(s *clinical.MedicationStatement) workload.Call {
	return workload.Reading(clinical.GetStatement, &clinical.GetStatementRequest{StatementID: s.StatementID},
		&clinical.GetStatementResponse{Statement: s}, nil)
}

func listing(r clinical.ListStatementsRequest, next string, all ...clinical.MedicationStatement) workload.Call {
	return workload.Reading(clinical.ListStatements, &r, &clinical.ListStatementsResponse{Statements: all, NextPageToken: next}, nil)
}

// refusedReads ask for what is not there, or may not be asked for.
func refusedReads() []workload.Call {
	return []workload.Call{
		workload.Failing(clinical.GetStatement, rpc.NotFound, &clinical.GetStatementRequest{StatementID: "nobody-has-this"}),
		workload.Failing(clinical.GetStatement, rpc.InvalidArgument, &clinical.GetStatementRequest{StatementID: "a b"}),
		workload.Failing(clinical.ListStatements, rpc.InvalidArgument, &clinical.ListStatementsRequest{PageSize: maxBatch + 1}),
		workload.Failing(clinical.ListStatements, rpc.InvalidArgument, &clinical.ListStatementsRequest{PageSize: -1}),
		workload.Failing(clinical.ListStatements, rpc.InvalidArgument, &clinical.ListStatementsRequest{PageToken: "next please"}),
		workload.Failing(clinical.ListStatements, rpc.InvalidArgument, &clinical.ListStatementsRequest{PageToken: workload.PageToken(1, "Patient/2")}),
		workload.Failing(clinical.ListStatements, rpc.InvalidArgument, &clinical.ListStatementsRequest{Subject: "Zoë"}),
		listing(clinical.ListStatementsRequest{Subject: "Patient/nobody", PageSize: maxBatch}, ""),
	}
}

// keptFrom gives at most n of the statements that are kept beforehand.
func keptFrom(first, n, all int) (some []clinical.MedicationStatement) {
	for i := first; i < min(first+n, all); i++ {
		some = append(some, *keptStatement(i))
	}
	return some
}

// listProbes read what is kept beforehand.
func listProbes(params setting.Values) []workload.Call {
	n := params.Int(recordsParam)
	next := ""
	if n > 3 {
		next = tokenAfter(3)
	}
	last := max(0, n-2)
	return append([]workload.Call{
		listing(clinical.ListStatementsRequest{PageSize: 3}, next, keptFrom(0, 3, n)...),
		listing(clinical.ListStatementsRequest{PageSize: 3, PageToken: tokenAfter(last)}, "", keptFrom(last, 3, n)...),
		listing(clinical.ListStatementsRequest{PageToken: tokenAfter(n)}, ""),
		readingOne(keptStatement(n - 1)),
	}, refusedReads()...)
}

// exportProbes read the end of what is kept beforehand.
func exportProbes(params setting.Values) []workload.Call {
	const size, most = 7, 17
	n := params.Int(recordsParam)
	begin := max(0, n-most)
	var want []any
	for first := begin; first < n; first += size {
		some := keptFrom(first, size, n)
		want = append(want, &clinical.ExportResponse{Statements: some, ResumeToken: tokenAfter(first + len(some))})
	}
	export := func(r clinical.ExportRequest, want ...any) workload.Call {
		return workload.Streaming(clinical.Export, []any{&r}, want, nil)
	}
	refused := func(r clinical.ExportRequest) workload.Call {
		return workload.Failing(clinical.Export, rpc.InvalidArgument, &r)
	}
	return []workload.Call{
		export(clinical.ExportRequest{BatchSize: size, ResumeToken: tokenAfter(begin)}, want...),
		export(clinical.ExportRequest{ResumeToken: tokenAfter(n)}),
		export(clinical.ExportRequest{Subject: "Patient/nobody"}),
		refused(clinical.ExportRequest{BatchSize: -1}),
		refused(clinical.ExportRequest{BatchSize: maxBatch + 1}),
		refused(clinical.ExportRequest{Subject: "Zoë"}),
		refused(clinical.ExportRequest{ResumeToken: "go on"}),
		refused(clinical.ExportRequest{ResumeToken: workload.PageToken(1, "Patient/2")}),
		refused(clinical.ExportRequest{Subject: "Patient/2", ResumeToken: workload.PageToken(1, "")}),
	}
}

// importProbes stream to an empty store: the index of what is rejected counts
// all that the call brings.
func importProbes() []workload.Call {
	message := func(all ...clinical.MedicationStatement) any { return &clinical.ImportRequest{Statements: all} }
	first := probed("first", 5)
	bad, rejected := thirteenBad("bad", 40)
	for i := range rejected {
		rejected[i].Index += int64(len(first))
	}
	return []workload.Call{
		workload.Streaming(clinical.Import, []any{message(first[:2]...), message(first[2:]...), message(bad...), message(*awkwardStatement())},
			[]any{&clinical.ImportResponse{Written: 5 + 40 - 13 + 1, Rejected: rejected}}, nil),
		workload.Streaming(clinical.Import, []any{message(first...), message(first[0])}, []any{&clinical.ImportResponse{Unchanged: 6}}, nil),
		workload.Streaming(clinical.Import, nil, []any{new(clinical.ImportResponse)}, nil),
		workload.Failing(clinical.Import, rpc.InvalidArgument, message(probed("second", 1)...), message()),
		readingOne(&probed("second", 1)[0]), // which was kept
		readingOne(awkwardStatement()),
	}
}

// syncProbes do so with an answer to each message.
func syncProbes() []workload.Call {
	message := func(sequence int64, all ...clinical.MedicationStatement) any {
		return &clinical.SyncRequest{Sequence: sequence, Statements: all}
	}
	first := probed("first", 5)
	bad, rejected := thirteenBad("bad", 40)
	for i := range rejected {
		rejected[i].Index += int64(len(first))
	}
	const beyondDouble = 1<<53 + 1
	return []workload.Call{
		workload.Streaming(clinical.Sync,
			[]any{message(-1, first...), message(beyondDouble, bad...), message(0, first[0], *awkwardStatement())},
			[]any{
				&clinical.SyncResponse{Sequence: -1, Written: 5},
				&clinical.SyncResponse{Sequence: beyondDouble, Written: 40 - 13, Rejected: rejected},
				&clinical.SyncResponse{Written: 1, Unchanged: 1},
			}, nil),
		workload.Streaming(clinical.Sync, nil, nil, nil),
		workload.Failing(clinical.Sync, rpc.InvalidArgument, message(1)),
		readingOne(awkwardStatement()),
	}
}
