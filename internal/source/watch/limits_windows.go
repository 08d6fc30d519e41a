package watch

import "errors"

// errUnfit returns why the system's notices are not used: they are had through a
// handle on every folder, and a folder cannot be renamed as long as one below it is
// open, which would be in the user's way.
var errUnfit = errors.New("watches would keep folders from being renamed")

func maxWatches() int { return 0 }

// exhausted returns what it means that there are no more watches.
const exhausted = "no watches are left"

func weight(int) int { return 1 }
