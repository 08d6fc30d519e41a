//go:build unix

package indextest

import (
	"syscall"
	"time"
)

// CPUTime is the processor time that this process has used. Unlike wall time it
// counts every core that is kept busy and none of what other processes take.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
