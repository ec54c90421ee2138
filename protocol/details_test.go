package protocol_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

func TestDetailsComeBack(t *testing.T) {
	for name, want := range map[string]*rpc.Error{
		"nothing":      {},
		"a violation":  {Violations: []rpc.Violation{{Field: "lines[0].quantity", Description: "must be above 0", Reason: "INT32_GT"}}},
		"several":      {Violations: []rpc.Violation{{Field: "a"}, {Description: "b"}, {}}},
		"a wait":       {RetryAfter: 50 * time.Millisecond},
		"a long wait":  {RetryAfter: 1<<63 - 1},
		"both of them": {Violations: []rpc.Violation{{Field: "a"}}, RetryAfter: 1},
	} {
		got := new(rpc.Error)
		for _, d := range protocol.Details(want) {
			protocol.TakeDetail(got, d)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestNoDetailsCostNothing(t *testing.T) {
	e := rpc.Errorf(rpc.NotFound, "no such order")
	if n := testing.AllocsPerRun(100, func() { protocol.Details(e) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestDetailsAreBounded(t *testing.T) {
	long := rpc.Violation{Field: strings.Repeat("é", 1e5), Description: "\xff" + strings.Repeat("d", 1e5), Reason: strings.Repeat("\xff", 1e5)}
	many := make([]rpc.Violation, 1e5)
	for i := range many {
		many[i] = rpc.Violation{Field: "lines[0].quantity", Description: "must be greater than 0", Reason: "INT32_GT"}
	}
	for name, all := range map[string][]rpc.Violation{"long texts": {long, long}, "many": many} {
		t.Run(name, func(t *testing.T) {
			fit := protocol.FitViolations(all)
			if len(fit) == 0 {
				t.Error("none are left")
			}
			for _, v := range fit {
				if !utf8.ValidString(v.Field + v.Description + v.Reason) {
					t.Errorf("not UTF-8: %.50q", v)
				}
			}
			const most = 4 << 10 // of 8, for in gRPC's trailer it is longer by a third
			size := 0
			for _, d := range protocol.Details(&rpc.Error{Violations: all, RetryAfter: 1<<63 - 1}) {
				size += proto.Size(d)
			}
			if size > most {
				t.Errorf("%d bytes of details", size)
			}
			again := protocol.FitViolations(fit)
			if diff := cmp.Diff(fit, again); diff != "" {
				t.Errorf("what fits does not fit again: %s", diff)
			}
		})
	}
}

func TestForeignDetails(t *testing.T) {
	e := rpc.Errorf(rpc.InvalidArgument, "no")
	for _, d := range []any{
		&errdetails.ErrorInfo{Reason: "x"}, "text", nil, (*errdetails.BadRequest)(nil), (*errdetails.RetryInfo)(nil),
		&errdetails.RetryInfo{RetryDelay: durationpb.New(-time.Second)},
		&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{nil}},
		&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: "a"}}},
	} {
		protocol.TakeDetail(e, d)
	}
	if len(e.Violations) != 2 || e.Violations[1].Field != "a" || e.RetryAfter != 0 {
		t.Errorf("got %+v", e)
	}
}
