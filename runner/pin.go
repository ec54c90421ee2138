package runner

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// starter starts a command.
type starter func(*exec.Cmd) error

// pinnedTo has start start commands that may run on the given processors only;
// on any, where none is given. A process inherits them from the thread that
// starts it, and a Go runtime then takes no more threads than they are.
func pinnedTo(cpus []int, start starter) starter {
	if len(cpus) == 0 {
		return start
	}
	var wanted unix.CPUSet
	for _, cpu := range cpus {
		wanted.Set(cpu)
	}
	return func(c *exec.Cmd) error {
		runtime.LockOSThread()
		var before unix.CPUSet
		if err := unix.SchedGetaffinity(0, &before); err != nil {
			return fmt.Errorf("read processors to run on: %w", err)
		}
		if err := unix.SchedSetaffinity(0, &wanted); err != nil {
			return fmt.Errorf("run on processors %v: %w", cpus, err)
		}
		err := start(c)
		if back := unix.SchedSetaffinity(0, &before); back != nil {
			// The thread stays with this goroutine, and ends with it.
			return errors.Join(err, fmt.Errorf("run on all processors again: %w", back))
		}
		runtime.UnlockOSThread()
		return err
	}
}
