package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

var since = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func TestLockNamesItsOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "recalld.lock")
	owner := Owner{PID: 4711, Version: "1.2.3", Since: since}
	first, err := acquireLock(t.Context(), path, owner, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = acquireLock(t.Context(), path, Owner{PID: 1}, 0)
	e, ok := errors.AsType[*memory.Error](err)
	if !ok || e.Code != memory.CodeConflict {
		t.Fatalf("second lock: error %v, want a conflict", err)
	}
	for _, part := range []string{filepath.Dir(path), "4711", "1.2.3", "2026-03-04T05:06:07Z"} {
		if !strings.Contains(e.Message, part) {
			t.Errorf("message %q does not say %q", e.Message, part)
		}
	}
	if !strings.Contains(e.Hint, "recalld stop") || !strings.Contains(e.Hint, "--data") {
		t.Errorf("hint %q does not say what to do", e.Hint)
	}
	if got, err := ReadOwner(path); err != nil || got != owner {
		t.Errorf("owner after the refusal: %+v, %v, want %+v", got, err, owner)
	}
	for range 2 {
		if err := first.Release(); err != nil {
			t.Errorf("release: %v", err)
		}
	}
	second, err := acquireLock(t.Context(), path, Owner{PID: 2, Version: "1", Since: since}, 0)
	if err != nil {
		t.Fatalf("after the release: %v", err)
	}
	defer second.Release()
	if got, err := ReadOwner(path); err != nil || got.PID != 2 {
		t.Errorf("owner: %+v, %v, want the second's shorter record alone", got, err)
	}
}

func TestLockWaitsForAnOwnerThatDrains(t *testing.T) {
	path := filepath.Join(t.TempDir(), "recalld.lock")
	first, err := acquireLock(t.Context(), path, Owner{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1)
	go func() {
		l, err := acquireLock(t.Context(), path, Owner{}, time.Minute)
		if err == nil {
			err = l.Release()
		}
		got <- err
	}()
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Errorf("who waited: %v", err)
	}
}

func TestLockWaitsNoLongerThanAsked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "recalld.lock")
	first, err := acquireLock(t.Context(), path, Owner{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Release()
	if _, err := acquireLock(t.Context(), path, Owner{}, time.Millisecond); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("error %v, want a conflict", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := acquireLock(ctx, path, Owner{}, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

const lockHolderEnv = "RECALLD_TEST_LOCK"

// TestLockHolder is no test: run as a process of its own, it holds a lock until
// it is killed.
func TestLockHolder(t *testing.T) {
	path := os.Getenv(lockHolderEnv)
	if path == "" {
		t.Skip("runs as the child of TestLockOfAKilledProcess only")
	}
	if _, err := acquireLock(t.Context(), path, Owner{PID: os.Getpid(), Version: "child", Since: since}, 0); err != nil {
		t.Fatal(err)
	}
	fmt.Println("locked")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // the parent never writes one
}

func TestLockOfAKilledProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "recalld.lock")
	cmd := exec.Command(os.Args[0], "-test.run=^TestLockHolder$", "-test.v")
	cmd.Env = append(os.Environ(), lockHolderEnv+"="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "locked") {
	}
	_, err = acquireLock(t.Context(), path, Owner{}, 0)
	if memory.CodeOf(err) != memory.CodeConflict || !strings.Contains(fmt.Sprint(err), fmt.Sprint(cmd.Process.Pid)) {
		t.Errorf("while the child lives: error %v, want a conflict with process %d", err, cmd.Process.Pid)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	l, err := acquireLock(t.Context(), path, Owner{}, 0)
	if err != nil {
		t.Fatalf("after the child was killed: %v", err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}
