package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// recordWork fills a project with lessons, one of them retracted and one with an
// outcome, and with a session of three steps. The folder has no git, so nothing of
// it is written into files.
func recordWork(t *testing.T, s *served, dir string) {
	t.Helper()
	ctx, caller := t.Context(), memory.Caller{Dir: dir, Client: "test"}
	_, err := service.StartSession.Do(ctx, s, memory.StartSessionRequest{
		SessionID: "session-1", Goal: "Ship the mail", FlowTags: []string{"send"}, Tags: []string{"smoke"}, Caller: caller,
		Build: json.RawMessage(`{"buildType":"test"}`),
	})
	must(t, err)
	remember := func(r memory.RememberRequest) string {
		r.Caller = caller
		kept, err := service.Remember.Do(ctx, s, r)
		must(t, err)
		return kept.ID
	}
	installStep(t, s, dir, false)
	remember(memory.RememberRequest{Type: memory.EventError, Context: "npm install", Lesson: "Use a prefix in the home folder", SuccessRate: "2/2"})
	wrong := remember(memory.RememberRequest{Lesson: "Run it as root", Tags: []string{"npm"}})
	remember(memory.RememberRequest{Lesson: "Root owns the cache afterwards: never run it so", Retracts: []string{wrong}})
	askInstall(t, s, dir)
	installStep(t, s, dir, true)
	installStep(t, s, dir, true)
}

const installFailure = "npm ERR! code EACCES: permission denied, mkdir '/usr/lib/a'"

// installStep records a step that installs packages.
func installStep(t *testing.T, s *served, dir string, ok bool) {
	t.Helper()
	r := memory.RecordStepRequest{
		Tool:    memory.StepTool{Name: "Bash", Input: json.RawMessage(`{"command":"npm install"}`)},
		Outcome: memory.Outcome{OK: ok}, Caller: memory.Caller{Dir: dir, Client: "test"},
	}
	if !ok {
		r.Outcome.Error = &memory.StepError{Message: installFailure}
	}
	_, err := service.RecordStep.Do(t.Context(), s, r)
	must(t, err)
}

// askInstall has what is known of the failure handed out.
func askInstall(t *testing.T, s *served, dir string) {
	t.Helper()
	_, err := service.Recall.Do(t.Context(), s, memory.RecallRequest{
		Query: installFailure, Kinds: []memory.Kind{memory.Lesson}, Caller: memory.Caller{Dir: dir, Client: "test"},
	})
	must(t, err)
}

// tryInstall is a failure, a look at what is known of it, and a success.
func tryInstall(t *testing.T, s *served, dir string) {
	t.Helper()
	installStep(t, s, dir, false)
	askInstall(t, s, dir)
	installStep(t, s, dir, true)
}

// remembered is all that an export and an import have to keep.
func remembered(t *testing.T, s *served, dir string) []any {
	t.Helper()
	ctx, caller := t.Context(), memory.Caller{Dir: dir, Client: "another"}
	scope := &memory.Scope{Session: "session-1"}
	sessions, err := service.Sessions.Do(ctx, s, memory.SessionsRequest{Caller: caller})
	must(t, err)
	steps, err := service.LastSteps.Do(ctx, s, memory.LastStepsRequest{Scope: scope, Caller: caller})
	must(t, err)
	summary, err := service.SummarizeSession.Do(ctx, s, memory.SummarizeRequest{Scope: scope, Caller: caller})
	must(t, err)
	summary.EndedAt = time.Time{}
	lessons := map[string]string{} // text → rate
	lines := map[string]string{}   // id → what is told of it in a line
	for _, query := range []string{"npm install prefix", "run it as root", "cache"} {
		for _, i := range s.ask(dir, query, memory.Lesson).Items {
			if i.Strength == memory.Maybe {
				lines[i.ID] = i.Text
			} else {
				lessons[i.Text] = i.SuccessRate
			}
		}
	}
	return []any{sessions, steps, summary, lessons, lines}
}

