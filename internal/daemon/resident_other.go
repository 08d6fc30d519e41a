//go:build !linux

package daemon

import "runtime"

// residentBytes is what the Go runtime has taken from the system and not given
// back: close to what the process holds.
func residentBytes() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}
