package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tare-bench/tare/peers/golang"
)

// peerCommand is the word by which the runner starts this program as a peer.
const peerCommand = "peer"

func (a *app) peerCommand() *cobra.Command {
	return &cobra.Command{
		Use: peerCommand, Short: "Speak the peer protocol on standard input and output",
		Hidden: true, Args: none,
		RunE: func(*cobra.Command, []string) error {
			// The end of the input ends a peer, and signals to the runner do not.
			return golang.Run(context.Background(), a.catalog, a.In, a.Out)
		},
	}
}
