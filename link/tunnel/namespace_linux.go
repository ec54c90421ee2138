package tunnel

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/vishvananda/netns"
)

// namespace is a network apart. It has no name: it lasts as long as a descriptor
// of it, a thread or a process in it.
type namespace struct {
	own   netns.NsHandle // of this program
	apart netns.NsHandle
}

// newNamespace makes one.
func newNamespace() (n *namespace, err error) {
	n = &namespace{own: netns.None(), apart: netns.None()}
	err = visit(func() error {
		if n.own, err = netns.Get(); err != nil {
			return err
		}
		n.apart, err = netns.New()
		return err
	}, func() error { return netns.Set(n.own) })
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make network namespace: %w", err), n.release())
	}
	return n, nil
}

// within calls f in a thread that is in the namespace; the processes that f
// starts are there too. Goroutines that it starts are not.
func (n *namespace) within(f func() error) error {
	return visit(func() error {
		if err := netns.Set(n.apart); err != nil {
			return fmt.Errorf("enter network namespace: %w", err)
		}
		return f()
	}, func() error { return netns.Set(n.own) })
}

// visit calls f in a thread that no other goroutine uses until back has brought
// it back. Where that fails the thread ends, so that none will.
func visit(f, back func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := f()
		if back() == nil {
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	return <-done
}

func (n *namespace) release() error {
	var errs []error
	for _, h := range []*netns.NsHandle{&n.own, &n.apart} {
		if h.IsOpen() {
			errs = append(errs, h.Close())
		}
	}
	return errors.Join(errs...)
}
