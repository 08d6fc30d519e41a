package repofiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/source/lessonlog"
	"github.com/recalld/recalld/internal/source/sessiondir"
	"github.com/recalld/recalld/internal/testkit/backend"
)

// followed is a follower with a store of its own. Its write path calls seen with each text.
func followed(t *testing.T, root string, seen func(text string)) (*follower, *backend.Parts) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	p := backend.New(t, backend.Options{Redact: func(text string) (string, int) { seen(text); return text, 0 }})
	projects := project.NewRecorder(p.Store, log)
	t.Cleanup(projects.Close)
	opts := &Options{Store: p.Store, Ingest: p.Ingest, Projects: projects, Logger: log, LessonDir: "logs", SessionDir: "sessions", Trusted: []string{root}}
	trust, err := newTrust(opts)
	if err != nil {
		t.Fatal(err)
	}
	return newFollower(opts, newRoots(opts), trust, nil), p
}

// TestSupersedingSurvivesAFailure: a line that supersedes a lesson of a later log does so
// after that log could not be stored at first.
func TestSupersedingSurvivesAFailure(t *testing.T) {
	root := backend.Repo(t)
	write := func(log, lesson, more string) {
		t.Helper()
		path := filepath.Join(root, "logs", log)
		line := fmt.Sprintf(`{"timestamp":"2026-01-02T03:04:05Z","repo":"shop","event_type":"error","lesson":%q%s}`+"\n", lesson, more)
		if os.MkdirAll(filepath.Dir(path), 0o755) != nil || os.WriteFile(path, []byte(line), 0o644) != nil {
			t.Fatalf("%s cannot be written", path)
		}
	}
	write("b.jsonl", "Restart the queue by hand", "")
	f, p := followed(t, root, func(string) {})
	if err := f.followLessons(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	ids, err := p.Store.RecordIDs("", 2)
	if err != nil || len(ids) != 1 {
		t.Fatalf("stored are %v, %v; want one lesson", ids, err)
	}
	write("a.jsonl", "The queue restarts itself", fmt.Sprintf(`,"supersedes":[%q]`, ids[0]))

	ctx, stop := context.WithCancel(t.Context())
	f, p = followed(t, root, func(text string) {
		if strings.Contains(text, "by hand") {
			stop()
		}
	})
	if err := f.followLessons(ctx, root); err == nil {
		t.Fatal("the second log was stored, want a failure")
	}
	if err := f.followLessons(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	old, err := p.Store.Record(ids[0])
	if err != nil || old.Event.Withdrawn == nil {
		t.Errorf("the old lesson is %+v, %v; want it superseded", old.Event, err)
	}
}

// TestForgottenDoesNotWait: files that recalld wrote itself wait for nobody, also after what is
// in them was forgotten.
func TestForgottenDoesNotWait(t *testing.T) {
	root := backend.Repo(t)
	f, p := followed(t, t.TempDir(), func(string) {})
	caller := memory.Caller{Dir: root, Client: "test"}
	kept, line, err := p.Ingest.RememberLine(t.Context(), memory.RememberRequest{Lesson: "Restart the queue by hand", Caller: caller})
	if err != nil {
		t.Fatal(err)
	}
	lines := lessonlog.NewWriter()
	if _, err := lines.Append(t.Context(), root, "logs", line.Repo, *line); err != nil {
		t.Fatal(err)
	}
	started, err := p.Ingest.StartSession(t.Context(), memory.StartSessionRequest{Goal: "queue", Caller: caller})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sessiondir.WriteSession(root, "sessions", started.Session); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{kept.ID, started.ID}}, p.Store); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.followLessons(t.Context(), root), f.followSessions(t.Context(), root)); err != nil {
		t.Fatal(err)
	}
	if got := f.trust.waits(); len(got) > 0 {
		t.Errorf("%+v waits, want nothing", got)
	}
}

// TestFolderThatCannotBeFollowed: the error names the folder, and leaves the errors of status
// when the folder can be read.
func TestFolderThatCannotBeFollowed(t *testing.T) {
	root := backend.Repo(t)
	f, _ := followed(t, root, func(string) {})
	handler, kept := logging.KeepErrors(slog.NewTextHandler(io.Discard, nil))
	f.log = slog.New(handler)
	logs := filepath.Join(root, "logs")
	if err := os.WriteFile(logs, nil, 0o644); err != nil { // no folder
		t.Fatal(err)
	}
	look := func() []memory.LoggedError {
		f.report(logs, f.followLessons(t.Context(), root))
		return kept.Latest()
	}
	look()
	if got := look(); len(got) != 1 || !strings.Contains(got[0].Message, logs) {
		t.Errorf("the errors are %+v, want one with %s", got, logs)
	}
	if err := os.Remove(logs); err != nil {
		t.Fatal(err)
	}
	if got := look(); len(got) != 0 {
		t.Errorf("once the folder is mended the errors are %+v, want none", got)
	}
}

// TestWarningNamesTheFolder: what is said of a log that cannot be written names its folder.
func TestWarningNamesTheFolder(t *testing.T) {
	root := backend.Repo(t)
	f, _ := followed(t, root, func(string) {})
	f.opts.WriteLessons, f.opts.ShareLessons = true, true
	if err := os.WriteFile(filepath.Join(root, "logs"), nil, 0o644); err != nil { // no folder
		t.Fatal(err)
	}
	id, err := f.opts.Projects.Locate(root)
	if err != nil {
		t.Fatal(err)
	}
	kept := &memory.Remembered{Project: id.Project.ID}
	newWriter(f.opts, f.roots).AppendLesson(t.Context(), memory.Caller{Dir: root}, kept, memory.LogLine{Repo: "shop", Type: memory.EventError, Lesson: "x"})
	if !strings.Contains(kept.Warning, filepath.Join(root, "logs")) {
		t.Errorf("the warning is %q, want the folder", kept.Warning)
	}
}
