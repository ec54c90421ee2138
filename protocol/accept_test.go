package protocol_test

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tare-bench/tare/protocol"
)

// failing is a listener that fails in turn with each error, and then has a
// connection for everybody.
type failing struct {
	net.Listener
	errs []error
}

func (f *failing) Accept() (net.Conn, error) {
	if len(f.errs) == 0 {
		here, there := net.Pipe()
		return here, there.Close()
	}
	err := f.errs[0]
	f.errs = f.errs[1:]
	return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", err)}
}

func TestAcceptWaitsOutWhatIsOfTheMoment(t *testing.T) {
	for name, test := range map[string]struct {
		errs []error
		took time.Duration
		want error
	}{
		"at once":                  {},
		"files run out":            {errs: []error{syscall.EMFILE, syscall.ENFILE, syscall.EMFILE}, took: (5 + 10 + 20) * time.Millisecond},
		"a caller is gone":         {errs: []error{syscall.ECONNABORTED}, took: 5 * time.Millisecond},
		"the listener is no more":  {errs: []error{syscall.EMFILE, syscall.EINVAL}, took: 5 * time.Millisecond, want: syscall.EINVAL},
		"it lasts longer than ctx": {errs: repeated(syscall.EMFILE, 100), took: time.Minute, want: context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				begun := time.Now()
				conn, err := protocol.Accept(ctx, &failing{errs: test.errs})
				if !errors.Is(err, test.want) || (conn == nil) != (test.want != nil) {
					t.Errorf("gave %v, %v", conn, err)
				}
				if took := time.Since(begun); took != test.took {
					t.Errorf("took %v, want %v", took, test.took)
				}
				if conn != nil {
					_ = conn.Close()
				}
			})
		})
	}
}

func repeated(err error, n int) (all []error) {
	for range n {
		all = append(all, err)
	}
	return all
}
