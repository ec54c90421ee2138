package protocol

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"
)

// Accept gives the next connection of l. What is of the moment it waits out, some
// milliseconds and up to a second at a time, until ctx ends: files run out, or a
// caller is gone already. Its error is l's, or ctx's.
func Accept(ctx context.Context, l net.Listener) (net.Conn, error) {
	const least, most = 5 * time.Millisecond, time.Second
	for pause := least; ; pause = min(2*pause, most) {
		conn, err := l.Accept()
		if err == nil || !passes(err) {
			return conn, err
		}
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil, ctx.Err()
		}
	}
}

func passes(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
