package phase

import (
	"slices"
	"strings"
)

// The functions of Go 1.26's runtime by what they are for. A name that a later
// version changes would show as more of "other", or of the phase around it.
var (
	// collecting begin the names of what marks, sweeps and gives memory back;
	// gc holds the assists that an allocation must make, and write barriers.
	collecting = []string{"gc", "bgsweep", "bgscavenge", "sweepone", "deductSweepCredit", "wbBuf", "(*sweepLocked)", "(*mheap).reclaim"}

	// scheduling choose what runs, wait for it, and wake threads for it.
	scheduling = []string{
		"mcall", "schedule", "findRunnable", "park_m", "goexit0", "goexit1", "gosched_m", "goschedImpl", "gopreempt_m",
		"netpoll", "sysmon", "mstart", "mstart1", "morestack", "asyncPreempt", "asyncPreempt2", "exitsyscall", "exitsyscall0",
		"startm", "stopm", "wakep", "ready", "goready", "handoffp", "retake", "resetspinning", "newproc", "newproc1",
	}

	// trapping are the runtime's own ways into the kernel (sys_linux_*.s).
	trapping = []string{"futex", "usleep", "osyield", "madvise", "tgkill", "read", "write1", "sysMmap", "sysMunmap"}

	// calling are the packages whose leaves are system calls.
	calling = []string{"internal/runtime/syscall", "syscall", "golang.org/x/sys/unix"}
)

func collects(name string) bool {
	pkg, rest := split(name)
	if rest == "" { // a function of assembly that no other package sees
		pkg, rest = "runtime", name
	}
	return pkg == "runtime" && slices.ContainsFunc(collecting, func(p string) bool { return strings.HasPrefix(rest, p) })
}

func schedules(name string) bool {
	pkg, rest := split(name)
	return pkg == "runtime" && slices.Contains(scheduling, rest)
}

// calls says of a leaf that it stands in the kernel.
func calls(name string) bool {
	pkg, rest := split(name)
	return pkg == "runtime" && slices.Contains(trapping, rest) ||
		slices.ContainsFunc(calling, func(p string) bool { return within(pkg, p) })
}
