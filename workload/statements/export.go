package statements

import (
	"context"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

// messageBytes bounds what one message holds in memory, however many statements
// a caller wants in it: a statement may be long.
const messageBytes = 16 << 20

// export answers Export until serving ends.
func (s *statementService) export(serving context.Context) rpc.HandlerFunc {
	return func(ctx context.Context, _ *rpc.Method, st rpc.Stream) error {
		in, err := st.Recv()
		if err != nil {
			return err
		}
		r := in.(*clinical.ExportRequest)
		after, err := numberOf(r.ResumeToken, badResume, r.Subject)
		if err != nil {
			return err
		}
		o := outlet{Stream: st, serving: serving, subject: r.Subject, size: int(r.BatchSize)}
		if o.size == 0 {
			o.size = defaultSize
		}
		err = s.kept.EachStatement(ctx, r.Subject, after, o.take)
		switch {
		case o.failed != nil: // not the store's failure
			return o.failed
		case err != nil:
			return workload.StoreError("export statements", err)
		}
		return o.flush()
	}
}

// outlet sends statements as a cursor reads them, a message at a time. Send waits
// for a caller that reads slowly, and so does the cursor.
type outlet struct {
	rpc.Stream
	serving context.Context
	subject string
	size    int

	message []clinical.MedicationStatement
	bytes   int
	last    int64 // number of the last in message
	failed  error
}

// take is given each statement. Its error ends the cursor.
func (o *outlet) take(kept *store.Statement) error {
	o.failed = o.add(kept)
	return o.failed
}

func (o *outlet) add(kept *store.Statement) error {
	plain, err := statementOf(kept)
	if err != nil {
		return err
	}
	if o.message == nil {
		o.message = make([]clinical.MedicationStatement, 0, o.size)
	}
	o.message = append(o.message, *plain)
	o.bytes += len(kept.Body)
	o.last = kept.Number
	if len(o.message) < o.size && o.bytes < messageBytes {
		return nil
	}
	return o.flush()
}

// flush sends what has come since the last message, which is the caller's from
// then on.
func (o *outlet) flush() error {
	if len(o.message) == 0 {
		return nil
	}
	token := workload.PageToken(o.last, o.subject)
	if err := o.Send(&clinical.ExportResponse{Statements: o.message, ResumeToken: token}); err != nil {
		return err
	}
	o.message, o.bytes = nil, 0
	if o.serving.Err() != nil {
		return rpc.Errorf(rpc.Unavailable, "the service is to end: export again with resume_token %q", token)
	}
	return nil
}
