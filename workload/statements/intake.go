package statements

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/statements/clinical"
	"github.com/tare-bench/tare/workload/statements/dataset"
)

// intake takes the statements of one call, message by message.
type intake struct {
	*statementService
	came               int64 // statements, in all messages
	written, unchanged int64
	rejects            rejects // since they were last told
}

func (s *statementService) write(ctx context.Context, r *clinical.BatchWriteRequest) (*clinical.BatchWriteResponse, error) {
	in := intake{statementService: s}
	if err := in.keep(ctx, r.Statements); err != nil {
		return nil, err
	}
	return &clinical.BatchWriteResponse{
		Written: int32(in.written), Unchanged: int32(in.unchanged), //nolint:gosec // no more than one message has
		Rejected: in.rejects.all,
	}, nil
}

// importing answers Import until serving ends.
func (s *statementService) importing(serving context.Context) rpc.HandlerFunc {
	return func(ctx context.Context, _ *rpc.Method, st rpc.Stream) error {
		in := intake{statementService: s}
		messages := 0
		for {
			r, err := st.Recv()
			if errors.Is(err, io.EOF) {
				return st.Send(&clinical.ImportResponse{Written: in.written, Unchanged: in.unchanged, Rejected: in.rejects.all})
			}
			messages++
			if err != nil {
				return in.at(messages, err)
			}
			if err := in.keep(ctx, r.(*clinical.ImportRequest).Statements); err != nil {
				return in.at(messages, err)
			}
			if serving.Err() != nil {
				return rpc.Errorf(rpc.Unavailable, "the service is to end: the first %d statements have been taken; import again", in.came)
			}
		}
	}
}

// at says in which message of a stream a caller's mistake is, which in a file is
// its line, from 1. What is wrong with the first is said as it is: it may be the
// call itself that is.
func (in *intake) at(message int, err error) error {
	e := rpc.ErrorOf(err)
	if message == 1 || e.Code != rpc.InvalidArgument {
		return err
	}
	told := *e
	told.Message = fmt.Sprintf("message %d, after %d statements that were taken: %s", message, in.came, e.Message)
	return &told
}

// sync answers Sync until serving ends.
func (s *statementService) sync(serving context.Context) rpc.HandlerFunc {
	return func(ctx context.Context, _ *rpc.Method, st rpc.Stream) error {
		in := intake{statementService: s}
		for {
			next, err := st.Recv()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			r := next.(*clinical.SyncRequest)
			in.written, in.unchanged, in.rejects = 0, 0, rejects{}
			if err := in.keep(ctx, r.Statements); err != nil {
				return err
			}
			err = st.Send(&clinical.SyncResponse{
				Sequence: r.Sequence, Rejected: in.rejects.all,
				Written: int32(in.written), Unchanged: int32(in.unchanged), //nolint:gosec // no more than one message has
			})
			if err != nil {
				return err
			}
			if serving.Err() != nil {
				return rpc.Errorf(rpc.Unavailable, "the service is to end: go on after sequence %d with another call", r.Sequence)
			}
		}
	}
}

// messageType is a statement in the form in which it is checked and kept, so that
// it is mapped once for both.
var messageType = &rpc.Type{
	Name:    clinical.StatementType.Name,
	ToProto: func(m any) proto.Message { return m.(proto.Message) },
}

// keep keeps all statements of a message that break no rule, in one commit.
func (in *intake) keep(ctx context.Context, all []clinical.MedicationStatement) error {
	b := batches.Get().(*dataset.Batch)
	defer func() {
		b.Clear()
		batches.Put(b)
	}()
	for i := range all {
		m := clinical.StatementType.ToProto(&all[i])
		if err := in.check(messageType, m); err != nil {
			e := rpc.ErrorOf(err)
			if e.Code != rpc.InvalidArgument {
				return e
			}
			in.rejects.add(in.came+int64(i), all[i].StatementID, e)
			continue
		}
		if err := b.Add(&all[i], m); err != nil {
			return rpc.Errorf(rpc.Internal, "%v", err)
		}
	}
	in.came += int64(len(all))
	if err := in.put(ctx, b.Rows(time.Now())); err != nil {
		return err
	}
	return in.rejects.beyondReason(in.came)
}

func (in *intake) put(ctx context.Context, all []store.Statement) error {
	if len(all) == 0 {
		return nil
	}
	outcomes, err := in.kept.PutStatements(ctx, all)
	if err != nil {
		return workload.StoreError("keep statements", err)
	}
	for _, o := range outcomes {
		if o == store.Unchanged {
			in.unchanged++
		} else {
			in.written++
		}
	}
	return nil
}

// batches are kept for the next: what encodes a message's statements needs room.
var batches = sync.Pool{New: func() any { return new(dataset.Batch) }}

// now is the time as stores keep it.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
