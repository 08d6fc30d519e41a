package client

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"syscall"
)

// isRefused says that nobody listens: the call never reached a daemon. A socket
// whose daemon died refuses; one that was removed does not exist.
func isRefused(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial" &&
		(errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist) || isRefusedBySystem(err))
}

// isBroken says that the connection ended before the answer did: the daemon may
// or may not have done what it was asked.
func isBroken(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}
