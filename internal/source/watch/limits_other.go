//go:build !linux && !windows

package watch

// errUnfit is why the system's events are not used.
var errUnfit error

// maxWatches bounds the open files: kqueue needs every folder and every file in it open,
// and the rest of the daemon needs some, too.
func maxWatches() int { return 4096 }

// exhausted is why a root is polled when no watches are left.
const exhausted = "too many files would have to be kept open"

// weight is how many watches a folder with so many entries takes.
func weight(entries int) int { return 1 + entries }
