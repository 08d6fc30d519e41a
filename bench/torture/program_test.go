//go:build unix

// Package torture hurts the built program for as long as it is told to, and says what was
// lost. It has tests only.
//
// TestTorture runs a daemon in rounds. In each, clients write and read while a fault strikes;
// then the store is opened without a daemon and compared with an oracle, which knows all that
// was sent and what was acknowledged. TestPowerLoss runs a daemon on a disk that records what
// was synced (package powerdisk), and opens the store as it is after a power failure at many
// moments.
//
// Seeds choose the rounds, their order and length, and what each client does. How processes
// take turns is not theirs to choose: a seed makes the same fault likely, not certain.
package torture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/service"
)

// patience is how long something may take that must happen.
const patience = 3 * time.Minute

// program builds recalld, once, and returns its path.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "recalld")
	cmd := exec.Command("go", "build", "-trimpath", "-o", path, "github.com/recalld/recalld/cmd/recalld")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// home is where daemons live that follow one another: a data folder, and settings.
type home struct {
	program string
	dir     string // of the socket and of everything but the data
	data    string
	env     []string
}

func newHome(program, dir, data string) *home {
	h := &home{program: program, dir: dir, data: data}
	h.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "TMPDIR=" + dir,
		"RECALLD_DATA=" + data, "RECALLD_SOCKET=" + h.socket(), "RECALLD_EMBEDDING_OLLAMA_ENABLED=off",
	}
	return h
}

func (h *home) socket() string { return filepath.Join(h.dir, "s") }

// command is a command line of recalld.
func (h *home) command(args ...string) *exec.Cmd {
	cmd := exec.Command(h.program, args...)
	cmd.Env, cmd.Dir = h.env, h.dir
	return cmd
}

// child is a running daemon.
type child struct {
	*client.Client
	cmd   *exec.Cmd
	log   *output
	ended chan struct{} // closed when the process has ended
}

// output is what a process prints; the end of it is kept.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.text.Len() > 1<<20 {
		o.text.Next(1 << 19)
	}
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines := strings.Split(o.text.String(), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}

// errEnded is returned if a daemon ended before it answered.
var errEnded = errors.New("the daemon ended before it answered")

// start starts a daemon, by way of a shell with limits such as "ulimit -n 64" if there are
// any, and returns once it answers.
func (h *home) start(t *testing.T, limits string, env ...string) (*child, error) {
	t.Helper()
	cmd := h.command("serve")
	if limits != "" {
		cmd = exec.Command("/bin/sh", "-c", limits+`; exec "$0" serve`, h.program)
		cmd.Dir = h.dir
	}
	cmd.Env = append(h.env[:len(h.env):len(h.env)], env...)
	c := &child{cmd: cmd, log: &output{}, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = c.log, c.log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t.Cleanup(c.kill) // if the test ends early
	go func() {
		_ = cmd.Wait() // how it ended is judged by what is left
		close(c.ended)
	}()
	for began := time.Now(); ; {
		var err error
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		c.Client, err = client.Connect(ctx, client.Options{Socket: h.socket()})
		cancel()
		if err == nil {
			g, err := c.Hello(t.Context())
			if err == nil && g.PID == cmd.Process.Pid {
				return c, nil
			}
			_ = c.Close()
		}
		select {
		case <-c.ended:
			return nil, fmt.Errorf("%w:\n%s", errEnded, c.log)
		case <-time.After(10 * time.Millisecond): // no system tells when a socket appears
		}
		if time.Since(began) > patience {
			c.kill()
			return nil, fmt.Errorf("the daemon does not answer: %w\n%s", err, c.log)
		}
	}
}

// kills counts the daemons that were killed.
var kills atomic.Int64

// kill ends the daemon at once and waits until it is gone.
func (c *child) kill() {
	if !c.isOver() && c.cmd.Process.Kill() == nil {
		kills.Add(1)
	}
	<-c.ended
	if c.Client != nil {
		_ = c.Close()
	}
}

func (c *child) signal(s syscall.Signal) error { return c.cmd.Process.Signal(s) }

// stop asks the daemon to end, and waits.
func (c *child) stop(t *testing.T) {
	t.Helper()
	if _, err := service.Stop.Do(t.Context(), c, service.None{}); err != nil {
		t.Errorf("stop: %v\n%s", err, c.log)
	}
	select {
	case <-c.ended:
	case <-time.After(patience):
		t.Errorf("the daemon does not end:\n%s", c.log)
	}
	c.kill()
}

// isOver reports whether the process has ended.
func (c *child) isOver() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}
