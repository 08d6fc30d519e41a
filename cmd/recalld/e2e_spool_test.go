//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// hookEvents is how many events TestE2EHooksLoseNothing sends; make hooks sets it.
const hookEvents = "RECALLD_HOOK_EVENTS"

// TestE2EHooksLoseNothing sends the events of a session by real hooks, six at a time, while
// the daemon lives, is stopped, frozen and killed. Each event is recorded once.
func TestE2EHooksLoseNothing(t *testing.T) {
	m, dir := newMachine(t), shop(t)
	events := 600
	if text := os.Getenv(hookEvents); text != "" {
		var err error
		if events, err = strconv.Atoi(text); err != nil || events < 1 {
			t.Fatalf("%s is %q, want a number", hookEvents, text)
		}
	}
	const session = "hooks-lose-nothing"
	hook := func(event, more string) time.Duration {
		cmd := m.command(dir, "hook", "claude-code", event)
		cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":%q,"cwd":%q%s}`, session, dir, more))
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("hook %s: %v, %q", event, err, out)
		}
		return time.Since(began)
	}
	hook("SessionStart", "")
	const atOnce = 6
	var sent atomic.Int64
	begins := make(chan struct{}, events) // one for each event that a hook begins to send
	took := make([]time.Duration, events)
	var hooks sync.WaitGroup
	for range atOnce {
		hooks.Go(func() {
			for {
				i := int(sent.Add(1)) - 1
				if i >= events {
					return
				}
				begins <- struct{}{}
				took[i] = hook("PostToolUse", fmt.Sprintf(`,"tool_name":"Bash","tool_input":{"command":"make part%d"},"tool_response":{"stdout":"built"}`, i))
			}
		})
	}
	// Each fault lasts for a part of the events.
	faults := []func(pid int){
		func(int) { _ = m.command(dir, "stop").Run() },
		func(pid int) { _ = syscall.Kill(pid, syscall.SIGSTOP) },
		func(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) },
	}
	begun := 0
	wait := func(until int) {
		for ; begun < min(until, events); begun++ {
			select {
			case <-begins:
			case <-time.After(patience):
				t.Fatalf("after %d events no hook begins", begun)
			}
		}
	}
	part := max(1, events/(4*len(faults)))
	rounds := 0
	for next := part; next < events; next += 2 * part {
		wait(next)
		var st memory.Status
		m.ask(&st, dir, "call", "status") // starts it
		faults[rounds%len(faults)](st.PID)
		wait(next + part)
		if rounds%len(faults) == 1 {
			_ = syscall.Kill(st.PID, syscall.SIGCONT)
		}
		rounds++
	}
	hooks.Wait()
	hook("SessionEnd", "")
	var st memory.Status
	for began := time.Now(); ; {
		st = memory.Status{}
		if m.ask(&st, dir, "call", "status"); st.Hooks == nil || st.Hooks.Waiting == 0 {
			break
		}
		if time.Since(began) > patience {
			t.Fatalf("events wait: %+v\n%+v", st.Hooks, st.Errors)
		}
	}
	if st.Hooks != nil {
		t.Errorf("events are lost: %+v", st.Hooks)
	}
	// The export has a file for each step.
	out := filepath.Join(t.TempDir(), "out")
	m.run(dir, "export", out)
	recorded := map[string]int{}
	err := filepath.WalkDir(out, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Base(filepath.Dir(path)) != "steps" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var step struct {
			Tool struct {
				Input struct{ Command string }
			}
		}
		if err := json.Unmarshal(text, &step); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		recorded[step.Tool.Input.Command]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	lost, doubled := 0, 0
	for i := range events {
		switch n := recorded[fmt.Sprintf("make part%d", i)]; {
		case n == 0:
			lost++
		case n > 1:
			doubled++
		}
	}
	if lost+doubled > 0 || len(recorded) != events {
		t.Errorf("%d events are lost and %d are doubled; %d steps of %d events", lost, doubled, len(recorded), events)
	}
	slices.Sort(took)
	t.Logf("%d events, %d faults; a hook beside five others and the faults took %v at the median, %v at the 95th percentile", events, rounds, took[events/2], took[events*95/100])
}