// TestArchive: what is exported and imported into an empty memory is recalled as
// before; importing it again, or where it came from, changes nothing.
func TestArchive(t *testing.T) {
	first, dir := serve(t, newConfig(t)), shop(t)
	recordWork(t, first, dir)
	want := remembered(t, first, dir)
	if lessons := want[3].(map[string]string); lessons["npm install: Use a prefix in the home folder"] != "3/3" || len(lessons) != 2 {
		t.Fatalf("before the export the lessons are %v, want two, one with rate 3/3", lessons)
	}
	for _, line := range want[4].(map[string]string) {
		if strings.Contains(line, "Run it as root") {
			t.Errorf("before the export the retracted lesson is told: %s", line)
		}
	}
	out := filepath.Join(t.TempDir(), "out")
	exported, err := service.Export.Do(t.Context(), first, memory.ExportRequest{Path: out, Caller: memory.Caller{Dir: dir}})
	must(t, err)
	if exported.Lessons != 3 || exported.Sessions != 1 || exported.Steps != 3 || exported.Files != 5 {
		t.Errorf("exported %+v, want 3 lessons, 1 session, 3 steps in 5 files", exported)
	}

	second := serve(t, newConfig(t))
	take := func(s *served) *memory.Imported {
		t.Helper()
		imported, err := service.Import.Do(t.Context(), s, memory.ImportRequest{Path: out, Caller: memory.Caller{Dir: dir}})
		must(t, err)
		return imported
	}
	if i := take(second); i.Lessons != 3 || i.Sessions != 1 || i.Steps != 3 || i.Skipped != 0 {
		t.Errorf("imported %+v, want 3 lessons, 1 session and 3 steps, nothing skipped", i)
	}
	if diff := cmp.Diff(want, remembered(t, second, dir)); diff != "" {
		t.Errorf("after export and import (-before +after):\n%s", diff)
	}
	for name, s := range map[string]*served{"again": second, "where it came from": first} {
		before, err := service.Status.Do(t.Context(), s, service.None{})
		must(t, err)
		if i := take(s); i.Lessons != 0 || i.Sessions != 0 || i.Steps != 0 || i.Known != 7 {
			t.Errorf("imported %s: %+v, want 7 known: 3 lessons, a session and its 3 steps", name, i)
		}
		after, err := service.Status.Do(t.Context(), s, service.None{})
		must(t, err)
		if diff := cmp.Diff(before.Records, after.Records); diff != "" {
			t.Errorf("importing %s changes the records (-before +after):\n%s", name, diff)
		}
	}
	// What was forgotten is not known: it is not there. The session goes with its steps.
	third := serve(t, newConfig(t))
	take(third)
	_, err = service.Forget.Do(t.Context(), third, memory.ForgetRequest{IDs: []string{"session-1"}})
	must(t, err)
	if i := take(third); i.Sessions != 0 || i.Steps != 0 || i.Known != 3 || i.Forgotten != 4 {
		t.Errorf("imported after the session was forgotten: %+v, want 3 lessons known, and a session and its 3 steps forgotten", i)
	}
	again := filepath.Join(t.TempDir(), "again")
	_, err = service.Export.Do(t.Context(), second, memory.ExportRequest{Path: again, Caller: memory.Caller{Dir: dir}})
	must(t, err)
	if diff := cmp.Diff(withoutOrigin(tree(t, out)), withoutOrigin(tree(t, again))); diff != "" {
		t.Errorf("the second export differs (-first +second):\n%s", diff)
	}
	tryInstall(t, first, dir)
	want = remembered(t, first, dir)
	if lessons := want[3].(map[string]string); lessons["npm install: Use a prefix in the home folder"] != "4/4" {
		t.Fatalf("after another success the lessons are %v, want a rate of 4/4", lessons)
	}
	take(first)
	if diff := cmp.Diff(want, remembered(t, first, dir)); diff != "" {
		t.Errorf("importing an export of before the last outcome (-before +after):\n%s", diff)
	}
}

// withoutOrigin leaves out where things came from: what was told in one store is
// imported in the other.
func withoutOrigin(files map[string]string) map[string]string {
	for name, text := range files {
		files[name] = regexp.MustCompile(`,\s*"provenance": ?\{[^}]*\}`).ReplaceAllString(text, "")
	}
	return files
}

// tree is every file of a folder with its text.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path) // it lies below
		files[filepath.ToSlash(rel)] = string(text)
		return err
	}))
	return files
}

