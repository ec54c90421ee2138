// Package environment reads what a result depends on and no flag says: the
// machine, the kernel, the runtime, the versions of the libraries under test.
// What cannot be read is left out, never guessed.
package environment

import (
	"bufio"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// Standard is how a Spec names the Go standard library among modules.
const Standard = "std"

// Facts reads the machine and the runtime, by name.
func Facts() map[string]string {
	facts := map[string]string{
		"os":         runtime.GOOS + "/" + runtime.GOARCH,
		"go":         runtime.Version(),
		"cores":      strconv.Itoa(runtime.NumCPU()), // that this process may use
		"gomaxprocs": strconv.Itoa(runtime.GOMAXPROCS(0)),
	}
	for name, read := range map[string]func() string{
		"kernel":       func() string { return line("/proc/sys/kernel/osrelease") },
		"cpu":          func() string { return field("/proc/cpuinfo", "model name") },
		"memory":       func() string { return field("/proc/meminfo", "MemTotal") },
		"load_1m":      func() string { first, _, _ := strings.Cut(line("/proc/loadavg"), " "); return first },
		"cores_online": func() string { return coresIn(whole("/proc/stat")) },
		"irq_time":     func() string { return kernelOption("CONFIG_IRQ_TIME_ACCOUNTING") },
		"governor":     func() string { return line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") },
		"gogc":         func() string { return os.Getenv("GOGC") },
		"godebug":      func() string { return os.Getenv("GODEBUG") },
		"gomemlimit":   func() string { return os.Getenv("GOMEMLIMIT") },
		"goexperiment": func() string { return buildSetting("GOEXPERIMENT") },
	} {
		if v := read(); v != "" {
			facts[name] = v
		}
	}
	return facts
}

// whole gives the text of a file, or "".
func whole(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}

// line gives the first line of a file, or "".
func line(path string) string {
	first, _, _ := strings.Cut(whole(path), "\n")
	return strings.TrimSpace(first)
}

// field gives the value of the first "name: value" line of a file, or "".
func field(path, name string) string {
	for s := bufio.NewScanner(strings.NewReader(whole(path))); s.Scan(); {
		key, value, found := strings.Cut(s.Text(), ":")
		if found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func buildSetting(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// Unversioned stands for the version of what was built without one.
const Unversioned = "(devel)"

// Version gives tare's own version: a tag, or the commit it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Unversioned
	}
	if v := info.Main.Version; v != "" && v != Unversioned {
		return v
	}
	if commit := buildSetting("vcs.revision"); commit != "" {
		return commit
	}
	return Unversioned
}

// Libraries gives the version of each module that this program was built with;
// Standard's is that of Go.
func Libraries(modules []string) map[string]string {
	built := map[string]string{Standard: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			built[m.Path] = m.Version
			if m.Replace != nil {
				built[m.Path] = m.Replace.Version
			}
		}
	}
	versions := make(map[string]string, len(modules))
	for _, m := range modules {
		if v, ok := built[m]; ok {
			versions[m] = v
			continue
		}
		versions[m] = Unversioned
	}
	return versions
}
