package sessiondir_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/sessiondir"
)

func TestWriteAndEndASession(t *testing.T) {
	root, dir := t.TempDir(), filepath.Join("test-artifacts", "llm-knowledge")
	s := testSession("run-0001")
	folder, err := sessiondir.WriteSession(root, dir, s)
	if want := filepath.Join(root, dir, "run-0001"); err != nil || folder != want {
		t.Fatalf("WriteSession: %q, %v; want %q", folder, err, want)
	}
	step, err := sessiondir.WriteStep(root, dir, s, testStep("mm_click", now.Add(time.Second)))
	if want := filepath.Join(folder, "steps", "2026-05-01T12-00-01.000Z-mm_click.json"); err != nil || step != want {
		t.Fatalf("WriteStep: %q, %v; want %q", step, err, want)
	}
	s.EndedAt = now.Add(time.Minute)
	if _, err := sessiondir.WriteSession(root, dir, s); err != nil {
		t.Fatalf("write the session again: %v", err)
	}
	read := collect(t, sessiondir.ReadSession(folder))
	got, _ := read.session("run-0001")
	if !got.EndedAt.Equal(s.EndedAt) || got.Goal != s.Goal || got.Bare || len(read.problems) > 0 {
		t.Errorf("read back: %+v, problems %v", got, read.problems)
	}
	if tools := read.tools("run-0001"); !slices.Equal(tools, []string{"mm_click"}) {
		t.Errorf("steps read back: %v", tools)
	}
	walkFiles(t, root, func(path string, _ []byte) {
		if strings.HasPrefix(filepath.Base(path), ".") {
			t.Errorf("%s was left behind", path)
		}
	})
}

func TestWriteABareSession(t *testing.T) {
	dir := t.TempDir()
	s := memory.Session{ID: "run-0001", Bare: true}
	folder, err := sessiondir.WriteSession("", dir, s)
	if err != nil {
		t.Fatalf("WriteSession: %v", err)
	}
	if _, err := sessiondir.WriteStep("", dir, s, testStep("read", now)); err != nil {
		t.Fatalf("WriteStep: %v", err)
	}
	if got, _ := collect(t, sessiondir.ReadSession(folder)).session("run-0001"); !got.Bare || !got.CreatedAt.Equal(now) {
		t.Errorf("read back: %+v; want a bare session, created at its step", got)
	}
}

func TestWriteStepTellsStepsApart(t *testing.T) {
	dir := t.TempDir()
	s := testSession("run-0001")
	put := func(tool string, at time.Time) string {
		t.Helper()
		path, err := sessiondir.WriteStep("", dir, s, testStep(tool, at))
		if err != nil {
			t.Fatalf("WriteStep %s: %v", tool, err)
		}
		return path
	}
	first := put("read", now)
	if again := put("read", now); again != first {
		t.Errorf("the same step written again went to %s, not to %s", again, first)
	}
	paths := []string{first, put("a/b", now), put("a:b", now), put("read", now.Add(time.Millisecond)), put("../../../x", now)}
	slices.Sort(paths)
	if got := len(slices.Compact(paths)); got != 5 {
		t.Errorf("5 steps have %d files: %v", got, paths)
	}
	// A file of that name that another program wrote for something else stays.
	taken := filepath.Join(dir, "run-0001", "steps", "2026-05-01T12-00-05.000Z-read.json")
	must(t, os.WriteFile(taken, []byte(`{"tool":{"name":"other"},"timestamp":"2026-05-01T12:00:05.000Z"}`), 0o666))
	if path := put("read", now.Add(5*time.Second)); path == taken {
		t.Errorf("%s of another step was overwritten", path)
	}
	if got := collect(t, sessiondir.ReadSession(filepath.Join(dir, "run-0001"))); len(got.steps["run-0001"]) != 7 {
		t.Errorf("7 steps were written, %d read: %v", len(got.steps["run-0001"]), got.tools("run-0001"))
	}
}

// TestWritersAtOnce has many goroutines write one session's files: every one of
// them must be whole.
func TestWritersAtOnce(t *testing.T) {
	const writers, steps = 8, 10
	dir := t.TempDir()
	s := testSession("run-0001")
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range steps {
				if _, err := sessiondir.WriteSession("", dir, s); err != nil {
					t.Errorf("WriteSession: %v", err)
				}
				r := testStep(fmt.Sprintf("tool/%d", w), now.Add(time.Duration(i)*time.Millisecond))
				if _, err := sessiondir.WriteStep("", dir, s, r); err != nil {
					t.Errorf("WriteStep: %v", err)
				}
			}
		})
	}
	all.Wait()
	read := collect(t, sessiondir.ReadTree(dir))
	if got := len(read.steps["run-0001"]); got != writers*steps || len(read.problems) > 0 {
		t.Errorf("%d steps were written, %d read, problems %v", writers*steps, got, read.problems)
	}
}

