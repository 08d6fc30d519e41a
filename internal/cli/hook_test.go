package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/hook"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
	"github.com/recalld/recalld/internal/spool"
)

const hookSession = "0f3a2c1e-1111-2222-3333-444455556666"

func hookPayload(rest string) string {
	return fmt.Sprintf(`{"session_id":%q,"cwd":"/src/shop"%s}`, hookSession, rest)
}

const failedTool = `,"tool_name":"Bash","tool_input":{"command":"npm i"},"error":"Exit code 1\nEACCES"`

// hookRun runs a hook that must be silent on standard error and end with 0.
func (b *bench) hookRun(event, payload string, flags ...string) string {
	b.t.Helper()
	b.opts.In = strings.NewReader(payload)
	out, errs, code := b.run(append([]string{"hook", "claude-code", event}, flags...)...)
	if code != ExitOK || errs != "" {
		b.t.Errorf("hook %s ends with %d and says %q, want silence", event, code, errs)
	}
	return out
}

// A hook does not wait for the end of its input: some clients keep the pipe open.
func TestHookTakesOnePayload(t *testing.T) {
	b := newBench(t, map[string]any{service.RecordStep.Name: &memory.StepRecorded{}})
	in, client := io.Pipe()
	defer client.Close()
	go func() { _, _ = io.WriteString(client, hookPayload(failedTool)) }() // and nothing more
	b.opts.In = in
	if _, errs, code := b.run("hook", "claude-code", "PostToolUseFailure"); code != ExitOK || errs != "" {
		t.Errorf("the hook ends with %d and says %q, want silence", code, errs)
	}
	if r := request[memory.RecordStepRequest](t, b, service.RecordStep.Name); !r.Open || r.SessionID != hookSession {
		t.Errorf("the step is recorded as %+v", r)
	}
}

func TestHookRecords(t *testing.T) {
	b := newBench(t, map[string]any{
		service.RecordStep.Name: &memory.StepRecorded{Advice: &memory.RecallResponse{Text: "1. use sudo", Items: []memory.Item{{}}}},
		service.Recall.Name:     &memory.RecallResponse{Text: "1. use npm ci", Items: []memory.Item{{}}},
		service.Brief.Name:      &memory.Brief{Text: "Blocked: no key"},
	})
	if out := b.hookRun("SessionStart", hookPayload(`,"source":"startup"`)); !strings.Contains(out, `"hookEventName":"SessionStart","additionalContext":"Blocked: no key"`) {
		t.Errorf("a start prints %q", out)
	}
	if r := request[memory.StartSessionRequest](t, b, service.StartSession.Name); r.SessionID != hookSession || r.Caller.Client != "claude-code" || r.Caller.Dir != "/src/shop" {
		t.Errorf("the session is started as %+v", r)
	}
	out := b.hookRun("PostToolUseFailure", hookPayload(failedTool))
	if want := `"hookEventName":"PostToolUseFailure","additionalContext":"`; !strings.Contains(out, want) || !strings.Contains(out, "1. use sudo") {
		t.Errorf("a failure is answered with %q", out)
	}
	if r := request[memory.RecordStepRequest](t, b, service.RecordStep.Name); !r.Advise || !r.Open || r.SessionID != hookSession {
		t.Errorf("the step is recorded as %+v", r)
	}
	if out := b.hookRun("UserPromptSubmit", hookPayload(`,"prompt":"npm?"`)); !strings.Contains(out, "1. use npm ci") {
		t.Errorf("a prompt is answered with %q", out)
	}
	for i, want := range []bool{true, false, false} {
		if b.connects[i] != want {
			t.Errorf("hook %d: it may start a daemon: %t, want %t", i, b.connects[i], want)
		}
	}
	b.opts.Getenv = func(name string) string {
		return map[string]string{"HOME": t.TempDir(), "CLAUDE_PROJECT_DIR": "/src"}[name]
	}
	b.hookRun("SessionStart", hookPayload(""))
	if r := request[memory.StartSessionRequest](t, b, service.StartSession.Name); r.Caller.Dir != "/src" {
		t.Errorf("a session of the client's folder is started in %q", r.Caller.Dir)
	}
}

