package runner

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/tare-bench/tare/link"
	"github.com/tare-bench/tare/plan"
)

// fence is a link that says who crosses it.
type fence struct {
	link.Network
	started int
}

func (f *fence) Start(start func() error) error {
	f.started++
	return start()
}

func (f *fence) Listen() string { return "far:0" }

func (f *fence) Reach(_ context.Context, addr string) (string, error) {
	if addr != "far:1" {
		return "", errors.New("out of reach")
	}
	return "across:1", nil
}

func TestTheVariedTierAndThoseBehindItAreFar(t *testing.T) {
	f := new(fence)
	r := &run{
		Options: Options{Peer: []string{"true"}, Peers: map[string][]string{"c": {"true", "other"}}, Link: f},
		plan:    &plan.Plan{Tiers: []plan.Tier{{Name: "a", Stack: "fixed"}, {Name: "b"}, {Name: "c", Stack: "fixed"}}},
	}
	where := r.site(t.Context(), nil)
	all := []how{where.driver(), where.server(0), where.server(1), where.server(2)}
	var listen, words []string
	for _, h := range all {
		cmd := exec.Command(h.words[0], h.words[1:]...)
		before := f.started
		if err := errors.Join(h.begin(cmd), cmd.Wait()); err != nil {
			t.Fatal(err)
		}
		if crossed := f.started > before; crossed != (h.listen != "") {
			t.Errorf("%+v: starts on the far side: %t", h, crossed)
		}
		listen, words = append(listen, h.listen), append(words, strings.Join(h.words, " "))
	}
	if want := []string{"", "", "far:0", "far:0"}; !slices.Equal(listen, want) {
		t.Errorf("they listen at %q, want %q", listen, want)
	}
	if want := []string{"true", "true", "true", "true other"}; !slices.Equal(words, want) {
		t.Errorf("they start by %q, want %q", words, want)
	}
	for tier, want := range []string{"far:1", "across:1", "far:1"} {
		if got, err := where.reach(tier, "far:1"); got != want || err != nil {
			t.Errorf("tier %d is reached at %q, %v; want %q", tier, got, err, want)
		}
	}
	if _, err := where.reach(1, "near:1"); err == nil {
		t.Error("a server on the near side is reached across the link")
	}
	r.Link = nil
	if h := r.site(t.Context(), nil).server(1); h.listen != "" {
		t.Errorf("without a link a server listens at %q", h.listen)
	}
}