func TestArchiveRefusals(t *testing.T) {
	s, dir := serve(t, newConfig(t)), shop(t)
	caller := memory.Caller{Dir: dir}
	place(t, dir, "notes.txt", "no log")
	for name, tc := range map[string]struct {
		path string
		code memory.Code
	}{
		"missing":            {filepath.Join(dir, "nothing"), memory.CodeNotFound},
		"neither":            {dir, memory.CodeInvalidInput},
		"a file of no kind":  {filepath.Join(dir, "notes.txt"), memory.CodeInvalidInput},
		"no path":            {"", memory.CodeInvalidInput},
		"a path of no place": {"logs", memory.CodeInvalidInput},
	} {
		_, err := service.Import.Do(t.Context(), s, memory.ImportRequest{Path: tc.path, Caller: caller})
		if memory.CodeOf(err) != tc.code {
			t.Errorf("%s: import answers %v, want %s", name, err, tc.code)
		}
	}
	s.keep(dir, "Keep the receipts")
	if runtime.GOOS == "linux" { // where nobody, root neither, makes a folder in /sys
		_, err := service.Export.Do(t.Context(), s, memory.ExportRequest{Path: "/sys/recalld", Caller: caller})
		if e := memory.AsError(err); err == nil || e.Code != memory.CodeReadOnly || e.Field != "path" || e.Hint == "" {
			t.Errorf("export to where nothing can be written answers %+v, want %s with a hint", e, memory.CodeReadOnly)
		}
	}
	_, err := service.Export.Do(t.Context(), s, memory.ExportRequest{Path: dir, Caller: caller})
	if memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("export into a folder that holds something answers %v, want %s", err, memory.CodeConflict)
	}
}

// TestImportOfWhatCannotBeRead: it is refused by name, and is no fault of ours.
func TestImportOfWhatCannotBeRead(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything: run it as another user")
	}
	s, dir := serve(t, newConfig(t)), shop(t)
	log, logs := filepath.Join(t.TempDir(), "a.jsonl"), filepath.Join(t.TempDir(), "logs")
	must(t, os.WriteFile(log, nil, 0))
	must(t, os.Mkdir(logs, 0))
	for _, path := range []string{log, logs, filepath.Join(logs, "b.jsonl")} {
		_, err := service.Import.Do(t.Context(), s, memory.ImportRequest{Path: path, Caller: memory.Caller{Dir: dir}})
		if e := memory.AsError(err); err == nil || e.Code != memory.CodeForbidden || !strings.Contains(e.Message, path) || e.Hint == "" {
			t.Errorf("import of %s answers %+v, want %s with a hint", path, e, memory.CodeForbidden)
		}
	}
}

// A line may put aside what another log tells, whichever is read first.
func TestImportPutsAsideAcrossLogs(t *testing.T) {
	s, dir := serve(t, newConfig(t)), shop(t)
	place(t, dir, "old/b.jsonl", `{"timestamp":"2026-01-02T03:04:05Z","event_type":"pattern","lesson":"Pin the base image"}`+"\n")
	take := func(path string) {
		t.Helper()
		_, err := service.Import.Do(t.Context(), s, memory.ImportRequest{Path: path, Caller: memory.Caller{Dir: dir}})
		must(t, err)
	}
	take(filepath.Join(dir, "old"))
	a := s.ask(dir, "pin base image", memory.Lesson)
	if len(a.Items) != 1 {
		t.Fatalf("recall answers %+v, want the lesson", a.Items)
	}
	place(t, dir, "old/a.jsonl", fmt.Sprintf(`{"timestamp":"2026-01-03T03:04:05Z","event_type":"pattern","lesson":"Build from scratch","retracts":[%q]}`+"\n", a.Items[0].ID))
	second := serve(t, newConfig(t))
	s = second
	take(filepath.Join(dir, "old"))
	retracted := a.Items[0].ID
	for _, item := range s.ask(dir, "pin base image", memory.Lesson).Items { // the other one is alike
		if item.ID == retracted {
			t.Errorf("what a.jsonl retracts in b.jsonl is recalled: %+v", item)
		}
	}
	if a := s.ask(dir, "build from scratch", memory.Lesson); len(a.Items) != 1 {
		t.Errorf("the lesson of a.jsonl is recalled as %+v", a.Items)
	}
}

