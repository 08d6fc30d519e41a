package httpserver

import (
	"cmp"
	"net"

	"golang.org/x/sys/unix"
)

// peerUser is the user of the process at the other end of a socket.
func peerUser(conn *net.UnixConn) (uid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Xucred
	failed := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED) })
	if failed != nil || err != nil {
		return 0, cmp.Or(failed, err)
	}
	return int(cred.Uid), nil
}

// peerProcess is the number of that process.
func peerProcess(conn *net.UnixConn) (pid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := raw.Control(func(fd uintptr) { pid, err = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID) })
	return pid, cmp.Or(failed, err)
}
