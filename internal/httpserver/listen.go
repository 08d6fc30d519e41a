package httpserver

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"

	"github.com/recalld/recalld/internal/memory"
)

// ListenSocket listens on the socket of the data folder that the caller has
// locked: a socket that is found there is then a dead daemon's, and is removed.
// The socket has mode 0600; its folder, made by config.Paths.Prepare, is closed
// to others already, so that there is no moment in which it is open.
func ListenSocket(path string) (*Socket, error) {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("check socket: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, &memory.Error{Code: memory.CodeConflict, Field: "socket",
			Message: fmt.Sprintf("%s exists and is not a socket", path),
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
	return &Socket{&ownListener{l, os.Getuid(), peerUser, func(error) {}}, path, own}, nil
}

// Path returns the path of the socket.
func (s *Socket) Path() string { return s.path }

// Socket is the daemon's listener. Its file outlives Close, until Remove: it
// says that the data folder is still held.
type Socket struct {
	*ownListener
	path string
	own  fs.FileInfo
}

// Remove removes the socket's file, if it is still its own: when the data folder
// was removed under a daemon, the next one's socket has the same path.
func (s *Socket) Remove() error {
	now, err := os.Lstat(s.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(s.own, now) {
		return nil
	}
	if err == nil {
		err = os.Remove(s.path)
	}
	if err != nil {
		return fmt.Errorf("remove socket: %w", err)
	}
	return nil
}

// ListenTCP listens on an address, host:port; port 0 takes a free one. With a certificate it
// speaks TLS; without one, an address off loopback is CodeInvalidInput.
func ListenTCP(address string, certificate *tls.Certificate) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, memory.Invalid("tcp.address", "host:port", "%q: %v", address, err)
	}
	if host == "localhost" {
		host = "127.0.0.1" // whatever the resolver says
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.IsLoopback() && certificate == nil {
		return nil, memory.Invalid("tcp.address", "a loopback address, or any with tcp.certificate and tcp.key", "%q is not one", host)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("listen on TCP: %w", err)
	}
	if certificate != nil {
		l = tls.NewListener(l, tlsConfig(certificate))
	}
	return l, nil
}
