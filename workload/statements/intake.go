package statements

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/statements/clinical"
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
		for {
			r, err := st.Recv()
			if errors.Is(err, io.EOF) {
				return st.Send(&clinical.ImportResponse{Written: in.written, Unchanged: in.unchanged, Rejected: in.rejects.all})
			}
			if err != nil {
				return err
			}
			if err := in.keep(ctx, r.(*clinical.ImportRequest).Statements); err != nil {
				return err
			}
			if serving.Err() != nil {
				return rpc.Errorf(rpc.Unavailable, "the service is to end: the first %d statements have been taken; import again", in.came)
			}
		}
	}
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
	b := batches.Get().(*batch)
	defer b.free()
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
		if err := b.add(&all[i], m); err != nil {
			return err
		}
	}
	in.came += int64(len(all))
	if err := in.put(ctx, b.whole()); err != nil {
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

// batch is statements on their way to a store, encoded one behind the other.
type batch struct {
	kept    []store.Statement
	encoded []byte
	ends    []int // of each in encoded
}

var batches = sync.Pool{New: func() any { return new(batch) }}

// kept is the encoding of what is kept: equal statements have equal bytes.
var kept = proto.MarshalOptions{Deterministic: true}

func (b *batch) add(s *clinical.MedicationStatement, m proto.Message) error {
	var err error
	if b.encoded, err = kept.MarshalAppend(b.encoded, m); err != nil {
		return rpc.Errorf(rpc.Internal, "encode statement %q: %v", s.StatementID, err)
	}
	b.ends = append(b.ends, len(b.encoded))
	subject := ""
	if s.Subject != nil { // as it is where the rules are held
		subject = s.Subject.Reference
	}
	b.kept = append(b.kept, store.Statement{ID: s.StatementID, Subject: subject})
	return nil
}

// whole gives all that were added, which are the batch's until it is freed.
func (b *batch) whole() []store.Statement {
	at, begin := now(), 0
	for i, end := range b.ends {
		b.kept[i].Body, b.kept[i].Updated = b.encoded[begin:end:end], at
		begin = end
	}
	return b.kept
}

// roomy is the most room that a batch keeps for the next.
const roomy = 8 << 20

func (b *batch) free() {
	if cap(b.encoded) > roomy {
		return
	}
	clear(b.kept)
	*b = batch{kept: b.kept[:0], encoded: b.encoded[:0], ends: b.ends[:0]}
	batches.Put(b)
}

// now is the time as stores keep it.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
