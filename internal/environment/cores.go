package environment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Cores gives the processors that this process may run on, those that share a
// core together. Where the kernel does not say which do, each is a core.
func Cores() ([][]int, error) {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return nil, fmt.Errorf("read processors to run on: %w", err)
	}
	var cores [][]int
	for cpu := range 64 * len(allowed) {
		if !allowed.IsSet(cpu) || slices.ContainsFunc(cores, func(c []int) bool { return slices.Contains(c, cpu) }) {
			continue
		}
		core := []int{cpu}
		for _, sibling := range parseList(line(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))) {
			if sibling != cpu && allowed.IsSet(sibling) {
				core = append(core, sibling)
			}
		}
		cores = append(cores, core)
	}
	return cores, nil
}

// parseList reads the kernel's lists of processors, "0-2,7"; what is none gives
// nothing.
func parseList(text string) []int {
	var all []int
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.ParseUint(first, 10, 16)
		to, err2 := strconv.ParseUint(last, 10, 16)
		if err != nil || err2 != nil {
			return nil
		}
		for cpu := from; cpu <= to; cpu++ {
			all = append(all, int(cpu))
		}
	}
	return all
}
