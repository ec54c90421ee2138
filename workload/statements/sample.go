package statements

import (
	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/statements/clinical"
	"github.com/tare-bench/tare/workload/statements/records"
)

// How many messages of a kind take turns.
const (
	sampledRecords = 64
	sampledBatches = 2
)

// Samples gives single statements, and batches of them as they are written.
func (Workload) Samples(batch int, seed uint64) []workload.Sample {
	n := 0
	next := func() *clinical.MedicationStatement {
		n++
		return records.Statement(seed, n-1)
	}
	record := workload.Sample{Name: "record", Type: clinical.StatementType, Items: 1}
	for range sampledRecords {
		record.Messages = append(record.Messages, next())
	}
	many := workload.Sample{Name: "batch", Type: clinical.BatchWrite.In, Items: batch}
	for range sampledBatches {
		written := &clinical.BatchWriteRequest{Statements: make([]clinical.MedicationStatement, batch)}
		for i := range written.Statements {
			written.Statements[i] = *next()
		}
		many.Messages = append(many.Messages, written)
	}
	return []workload.Sample{record, many}
}
