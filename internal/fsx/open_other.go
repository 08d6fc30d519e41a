//go:build !unix

package fsx

// Named pipes are not files of a folder here, so opening never waits.
const (
	nonblock   = 0
	folderOnly = ""
)
