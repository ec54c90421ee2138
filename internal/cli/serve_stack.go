package cli

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/peers/golang"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/workload"
)

// service is the flags of tare serve.
type service struct {
	start     peer.Start
	params    []string
	listen    string
	nextStack string
	nextAddr  string
}

func (a *app) serveCommand() *cobra.Command {
	var s service
	c := &cobra.Command{
		Use:   "serve WORKLOAD",
		Short: "Run one of a workload's services, over one stack, until it is interrupted",
		Args:  one("the name of a workload"),
		RunE:  func(c *cobra.Command, args []string) error { return a.serve(c.Context(), s, args[0]) },
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&s.start.Leg, "leg", "", "leg of the workload (default: its first)")
	f.StringVar(&s.start.Tier, "tier", "", "service to run (default: the last of the leg)")
	f.StringVar(&s.start.Stack, "stack", a.catalog.Baseline, "stack to answer")
	f.StringVar(&s.listen, "listen", "127.0.0.1:8080", "address to listen on")
	f.StringVar(&s.nextAddr, "next", "", "address of the service that this one calls")
	f.StringVar(&s.nextStack, "next-stack", a.catalog.Baseline, "stack to call it over")
	f.StringVar(&s.start.Store, "store", a.catalog.KeptIn, "what the service keeps its records in")
	f.IntVar(&s.start.InFlight, "in-flight", plan.DefaultInFlight, "calls to the next service that will be in flight at once")
	f.StringArrayVar(&s.params, "param", nil, "parameter of the workload, NAME=VALUE; may be repeated")
	return c
}

func (a *app) serve(ctx context.Context, s service, name string) error {
	tier, err := a.completeService(&s, name)
	if err != nil {
		return usage(err)
	}
	server, err := golang.Listen(ctx, a.catalog, s.start, s.listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "%s of %s answers %s on %s; Ctrl-C ends it\n", tier.Name, name, s.start.Stack, server.Addr())
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

// completeService fills in what the flags left to the workload.
func (a *app) completeService(s *service, name string) (workload.Tier, error) {
	w, err := a.catalog.Workload(name)
	if err != nil {
		return workload.Tier{}, err
	}
	spec := w.Spec()
	if s.start.Leg == "" {
		s.start.Leg = spec.Legs[0].Name
	}
	leg, ok := spec.Leg(s.start.Leg)
	if !ok {
		return workload.Tier{}, fmt.Errorf("workload %s has no leg %q", name, s.start.Leg)
	}
	if s.start.Tier == "" {
		s.start.Tier = leg.Tiers[len(leg.Tiers)-1].Name
	}
	given, err := pairs("--param", s.params)
	if err != nil {
		return workload.Tier{}, err
	}
	params, err := setting.Resolve(spec.Params, given)
	if err != nil {
		return workload.Tier{}, fmt.Errorf("--param %w", err)
	}
	s.start.Workload, s.start.Params = name, params
	if s.nextAddr != "" {
		s.start.Next = &peer.Next{Stack: s.nextStack, Addr: s.nextAddr}
	}
	if _, _, err := net.SplitHostPort(s.listen); err != nil {
		return workload.Tier{}, fmt.Errorf("--listen %s: %w", s.listen, err)
	}
	var names []string
	for i, t := range leg.Tiers {
		if t.Name == s.start.Tier {
			if last := i == len(leg.Tiers)-1; last != (s.start.Next == nil) {
				return t, fmt.Errorf("--next ADDR goes with a service that calls another: with every one but the last of leg %s", leg.Name)
			}
			return t, nil
		}
		names = append(names, t.Name)
	}
	return workload.Tier{}, fmt.Errorf("leg %s has no tier %q; there is %s", leg.Name, s.start.Tier, strings.Join(names, ", "))
}
