package cli

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/vishvananda/netlink"

	"github.com/tare-bench/tare/link"
	"github.com/tare-bench/tare/link/tunnel"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
)

// tunnels says whether tunnels can be made here.
func tunnels() (bool, error) {
	n, err := tunnel.Open(link.Spec{}, 1)
	if errors.Is(err, link.ErrNotPermitted) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, n.Close()
}

// faraway FILE holds while a device leads to where the servers of a run listen.
func faraway(ts *testscript.TestScript, not bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: faraway FILE")
	}
	text, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	far := regexp.MustCompile(`"addr":"(198\.19\.\d+\.\d+):`).FindSubmatch(text)
	if far == nil {
		ts.Fatalf("%s names no server behind a tunnel", args[0])
	}
	all, err := netlink.AddrList(nil, netlink.FAMILY_V4)
	ts.Check(err)
	leads := slices.ContainsFunc(all, func(a netlink.Addr) bool { return a.Peer != nil && a.Peer.IP.String() == string(far[1]) })
	if leads == not {
		ts.Fatalf("a device leads to %s: %t", far[1], leads)
	}
}

// TestTheBestLinkThatIsPermittedIsMade: no kind but the one asked for, and what
// was refused is said.
func TestTheBestLinkThatIsPermittedIsMade(t *testing.T) {
	refused := errors.Join(link.ErrNotPermitted, errors.New("not you"))
	made := func(link.Spec, uint64) (link.Network, error) { return stood{}, nil }
	fails := func(err error) opener { return func(link.Spec, uint64) (link.Network, error) { return nil, err } }
	denied, broken := fails(refused), fails(errors.New("out of memory"))
	for name, c := range map[string]struct {
		by, kind, says string
		one, two       opener
	}{
		"the first":             {"", "one", "", made, made},
		"the second":            {"", "two", "note: the link is a two, since: ", denied, made},
		"none but the first":    {"one", "", "", denied, made},
		"none, since it failed": {"", "", "", broken, made},
		"the one asked for":     {"two", "two", "", made, made},
		"neither, for two whys": {"", "", "", denied, broken},
	} {
		var said strings.Builder
		a := &app{System: System{Err: &said}}
		p := &plan.Plan{Link: &link.Spec{By: c.by}}
		h := record.Header{Link: &record.Link{}}
		n, _, err := a.openLink([]kindOfLink{{"one", c.one}, {"two", c.two}}, p, &h)
		if fine := c.kind != ""; h.Link.Kind != c.kind || (err == nil) != fine || (n != nil) != fine {
			t.Errorf("%s: made %q, %v, error %v", name, h.Link.Kind, n, err)
		}
		if !strings.HasPrefix(said.String(), c.says) || (c.says == "") != (said.Len() == 0) {
			t.Errorf("%s: said %q", name, &said)
		}
	}
	if n, unlink, err := (&app{}).openLink(nil, &plan.Plan{}, &record.Header{}); n != nil || err != nil || unlink() != nil {
		t.Errorf("without a link there is %v, %v", n, err)
	}
}

func TestEachLinkOfASeriesIsTriedOnce(t *testing.T) {
	refused, shut, held := link.ErrNotPermitted, 0, map[string]int{}
	kinds := []kindOfLink{
		{"one", func(s link.Spec, _ uint64) (link.Network, error) {
			held[s.String()]++
			return stood{closed: func() error { shut++; return nil }}, nil
		}},
		{"two", func(link.Spec, uint64) (link.Network, error) { return nil, refused }},
		{"three", func(link.Spec, uint64) (link.Network, error) {
			return stood{closed: func() error { return errors.New("stuck") }}, nil
		}},
	}
	series := func(specs ...*link.Spec) *plan.Series {
		s := &plan.Series{}
		for _, spec := range specs {
			s.Points = append(s.Points, plan.Point{Plan: &plan.Plan{Link: spec}})
		}
		return s
	}
	near, far := &link.Spec{By: "one"}, &link.Spec{By: "one", RoundTrip: time.Millisecond}
	if err := tryLinks(kinds, series(nil, near, far, near)); err != nil || shut != 2 || held[near.String()] != 1 || held[far.String()] != 1 {
		t.Errorf("%v: made %v, ended %d", err, held, shut)
	}
	if err := tryLinks(kinds, series(near, &link.Spec{By: "two", RoundTrip: time.Second})); !errors.Is(err, refused) || !strings.Contains(err.Error(), "try the link 1000ms,by=two: ") {
		t.Errorf("the second is refused: %v", err)
	}
	if err := tryLinks(kinds, series(&link.Spec{By: "three"})); err == nil || !strings.Contains(err.Error(), "stuck") {
		t.Errorf("one does not end: %v", err)
	}
}

// stood is a link that was made.
type stood struct {
	link.Network
	closed func() error
}

func (s stood) Close() error {
	if s.closed == nil {
		return nil
	}
	return s.closed()
}
