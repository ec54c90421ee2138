//go:build !linux

package load

// Monotonic gives the real clock. Here it is Timers.
func Monotonic() Clock { return Timers() }
