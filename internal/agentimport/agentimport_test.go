package agentimport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/internal/memory"
)

// resolver is a memory.ProjectResolver that counts how often it is asked.
type resolver struct {
	asked  int
	answer func(ctx context.Context) error
}

func (r *resolver) Resolve(ctx context.Context, _ string, _ memory.Caller) (memory.Project, bool, error) {
	r.asked++
	return memory.Project{}, false, r.answer(ctx)
}

// oneLog is a service over a home with one log, whose folder no project has.
func oneLog(t *testing.T) (s *Service, r *resolver, log string) {
	t.Helper()
	home := t.TempDir()
	text, err := os.ReadFile(filepath.Join("..", "source", "agentlog", "testdata", "claude-code.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	log = filepath.Join(home, ".claude", "projects", "shop", "one.jsonl")
	if err := errors.Join(os.MkdirAll(filepath.Dir(log), 0o700), os.WriteFile(log, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	r = &resolver{answer: func(context.Context) error { return errors.New("there is no such folder") }}
	return New(Options{
		Projects: r, Home: home, Getenv: func(string) string { return "" }, State: filepath.Join(home, "state.json"),
		Logger: slog.New(slog.DiscardHandler), Clock: time.Now,
	}), r, log
}

// TestLogThatCannotBeOpenedIsTriedAgain: a log counts as read when it could be opened.
func TestLogThatCannotBeOpenedIsTriedAgain(t *testing.T) {
	s, r, log := oneLog(t)
	away := log + ".away"
	got, err := s.Import(t.Context(), memory.AgentImportRequest{Consent: true}, func(p memory.AgentImportProgress) {
		if p.Done == 0 { // after it was found
			if err := os.Rename(log, away); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil || r.asked != 0 || got.Skipped != 1 {
		t.Fatalf("without the log: %+v, %v", got, err)
	}
	if err := os.Rename(away, log); err != nil {
		t.Fatal(err)
	}
	got, err = s.Import(t.Context(), memory.AgentImportRequest{}, func(memory.AgentImportProgress) {})
	if err != nil || r.asked != 1 || got.Unchanged != 0 {
		t.Errorf("with the log: %+v, %v, want it read", got, err)
	}
	got, err = s.Import(t.Context(), memory.AgentImportRequest{}, func(memory.AgentImportProgress) {})
	if err != nil || r.asked != 1 || got.Unchanged != 1 {
		t.Errorf("once more: %+v, %v, want it unchanged", got, err)
	}
}

// TestEndOfContextLeavesNothingOut: a log whose folder was looked for when the daemon stopped is
// read by the next one.
func TestEndOfContextLeavesNothingOut(t *testing.T) {
	s, r, _ := oneLog(t)
	ctx, cancel := context.WithCancel(t.Context())
	missing := r.answer
	r.answer = func(ctx context.Context) error { cancel(); return ctx.Err() }
	if got, err := s.Import(ctx, memory.AgentImportRequest{Consent: true}, func(memory.AgentImportProgress) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("an import that was ended returns %+v, %v", got, err)
	}
	r.answer = missing
	got, err := s.Import(t.Context(), memory.AgentImportRequest{}, func(memory.AgentImportProgress) {})
	if err != nil || r.asked != 2 || got.Unchanged != 0 {
		t.Errorf("the next import says %+v, %v, want the log read", got, err)
	}
}

// TestStampsOfLogsThatAreGoneAreDropped: or the state would grow without bound. Those of the other
// logs stay, also where the import was of another client.
func TestStampsOfLogsThatAreGoneAreDropped(t *testing.T) {
	s, _, log := oneLog(t)
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(filepath.Dir(log), "c#.jsonl")
	if err := os.WriteFile(gone, text, 0o600); err != nil {
		t.Fatal(err)
	}
	none := func(memory.AgentImportProgress) {}
	if _, err := s.Import(t.Context(), memory.AgentImportRequest{Consent: true}, none); err != nil {
		t.Fatal(err)
	}
	st := s.load()
	if st.Logs[gone] == "" {
		t.Fatalf("the stamps are %v, want one of %s", st.Logs, gone)
	}
	session := filepath.Join(s.opts.Home, "opencode.db") + "#ses_1" // one of many in a file
	st.Logs[session] = "1 1"
	if err := errors.Join(s.save(st), os.WriteFile(filepath.Join(s.opts.Home, "opencode.db"), nil, 0o600), os.Remove(gone)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Import(t.Context(), memory.AgentImportRequest{Client: "codex"}, none); err != nil {
		t.Fatal(err)
	}
	st = s.load()
	if st.Consent.IsZero() || len(st.Logs) != 2 || st.Logs[log] == "" || st.Logs[session] == "" {
		t.Errorf("after a log was removed the state is %+v, want the consent and two stamps", st)
	}
}

// TestStateThatCannotBeWrittenIsTold: also where the last log is one after which it is written.
func TestStateThatCannotBeWrittenIsTold(t *testing.T) {
	s, _, log := oneLog(t)
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for n := range saveEvery - 1 {
		if err := os.WriteFile(fmt.Sprintf("%s-%d.jsonl", log, n), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.opts.State = filepath.Join(t.TempDir(), "folder", "state.json")
	if err := os.Mkdir(filepath.Dir(s.opts.State), 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := s.Import(t.Context(), memory.AgentImportRequest{Consent: true}, func(p memory.AgentImportProgress) {
		if p.Done == 0 { // after the consent was written
			if err := os.RemoveAll(filepath.Dir(s.opts.State)); err != nil {
				t.Error(err)
			}
		}
	})
	if err == nil {
		t.Errorf("an import of %d logs whose state was not written says %+v, want an error", saveEvery, got)
	}
}

// TestFolderThatComesBack: a log that was left out because its folder is gone is read when the
// folder is there again, and is not opened before.
func TestFolderThatComesBack(t *testing.T) {
	s, r, log := oneLog(t)
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "my shop")
	quoted, err := json.Marshal(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, bytes.ReplaceAll(text, []byte(`"/src/shop"`), quoted), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(when string, asked, unchanged int) {
		t.Helper()
		got, err := s.Import(t.Context(), memory.AgentImportRequest{Consent: true}, func(memory.AgentImportProgress) {})
		if err != nil || r.asked != asked || got.Unchanged != unchanged {
			t.Errorf("%s: %+v, %v, and the folder was looked for %d times; want %d unchanged and %d times", when, got, err, r.asked, unchanged, asked)
		}
	}
	run("without its folder", 1, 0)
	run("still without it", 1, 1)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	run("with its folder", 2, 0)
	run("once more", 2, 1)
}

// TestDamagedStateIsTold: it is no consent, and an error in status, once.
func TestDamagedStateIsTold(t *testing.T) {
	s, r, _ := oneLog(t)
	handler, kept := logging.KeepErrors(slog.NewTextHandler(io.Discard, nil))
	s.opts.Logger = slog.New(handler)
	if err := os.WriteFile(s.opts.State, []byte(`{"consent":"2026-01-`), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.again(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if told := kept.Latest(); r.asked != 0 || len(told) != 1 || !strings.Contains(told[0].Message, "recalld import agents") {
		t.Errorf("the folder was looked for %d times, and the errors are %+v; want none and one", r.asked, told)
	}
}

// TestStateOfAFormerVersion: logs that an earlier version could not read whole are read again,
// and nobody is asked again.
func TestStateOfAFormerVersion(t *testing.T) {
	s, r, log := oneLog(t)
	info, err := os.Stat(log)
	if err != nil {
		t.Fatal(err)
	}
	former := fmt.Sprintf(`{"consent":"2026-01-15T12:00:00Z","logs":{%q:"%d %d"}}`, log, info.Size(), info.ModTime().UnixNano())
	if err := os.WriteFile(s.opts.State, []byte(former), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.again(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if st := s.load(); r.asked != 1 || st.Consent.IsZero() {
		t.Errorf("the folder was looked for %d times, and the consent is of %v; want once, and that of before", r.asked, st.Consent)
	}
}

// TestLargeStateKeepsTheConsent: also where there are very many logs.
func TestLargeStateKeepsTheConsent(t *testing.T) {
	s, _, _ := oneLog(t)
	st := &state{Version: stateVersion, Consent: time.Now(), Logs: map[string]string{}}
	for n := range 100_000 {
		st.Logs[fmt.Sprintf("/home/somebody/.claude/projects/-home-somebody-src-%0100d.jsonl", n)] = "1234567 1768478400000000000"
	}
	if err := s.save(st); err != nil {
		t.Fatal(err)
	}
	if got := s.load(); got.Consent.IsZero() || len(got.Logs) != len(st.Logs) {
		t.Errorf("read again it has the consent %v and %d logs, want all %d", got.Consent, len(got.Logs), len(st.Logs))
	}
}
