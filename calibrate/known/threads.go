package known

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Thread is what the kernel says of one.
type Thread struct {
	Name string
	CPU  time.Duration // since it began
}

// ThreadsCPU reads what each thread of a process has used, by number. It is an
// error where the kernel does not say (CONFIG_SCHED_INFO); a thread that ends
// meanwhile is left out.
func ThreadsCPU(pid int) (map[string]Thread, error) {
	all, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil || len(all) == 0 {
		return nil, fmt.Errorf("list threads of process %d: there are none", pid)
	}
	threads := make(map[string]Thread, len(all))
	for _, folder := range all {
		name, err := os.ReadFile(filepath.Join(folder, "comm"))
		used, err2 := os.ReadFile(filepath.Join(folder, "schedstat"))
		if err != nil || err2 != nil {
			continue
		}
		first, _, _ := strings.Cut(string(used), " ")
		ns, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read CPU time of thread in %s: %w", folder, err)
		}
		threads[filepath.Base(folder)] = Thread{strings.TrimSpace(string(name)), time.Duration(ns)}
	}
	if len(threads) == 0 {
		return nil, fmt.Errorf("read CPU time of threads of process %d: this kernel does not tell it (CONFIG_SCHED_INFO)", pid)
	}
	return threads, nil
}
