package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tare-bench/tare/calibrate"
	"github.com/tare-bench/tare/peers/golang"
)

// peerCommand is the word by which the runner starts this program as a peer,
// and knownFlag the flag that adds the known servers of calibrate to it.
const (
	peerCommand = "peer"
	knownFlag   = "known"
)

func (a *app) peerCommand() *cobra.Command {
	var withKnown bool
	c := &cobra.Command{
		Use: peerCommand, Short: "Speak the peer protocol on standard input and output",
		Hidden: true, Args: none,
		RunE: func(*cobra.Command, []string) error {
			known := a.catalog
			if withKnown {
				var err error
				if known, err = calibrate.Catalog(known); err != nil {
					return err
				}
			}
			// The end of the input ends a peer, and signals to the runner do not.
			return golang.Run(context.Background(), known, a.In, a.Out)
		},
	}
	c.Flags().BoolVar(&withKnown, knownFlag, false, "serve stacks of known weight too")
	return c
}
