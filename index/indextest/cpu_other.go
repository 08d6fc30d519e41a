//go:build !unix

package indextest

import "time"

var started = time.Now()

// CPUTime stands in with wall time where processor time is not to be had.
func CPUTime() time.Duration { return time.Since(started) }
