package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/tare-bench/tare/link"
	"github.com/tare-bench/tare/link/relay"
	"github.com/tare-bench/tare/link/tunnel"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
)

// opener makes a link. Equal seeds lose the same packets.
type opener func(s link.Spec, seed uint64) (link.Network, error)

type kindOfLink struct {
	name string
	open opener
}

// links are all kinds of link, the best first.
var links = []kindOfLink{
	{link.Tunnel, tunnel.Open},
	{link.Relay, relay.Open},
}

// openLink makes the link of a plan: of the kind that is asked for, or of the best
// that is permitted, which the header then says. It is nil for loopback. What was
// made is ended by unlink.
func (a *app) openLink(kinds []kindOfLink, p *plan.Plan, h *record.Header) (n link.Network, unlink func() error, err error) {
	if p.Link == nil {
		return nil, func() error { return nil }, nil
	}
	var refused error
	for _, k := range kinds {
		if !p.Link.May(k.name) {
			continue
		}
		if n, err = k.open(*p.Link, p.Seed); err == nil {
			if refused != nil {
				fmt.Fprintf(a.Err, "note: the link is a %s, since: %v\n", k.name, refused)
			}
			h.Link.Kind = k.name
			return n, n.Close, nil
		}
		refused = errors.Join(refused, err)
		if !errors.Is(err, link.ErrNotPermitted) {
			break
		}
	}
	return nil, nil, refused
}

// tryLinks makes and ends each link of a series once: what is refused at the last
// point is said before the first is measured.
func tryLinks(kinds []kindOfLink, s *plan.Series) error {
	quiet := &app{System: System{Err: io.Discard}} // each point says what its link is
	tried := make(map[link.Spec]bool)
	for _, point := range s.Points {
		p := point.Plan
		if p.Link == nil || tried[*p.Link] {
			continue
		}
		tried[*p.Link] = true
		_, unlink, err := quiet.openLink(kinds, p, &record.Header{Link: &record.Link{}})
		if err == nil {
			err = unlink()
		}
		if err != nil {
			return fmt.Errorf("try the link %s: %w", p.Link, err)
		}
	}
	return nil
}
