//go:build unix && !linux

package torture

import "testing"

// smallMedia are none: they need Linux.
func smallMedia() []medium { return nil }

// fewWatches is nothing: it needs Linux.
func fewWatches(*testing.T) []fault { return nil }

// resident is unknown: it needs Linux.
func resident(*testing.T, int) int64 { return 0 }
