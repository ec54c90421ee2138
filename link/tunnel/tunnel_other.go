//go:build !linux

package tunnel

import (
	"fmt"
	"runtime"

	"github.com/tare-bench/tare/link"
)

// Open is not permitted where there is no Linux.
func Open(link.Spec, uint64) (link.Network, error) {
	return nil, fmt.Errorf("make link: %w: a tunnel takes Linux, and this is %s", link.ErrNotPermitted, runtime.GOOS)
}