// A bad line is told with file and line, and the rest is taken over.
func TestImportTellsOfBadLines(t *testing.T) {
	s, dir := serve(t, newConfig(t)), shop(t)
	place(t, dir, "old/demo.jsonl", `{"timestamp":"2026-01-02T03:04:05Z","event_type":"pattern","lesson":"Pin the base image"}
{"lesson":"torn
{"timestamp":"2026-01-02T03:04:06Z","event_type":"pattern","lesson":"x","success_rate":"9 of 10"}
{"timestamp":"2026-01-02T03:04:07Z","event_type":"pattern","lesson":"Cache the modules","extra":{"kept":1}}
`)
	i, err := service.Import.Do(t.Context(), s, memory.ImportRequest{Path: filepath.Join(dir, "old"), Caller: memory.Caller{Dir: dir}})
	must(t, err)
	if i.Lessons != 2 || i.Skipped != 2 || len(i.Problems) != 2 || i.Problems[0].Line != 2 || i.Problems[1].Line != 3 {
		t.Errorf("imported %+v, want two lessons and problems in lines 2 and 3", i)
	}
	if a := s.ask(dir, "pin base image", memory.Lesson); len(a.Items) != 1 || a.Items[0].Source.Repo != "demo" {
		t.Errorf("recall answers %+v, want the lesson of demo", a.Items)
	}
}

// TestImportOfAFolder: what is no log of a folder is named, and the logs beside it are imported.
func TestImportOfAFolder(t *testing.T) {
	s := serve(t, newConfig(t))
	logs := t.TempDir()
	must(t, os.Mkdir(filepath.Join(logs, "a.jsonl"), 0o700))
	must(t, os.WriteFile(filepath.Join(logs, "b.jsonl"), []byte(`{"timestamp":"2026-01-02T03:04:05Z","lesson":"Rinse the pot"}`+"\n"), 0o600))
	got, err := service.Import.Do(t.Context(), s, memory.ImportRequest{Path: logs, Caller: memory.Caller{Dir: t.TempDir()}})
	must(t, err)
	if got.Lessons != 1 || got.Skipped != 1 || len(got.Problems) != 1 || got.Problems[0].File != filepath.Join(logs, "a.jsonl") {
		t.Errorf("imported %+v, want a lesson and a problem", got)
	}
}

// A log of several parts, which are prepared beside one another, is imported as one.
func TestImportOfALongLog(t *testing.T) {
	s, dir := serve(t, newConfig(t)), shop(t)
	line := func(n, minute int) string {
		at := time.Date(2026, 1, 2, 0, minute, 0, 0, time.UTC).Format(time.RFC3339)
		return fmt.Sprintf(`{"timestamp":%q,"event_type":"pattern","lesson":"Step %d of the release is done by hand"}`+"\n", at, n)
	}
	const all = 2500
	var log strings.Builder
	for i := range all {
		switch n := i + 1; n {
		case 1500, 2100:
			log.WriteString("torn\n")
		case 2200: // the same line again
			log.WriteString(line(10, 10))
		case 2300: // the same lesson, told again
			log.WriteString(line(20, all))
		default:
			log.WriteString(line(n, n))
		}
	}
	place(t, dir, "demo.jsonl", log.String())
	take := func() *memory.Imported {
		t.Helper()
		i, err := service.Import.Do(t.Context(), s, memory.ImportRequest{Path: filepath.Join(dir, "demo.jsonl"), Caller: memory.Caller{Dir: dir}})
		must(t, err)
		if i.Skipped != 2 || len(i.Problems) != 2 || i.Problems[0].Line != 1500 || i.Problems[1].Line != 2100 {
			t.Errorf("the problems are %+v, want lines 1500 and 2100", i.Problems)
		}
		return i
	}
	if i := take(); i.Lessons != all-3 || i.Known != 1 {
		t.Errorf("%d lines are new and %d known, want %d and 1", i.Lessons, i.Known, all-3)
	}
	status, err := service.Status.Do(t.Context(), s, service.None{})
	must(t, err)
	if n := status.Records[memory.Lesson]; n != all-4 {
		t.Errorf("%d lessons are stored, want %d", n, all-4)
	}
	if i := take(); i.Lessons != 0 || i.Known != all-2 {
		t.Errorf("again, %d lines are new and %d known, want none and %d", i.Lessons, i.Known, all-2)
	}
}
