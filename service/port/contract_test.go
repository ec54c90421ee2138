package port_test

import (
	"context"
	"net"
	"slices"
	"testing"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/protocoltest"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/port"
	"github.com/tare-bench/tare/setting"
)

// onPort is the protocol of one stack, whose server is a port with all of them.
type onPort struct {
	protocol.Protocol
	t     *testing.T
	stack int
}

func (p onPort) Serve(ctx context.Context, l net.Listener, svc *rpc.Service, h rpc.Handler, o protocol.Options) error {
	c := config(p.t, h, svc)
	c.Limits.Streams = max(c.Limits.Streams, o.InFlight)
	for i := range c.Stacks {
		c.Stacks[i].Options.MaxMessage = o.MaxMessage
	}
	c.Stacks[p.stack].Options = o
	return port.Serve(ctx, l, c)
}

// TestPortHoldsTheContractOfEveryProtocol has the protocols' own clients find no
// difference between their servers and the port.
func TestPortHoldsTheContractOfEveryProtocol(t *testing.T) {
	for i, s := range served(t) {
		for _, given := range versions(s) {
			t.Run(s.Name+"@"+given["http"], func(t *testing.T) {
				t.Parallel()
				protocoltest.Run(t, onPort{s.Protocol, t, i}, protocoltest.Stack{Codec: s.Codec, Settings: given})
			})
		}
	}
}

// versions gives the settings for each version of HTTP that a protocol has; for
// JSON only the first, since it tells the port nothing that others do not, and
// large messages of it take long.
func versions(s catalog.Stack) []map[string]string {
	both := []map[string]string{{"http": "1.1"}, {"http": "2", "conns": "1"}}
	switch {
	case !slices.ContainsFunc(s.Protocol.Spec().Settings, func(s setting.Setting) bool { return s.Name == "http" }):
		return []map[string]string{nil}
	case s.Codec.Spec().Media == "application/json":
		return both[:1]
	}
	return both
}
