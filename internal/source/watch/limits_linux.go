package watch

import (
	"os"
	"strconv"
	"strings"
)

// errUnfit is why the system's events are not used.
var errUnfit error

// unknownLimit is used if the system reports no limit: the least one before Linux 5.11.
const unknownLimit = 8192

// maxWatches leaves a quarter of the user's watches to other programs: an editor without
// watches complains to the user, and we can poll.
func maxWatches() int {
	text, _ := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	n, err := strconv.Atoi(strings.TrimSpace(string(text))) // fails for a file that cannot be read
	if err != nil {
		n = unknownLimit
	}
	return n / 4 * 3
}

// exhausted is why a root is polled when no watches are left.
const exhausted = "the user's watches are used up; fs.inotify.max_user_watches says how many there are"

// weight is how many watches a folder takes.
func weight(int) int { return 1 }
