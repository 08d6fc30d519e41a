package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"sync"

	"github.com/recalld/recalld/internal/memory"
)

// ListenSocket listens on the socket of the data folder that the caller has
// locked: a socket that is found there is then a dead daemon's, and is removed.
// The socket has mode 0600; its folder, made by config.Paths.Prepare, is closed
// to others already, so that there is no moment in which it is open.
func ListenSocket(path string) (net.Listener, error) {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("check socket: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, &memory.Error{Code: memory.CodeConflict, Field: "socket",
			Message: fmt.Sprintf("%s is there and is no socket", path),
			Hint:    "move it away, or name another place with the setting socket"}
	default:
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("remove stale socket: %w", err)
		}
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen on socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("close socket to others: %w", err), l.Close())
	}
	own, err := os.Lstat(path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("check socket: %w", err), l.Close())
	}
	l.SetUnlinkOnClose(false)
	return &socket{UnixListener: l, path: path, own: own}, nil
}

// socket removes its file when it is closed, but only its own: when the data
// folder was removed under a daemon, the next one's socket has the same path.
type socket struct {
	*net.UnixListener
	path string
	own  fs.FileInfo
	once sync.Once
}

func (s *socket) Close() error {
	s.once.Do(func() {
		if now, err := os.Lstat(s.path); err == nil && os.SameFile(s.own, now) {
			_ = os.Remove(s.path) // the next daemon removes what is left
		}
	})
	return s.UnixListener.Close()
}

// ListenTCP listens on a loopback address, host:port; port 0 takes a free one.
// Any other address is CodeInvalidInput.
func ListenTCP(address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, memory.Invalid("tcp.address", "host:port", "%q: %v", address, err)
	}
	if host == "localhost" {
		host = "127.0.0.1" // whatever the resolver says
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.IsLoopback() {
		return nil, memory.Invalid("tcp.address", "a loopback address", "%q is not one", host)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("listen on TCP: %w", err)
	}
	return l, nil
}
