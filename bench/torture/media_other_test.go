//go:build unix && !linux

package torture

// smallMedia are none: they need Linux.
func smallMedia() []medium { return nil }
