//go:build !unix

package indextest

import "time"

var started = time.Now()

// CPUTime returns wall time on systems where processor time is not available.
func CPUTime() time.Duration { return time.Since(started) }
