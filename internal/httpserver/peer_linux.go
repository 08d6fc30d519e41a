package httpserver

import (
	"cmp"
	"net"

	"golang.org/x/sys/unix"
)

// peerUser is the user of the process at the other end of a socket.
func peerUser(conn *net.UnixConn) (uid int, err error) {
	cred, err := peer(conn)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}

// peerProcess is the number of that process.
func peerProcess(conn *net.UnixConn) (pid int, err error) {
	cred, err := peer(conn)
	if err != nil {
		return 0, err
	}
	return int(cred.Pid), nil
}

func peer(conn *net.UnixConn) (cred *unix.Ucred, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	failed := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	return cred, cmp.Or(failed, err)
}
