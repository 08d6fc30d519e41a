//go:build unix

package git

import "syscall"

// openNonblock keeps the opening of a named pipe from waiting for its writer.
const openNonblock = syscall.O_NONBLOCK
