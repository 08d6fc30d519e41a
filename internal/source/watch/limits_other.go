//go:build !linux && !windows

package watch

// errUnfit returns why the system's notices are not used.
var errUnfit error

// maxWatches bounds the files that are kept open: kqueue needs every folder open
// and every file in it, and the rest of the daemon needs some too.
func maxWatches() int { return 4096 }

// exhausted returns what it means that there are no more watches.
const exhausted = "too many files would have to be kept open"

// weight is how many watches a folder takes that holds so many entries.
func weight(entries int) int { return 1 + entries }
