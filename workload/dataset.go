package workload

import (
	"context"
	"io"
	"time"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
)

// Holder is a workload whose services keep records that can be moved in bulk
// without them.
type Holder interface {
	// Dataset says how.
	Dataset() Dataset
}

// Dataset is a workload's records, as files hold them and as stores keep them: to
// make some up, and to move them from one to the other. A record is a plain value
// of Type, as handlers have it.
type Dataset struct {
	Item    string // what records are, in the plural: "statements"
	Service *rpc.Service
	Type    *rpc.Type // of a record; a message of Service holds some
	Formats []Format  // the first by default
	// Make gives record i, from 0, of those that a seed makes. Equal arguments give
	// equal records.
	Make func(seed uint64, i int) any
	// Put keeps records that break no rule, as they came at a time and all in one
	// commit, as the services would. To repeat it changes nothing.
	Put func(ctx context.Context, s store.Store, records []any, at time.Time) (Put, error)
	// Each hands to do all that a store keeps, in the order in which they first
	// came, as they stood when it began. What do returns ends it, and is its error.
	Each func(ctx context.Context, s store.Store, do func(record any) error) error
}

// Put is what became of records that were put.
type Put struct{ Written, Unchanged int64 }

// Format is one way in which files hold records.
type Format struct {
	Name  string // as users type it
	About string // one line for a person
	// Read hands each record of a file to do, in order, and each that cannot be read
	// with what is wrong with it. It holds a few at a time. Its error is of the file
	// itself, or what do returned. Losses say what the file has beyond the records.
	// Nil: only written.
	Read func(r io.Reader, do func(Entry) error) ([]Loss, error)
	// Write gives what writes records to a file.
	Write func(w io.Writer) RecordWriter
}

// Entry is one record of a file, or what is wrong with it.
type Entry struct {
	Record any    // nil where Err is not
	ID     string // "" where it cannot be read
	Index  int64  // its place in the file, from 0
	Line   int64  // the line on which it begins, from 1
	Err    error  // names the field, where it lies in one
}

// Loss is something that a file says, and records have no field for.
type Loss struct {
	What  string
	Count int64
}

// RecordWriter writes records to a file, which is whole once Close has returned.
type RecordWriter interface {
	Write(record any) error
	Close() error
}
