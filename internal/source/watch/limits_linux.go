package watch

import (
	"os"
	"strconv"
	"strings"
)

// errUnfit returns why the system's notices are not used.
var errUnfit error

// unknownLimit is taken where the system does not say: what it gave at least before
// Linux 5.11.
const unknownLimit = 8192

// maxWatches leaves a quarter of what the user may have to other programs: an
// editor that gets none says so to the user, and we can poll.
func maxWatches() int {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return unknownLimit / 4 * 3
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return unknownLimit / 4 * 3
	}
	return n / 4 * 3
}

// exhausted returns what it means that there are no more watches.
const exhausted = "the user's watches are used up; fs.inotify.max_user_watches says how many there are"

// weight is how many watches a folder takes.
func weight(int) int { return 1 }
