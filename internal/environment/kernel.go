package environment

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
)

// kernelOption says whether the running kernel was built with an option: "y",
// "m", "n", or "" where its configuration cannot be read.
func kernelOption(name string) string {
	if packed, err := os.ReadFile("/proc/config.gz"); err == nil {
		if r, err := gzip.NewReader(bytes.NewReader(packed)); err == nil {
			if text, err := io.ReadAll(r); err == nil {
				return optionIn(string(text), name)
			}
		}
	}
	if text := whole("/boot/config-" + line("/proc/sys/kernel/osrelease")); text != "" {
		return optionIn(text, name)
	}
	return ""
}

// optionIn finds an option in a kernel's configuration. One that is not named
// there is not built.
func optionIn(config, name string) string {
	for row := range strings.Lines(config) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(row), name+"="); ok {
			return value
		}
	}
	return "n"
}
