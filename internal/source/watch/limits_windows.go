package watch

import "errors"

// errUnfit is why the system's events are not used: they need an open handle on every
// folder, and a folder cannot be renamed while one below it is open, which would hinder
// the user.
var errUnfit = errors.New("watches would keep folders from being renamed")

func maxWatches() int { return 0 }

// exhausted is why a root is polled when no watches are left.
const exhausted = "no watches are left"

func weight(int) int { return 1 }
