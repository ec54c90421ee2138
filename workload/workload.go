// Package workload says what a workload is: services, an answer to their calls,
// a seeded sequence of calls to make, and a check of the replies. It knows no
// protocol and no codec. Each implementation is a folder below this one, run
// through workloadtest, and listed in catalog.
package workload

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/store"
)

// Spec is what a workload says of itself.
type Spec struct {
	Name   string
	About  string // one line for a person
	Legs   []Leg  // the first is loaded by default
	Params []setting.Setting
	Stacks []string // compared by default
	// Example is the leg whose calls best show a person how services are called;
	// "": the first.
	Example string
	Slice   time.Duration // a trial's length in a closed loop that suits its calls
}

// Leg is one way to load the workload: the tiers that a call passes, in order
// from the driver. Exactly one of them is Varied.
type Leg struct {
	Name  string
	About string
	// Item is what the leg's calls move in bulk, in the singular: "record". Rates
	// and costs are then told by item. "": by call.
	Item  string
	Slice time.Duration // a trial's length that suits the leg's calls; 0: the workload's
	Tiers []Tier
}

// Tier is one service of a leg, in a process of its own.
type Tier struct {
	Name    string
	Service *rpc.Service
	// Stack is spelled as users spell stacks, and carries the calls *to* this
	// tier; Varied for the stack under comparison.
	Stack string
	// Calls are the methods that the leg's calls use, and that a stack must be
	// able to carry; the service may have more.
	Calls []*rpc.Method
}

// Over gives the tier with its calls carried by a stack.
func (t Tier) Over(stack string) Tier {
	t.Stack = stack
	return t
}

// Varied is the Stack of the tier whose calls the compared stacks carry.
const Varied = "varied"

// Workload is safe for concurrent use.
type Workload interface {
	Spec() Spec
	// Handler answers one tier's service until ctx ends, which says that the
	// service is to end soon: calls that would not end by themselves then do,
	// with UNAVAILABLE, and others are still answered. It is given only messages
	// that keep the rules of the schema. Where it is an io.Closer, Close waits
	// until what it does in the background has ended.
	Handler(ctx context.Context, env Env) (rpc.Handler, error)
	// Calls gives the calls that a leg's driver makes, without end. Equal
	// arguments give equal calls; different seeds give calls that collide in no
	// identifier. Every call is answered without error by a right server.
	Calls(leg string, params setting.Values, seed uint64) iter.Seq[Call]
	// Probes gives a few calls that are made one after the other, before any
	// timing, so that stacks' replies can be compared: among them calls that
	// must fail.
	Probes(leg string, params setting.Values) []Call
}

// Env is what a tier's handler stands on.
type Env struct {
	Tier   string
	Leg    string // that loads the tier; "" where services run for use
	Params setting.Values
	Store  store.Store
	Next   rpc.Handler // the next tier of the leg; nil at the last
	// Background is the next tier as work reaches it that no caller waits for:
	// it must not use up what callers' calls are allowed. Nil: Next.
	Background rpc.Handler
	// Check holds a message, or a part of one that the rules of the whole leave
	// out, to the rules of its own: nil, or an *rpc.Error with a Violation for each
	// that it breaks. t must be the type of one of the messages that the tier's
	// service takes, or of one that they hold. Nil: nothing is checked.
	Check func(t *rpc.Type, plain any) error
	Log   *slog.Logger // nil: the process's own
}

// Call is one call to make, and what is right for it.
type Call struct {
	Method *rpc.Method
	In     []any // plain values; one, unless the caller streams
	// Feed gives the messages of a stream that is too long to be held, in place of
	// In: message i, counted from 0, and false after the last. It is called in order
	// while the call is under way, so that it must cost little beside a message's
	// encoding; equal i give equal messages, however often they are asked for. A
	// message must not be changed once it is given. Calls of one method all have a
	// Feed, or none: those that do are charged with making their messages.
	Feed    func(i int) (message any, more bool)
	Want    rpc.Code // rpc.OK, or the code of the failure that is right
	Replies int      // how many replies are right where Want is rpc.OK
	Items   int      // of the leg's Item that the call moves, above 0 where the leg has one
	// Check says what is wrong with reply i of the call, counted from 0; its
	// error wraps rpc.ErrWrongAnswer. It is called as each reply comes.
	Check func(i int, out any) error
	// Same gives of a reply what is the same wherever and whenever the call is
	// made: no times, for one. Nil: all of it.
	Same func(out any) any
}

// Message gives message i of the call, counted from 0; false after the last.
func (c *Call) Message(i int) (message any, more bool) {
	switch {
	case c.Feed != nil:
		return c.Feed(i)
	case i < len(c.In):
		return c.In[i], true
	}
	return nil, false
}

// Leg finds a leg by name.
func (s Spec) Leg(name string) (Leg, bool) {
	for _, l := range s.Legs {
		if l.Name == name {
			return l, true
		}
	}
	return Leg{}, false
}

// VariedTier is the index in Tiers of the one that is Varied.
func (l Leg) VariedTier() int {
	for i, t := range l.Tiers {
		if t.Stack == Varied {
			return i
		}
	}
	panic("workload: leg " + l.Name + " varies no tier")
}
