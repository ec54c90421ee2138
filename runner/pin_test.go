package runner

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestPinnedToHoldsTheCommandAndNobodyElse(t *testing.T) {
	var mine unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mine); err != nil {
		t.Fatal(err)
	}
	cpu := 0
	for !mine.IsSet(cpu) {
		cpu++
	}
	out := new(strings.Builder)
	c := exec.Command("grep", "Cpus_allowed_list", "/proc/self/status")
	c.Stdout = out
	if err := pinnedTo([]int{cpu}, (*exec.Cmd).Start)(c); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	if fields := strings.Fields(out.String()); len(fields) != 2 || fields[1] != strconv.Itoa(cpu) {
		t.Errorf("pinned to processor %d it says %q", cpu, out)
	}
	var after unix.CPUSet
	if err := unix.SchedGetaffinity(0, &after); err != nil || after != mine {
		t.Errorf("this thread may run on %v processors, %v; want the %v of before", after.Count(), err, mine.Count())
	}
	if err := pinnedTo([]int{1023}, (*exec.Cmd).Start)(exec.Command("true")); err == nil {
		t.Error("a processor that there is not is taken")
	}
}
