package service_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/tare-bench/tare/catalog"
	clinicalv1 "github.com/tare-bench/tare/gen/tare/clinical/v1"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service"
	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/workload"
)

func ofStatements(c *service.Config) { c.Workload = "statements" }

// statements gives the workload and its params.
func statements(t *testing.T) (workload.Workload, setting.Values) {
	t.Helper()
	w, err := catalog.Default().Workload("statements")
	if err != nil {
		t.Fatal(err)
	}
	params, err := setting.Resolve(w.Spec().Params, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w, params
}

// dial gives a client of a service over a stack. limit is its own.
func dial(t *testing.T, stack, addr string, svc *rpc.Service, limit int) protocol.Conn {
	t.Helper()
	s, err := catalog.Default().Stack(stack)
	if err != nil {
		t.Fatal(err)
	}
	o := s.Options(1)
	o.DialContext, o.MaxMessage = new(net.Dialer).DialContext, limit
	conn, err := s.Protocol.Dial(t.Context(), addr, svc, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestEveryStackAnswersStatementsAlike makes the workload's probes over each stack
// of the port, on services with nothing in them: among them a batch of 500 of which
// 13 are bad, each in another way, and what a mask must not name.
func TestEveryStackAnswersStatementsAlike(t *testing.T) {
	w, params := statements(t)
	for _, stack := range catalog.Default().Served {
		for _, name := range []string{"write", "import", "sync", "visit"} {
			t.Run(stack+"/"+name, func(t *testing.T) {
				leg, _ := w.Spec().Leg(name)
				if err := (catalog.Facts{Catalog: catalog.Default()}).Able(stack, leg, "native"); err != nil {
					t.Skip(err)
				}
				conn := dial(t, stack, run(t, ofStatements), leg.Tiers[0].Service, protocol.DefaultMaxMessage)
				for i, probe := range w.Probes(name, params) {
					if err := answered(t.Context(), conn, probe); err != nil {
						t.Errorf("probe %d, %s: %v", i+1, probe.Method.Name, err)
					}
				}
			})
		}
	}
}

func answered(ctx context.Context, h rpc.Handler, c workload.Call) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	replies := 0
	err := rpc.Call(ctx, h, c.Method, c.In, func(out any) error {
		replies++
		return c.Check(replies-1, out)
	})
	switch e := rpc.ErrorOf(err); {
	case e == nil && c.Want != rpc.OK:
		return fmt.Errorf("gave no error; want %v", c.Want)
	case e != nil && e.Code != c.Want:
		return fmt.Errorf("%w; want %v", err, c.Want)
	case e == nil && replies != c.Replies:
		return fmt.Errorf("gave %d replies; want %d", replies, c.Replies)
	}
	return nil
}

// bulky gives n statements of more than a thousand bytes each.
func bulky(n int) []*clinicalv1.MedicationStatement {
	all := make([]*clinicalv1.MedicationStatement, n)
	for i := range all {
		all[i] = &clinicalv1.MedicationStatement{
			StatementId: fmt.Sprint("bulky-", i), Status: clinicalv1.MedicationStatementStatus_MEDICATION_STATEMENT_STATUS_ACTIVE,
			Medication: &clinicalv1.CodeableConcept{Text: strings.Repeat("m", 1000)}, Subject: &clinicalv1.Reference{Reference: "Patient/1"},
		}
	}
	return all
}

// TestMessagesBeyondTheLimit are told of alike by every stack, in whichever
// direction they go, and streams carry the same in shorter ones.
func TestMessagesBeyondTheLimit(t *testing.T) {
	const n, each = 5000, 500
	w, _ := statements(t)
	leg, _ := w.Spec().Leg("write")
	svc := leg.Tiers[0].Service
	methods := map[string]*rpc.Method{}
	for _, m := range svc.Methods {
		methods[m.Name] = m
	}
	all := bulky(n)
	batch := methods["BatchWrite"].In.FromProto(&clinicalv1.BatchWriteRequest{Statements: all})
	var messages []any
	for some := range slices.Chunk(all, each) {
		messages = append(messages, methods["Import"].In.FromProto(&clinicalv1.ImportRequest{Statements: some}))
	}
	page := methods["ListStatements"].In.FromProto(&clinicalv1.ListStatementsRequest{PageSize: n})
	whole := methods["Export"].In.FromProto(&clinicalv1.ExportRequest{})
	for _, name := range catalog.Default().Served {
		t.Run(name, func(t *testing.T) {
			strict := run(t, ofStatements)
			roomy := run(t, ofStatements, func(c *service.Config) { c.MaxMessage = protocol.DefaultMaxMessage })
			patient := dial(t, name, strict, svc, protocol.DefaultMaxMessage) // that would take more than is given
			wary := dial(t, name, roomy, svc, service.DefaultMaxMessage)      // that takes less than is given
			tooLong := func(h rpc.Handler, m string, in any) {
				t.Helper()
				err := rpc.Call(t.Context(), h, methods[m], []any{in}, func(any) error { return nil })
				want := protocol.TooLong(service.DefaultMaxMessage)
				if e := rpc.ErrorOf(err); e == nil || e.Code != want.Code || e.Message != want.Message {
					t.Errorf("%s gives %v; want %v", m, err, want)
				}
			}
			tooLong(patient, "BatchWrite", batch)
			importing := dial(t, streaming(t, name), strict, svc, service.DefaultMaxMessage)
			imported(t, importing, methods["Import"], messages, n)
			if err := rpc.Call(t.Context(), wary, methods["BatchWrite"], []any{batch}, func(any) error { return nil }); err != nil {
				t.Error(err)
			}
			tooLong(patient, "ListStatements", page)
			tooLong(wary, "ListStatements", page)
			for _, h := range []rpc.Handler{patient, wary} {
				came := 0
				err := rpc.Call(t.Context(), h, methods["Export"], []any{whole}, func(out any) error {
					came += len(methods["Export"].Out.ToProto(out).(*clinicalv1.ExportResponse).GetStatements())
					return nil
				})
				if err != nil || came != n {
					t.Errorf("%d statements are exported, %v; want %d", came, err, n)
				}
			}
		})
	}
}

// streaming gives a stack by which callers can stream: this one, or where its
// protocol cannot, gRPC.
func streaming(t *testing.T, stack string) string {
	t.Helper()
	w, _ := statements(t)
	leg, _ := w.Spec().Leg("import")
	if (catalog.Facts{Catalog: catalog.Default()}).Able(stack, leg, "native") == nil {
		return stack
	}
	return "grpc+proto"
}

func imported(t *testing.T, h rpc.Handler, m *rpc.Method, messages []any, want int64) {
	t.Helper()
	err := rpc.Call(t.Context(), h, m, messages, func(out any) error {
		if r := m.Out.ToProto(out).(*clinicalv1.ImportResponse); r.GetWritten() != want || len(r.GetRejected()) != 0 {
			t.Errorf("%d statements are imported and %d rejected; want %d", r.GetWritten(), len(r.GetRejected()), want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
