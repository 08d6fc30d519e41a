//go:build unix

package code

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestVerifyIrregular: a file that became a pipe must not hold up an answer.
func TestVerifyIrregular(t *testing.T) {
	root := tree(t, map[string]string{"secret.go": verified})
	if err := syscall.Mkfifo(filepath.Join(root, "pipe.go"), 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	v, err := NewVerifier().Verify(t.Context(), locate(root, "pipe.go", verified, 8, 11))
	refused(t, "a pipe", v, err, memory.Unreadable)

	socket, err := net.Listen("unix", filepath.Join(root, "s.go"))
	if err != nil {
		t.Logf("no socket here: %v", err)
	} else {
		defer socket.Close()
		v, err = NewVerifier().Verify(t.Context(), locate(root, "s.go", verified, 8, 11))
		refused(t, "a socket", v, err, memory.Unreadable)
	}
	paths, skipped, _ := walkAll(t, root, settings(Options{Git: "none"}))
	if len(paths) != 1 || skipped["pipe.go"] != SkipIrregular {
		t.Errorf("walked %q, skipped %v", paths, skipped)
	}

	if os.Geteuid() == 0 {
		return // who may read everything is not refused
	}
	must(t, os.Chmod(filepath.Join(root, "secret.go"), 0))
	v, err = NewVerifier().Verify(t.Context(), locate(root, "secret.go", verified, 8, 11))
	refused(t, "not readable", v, err, memory.Unreadable)
}
