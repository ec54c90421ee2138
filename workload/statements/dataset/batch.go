package dataset

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

// kept is the encoding of what is kept: equal statements have equal bytes.
var kept = proto.MarshalOptions{Deterministic: true}

// Batch is statements on their way to a store, encoded one behind the other. Its
// zero value is empty.
type Batch struct {
	rows    []store.Statement
	encoded []byte
	ends    []int // of each in encoded
}

// Add adds a statement; m is what it is as a protobuf message.
func (b *Batch) Add(s *clinical.MedicationStatement, m proto.Message) error {
	var err error
	if b.encoded, err = kept.MarshalAppend(b.encoded, m); err != nil {
		return fmt.Errorf("encode statement %q: %w", s.StatementID, err)
	}
	b.ends = append(b.ends, len(b.encoded))
	subject := ""
	if s.Subject != nil { // as it is where the rules are held
		subject = s.Subject.Reference
	}
	b.rows = append(b.rows, store.Statement{ID: s.StatementID, Subject: subject})
	return nil
}

// Len counts what was added.
func (b *Batch) Len() int { return len(b.rows) }

// Rows gives all that were added, as of a time. They are the batch's until it is
// cleared.
func (b *Batch) Rows(at time.Time) []store.Statement {
	at = at.UTC().Truncate(time.Microsecond) // as stores keep times
	begin := 0
	for i, end := range b.ends { // not before all are there: encoded moves as it grows
		b.rows[i].Body, b.rows[i].Updated = b.encoded[begin:end:end], at
		begin = end
	}
	return b.rows
}

// roomy is the most room that a batch keeps when it is cleared.
const roomy = 8 << 20

// Clear empties the batch, which keeps its room for what comes next.
func (b *Batch) Clear() {
	if cap(b.encoded) > roomy {
		*b = Batch{}
		return
	}
	clear(b.rows)
	*b = Batch{rows: b.rows[:0], encoded: b.encoded[:0], ends: b.ends[:0]}
}
