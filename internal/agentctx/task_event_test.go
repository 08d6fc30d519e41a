package agentctx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// events reads the audit file of the rig's repository.
func (r *taskRig) events() []memory.TaskEvent {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.repo, "logs", "audit.log.jsonl"))
	must(r.t, err)
	var out []memory.TaskEvent
	for line := range strings.Lines(string(text)) {
		var e memory.TaskEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil || !strings.HasSuffix(line, "\n") {
			r.t.Fatalf("the line %q: %v", line, err)
		}
		out = append(out, e)
	}
	return out
}

// Every event is a line of the audit file, in full and with the number of its update;
// one that did not happen, or was repeated, is none.
func TestAuditFile(t *testing.T) {
	r := newTaskRig(t, withAuditFile)
	kept := r.complete(memory.CompleteTaskRequest{RequestID: "r1", TaskID: "t", RequiresContext: new(true), Intent: "Add login"})
	if want := filepath.Join(r.repo, "logs", "audit.log.jsonl"); kept.AuditFile != want || kept.Warning != "" {
		t.Errorf("the event is in %q, with the warning %q, want %q", kept.AuditFile, kept.Warning, want)
	}
	if again := r.complete(memory.CompleteTaskRequest{RequestID: "r1", TaskID: "t"}); again.AuditFile != "" {
		t.Error("a repeated request is written again")
	}
	r.block("b", "waits")
	if _, err := r.tasks.UnblockTask(t.Context(), memory.UnblockTaskRequest{TaskID: "b", Resolution: "found", Caller: r.caller}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.tasks.UnblockTask(t.Context(), memory.UnblockTaskRequest{TaskID: "b", Caller: r.caller}); err == nil {
		t.Fatal("a blocker is resolved twice")
	}
	if loaded := r.load(oldStateText); loaded.AuditFile != kept.AuditFile {
		t.Errorf("what was loaded is in %q, want it in the same file", loaded.AuditFile)
	}
	if again := r.load(oldStateText); again.AuditFile != "" {
		t.Error("what was loaded already is written again")
	}
	got := r.events()
	var told []string
	for i, e := range got {
		told = append(told, fmt.Sprint(e.Event))
		if e.Seq == 0 || i > 0 && e.Seq <= got[i-1].Seq || e.Project != kept.Project || e.Client != "test" {
			t.Errorf("event %d is %+v, want it numbered, of its project and client", i, e)
		}
	}
	if want := "task_completed task_blocked task_unblocked tasks_loaded"; strings.Join(told, " ") != want {
		t.Fatalf("the file tells %q, want %q", told, want)
	}
	if !strings.Contains(string(got[0].Task), "Add login") || !strings.Contains(string(got[2].Blocker), "waits") || got[2].Resolution != "found" || len(got[3].Tasks) != 2 || len(got[3].Blockers) != 1 {
		t.Errorf("the events are not in full: %+v", got)
	}
}

// A file that cannot be written is a warning: the record is there.
func TestAuditFileFails(t *testing.T) {
	r := newTaskRig(t, func(_ *taskRig, o *TaskOptions) {
		o.AuditFile = func(context.Context, memory.Caller, string, []byte) (string, error) {
			return "", errors.New("disk is full")
		}
	})
	kept := r.complete(memory.CompleteTaskRequest{TaskID: "t"})
	if kept.Warning != "write audit file: disk is full; the record is kept" || kept.AuditFile != "" {
		t.Errorf("the warning is %q, want why", kept.Warning)
	}
	if w := r.window(0); len(w.Tasks) != 1 {
		t.Errorf("%d tasks are kept, want 1", len(w.Tasks))
	}
}

// Without a repository nothing is written, and nobody is warned.
func TestAuditFileWithoutRepository(t *testing.T) {
	r := newTaskRig(t, withAuditFile)
	p := r.complete(memory.CompleteTaskRequest{TaskID: "t"}).Project
	if kept := r.complete(memory.CompleteTaskRequest{TaskID: "u", Project: p}); kept.AuditFile != "" || kept.Warning != "" {
		t.Errorf("without a folder the event is in %q, with the warning %q", kept.AuditFile, kept.Warning)
	}
	if n := len(r.events()); n != 1 {
		t.Errorf("%d lines are written, want that of the first", n)
	}
}

// Many writers leave whole lines, one of each event.
func TestAuditFileOfManyWriters(t *testing.T) {
	r := newTaskRig(t, withAuditFile)
	const writers, each = 8, 10
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				_, err := r.tasks.CompleteTask(t.Context(), memory.CompleteTaskRequest{
					TaskID: fmt.Sprintf("%d-%d", w, i), ValidationReport: json.RawMessage(passed), Caller: r.caller,
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for _, e := range r.events() {
		seen[string(e.Task)] = true
	}
	if len(seen) != writers*each {
		t.Errorf("%d events are in the file, want %d", len(seen), writers*each)
	}
}
