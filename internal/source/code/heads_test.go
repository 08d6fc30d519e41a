package code

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestHeadsComeFirst: before a file is cut all have their heads, and what turns out
// not to be indexed has not.
func TestHeadsComeFirst(t *testing.T) {
	files := map[string]string{"late.txt": longText(3*headBytes) + "\x00"}
	for i := range 3*headBatch + 5 {
		files[fmt.Sprintf("d%d/f%d.go", i%7, i)] = fmt.Sprintf("// Package f%d counts.\npackage f\n\nfunc F%d() {}\n", i, i)
	}
	root := tree(t, files)
	s := newShelf()
	cutBefore := 0
	s.fail = func(path string) error {
		if s.puts > 0 && len(s.heads) < len(files) {
			cutBefore++
		}
		return nil
	}
	report := index(t, root, s, nil, settings(Options{}))
	if report.Heads != len(files) || len(s.heads) != len(files) || cutBefore > 0 {
		t.Errorf("%d heads of %d files, %d of them after a file was cut", len(s.heads), len(files), cutBefore)
	}
	if _, there := s.files["late.txt"]; there || report.Dropped != 1 {
		t.Errorf("a file that is binary behind its head stays, %+v", report)
	}
	for path, f := range s.files {
		if f.Head == "" || len(f.Chunks) == 0 || f.Pruned {
			t.Fatalf("%s is %+v, want a head and chunks", path, f)
		}
	}
	s.heads = nil
	if report = index0(t, root, s, settings(Options{})); report.Heads+report.Changed+report.Touched > 0 {
		t.Errorf("a run without changes: %+v", report)
	}
}

func longText(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "text and\n"[i%9]
	}
	return string(b)
}

// TestHeadsGoOn: heads that were put before a run ended are not put again.
func TestHeadsGoOn(t *testing.T) {
	files := map[string]string{}
	for i := range 4 * headBatch {
		files[fmt.Sprintf("f%04d.go", i)] = fmt.Sprintf("package f%d\n", i)
	}
	root := tree(t, files)
	s := newShelf()
	broken := errors.New("power cut")
	s.fail = func(path string) error {
		if len(s.heads) >= 2*headBatch {
			return broken
		}
		return nil
	}
	opts := settings(Options{Workers: 1, Now: later})
	if _, err := Index(t.Context(), sandboxOf(root), KnownFiles{}, nil, s, opts); !errors.Is(err, broken) {
		t.Fatalf("Index: %v, want %v", err, broken)
	}
	for path, f := range s.files {
		if f.Head == "" || len(f.Chunks) > 0 || f.Chunker != 0 {
			t.Fatalf("%s is %+v, want a head alone", path, f)
		}
	}
	s.fail, s.heads = nil, nil
	if report := index(t, root, s, nil, opts); report.Heads != 2*headBatch || report.Changed != len(files) {
		t.Errorf("the next run: %+v, want %d heads and %d files", report, 2*headBatch, len(files))
	}
}

// TestWhatIsStoredFollowsSettings: files are stored as the settings say at the next
// run, and cut again only for their chunks.
func TestWhatIsStoredFollowsSettings(t *testing.T) {
	root := tree(t, map[string]string{"a.go": verified, "b.md": "# Title\n\ntext\n"})
	s := newShelf()
	both, light, full, none := Options{}, Options{NoChunks: true}, Options{NoHeads: true}, Options{NoHeads: true, NoChunks: true}
	for i, step := range []struct {
		opts             Options
		changed, touched int
		chunks, heads    bool
	}{
		{both, 2, 0, true, true},
		{full, 0, 2, true, false},
		{full, 0, 0, true, false},
		{light, 2, 0, false, true},
		{light, 0, 0, false, true},
		{both, 2, 0, true, true},
		{both, 0, 0, true, true},
		{none, 0, 0, false, false},
		{light, 2, 0, false, true},
		{full, 2, 0, true, false},
	} {
		report := index0(t, root, s, settings(step.opts))
		if report.Changed != step.changed || report.Touched != step.touched {
			t.Errorf("step %d: %d changed and %d touched, want %d and %d", i, report.Changed, report.Touched, step.changed, step.touched)
		}
		if !step.chunks && !step.heads {
			if len(s.files) > 0 || report.Dropped != 2 {
				t.Errorf("step %d: with neither index %d files stay: %+v", i, len(s.files), report)
			}
			continue
		}
		for _, path := range []string{"a.go", "b.md"} {
			if f := s.files[path]; (len(f.Chunks) > 0) != step.chunks || (f.Head != "") != step.heads {
				t.Errorf("step %d: %s is %+v, want chunks %v and a head %v", i, path, f, step.chunks, step.heads)
			}
		}
	}
}

// index0 runs over everything, the sandbox having been indexed before.
func index0(t *testing.T, root string, s *store, opts Options) Report {
	t.Helper()
	opts.Now = later
	box := sandboxOf(root)
	box.IndexedAt = later()
	report, err := Index(t.Context(), box, KnownFiles(maps.Clone(s.files)), nil, s, opts)
	if err != nil {
		t.Fatalf("Index: %v", err)
	}
	return report
}

// TestPrunedStaysPruned: a file whose chunks gave way is redone when its text
// changes or somebody asks, and not because it was looked at, or touched.
func TestPrunedStaysPruned(t *testing.T) {
	root := tree(t, map[string]string{"a.go": verified, "b.go": "package b\n"})
	s := newShelf()
	index(t, root, s, nil, settings(Options{}))
	prune := func() {
		f := s.files["a.go"]
		f.Chunks, f.Pruned = nil, true
		s.files["a.go"] = f
	}
	prune()
	for _, step := range []struct {
		name   string
		do     func()
		opts   Options
		pruned bool
	}{
		{"looked at", func() {}, Options{}, true},
		{"touched", func() { chtime(t, root, "a.go") }, Options{}, true},
		{"without heads", func() {}, Options{NoHeads: true}, true},
		{"with them again", func() {}, Options{}, true},
		{"asked for", func() {}, Options{Restore: true}, false},
		{"pruned again", prune, Options{}, true},
		{"changed", func() { put(t, root, "a.go", verified+"\n// more\n") }, Options{}, false},
	} {
		step.do()
		index0(t, root, s, settings(step.opts))
		f := s.files["a.go"]
		if f.Pruned != step.pruned || (len(f.Chunks) == 0) != step.pruned || (f.Head == "") != step.opts.NoHeads {
			t.Errorf("%s: %+v, want it pruned: %v", step.name, f, step.pruned)
		}
	}
	if !slices.Equal(s.paths(), []string{"a.go", "b.go"}) {
		t.Errorf("indexed %q", s.paths())
	}
}

// TestEmptyHead: a file that begins with nothing to show is not put again and again.
func TestEmptyHead(t *testing.T) {
	root := tree(t, map[string]string{"a.md": string(slices.Repeat([]byte("\n"), 2*headBytes)) + "# Far down\n"})
	s := newShelf()
	index(t, root, s, nil, settings(Options{}))
	if f := s.files["a.md"]; f.Head != "" || len(f.Chunks) != 1 {
		t.Fatalf("it is %+v, want a chunk and no head", f)
	}
	if report := index(t, root, s, nil, settings(Options{})); report.Changed+report.Touched > 0 || report.Files != 1 {
		t.Errorf("the second run: %+v, want nothing put", report)
	}
}

func chtime(t *testing.T, root, name string) {
	t.Helper()
	when := time.Now().Add(-time.Minute)
	must(t, os.Chtimes(filepath.Join(root, name), when, when))
}
