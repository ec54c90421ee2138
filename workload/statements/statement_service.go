package statements

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

// statementService keeps statements.
type statementService struct {
	workload.Answers
	kept  store.Statements
	check func(t *rpc.Type, plain any) error
}

func newStatementService(ctx context.Context, env workload.Env) (rpc.Handler, error) {
	kept, ok := env.Store.(store.Statements)
	if !ok {
		return nil, fmt.Errorf("a store of type %T keeps no statements", env.Store)
	}
	s := &statementService{kept: kept, check: env.Check}
	if s.check == nil {
		s.check = func(*rpc.Type, any) error { return nil }
	}
	if env.Leg == listLeg || env.Leg == exportLeg {
		if err := s.fill(ctx, env.Params.Int(recordsParam)); err != nil {
			return nil, err
		}
	}
	s.Answers = workload.Answers{
		clinical.GetStatement:   workload.Unary(s.get),
		clinical.ListStatements: workload.Unary(s.list),
		clinical.BatchWrite:     workload.Unary(s.write),
		clinical.Export:         s.export(ctx),
		clinical.Import:         s.importing(ctx),
		clinical.Sync:           s.sync(ctx),
	}
	return s, nil
}

func (s *statementService) get(ctx context.Context, r *clinical.GetStatementRequest) (*clinical.GetStatementResponse, error) {
	kept, err := s.kept.StatementByID(ctx, r.StatementID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, rpc.Errorf(rpc.NotFound, "no statement %q", r.StatementID)
	case err != nil:
		return nil, workload.StoreError("look for statement", err)
	}
	plain, err := statementOf(&kept)
	if err != nil {
		return nil, err
	}
	return &clinical.GetStatementResponse{Statement: plain}, nil
}

// defaultSize is how many statements a page or message has where nobody says.
// How many it may have stands in the schema.
const defaultSize = 500

func (s *statementService) list(ctx context.Context, r *clinical.ListStatementsRequest) (*clinical.ListStatementsResponse, error) {
	after, err := numberOf(r.PageToken, badStatementPage, r.Subject)
	if err != nil {
		return nil, err
	}
	size := int(r.PageSize)
	if size == 0 {
		size = defaultSize
	}
	kept, err := s.kept.StatementsAfter(ctx, r.Subject, after, size+1) // one more tells whether there is another page
	if err != nil {
		return nil, workload.StoreError("list statements", err)
	}
	out := new(clinical.ListStatementsResponse)
	if len(kept) > size {
		kept = kept[:size]
		out.NextPageToken = workload.PageToken(kept[size-1].Number, r.Subject)
	}
	if len(kept) > 0 {
		out.Statements = make([]clinical.MedicationStatement, len(kept))
	}
	for i := range kept {
		plain, err := statementOf(&kept[i])
		if err != nil {
			return nil, err
		}
		out.Statements[i] = *plain
	}
	return out, nil
}

// statementOf reads what a store has kept, and keeps none of its bytes.
func statementOf(kept *store.Statement) (*clinical.MedicationStatement, error) {
	m := clinical.StatementType.NewProto()
	if err := proto.Unmarshal(kept.Body, m); err != nil {
		return nil, &rpc.Error{
			Code: rpc.DataLoss, Message: fmt.Sprintf("read statement %q as it is kept: %v", kept.ID, err),
			Outside: fmt.Sprintf("statement %q cannot be read as it is kept", kept.ID),
		}
	}
	return clinical.StatementType.FromProto(m).(*clinical.MedicationStatement), nil
}
