package code

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// TestTimesSetBack: a file that is written anew with its size and its time of
// modification kept, in place or by another file, is read again.
func TestTimesSetBack(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("this platform tells no change time: run it on Linux or macOS")
	}
	past := time.Now().Add(-time.Hour)
	for what, rewrite := range map[string]func(path, text string) error{
		"in place": func(path, text string) error { return os.WriteFile(path, []byte(text), 0o644) },
		"by another file": func(path, text string) error {
			if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
				return err
			}
			if err := os.Chtimes(path+".new", past, past); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
	} {
		for _, changed := range [][]string{nil, {"a.go"}} {
			root := tree(t, map[string]string{"a.go": "package a // 1\n", "b.go": "package a // 1\n"})
			path := filepath.Join(root, "a.go")
			must(t, os.Chtimes(path, past, past))
			s := newShelf()
			index(t, root, s, nil, settings(Options{Now: later}))
			if r := index(t, root, s, changed, settings(Options{Now: later})); r.Read != 0 {
				t.Errorf("%d unchanged files are read again", r.Read)
			}
			must(t, rewrite(path, "package b // 2\n"))
			must(t, os.Chtimes(path, past, past))
			if r := index(t, root, s, changed, settings(Options{Now: later})); r.Changed != 1 {
				t.Errorf("written %s with its old time, changed %q: %d files have changed, want 1", what, changed, r.Changed)
			}
		}
	}
}

// TestChangedWithinAMoment: a change time as recent as the reading does not prove
// that the file is as it was read, though its time of modification is old.
func TestChangedWithinAMoment(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("this platform tells no change time: run it on Linux or macOS")
	}
	root := tree(t, map[string]string{"a.go": "package a // 1\n"})
	past := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(filepath.Join(root, "a.go"), past, past))
	s := newShelf()
	index(t, root, s, nil, settings(Options{Now: time.Now}))
	if r := index(t, root, s, nil, settings(Options{Now: later})); r.Read != 1 {
		t.Errorf("a file whose attributes changed as it was read is read %d times by the next run, want once", r.Read)
	}
	if r := index(t, root, s, nil, settings(Options{Now: later})); r.Read != 0 {
		t.Errorf("after that it is read %d times, want not at all", r.Read)
	}
}

// TestUnchanged is about what earlier versions stored, and other platforms tell.
func TestUnchanged(t *testing.T) {
	at, changed := time.Unix(100, 1), time.Unix(200, 2)
	now := Entry{Size: 5, ModTime: at, ChangeTime: changed, Inode: 7}
	for what, test := range map[string]struct {
		old  memory.FileMetadata
		now  Entry
		want bool
	}{
		"the same":                  {memory.FileMetadata{Size: 5, ModTime: at, ChangeTime: changed, Inode: 7}, now, true},
		"another size":              {memory.FileMetadata{Size: 6, ModTime: at, ChangeTime: changed, Inode: 7}, now, false},
		"another time":              {memory.FileMetadata{Size: 5, ModTime: changed, ChangeTime: changed, Inode: 7}, now, false},
		"another change time":       {memory.FileMetadata{Size: 5, ModTime: at, ChangeTime: at, Inode: 7}, now, false},
		"another inode":             {memory.FileMetadata{Size: 5, ModTime: at, ChangeTime: changed, Inode: 8}, now, false},
		"stored by an earlier one":  {memory.FileMetadata{Size: 5, ModTime: at}, now, true},
		"stored so, changed":        {memory.FileMetadata{Size: 5, ModTime: changed}, now, false},
		"no change time told now":   {memory.FileMetadata{Size: 5, ModTime: at, ChangeTime: changed, Inode: 7}, Entry{Size: 5, ModTime: at}, true},
		"read while it was written": {memory.FileMetadata{Size: 5}, now, false},
	} {
		if got := isUnchanged(test.old, test.now); got != test.want {
			t.Errorf("%s: unchanged %t, want %t", what, got, test.want)
		}
	}
}