// TestHookWaits: what the daemon does not take waits in the spool, what comes after it too,
// and what it refuses for good does not.
func TestHookWaits(t *testing.T) {
	b := newBench(t, map[string]any{service.RecordStep.Name: &memory.StepRecorded{}})
	data := t.TempDir()
	waiting := func() (events []hook.Event) {
		t.Helper()
		_, err := spool.In(filepath.Join(data, "spool")).Drain(func(text []byte) spool.Verdict {
			event, err := hook.Decode(text)
			if err != nil {
				t.Errorf("an event is kept that cannot be read: %v\n%s", err, text)
			}
			events = append(events, event)
			return spool.Done
		})
		if err != nil {
			t.Fatal(err)
		}
		return events
	}
	now := noon
	b.opts.Now = func() time.Time { now = now.Add(time.Second); return now }
	b.absent = true
	b.hookRun("SessionStart", hookPayload(""), "--data", data)
	b.hookRun("PostToolUseFailure", hookPayload(failedTool), "--data", data)
	b.absent = false
	b.hookRun("SessionEnd", hookPayload(""), "--data", data)
	if len(b.fake.Calls()) > 0 {
		t.Errorf("an event overtakes those that wait: %v", b.fake.Calls())
	}
	events := waiting()
	if len(events) != 3 || events[0].Start == nil || events[1].Step == nil || events[2].End == nil {
		t.Fatalf("waiting: %+v", events)
	}
	if step := events[1].Step; step.Advise || !step.Open || step.SessionID != hookSession || !step.Timestamp.After(noon) || step.Caller.Client != "claude-code" || step.Outcome.OK {
		t.Errorf("the step waits as %+v", step)
	}
	b.fake.Err = errors.New("the disk is slow")
	b.hookRun("PostToolUse", hookPayload(failedTool), "--data", data)
	id := request[memory.RecordStepRequest](t, b, service.RecordStep.Name).RequestID
	if events := waiting(); len(events) != 1 || events[0].ID != id || id == "" {
		t.Errorf("a step that failed as request %q waits as %+v", id, events)
	}
	b.fake.Err = memory.Invalid("tool", "a name", "no tool")
	b.hookRun("PostToolUse", hookPayload(failedTool), "--data", data)
	if events := waiting(); len(events) > 0 {
		t.Errorf("an event that is refused for good waits: %+v", events)
	}
	b.absent = true
	b.hookRun("UserPromptSubmit", hookPayload(`,"prompt":"npm?"`), "--data", data)
	if events := waiting(); len(events) != 1 || events[0].Start == nil || events[0].Start.Goal != "npm?" {
		t.Errorf("of a prompt this waits: %+v", events)
	}
}

// journal knows which sessions are open, as the daemon does.
type journal struct {
	open  map[string]bool // false: ended
	steps map[string]int
}

func over(id string) error {
	return &memory.Error{Code: memory.CodeConflict, Field: "sessionId", Message: id + " is over"}
}

// Call implements service.Service.
func (j *journal) Call(ctx context.Context, op *service.Spec, request any, progress func(any)) (any, error) {
	return servicetest.With(service.Handlers{}, service.Bind(service.StartSession, j.StartSession), service.Bind(service.RecordStep, j.RecordStep),
		service.Bind(service.EndSession, j.EndSession)).Call(ctx, op, request, progress)
}

func (j *journal) StartSession(_ context.Context, r memory.StartSessionRequest) (*memory.SessionState, error) {
	if _, known := j.open[r.SessionID]; known {
		return nil, over(r.SessionID)
	}
	j.open[r.SessionID] = true
	return &memory.SessionState{}, nil
}

func (j *journal) RecordStep(_ context.Context, r memory.RecordStepRequest) (*memory.StepRecorded, error) {
	if open, known := j.open[r.SessionID]; known && !open {
		return nil, over(r.SessionID)
	}
	j.open[r.SessionID] = true
	j.steps[r.SessionID]++
	return &memory.StepRecorded{}, nil
}

func (j *journal) EndSession(_ context.Context, r memory.EndSessionRequest) (*memory.SessionState, error) {
	if _, known := j.open[r.SessionID]; !known {
		return nil, memory.Errorf(memory.CodeNotFound, "no session %s", r.SessionID)
	}
	j.open[r.SessionID] = false
	return &memory.SessionState{}, nil
}

// TestHookResumes: a session that the client takes up again after it ended loses
// no step.
func TestHookResumes(t *testing.T) {
	b := newBench(t, nil)
	j := &journal{open: map[string]bool{}, steps: map[string]int{}}
	b.service = j
	tool := hookPayload(`,"tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":"a"}`)
	for range 3 {
		b.hookRun("SessionStart", hookPayload(""))
		b.hookRun("PostToolUse", tool)
		b.hookRun("PostToolUse", tool)
		b.hookRun("SessionEnd", hookPayload(`,"reason":"exit"`))
	}
	for n := 1; n <= 3; n++ {
		id := hook.Run(hookSession, n)
		if j.steps[id] != 2 || j.open[id] {
			t.Errorf("run %s has %d steps and is open: %t; want 2 in one that ended", id, j.steps[id], j.open[id])
		}
	}
}

