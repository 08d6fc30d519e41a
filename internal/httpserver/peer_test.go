package httpserver

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// TestPeer: a connection of this user is taken, one of another user, or of nobody knows
// whom, is closed, and the next one is taken all the same.
func TestPeer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	socket, err := ListenSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	own := socket.ownListener
	var refused []error
	own.refused = func(err error) { refused = append(refused, err) }
	real := own.peer
	answers := []func(*net.UnixConn) (int, error){
		func(*net.UnixConn) (int, error) { return os.Getuid() + 1, nil },
		func(*net.UnixConn) (int, error) { return 0, errors.New("not known") },
		real,
		func(*net.UnixConn) (int, error) { return 0, nil },
	}
	own.peer = func(c *net.UnixConn) (int, error) {
		next := answers[0]
		answers = answers[1:]
		return next(c)
	}
	for range 4 {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	for range 2 {
		conn, err := socket.Accept()
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	if len(refused) != 2 || len(answers) != 0 {
		t.Errorf("refused %v, %d connections were not looked at", refused, len(answers))
	}
}
