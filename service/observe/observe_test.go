package observe_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/observe"
)

func newObserver(t *testing.T, c observe.Config) *observe.Observer {
	t.Helper()
	o, err := observe.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return o
}

// echoed is a call of Echo that ends with code.
func echoed(ctx context.Context, h rpc.Handler, code rpc.Code) error {
	_, err := rpc.Invoke(ctx, h, conformance.Echo, &conformance.EchoRequest{FailCode: int32(code), FailMessage: "a secret"})
	return err
}

func TestOffIsFree(t *testing.T) {
	for name, side := range map[string]func(*observe.Observer, rpc.Handler) rpc.Handler{
		"server": func(o *observe.Observer, h rpc.Handler) rpc.Handler { return o.Server(h, conformance.Service) },
		"client": func(o *observe.Observer, h rpc.Handler) rpc.Handler {
			return o.Client(h, observe.Remote{Addr: "127.0.0.1:1"}, conformance.Service)
		},
	} {
		t.Run(name, func(t *testing.T) {
			log, err := observe.NewLog(io.Discard, "info", observe.LogText)
			if err != nil {
				t.Fatal(err)
			}
			o := newObserver(t, observe.Config{Log: log})
			h := side(o, rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error { return nil }))
			ctx := t.Context()
			if n := testing.AllocsPerRun(1000, func() { _ = h.Handle(ctx, conformance.Echo, nil) }); n != 0 {
				t.Errorf("%v allocations a call, want none", n)
			}
		})
	}
}

func TestPanicIsTheCallersErrorAndNobodysEnd(t *testing.T) {
	lines, log := logLines(t, "info")
	o := newObserver(t, observe.Config{Log: log})
	h := o.Server(rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error {
		panic(errors.New("index out of reach"))
	}), conformance.Service)
	err := echoed(t.Context(), h, rpc.OK)
	e := rpc.ErrorOf(err)
	if e == nil || e.Code != rpc.Internal || e.Message != "the handler panicked" {
		t.Errorf("the caller gets %v, want INTERNAL that tells nothing", err)
	}
	got := lines()
	if len(got) != 2 {
		t.Fatalf("%d lines, want the panic's and the call's: %v", len(got), got)
	}
	want(t, got[0], "level", "ERROR", "panic", "index out of reach", "method", "Echo")
	wantSubstring(t, got[0], "stack", "TestPanicIsTheCallersErrorAndNobodysEnd")
	want(t, got[1], "level", "ERROR", "code", "INTERNAL")
	wantSeries(t, o, `rpc_server_panics_total 1`, `rpc_server_in_flight{method="Echo",service="tare.conformance.v1.ConformanceService"} 0`)
}
