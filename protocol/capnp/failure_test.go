package capnp

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"

	"capnproto.org/go/capnp/v3/exc"
	capnprpc "capnproto.org/go/capnp/v3/rpc"

	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
)

// However the library tells that a connection is gone, it is the connection's fault.
func TestACallWithoutAConnectionIsReset(t *testing.T) {
	library := exc.Annotator("rpc")
	for name, err := range map[string]error{
		"before it was sent":     library.WrapFailed("send message", capnprpc.ErrConnClosed),
		"while it was sent":      library.WrapFailed("send message", &net.OpError{Op: "write", Err: syscall.EPIPE}),
		"after it was sent":      capnprpc.ExcClosed,
		"said with other words":  fmt.Errorf("call: %w", capnprpc.ExcClosed),
		"of an import of no use": library.Disconnected(errors.New("send on closed import")),
	} {
		if e := exception(t.Context(), err, &method{Method: conformance.Echo}); e.Code != rpc.Unavailable || e.Transport != rpc.Reset {
			t.Errorf("%s: %v, fault %q", name, e, e.Transport)
		}
	}
	if e := exception(t.Context(), library.Failed(errors.New("it broke")), &method{Method: conformance.Echo}); e.Code != rpc.Unknown || e.Transport != rpc.NoFault {
		t.Errorf("a failure of the other side: %v, fault %q", e, e.Transport)
	}
}