// TestSessionsThatShareAFolder writes a session where the system gives its id the
// folder of another.
func TestSessionsThatShareAFolder(t *testing.T) {
	dir := t.TempDir()
	if _, err := sessiondir.WriteSession("", dir, testSession("Run-0001")); err != nil {
		t.Fatal(err)
	}
	// What a system without case would do.
	must(t, os.Rename(filepath.Join(dir, "Run-0001"), filepath.Join(dir, "run-0001")))
	folder, err := sessiondir.WriteSession("", dir, testSession("run-0001"))
	if err != nil {
		t.Fatalf("WriteSession: %v", err)
	}
	step, err := sessiondir.WriteStep("", dir, testSession("run-0001"), testStep("read", now))
	if err != nil || filepath.Dir(filepath.Dir(step)) != folder {
		t.Errorf("the step went to %s, %v; the session is in %s", step, err, folder)
	}
	read := collect(t, sessiondir.ReadTree(dir))
	for _, id := range []string{"Run-0001", "run-0001"} {
		if _, ok := read.session(id); !ok {
			t.Errorf("session %s is lost", id)
		}
	}
	must(t, os.Rename(folder, filepath.Join(dir, "moved")))
	write(t, folder, "session.json", `{"sessionId":"Run-0002"}`, 0)
	if _, err := sessiondir.WriteSession("", dir, testSession("run-0001")); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("with both folders taken: %v; want a conflict", err)
	}
}

func TestWriteRefuses(t *testing.T) {
	dir := t.TempDir()
	ok, step := testSession("run-0001"), testStep("read", now)
	noStep := memory.Record{Kind: memory.Lesson, Created: now}
	for _, test := range []struct {
		name      string
		root, dir string
		session   memory.Session
		step      memory.Record
		field     string
	}{
		{"an id that leaves the folder", "", dir, testSession("../evil"), step, "sessionId"},
		{"an id that is a path", "", dir, testSession("a/b/c"), step, "sessionId"},
		{"an id that is hidden", "", dir, testSession(".git"), step, "sessionId"},
		{"no id", "", dir, memory.Session{}, step, "sessionId"},
		{"no folder", dir, "", ok, step, "dir"},
		{"a folder without a root", "", "rel", ok, step, "dir"},
		{"a root that is relative", "rel", "rel", ok, step, "dir"},
		{"a folder above the root", dir, "../x", ok, step, "dir"},
		{"a lesson", "", dir, ok, noStep, "kind"},
		{"a step without a time", "", dir, ok, testStep("read", time.Time{}), "timestamp"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := sessiondir.WriteStep(test.root, test.dir, test.session, test.step)
			if e := memory.AsError(err); err == nil || e.Code != memory.CodeInvalidInput || e.Field != test.field {
				t.Errorf("WriteStep: %v; want an error of %s", err, test.field)
			}
		})
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("refused writes left %v", entries)
	}
}

// link makes a symbolic link, or skips the test where the user may not.
func link(t *testing.T, to, at string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(at), 0o777))
	if err := os.Symlink(to, at); err != nil {
		if runtime.GOOS == "windows" {
			t.Skipf("symbolic links need a privilege here: %v", err)
		}
		t.Fatal(err)
	}
}

func TestWriteFollowsNoLink(t *testing.T) {
	for _, test := range []struct{ name, at string }{
		{"the tree", "artifacts"},
		{"a folder above the tree", "artifacts/.."},
		{"the session's folder", "artifacts/tree/run-0001"},
		{"the steps folder", "artifacts/tree/run-0001/steps"},
	} {
		t.Run(test.name, func(t *testing.T) {
			outside := t.TempDir()
			root := filepath.Join(t.TempDir(), "root")
			dir := filepath.Join("artifacts", "tree")
			if test.at == "artifacts/.." {
				dir = filepath.Join("up", "artifacts", "tree")
				test.at = "up"
			}
			link(t, outside, filepath.Join(root, filepath.FromSlash(test.at)))
			_, err := sessiondir.WriteStep(root, dir, testSession("run-0001"), testStep("read", now))
			if err == nil {
				t.Error("WriteStep went through a link that leaves the root")
			}
			if entries, _ := os.ReadDir(outside); len(entries) > 0 {
				t.Errorf("it wrote %v outside", entries)
			}
		})
	}
	t.Run("a link inside the tree", func(t *testing.T) {
		dir := t.TempDir()
		link(t, "other-session", filepath.Join(dir, "run-0001"))
		write(t, dir, "other-session/steps/a.txt", "", 0)
		if _, err := sessiondir.WriteSession("", dir, testSession("run-0001")); memory.CodeOf(err) != memory.CodeForbidden {
			t.Errorf("WriteSession: %v; want it to be refused", err)
		}
	})
}

func TestWritingADamagedSessionAnew(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "run-0001/session.json", `{"sessionId": "ru`, 0)
	folder, err := sessiondir.WriteSession("", dir, testSession("run-0001"))
	if err != nil || filepath.Base(folder) != "run-0001" {
		t.Fatalf("WriteSession: %s, %v", folder, err)
	}
	if _, ok := collect(t, sessiondir.ReadTree(dir)).session("run-0001"); !ok {
		t.Error("the session is still damaged")
	}
}
