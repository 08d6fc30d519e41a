// Package gosource finds the source of Go: a large tree of code on every machine that builds
// this program.
package gosource

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Dir returns the folder src of Go's installation. It asks the go command, because a test that
// is built with -trimpath does not know where Go is.
func Dir(t testing.TB) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatalf("find Go's source: %v", err)
	}
	return filepath.Join(strings.TrimSpace(string(root)), "src")
}
