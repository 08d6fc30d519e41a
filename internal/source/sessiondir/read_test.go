package sessiondir_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/sessiondir"
)

// TestFilesWithFewFields reads sessions whose files leave out all that can be.
func TestFilesWithFewFields(t *testing.T) {
	read := collect(t, sessiondir.ReadTree(filepath.Join("testdata", "sparse")))
	for _, test := range []struct {
		id      string
		bare    bool
		created time.Time
		tool    string
	}{
		{"sparse-1", false, time.Date(2026, 3, 1, 9, 0, 0, 500e6, time.UTC), "read"},
		{"named-by-folder", false, time.UnixMilli(1772355600250).UTC(), "grep"},
		{"without-session-file", true, time.Date(2026, 3, 3, 10, 11, 12, 0, time.UTC), "edit"},
		{"sparse-4", true, time.Date(2026, 3, 4, 10, 11, 12, 0, time.UTC), "write"},
	} {
		s, ok := read.session(test.id)
		if !ok || s.Bare != test.bare || !s.CreatedAt.Equal(test.created) {
			t.Errorf("session %s: %v, %+v; want bare %v, created %v", test.id, ok, s, test.bare, test.created)
		}
		if got := read.tools(test.id); !slices.Equal(got, []string{test.tool}) {
			t.Errorf("session %s has the steps %v, want %s", test.id, got, test.tool)
		}
		if err := s.Validate(); err != nil {
			t.Errorf("session %s is not valid: %v", test.id, err)
		}
	}
	if len(read.sessions) != 4 || len(read.problems) > 0 {
		t.Errorf("%d sessions, want 4; problems: %v", len(read.sessions), read.problems)
	}
}

func TestASessionWithoutAnyTime(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "run-0001/session.json", `{}`, time.Hour)
	got, ok := collect(t, sessiondir.ReadTree(dir)).session("run-0001")
	if want := now.Add(-time.Hour); !ok || !got.CreatedAt.Equal(want) {
		t.Errorf("it was created %v, want when its file was last changed, %v", got.CreatedAt, want)
	}
}

// TestReadingWaitsForNothing imports a tree in which a file is half-written.
func TestReadingWaitsForNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run-0001", "steps", "1.json")
	must(t, os.MkdirAll(filepath.Dir(path), 0o777))
	must(t, os.WriteFile(path, []byte(`{"tool":`), 0o666))
	if got := collect(t, sessiondir.ReadTree(dir)); len(got.problems) != 1 || got.problems[0].File != path {
		t.Errorf("the problems are %v, want one of %s", got.problems, path)
	}
}

func TestReadSessionAsItIsNamed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "run-0001/steps/1.json", `{"tool":{"name":"read"},"timestamp":"2026-05-01T11:00:00Z"}`, 0)
	alias := filepath.Join(t.TempDir(), "alias")
	link(t, filepath.Join(dir, "run-0001"), alias)
	t.Chdir(filepath.Join(dir, "run-0001"))
	for _, folder := range []string{".", filepath.Join("..", "run-0001"), filepath.Join(dir, "run-0001"), alias} {
		if got := collect(t, sessiondir.ReadSession(folder)).tools("run-0001"); !slices.Equal(got, []string{"read"}) {
			t.Errorf("ReadSession(%s) gives the steps %v", folder, got)
		}
	}
}

func TestReadingWhatIsMissing(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for name, parts := range map[string]func(func(sessiondir.Batch, error) bool){
		"ReadTree": sessiondir.ReadTree(missing), "ReadSession": sessiondir.ReadSession(missing),
	} {
		n := 0
		for _, err := range parts {
			n++
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v; want fs.ErrNotExist", name, err)
			}
		}
		if n != 1 {
			t.Errorf("%s yields %d times, want once", name, n)
		}
	}
}

func TestWhatAFolderIs(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "tree/with-file/session.json", `{}`, 0)
	write(t, dir, "tree/with-steps/steps/1.json", `{}`, 0)
	write(t, dir, "other/file.txt", ``, 0)
	write(t, dir, "other/folder/steps/readme.md", ``, 0)
	for _, test := range []struct {
		name          string
		session, tree bool
	}{
		{"tree", false, true}, {"tree/with-file", true, false}, {"tree/with-steps", true, false},
		{"tree/with-steps/steps", false, false}, {"other", false, false}, {"other/file.txt", false, false}, {"none", false, false},
	} {
		path := filepath.Join(dir, filepath.FromSlash(test.name))
		if session, tree := sessiondir.IsSession(path), sessiondir.IsTree(path); session != test.session || tree != test.tree {
			t.Errorf("%s: session %v, tree %v; want %v, %v", test.name, session, tree, test.session, test.tree)
		}
	}
}

// TestReadTreeIsBoundedInParts reads a session that is larger than a part in steps
// and one that is in bytes.
func TestReadTreeIsBoundedInParts(t *testing.T) {
	dir := t.TempDir()
	pad := strings.Repeat("x", 200_000)
	for i := range 40 {
		at := now.Add(time.Duration(i) * time.Second).Format("2006-01-02T15-04-05Z")
		write(t, dir, "run-0001/steps/"+at+"-read.json", `{"tool":{"name":"read"},"observation":"`+pad+`"}`, 0)
	}
	read := collect(t, sessiondir.ReadTree(dir))
	if n := len(read.steps["run-0001"]); n != 40 || read.parts != 2 {
		t.Errorf("8 MB of 40 steps came as %d steps in %d parts, want 2 parts", n, read.parts)
	}
	if !slices.IsSortedFunc(read.steps["run-0001"], func(a, b memory.Record) int { return a.Created.Compare(b.Created) }) {
		t.Error("the steps are not in the order of their time")
	}
}
