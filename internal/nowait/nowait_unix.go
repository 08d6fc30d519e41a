//go:build unix

package nowait

import "syscall"

const (
	// nonblock keeps the opening of a named pipe from waiting for its writer.
	nonblock = syscall.O_NONBLOCK
	// folderOnly, behind a path, has the system refuse what is no folder before it
	// opens it.
	folderOnly = "/"
)
