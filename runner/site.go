package runner

import (
	"context"
	"os/exec"

	"github.com/tare-bench/tare/link"
	"github.com/tare-bench/tare/peer"
)

// site is where a block's processes run, and how they are started.
type site struct {
	*run
	ctx  context.Context // until the block's processes have ended
	kept *kept
}

func (r *run) site(ctx context.Context, k *kept) site { return site{r, ctx, k} }

// how is the way to start one process.
type how struct {
	words  []string
	begin  starter
	listen string // where a server is to listen; "" for loopback
}

func (s site) driver() how {
	return how{words: s.words(peer.Drive), begin: pinnedTo(s.Pinned.Driver, (*exec.Cmd).Start)}
}

// server is how the server of a tier is started: the one whose calls vary on the
// far side of the link, and so those behind it.
func (s site) server(tier int) how {
	h := how{words: s.words(s.plan.Tiers[tier].Name), begin: pinnedTo(s.Pinned.Servers, (*exec.Cmd).Start)}
	if s.Link != nil && tier >= s.plan.VariedTier() {
		h.begin, h.listen = across(s.Link, h.begin), s.Link.Listen()
	}
	return h
}

func (s site) words(role string) []string {
	if other, ok := s.Peers[role]; ok {
		return other
	}
	return s.Peer
}

// across has begin start commands on the far side of a link.
func across(l link.Network, begin starter) starter {
	return func(c *exec.Cmd) error {
		return l.Start(func() error { return begin(c) })
	}
}

// reach gives the address at which the caller of a tier reaches it.
func (s site) reach(tier int, addr string) (string, error) {
	if s.Link == nil || tier != s.plan.VariedTier() {
		return addr, nil
	}
	return s.Link.Reach(s.ctx, addr)
}
