//go:build !linux && !darwin

package httpserver

import (
	"net"
	"os"
)

// peerUser is the daemon's own user: the system does not say whose the other end is, and the
// socket's folder keeps others out.
func peerUser(*net.UnixConn) (uid int, err error) { return os.Getuid(), nil }

// peerProcess is unknown.
func peerProcess(*net.UnixConn) (pid int, err error) { return 0, nil }
