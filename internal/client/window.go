package client

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// shells stand between a client and what it runs; they come and go with each command.
var shells = []string{"sh", "ash", "bash", "dash", "ksh", "zsh", "fish"}

// maxShells bounds how many shells are looked past.
const maxShells = 4

// process is what the system says of a process.
type process struct {
	parent int
	name   string // of its program
	// started tells it from another process that had the same number before.
	started string
}

// Window names the process that runs this one, a coding agent say: its hooks and its
// MCP bridge name the same, those of another window another. It is empty where the
// system does not tell.
func Window() string { return windowOf(os.Getppid(), lookAt) }

// windowOf names the first process from pid upwards that is no shell.
func windowOf(pid int, look func(pid int) (process, error)) string {
	for range maxShells + 1 {
		p, err := look(pid)
		switch {
		case err != nil || pid <= 1:
			return ""
		case !slices.Contains(shells, strings.TrimPrefix(filepath.Base(p.name), "-")):
			return fmt.Sprintf("process:%d:%s", pid, p.started)
		}
		pid = p.parent
	}
	return ""
}

// Gone says that the process of a window has ended. It is false for what is no window of
// this form, and where the system does not tell.
func Gone(window string) bool { return goneOf(window, lookAt) }

func goneOf(window string, look func(pid int) (process, error)) bool {
	parts := strings.SplitN(window, ":", 3)
	if len(parts) != 3 || parts[0] != "process" {
		return false
	}
	pid, err := strconv.Atoi(parts[1])
	if err != nil || pid <= 1 {
		return false
	}
	p, err := look(pid)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return p.started != parts[2]
}
