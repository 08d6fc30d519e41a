package httpserver

import (
	"fmt"
	"net"
)

// ownListener takes connections of processes of one user only. The mode of the socket and of
// its folder say so already; this holds where they were changed, or the system does not
// look at them.
type ownListener struct {
	*net.UnixListener
	uid int
	// peer is peerUser, but in tests.
	peer func(*net.UnixConn) (int, error)
	// refused is told why a connection was closed. It is set before the first Accept.
	refused func(error)
}

// Accept returns the next connection of the user, or of root, who can read everything anyway.
func (l *ownListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		uid, err := l.peer(conn)
		if err == nil && (uid == l.uid || uid == 0) {
			return conn, nil
		}
		if err == nil {
			err = fmt.Errorf("user %d is not user %d", uid, l.uid)
		}
		l.refused(err)
		_ = conn.Close()
	}
}
