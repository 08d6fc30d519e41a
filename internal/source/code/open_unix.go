//go:build unix

package code

import "syscall"

// openNonblock keeps the opening of a named pipe from waiting for its writer.
const openNonblock = syscall.O_NONBLOCK
