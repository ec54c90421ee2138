package rpc_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tare-bench/tare/rpc"
)

func TestFieldsOutReplaceAndTakeAway(t *testing.T) {
	ctx := rpc.WithFieldsOut(context.Background(), rpc.Field{Name: "a", Value: "1"}, rpc.Field{Name: "b", Value: "1"})
	again := rpc.WithFieldsOut(ctx, rpc.Field{Name: "a", Value: "2"}, rpc.Field{Name: "c", Value: "1"}, rpc.Field{Name: "c", Value: "2"}, rpc.Field{Name: "b"})
	if got, want := rpc.FieldsOut(again), []rpc.Field{{Name: "a", Value: "2"}, {Name: "c", Value: "2"}}; !slices.Equal(got, want) {
		t.Errorf("out go %v, want %v", got, want)
	}
	if got := rpc.FieldsOut(ctx); len(got) != 2 || got[0].Value != "1" {
		t.Errorf("the context before has changed: %v", got)
	}
}

func TestWhatCameInDoesNotGoOut(t *testing.T) {
	ctx := rpc.WithFieldsIn(context.Background(), []rpc.Field{{Name: "authorization", Value: "secret"}})
	if got := rpc.FieldIn(ctx, "authorization"); got != "secret" {
		t.Errorf("in came %q", got)
	}
	if got := rpc.FieldsOut(ctx); len(got) != 0 {
		t.Errorf("out go %v", got)
	}
	ctx = rpc.Arrived(rpc.WithFieldsOut(ctx, rpc.Field{Name: "traceparent", Value: "00"}))
	if got, want := rpc.FieldsIn(ctx), []rpc.Field{{Name: "traceparent", Value: "00"}}; !slices.Equal(got, want) {
		t.Errorf("a call within the process brings %v, want %v", got, want)
	}
	if got := rpc.FieldsOut(ctx); len(got) != 0 {
		t.Errorf("after a call within the process %v go out", got)
	}
	if empty := context.Background(); rpc.Arrived(empty) != empty {
		t.Error("a call without fields has another context")
	}
}

func TestCheckField(t *testing.T) {
	for _, test := range []struct {
		name, value string
		ok          bool
	}{
		{"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", true},
		{"x_request.id-2", "a b", true},
		{"baggage", strings.Repeat("a", 8192), true},
		{"baggage", strings.Repeat("a", 8193), false},
		{"", "a", false},
		{strings.Repeat("a", 65), "a", false},
		{"X-Request-Id", "a", false},
		{"x request", "a", false},
		{"x\n", "a", false},
		{"a", "b\r\nc: d", false},
		{"a", "b\x00", false},
		{"a", "b\tc", false},
		{"a", "Zoë", false},
		{"a", " b", false},
		{"a", "b ", false},
	} {
		if err := rpc.CheckField(rpc.Field{Name: test.name, Value: test.value}); (err == nil) != test.ok {
			t.Errorf("%.20q: %.20q gives %v", test.name, test.value, err)
		} else if err != nil && strings.Contains(err.Error(), "Zoë") {
			t.Errorf("the error shows the value: %v", err)
		}
	}
}
