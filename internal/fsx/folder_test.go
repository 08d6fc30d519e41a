package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

func TestOpen(t *testing.T) {
	root := t.TempDir()
	if _, _, err := OpenFolder(root, "a/b", false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there opens with %v, want fs.ErrNotExist", err)
	}
	for _, test := range []struct{ root, dir, want string }{
		{root, "a/b", filepath.Join(root, "a", "b")},
		{root, ".", root},
		{root, filepath.Join(root, "own", "..", "own"), filepath.Join(root, "own")},
		{"", filepath.Join(root, "alone"), filepath.Join(root, "alone")},
	} {
		at, path, err := OpenFolder(test.root, test.dir, true)
		if err != nil || path != test.want {
			t.Fatalf("OpenFolder(%q, %q) = %s, %v; want %s", test.root, test.dir, path, err, test.want)
		}
		if err := at.Close(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(test.want); err != nil || !info.IsDir() {
			t.Errorf("%s is not made: %v", test.want, err)
		}
		known := Followed[int]{path: new(int)}
		if known.Forget(test.root, test.dir); len(known) > 0 {
			t.Errorf("Forget(%q, %q) does not forget %s", test.root, test.dir, path)
		}
	}
	for _, test := range []struct{ root, dir string }{{root, ""}, {root, "../x"}, {root, "a/../../x"}, {"", "logs"}, {"rel", "logs"}} {
		_, _, err := OpenFolder(test.root, test.dir, true)
		if e := memory.AsError(err); err == nil || e.Code != memory.CodeInvalidInput || e.Field != "dir" {
			t.Errorf("OpenFolder(%q, %q) = %v, want the field dir refused", test.root, test.dir, err)
		}
	}
}

func TestNoLinkLeadsOut(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(root, "out")); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
	for _, dir := range []string{"out", "out/below"} {
		if _, _, err := OpenFolder(root, dir, true); err == nil {
			t.Errorf("%s opens, which leads out", dir)
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside there is %v, %v", entries, err)
	}
}

func TestMakeEmpty(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "out")
	for range 2 { // there is none, then an empty one
		if err := MakeEmpty(dir); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "x")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, file} {
		if err := MakeEmpty(path); memory.CodeOf(err) != memory.CodeConflict {
			t.Errorf("MakeEmpty(%s) = %v, want a conflict", path, err)
		}
	}
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	at, _, err := OpenFolder("", dir, false)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close() // only its handle
	if err := at.Mkdir("below", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first", "second"} {
		for _, name := range []string{"a.json", filepath.Join("below", "run.sh")} {
			if err := Replace(at, name, []byte(text), 0o777); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != text {
				t.Errorf("%s holds %q, %v; want %q", name, got, err, text)
			}
		}
	}
	if info, err := at.Stat(filepath.Join("below", "run.sh")); err != nil || runtime.GOOS != "windows" && info.Mode()&0o100 == 0 {
		t.Errorf("the mode is %v, %v; want it executable", info.Mode(), err)
	}
	if err := Replace(at, "below", []byte("x"), 0o666); err == nil {
		t.Error("a folder is replaced by a file")
	}
	for _, folder := range []string{dir, filepath.Join(dir, "below")} {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") {
				t.Errorf("%s is left behind", e.Name())
			}
		}
	}
}

func TestIsDevice(t *testing.T) {
	for name, want := range map[string]bool{
		"con": true, "NUL.txt": true, "COM1": true, "lpt9.a.b": true, "conin$": true,
		"": false, "console": false, "com": false, "comx": false, "com10": false, "a.con": false,
	} {
		if got := IsDevice(name); got != want {
			t.Errorf("IsDevice(%q) = %t, want %t", name, got, want)
		}
	}
}

func TestParseTime(t *testing.T) {
	noon := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2026-01-15T12:00:00Z": noon, "2026-01-15T14:00:00+02:00": noon, "2026-01-15 12:00:00": noon, "2026-01-15T12:00:00": noon,
		"2026-01-15 13:00:00+01:00": noon, "2026-01-15T12:00:00.25Z": noon.Add(250 * time.Millisecond), "2026-01-15": noon.Add(-12 * time.Hour),
		"": {}, "now": {}, "2026-02-30": {}, "9999-12-31T23:00:00-02:00": {},
	} {
		got, ok := ParseTime(text)
		if ok == want.IsZero() || !got.Equal(want) {
			t.Errorf("ParseTime(%q) = %v, %t; want %v", text, got, ok, want)
		}
	}
}

// TestNoLinkLeadsIntoGit: a link of a repository must not have recalld write among git's
// own files, where a log would be a reference or a hook.
func TestNoLinkLeadsIntoGit(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{".git/refs/heads", "docs"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.FromSlash(dir)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"refs": ".git/refs/heads", "git": ".git", "through": "git/refs", "plain": "docs"} {
		if err := os.Symlink(filepath.FromSlash(target), filepath.Join(root, name)); err != nil {
			t.Skipf("links cannot be made here: %v", err)
		}
	}
	for dir, want := range map[string]memory.Code{"refs": memory.CodeForbidden, "git": memory.CodeForbidden, "git/refs": memory.CodeForbidden, "through": memory.CodeForbidden, ".git": memory.CodeForbidden, "plain": ""} {
		at, _, err := OpenFolder(root, dir, true)
		if (err == nil) != (want == "") || err != nil && memory.CodeOf(err) != want {
			t.Errorf("OpenFolder(%s) = %v, want the code %q", dir, err, want)
		}
		if err == nil {
			at.Close()
		}
	}
	if _, _, err := OpenFolder(root, "git/made", true); err == nil {
		t.Error("git/made opens, which leads into .git")
	}
	if _, err := os.Stat(filepath.Join(root, ".git", "made")); err == nil {
		t.Error("a folder was made in .git")
	}
}
