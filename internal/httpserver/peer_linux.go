package httpserver

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerUser is the user of the process at the other end of a socket.
func peerUser(conn *net.UnixConn) (uid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	failed := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if failed != nil || err != nil {
		return 0, firstError(failed, err)
	}
	return int(cred.Uid), nil
}
