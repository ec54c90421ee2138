// Package dataset moves medication statements in bulk between files and stores,
// without a service: as lines of the schema's JSON and as FHIR. It keeps them as
// the services do. Whatever has a store and a file uses it, by the description
// that package workload asks for.
package dataset

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"google.golang.org/protobuf/proto"

	clinicalv1 "github.com/tare-bench/tare/gen/tare/clinical/v1"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/statements/clinical"
	"github.com/tare-bench/tare/workload/statements/fhir"
	"github.com/tare-bench/tare/workload/statements/ndjson"
	"github.com/tare-bench/tare/workload/statements/records"
)

// Statements describes medication statements.
func Statements() workload.Dataset {
	return workload.Dataset{
		Item:    "statements",
		Service: clinical.StatementService,
		Type:    clinical.StatementType,
		Make:    func(seed uint64, i int) any { return records.Statement(seed, i) },
		Put:     put,
		Each:    each,
		Formats: []workload.Format{
			{Name: "ndjson", About: "a line of the schema's JSON for each", Read: readLines, Write: writeLines},
			{Name: "fhir", About: "a line with a resource of FHIR R4 for each; read: Bundles too", Read: readFHIR, Write: writeFHIR(fhir.Lines)},
			{Name: "fhir-collection", About: "a Bundle of FHIR R4", Read: readFHIR, Write: writeFHIR(fhir.Collection)},
			{Name: "fhir-searchset", About: "a Bundle as a server answers", Read: readFHIR, Write: writeFHIR(fhir.Searchset)},
			{Name: "fhir-transaction", About: "a Bundle that a server takes: each is put", Read: readFHIR, Write: writeFHIR(fhir.Transaction)},
		},
	}
}

func readLines(r io.Reader, do func(workload.Entry) error) ([]workload.Loss, error) {
	index := int64(0)
	const size = 1 << 16
	err := ndjson.Lines(bufio.NewReaderSize(r, size), func(number int64, line []byte) error {
		s, id, err := ndjson.Parse(line)
		e := workload.Entry{ID: id, Index: index, Line: number, Err: err}
		if err == nil {
			e.Record = s
		}
		index++
		return do(e)
	})
	return nil, err
}

func readFHIR(r io.Reader, do func(workload.Entry) error) ([]workload.Loss, error) {
	var losses fhir.Losses
	err := fhir.Read(r, &losses, func(from fhir.Entry) error {
		e := workload.Entry{ID: from.ID, Index: from.Index, Line: from.Line, Err: from.Err}
		if from.Err == nil {
			e.Record = from.Statement
		}
		return do(e)
	})
	var all []workload.Loss
	for _, l := range losses.All() {
		all = append(all, workload.Loss{What: l.Path, Count: l.Count})
	}
	return all, err
}

// lines writes statements as lines of the schema's JSON.
type lines struct {
	out  *bufio.Writer
	text []byte
}

func writeLines(w io.Writer) workload.RecordWriter {
	const size = 1 << 16
	return &lines{out: bufio.NewWriterSize(w, size)}
}

func (l *lines) Write(record any) (err error) {
	if l.text, err = ndjson.Append(l.text[:0], record.(*clinical.MedicationStatement)); err != nil {
		return err
	}
	_, err = l.out.Write(append(l.text, '\n'))
	return err
}

func (l *lines) Close() error { return l.out.Flush() }

// resources writes statements as FHIR's resources.
type resources struct{ *fhir.Writer }

func writeFHIR(shape fhir.Shape) func(io.Writer) workload.RecordWriter {
	return func(w io.Writer) workload.RecordWriter { return resources{fhir.NewWriter(w, shape)} }
}

func (r resources) Write(record any) error {
	return r.Writer.Write(record.(*clinical.MedicationStatement))
}

func statementsOf(s store.Store) (store.Statements, error) {
	all, ok := s.(store.Statements)
	if !ok {
		return nil, fmt.Errorf("this kind of store keeps no %s", Statements().Item)
	}
	return all, nil
}

func put(ctx context.Context, s store.Store, all []any, at time.Time) (workload.Put, error) {
	to, err := statementsOf(s)
	if err != nil {
		return workload.Put{}, err
	}
	var b Batch
	for _, record := range all {
		from := record.(*clinical.MedicationStatement)
		if err := b.Add(from, clinical.StatementType.ToProto(from)); err != nil {
			return workload.Put{}, err
		}
	}
	outcomes, err := to.PutStatements(ctx, b.Rows(at))
	if err != nil {
		return workload.Put{}, err
	}
	var done workload.Put
	for _, o := range outcomes {
		if o == store.Unchanged {
			done.Unchanged++
		} else {
			done.Written++
		}
	}
	return done, nil
}

func each(ctx context.Context, s store.Store, do func(any) error) error {
	from, err := statementsOf(s)
	if err != nil {
		return err
	}
	return from.EachStatement(ctx, "", 0, func(row *store.Statement) error {
		var m clinicalv1.MedicationStatement
		if err := proto.Unmarshal(row.Body, &m); err != nil {
			return fmt.Errorf("statement %q is kept as something else: %w", row.ID, err)
		}
		return do(clinical.StatementType.FromProto(&m))
	})
}
