package workloadtest

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/tare-bench/tare/rpc"
)

func (l legTest) equalSeeds(t *testing.T) {
	n := l.Drawn
	first, again, other := l.calls(7, n), l.calls(7, n), l.calls(8, n)
	if len(first) != n {
		t.Fatalf("the sequence ended after %d calls", len(first))
	}
	differ := false
	for i := range first {
		a, b := first[i], again[i]
		if a.Method != b.Method || a.Want != b.Want || a.Replies != b.Replies || !cmp.Equal(a.In, b.In) {
			t.Fatalf("call %d of equal seeds differs:\n%s", i, cmp.Diff(a.In, b.In))
		}
		if a.Want != rpc.OK {
			t.Errorf("call %d wants %v: calls that fail belong among the probes", i, a.Want)
		}
		differ = differ || !cmp.Equal(a.In, other[i].In)
	}
	if alike := slices.Contains(l.Alike, l.leg.Name); differ == alike {
		t.Errorf("calls of another seed differ: %v; want %v", differ, !alike)
	}
}

func (l legTest) uniqueIDs(t *testing.T) {
	if l.ID == nil {
		t.Skip("calls of this workload leave no trace")
	}
	seen := map[string]bool{}
	for _, seed := range []uint64{0, 1, 2, 3, 1 << 31, 1 << 32, 1 << 62, 1<<62 + 1, 1 << 63, math.MaxUint64} {
		for _, c := range l.calls(seed, 400) {
			id := l.ID(c.In[0])
			if id == "" || seen[id] {
				t.Fatalf("ID %q is empty or comes twice", id)
			}
			seen[id] = true
		}
	}
	for _, c := range l.Workload.Probes(l.leg.Name, l.params) {
		if id := l.ID(c.In[0]); id != "" && seen[id] {
			t.Errorf("a probe shares its ID with a call")
		}
	}
}

// answers has a few callers share the calls, as a driver has.
func (l legTest) answers(t *testing.T) {
	h, calls := l.chain(t), l.calls(1, l.Calls)
	const callers = 8
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			for i := caller; i < len(calls); i += callers {
				if _, err := do(t.Context(), h, calls[i]); err != nil {
					t.Errorf("call %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
}

// probes are made twice, each time on fresh stores: what stacks are compared
// by must not depend on anything else.
func (l legTest) probes(t *testing.T) {
	type outcome struct {
		Replies []any
		Code    rpc.Code
		Message string
		Wrong   []rpc.Violation
	}
	var runs [2][]outcome
	for run := range runs {
		h := l.chain(t)
		for i, c := range l.Workload.Probes(l.leg.Name, l.params) {
			replies, err := do(t.Context(), h, c)
			if err != nil {
				t.Errorf("probe %d: %v", i, err)
			}
			if c.Same != nil {
				for i := range replies {
					replies[i] = c.Same(replies[i])
				}
			}
			o := outcome{Replies: replies}
			if c.Want != rpc.OK { // its text is compared too, so ask again
				e := rpc.ErrorOf(rpc.Call(t.Context(), h, c.Method, c.In, func(any) error { return nil }))
				o.Code, o.Message, o.Wrong = e.Code, e.Message, e.Violations
			}
			runs[run] = append(runs[run], o)
		}
	}
	if d := cmp.Diff(runs[0], runs[1], cmpopts.EquateNaNs()); d != "" {
		t.Errorf("probes on fresh stores were answered differently:\n%s", d)
	}
	failing := 0
	for _, c := range l.Workload.Probes(l.leg.Name, l.params) {
		if c.Want != rpc.OK {
			failing++
		}
	}
	if failing == 0 {
		t.Error("no probe must fail")
	}
}

// altered changes one field at a time of replies that are right.
func (l legTest) altered(t *testing.T) {
	h := l.chain(t)
	for _, c := range l.calls(3, 5) {
		replies, err := do(t.Context(), h, c)
		if err != nil {
			t.Fatal(err)
		}
		for i, reply := range replies {
			copied := duplicate(c.Method.Out, reply)
			if err := c.Check(i, copied); err != nil {
				t.Fatalf("a copy of a reply that is right: %v", err)
			}
			fields := 0
			for field := range alterations(copied) {
				fields++
				if err := c.Check(i, copied); !errors.Is(err, rpc.ErrWrongAnswer) {
					t.Errorf("reply %d with %s: %v; want ErrWrongAnswer", i, field, err)
				}
			}
			if fields == 0 {
				t.Errorf("reply %d of type %T has no field to alter", i, reply)
			}
			if err := c.Check(i, c.Method.In.New()); !errors.Is(err, rpc.ErrWrongAnswer) {
				t.Errorf("a reply of another type: %v; want ErrWrongAnswer", err)
			}
			if err := c.Check(i, nil); !errors.Is(err, rpc.ErrWrongAnswer) {
				t.Errorf("no reply: %v; want ErrWrongAnswer", err)
			}
		}
	}
}

// duplicate copies a plain value through its protobuf form.
func duplicate(typ *rpc.Type, plain any) any {
	return typ.FromProto(proto.Clone(typ.ToProto(plain)))
}

func (l legTest) mapping(t *testing.T) {
	h := l.chain(t)
	survives := func(typ *rpc.Type, plain any) {
		t.Helper()
		m := typ.ToProto(plain)
		back := typ.FromProto(m)
		if d := cmp.Diff(plain, back, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); d != "" {
			t.Errorf("%s (-before +after):\n%s", typ.Name, d)
		}
		if d := cmp.Diff(m, typ.ToProto(back), protocmp.Transform()); d != "" {
			t.Errorf("%s, as protobuf (-before +after):\n%s", typ.Name, d)
		}
	}
	for _, c := range append(l.Workload.Probes(l.leg.Name, l.params), l.calls(5, 20)...) {
		for _, in := range c.In {
			survives(c.Method.In, in)
		}
		replies, _ := do(t.Context(), h, c) // errors are another test's
		for _, out := range replies {
			survives(c.Method.Out, out)
		}
		survives(c.Method.In, c.Method.In.New())
		survives(c.Method.Out, c.Method.Out.New())
	}
}

func (l legTest) ended(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := l.calls(9, 1)[0]
	err := rpc.Call(ctx, l.chain(t), c.Method, c.In, func(any) error { return nil })
	if e := rpc.ErrorOf(err); e == nil || e.Code != rpc.Canceled {
		t.Errorf("a call whose context has ended gave %v; want %v", err, rpc.Canceled)
	}
}
