//go:build unix

package fsx

import "syscall"

const (
	// nonblock keeps the opening of a named pipe from waiting for its writer.
	nonblock = syscall.O_NONBLOCK
	// folderOnly, appended to a path, makes the system refuse anything but a folder
	// before it opens it.
	folderOnly = "/"
)
