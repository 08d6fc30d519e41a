// Package moregarbage makes tests that start much anew cheaper: what they hold is small and soon
// gone, and a quarter of their processor time went to the collection of garbage.
package moregarbage

import (
	"os"
	"runtime/debug"
	"strconv"

	"github.com/recalld/recalld/internal/testlong"
)

// percent is how much garbage there may be, in percent of what is held.
const percent = 400

// Allow lets this process and those that it starts have more garbage than the product has, as
// GOGC does; a daemon leaves what GOGC says. A TestMain calls it. It does nothing in a long
// run, which measures memory, and where GOGC is set.
func Allow() {
	if testlong.Enabled() || os.Getenv("GOGC") != "" {
		return
	}
	os.Setenv("GOGC", strconv.Itoa(percent))
	debug.SetGCPercent(percent)
}