// TestHookFailsOpen: whatever goes wrong, the client sees nothing of it.
func TestHookFailsOpen(t *testing.T) {
	good := hookPayload(failedTool)
	for name, test := range map[string]struct {
		change         func(*bench)
		event, payload string
		flags          []string
		logged         string
	}{
		"no daemon":          {func(b *bench) { b.absent = true }, "PostToolUse", good, nil, "no daemon is running"},
		"no daemon, a start": {func(b *bench) { b.absent = true }, "SessionStart", hookPayload(""), nil, "no daemon is running"},
		"a daemon's error":   {func(b *bench) { b.fake.Err = errors.New("disk full\nreally") }, "PostToolUseFailure", good, nil, "disk full really"},
		"a panic":            {func(b *bench) { b.fake.Before = func(context.Context, string) { panic("bug") } }, "PostToolUse", good, nil, "panic: bug"},
		"no payload":         {nil, "PostToolUse", "", nil, "read payload"},
		"garbage":            {nil, "PostToolUse", "\x00\xff{]", nil, "read payload"},
		"huge":               {nil, "PostToolUse", hookPayload(`,"x":"` + strings.Repeat("x", 3*hook.MaxPayload) + `"`), nil, "over"},
		"an unknown event":   {nil, "PreCompact", good, nil, "PreCompact"},
		"an unknown flag":    {nil, "PostToolUse", good, []string{"--colour"}, "--colour"},
		"an empty flag":      {nil, "PostToolUse", good, []string{"--config", ""}, ""},
		"a third word":       {nil, "PostToolUse", good, []string{"more"}, "a client and an event"},
		"a wrong setting":    {nil, "PostToolUse", good, []string{"--set", "log.level=loud"}, "log.level"},
		"no settings file":   {nil, "PostToolUse", good, []string{"--config", "/does/not/exist"}, "/does/not/exist"},
	} {
		t.Run(name, func(t *testing.T) {
			fresh := func() *bench {
				b := newBench(t, map[string]any{service.RecordStep.Name: &memory.StepRecorded{}})
				if test.change != nil {
					test.change(b)
				}
				return b
			}
			if out := fresh().hookRun(test.event, test.payload, test.flags...); out != "" {
				t.Errorf("it prints %q", out)
			}
			b := fresh() // with nothing in its spool
			log := filepath.Join(t.TempDir(), "hook.log")
			home := b.opts.Getenv
			b.opts.Getenv = func(name string) string {
				if name == "RECALLD_HOOK_DEBUG" {
					return log
				}
				return home(name)
			}
			b.hookRun(test.event, test.payload, test.flags...)
			text, err := os.ReadFile(log)
			if test.logged == "" {
				if err == nil {
					t.Errorf("it logs %q", text)
				}
				return
			}
			if err != nil || !strings.Contains(string(text), test.logged) || strings.Count(string(text), "\n") != 1 {
				t.Errorf("the log holds %q (%v), want one line with %q", text, err, test.logged)
			}
		})
	}
}

// TestHookGivesUp: a daemon that takes a call and never answers is left alone in
// time. The clock is the real one: the deadline is what is tested.
func TestHookGivesUp(t *testing.T) {
	dir, err := os.MkdirTemp("", "hook") // short enough for a socket's name
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Skipf("no sockets of this kind: %v", err)
	}
	asked := make(chan struct{}, 16)
	hanging := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	})}}
	hanging.Start()
	defer hanging.Close()
	for _, event := range []string{"PostToolUse", "PostToolUseFailure"} {
		b := newBench(t, nil)
		b.opts.Connect = nil // the real one
		// On a machine that is busy the deadline may pass before the call is made; that
		// is as it should be, and not what is tested.
		reached := false
		for try := 0; !reached && try < hookTries; try++ {
			// That it returns shows its deadline: the server answers nothing until then.
			if out := b.hookRun(event, hookPayload(failedTool), "--set", "socket="+socket); out != "" {
				t.Errorf("%s: it prints %q", event, out)
			}
			select {
			case <-asked:
				reached = true
			default:
			}
		}
		if !reached {
			t.Errorf("%s: the daemon was not asked in %d tries", event, hookTries)
		}
	}
}

// hookTries is how often TestHookGivesUp tries to reach its daemon within a deadline.
const hookTries = 50

// TestHookNeverWaitsForAStart: a daemon that has to be started is not waited for.
func TestHookNeverWaitsForAStart(t *testing.T) {
	b := newBench(t, nil)
	b.opts.Connect = func(ctx context.Context, _ config.Config, autostart bool) (Daemon, error) {
		if !autostart {
			t.Error("a start does not start a daemon")
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if out := b.hookRun("SessionStart", hookPayload("")); out != "" {
		t.Errorf("it prints %q", out)
	}
}
