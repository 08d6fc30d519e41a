//go:build !unix

package builtin_test

import "time"

var started = time.Now()

// cpuTime stands in with wall time where processor time is not to be had.
func cpuTime() time.Duration { return time.Since(started) }
