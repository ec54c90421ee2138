//go:build !linux

package lean

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"time"
)

// The event loop needs epoll. Elsewhere Dial says so, and nothing else is
// reached.
var errNoPoller = fmt.Errorf("the lean driver on %s: %w", runtime.GOOS, errors.ErrUnsupported)

var errAgain = errNoPoller

type poller struct{}

type event struct {
	conn               int
	age                int32
	readable, writable bool
}

func newPoller() (*poller, error)                   { return nil, errNoPoller }
func (*poller) add(int, int, int32, bool) error     { return errNoPoller }
func (*poller) watch(int, int, int32, bool) error   { return errNoPoller }
func (*poller) wait(time.Duration) ([]event, error) { return nil, errNoPoller }
func (*poller) wake()                               {}
func (*poller) close() error                        { return nil }
func connect(*net.TCPAddr) (int, bool, error)       { return -1, false, errNoPoller }
func connected(int) error                           { return errNoPoller }
func shut(int)                                      {}
func read(int, []byte) (int, error)                 { return 0, errNoPoller }
func write(int, []byte) (int, error)                { return 0, errNoPoller }
func punctual()                                     {}
