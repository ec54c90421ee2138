package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/peers/golang"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/workload"
)

// serveStack runs one service over one stack, as comparisons do.
func (a *app) serveStack(ctx context.Context, s serving, name string) error {
	start, tier, err := a.startOf(s, name)
	if err != nil {
		return usage(err)
	}
	server, err := golang.Listen(ctx, a.catalog, start, s.config.Listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "%s of %s answers %s on %s; Ctrl-C ends it\n", tier.Name, name, start.Stack, server.Addr())
	for _, m := range tier.Service.Methods {
		fmt.Fprintf(a.Err, "  %s   %s\n", m.Path(), m.Route)
	}
	select {
	case err := <-server.Failed():
		if err == nil && ctx.Err() == nil {
			err = fmt.Errorf("%s stopped by itself", tier.Name)
		}
		return err
	case <-ctx.Done():
		return server.Close()
	}
}

// startOf gives what a peer would be told, and fills in what the flags left to
// the workload.
func (a *app) startOf(s serving, name string) (peer.Start, workload.Tier, error) {
	start := peer.Start{
		Workload: name, Leg: s.leg, Tier: s.tier, Stack: s.stack,
		Store: s.config.Store, InFlight: cmp.Or(s.inFlight, plan.DefaultInFlight), Admit: s.config.Admit,
	}
	w, err := a.catalog.Workload(name)
	if err != nil {
		return start, workload.Tier{}, err
	}
	spec := w.Spec()
	start.Leg = cmp.Or(start.Leg, spec.Legs[0].Name)
	leg, ok := spec.Leg(start.Leg)
	if !ok {
		return start, workload.Tier{}, fmt.Errorf("workload %s has no leg %q", name, start.Leg)
	}
	start.Tier = cmp.Or(start.Tier, leg.Tiers[len(leg.Tiers)-1].Name)
	given, err := pairs("--param", s.params)
	if err != nil {
		return start, workload.Tier{}, err
	}
	if start.Params, err = setting.Resolve(spec.Params, given); err != nil {
		return start, workload.Tier{}, fmt.Errorf("--param %w", err)
	}
	if s.nextAddr != "" {
		start.Next = &peer.Next{Stack: s.nextStack, Addr: s.nextAddr}
	}
	var names []string
	for i, t := range leg.Tiers {
		if t.Name == start.Tier {
			if last := i == len(leg.Tiers)-1; last != (start.Next == nil) {
				return start, t, fmt.Errorf("--next ADDR goes with a service that calls another: with every one but the last of leg %s", leg.Name)
			}
			return start, t, nil
		}
		names = append(names, t.Name)
	}
	return start, workload.Tier{}, fmt.Errorf("leg %s has no tier %q; there is %s", leg.Name, start.Tier, strings.Join(names, ", "))
}
