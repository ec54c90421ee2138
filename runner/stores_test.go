package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
)

// shelf gives stores, and keeps one that it is told to.
type shelf struct {
	there []string
	given int
	stuck string
}

func (s *shelf) Apart(name string) (string, error) {
	s.given++
	s.there = append(s.there, name)
	return name, nil
}

func (s *shelf) Remove(ctx context.Context, address string) error {
	if s.stuck != "" && strings.Contains(address, s.stuck) {
		return errors.New("it cannot be moved: " + address)
	}
	s.there = slices.DeleteFunc(s.there, func(a string) bool { return a == address })
	return ctx.Err()
}

// Whatever becomes of a block, its stores are gone afterwards, or named.
func TestStoresGoWithTheirBlock(t *testing.T) {
	for name, c := range map[string]struct {
		stuck string
		ended bool
	}{"all": {}, "interrupted": {ended: true}, "one is stuck": {stuck: "-block1-second-b"}} {
		s := &shelf{stuck: c.stuck}
		ctx, cancel := context.WithCancel(t.Context())
		if c.ended {
			cancel()
		}
		r := &run{Options: Options{Stores: s, Started: time.Unix(0, 0)}, plan: &plan.Plan{}}
		var names []string
		for block := range 2 {
			k := &kept{run: r, block: block}
			for _, tier := range []string{"first", "second"} {
				for _, scenario := range []string{"a", "b"} {
					address, err := k.apart(tier, scenario)
					if err != nil {
						t.Fatal(err)
					}
					names = append(names, address)
				}
			}
			k.remove(ctx)
		}
		if slices.Sort(names); len(slices.Compact(names)) != 8 {
			t.Errorf("%s: servers share stores: %q", name, names)
		}
		err := r.leftover()
		var left *LeftoverError
		if c.stuck == "" && (err != nil || len(s.there) > 0) {
			t.Errorf("%s: %q are left, %v", name, s.there, err)
		}
		if c.stuck != "" && (len(s.there) != 1 || !errors.As(err, &left) || !strings.Contains(err.Error(), s.there[0])) {
			t.Errorf("%s: %q are left, %v; want the error to name it", name, s.there, err)
		}
		cancel()
	}
}

// A server that cannot start leaves no store.
func TestStoresGoWhereNothingStarts(t *testing.T) {
	s := new(shelf)
	p := &plan.Plan{
		Scenarios: []record.Scenario{{Name: "a"}, {Name: "b"}},
		Tiers:     []plan.Tier{{Name: "one"}}, Blocks: make([]plan.Block, 1),
	}
	keep := func(record.Line) error { return nil }
	err := Run(t.Context(), p, Options{Peer: []string{"/nowhere"}, Stores: s, Keep: keep, Watch: func(Progress) {}})
	if err == nil || s.given == 0 || len(s.there) > 0 {
		t.Errorf("got %v, and of %d stores %q are left", err, s.given, s.there)
	}
}
