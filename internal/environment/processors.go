package environment

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Reading is what all processors together have done since the machine started,
// in seconds, and what of it this process and its ended children took.
type Reading struct {
	Total   float64 // of all processors, idle or not
	Tasks   float64 // processes, the kernel on their behalf included
	SoftIRQ float64 // what devices and timers make the kernel do
	Steal   float64 // taken by the host from this virtual machine
	Own     float64
}

// Shares are parts of all processors' time between two readings.
type Shares struct {
	Busy    float64 // neither idle nor stolen
	Own     float64
	Others  float64 // processes that are not this one nor its ended children
	SoftIRQ float64
	Steal   float64
}

// Processors reads both. It is an error where the kernel does not say.
func Processors() (Reading, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return Reading{}, fmt.Errorf("read processors: %w", err)
	}
	r, err := parseProcessors(string(text))
	if err != nil {
		return Reading{}, fmt.Errorf("read processors: %w", err)
	}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if err := syscall.Getrusage(who, &used); err != nil {
			return Reading{}, fmt.Errorf("read own processor time: %w", err)
		}
		r.Own += float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
	}
	return r, nil
}

// Between gives the shares of the time from one reading to a later one. It is
// false where no time passed.
//
// A kernel without CONFIG_IRQ_TIME_ACCOUNTING charges soft interrupts to the
// process that they interrupt, and counts them apart as well: Others is then too
// small by as much, never too great.
func Between(before, after Reading) (Shares, bool) {
	total := after.Total - before.Total
	if !(total > 0) {
		return Shares{}, false
	}
	tasks, soft := after.Tasks-before.Tasks, after.SoftIRQ-before.SoftIRQ
	own := after.Own - before.Own
	part := func(s float64) float64 { return math.Min(1, math.Max(0, s/total)) }
	return Shares{
		Busy: part(tasks + soft), Own: part(own), Others: part(tasks - own),
		SoftIRQ: part(soft), Steal: part(after.Steal - before.Steal),
	}, true
}

// parseProcessors reads the first line of proc(5)'s stat: user, nice, system,
// idle, iowait, irq, softirq and steal. Guests' time, which follows, is in the
// user time already.
func parseProcessors(text string) (Reading, error) {
	const (
		hertz  = 100 // USER_HZ, on every architecture that Go runs on
		fields = 8
	)
	first, _, _ := strings.Cut(text, "\n")
	words := strings.Fields(first)
	if len(words) < 1+fields || words[0] != "cpu" {
		return Reading{}, fmt.Errorf("no processors in %q", first)
	}
	var v [fields]float64
	var total float64
	for i := range v {
		n, err := strconv.ParseUint(words[1+i], 10, 64)
		if err != nil {
			return Reading{}, err
		}
		v[i] = float64(n) / hertz
		total += v[i]
	}
	const user, nice, system, irq, soft, steal = 0, 1, 2, 5, 6, 7
	return Reading{
		Total: total, Tasks: v[user] + v[nice] + v[system],
		SoftIRQ: v[irq] + v[soft], Steal: v[steal],
	}, nil
}

// Load gives the load average of the last minute; false where it is not told.
func Load() (float64, bool) {
	first, _, _ := strings.Cut(line("/proc/loadavg"), " ")
	load, err := strconv.ParseFloat(first, 64)
	return load, err == nil
}

// coresIn counts the processors that proc(5)'s stat lists, be this process
// allowed on them or not; "" where there are none.
func coresIn(stat string) string {
	n := 0
	for row := range strings.Lines(stat) {
		if digits, ok := strings.CutPrefix(strings.Fields(row + " .")[0], "cpu"); ok && digits != "" {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
