package rpc_test

import (
	"context"
	"testing"

	"github.com/tare-bench/tare/rpc"
)

func service(name string) *rpc.Service {
	return &rpc.Service{Name: name, Methods: []*rpc.Method{{Service: name, Name: "Do"}}}
}

// saying answers every call with one word.
func saying(word string) rpc.Handler {
	return rpc.HandlerFunc(func(_ context.Context, _ *rpc.Method, s rpc.Stream) error { return s.Send(word) })
}

func TestMuxHasEachServiceAnswerItsOwn(t *testing.T) {
	var mux rpc.Mux
	a, b := service("a.A"), service("b.B")
	for svc, word := range map[*rpc.Service]string{a: "from a", b: "from b"} {
		if err := mux.Add(svc, saying(word)); err != nil {
			t.Fatal(err)
		}
	}
	for svc, want := range map[*rpc.Service]string{a: "from a", b: "from b"} {
		got, err := rpc.Invoke(context.Background(), &mux, svc.Methods[0], nil)
		if err != nil || got != want {
			t.Errorf("%s answers %v, %v, want %q", svc.Name, got, err, want)
		}
	}
	if n := len(mux.Services()); n != 2 {
		t.Errorf("there are %d services, want 2", n)
	}
}

func TestMuxRefusesWhatItDoesNotKnow(t *testing.T) {
	var mux rpc.Mux
	if _, err := rpc.Invoke(context.Background(), &mux, service("a.A").Methods[0], nil); rpc.ErrorOf(err).Code != rpc.Unimplemented {
		t.Errorf("an unknown method gives %v, want UNIMPLEMENTED", err)
	}
	if err := mux.Add(service("a.A"), saying("")); err != nil {
		t.Fatal(err)
	}
	if err := mux.Add(service("a.A"), saying("")); err == nil {
		t.Error("a service stands twice, and that is no error")
	}
}
