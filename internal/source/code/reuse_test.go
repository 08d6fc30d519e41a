package code_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// manyFiles are some batches of files, each with a different text.
func manyFiles() map[string]string {
	files := map[string]string{}
	for i := range 150 {
		files[fmt.Sprintf("d%d/f%d.go", i%7, i)] = fmt.Sprintf(
			"// Package f%d counts.\npackage f\n\n// Count%d counts to %d.\nfunc Count%d() int {\n\treturn %d\n}\n", i, i, i, i, i)
	}
	return files
}

// putCounts counts the files that are put with documents, and without.
type putCounts struct{ cut, shared, heads atomic.Int64 }

func (r *rig) countPuts() *putCounts {
	n := &putCounts{}
	r.disk.onPut(func(context.Context, memory.File) error {
		n.cut.Add(1)
		return nil
	})
	r.disk.onPutFiles(func(files []memory.File) error {
		for _, f := range files {
			if f.Hash.IsZero() {
				n.heads.Add(1)
			} else {
				n.shared.Add(1)
			}
		}
		return nil
	})
	return n
}

func (n *putCounts) want(t *testing.T, when string, cut, shared, heads int64) {
	t.Helper()
	if c, s, h := n.cut.Load(), n.shared.Load(), n.heads.Load(); c != cut || s != shared || h != heads {
		t.Errorf("%s: %d files cut, %d shared, %d heads; want %d, %d, %d", when, c, s, h, cut, shared, heads)
	}
}

// sameIndex holds what is indexed of two sandboxes against each other.
func (r *rig) sameIndex(a, b string) {
	r.t.Helper()
	first, second := r.indexed(a), r.indexed(b)
	if len(first) == 0 || len(first) != len(second) {
		r.t.Errorf("%d and %d files are indexed", len(first), len(second))
	}
	for path, f := range first {
		g := second[path]
		if g.Hash != f.Hash || g.Head != f.Head || g.Lang != f.Lang || g.Chunker != f.Chunker || len(f.Chunks) == 0 || !slices.Equal(f.Chunks, g.Chunks) {
			r.t.Errorf("%s is %+v and %+v", path, f, g)
		}
	}
}

// TestWorktreeIsNotCut: a folder with texts that are indexed elsewhere costs no
// cutting and no heads first, nor does a file that is renamed, or is what it was while
// another folder still is.
func TestWorktreeIsNotCut(t *testing.T) {
	files := manyFiles()
	run, began := runOptions(), time.Now()
	// While the clock stands, no file is old enough for its times to prove anything. On a busy
	// machine some files would become so during the test, and be stored once more.
	run.Now = func() time.Time { return began }
	r := newRig(t, rigOptions{run: run})
	n := r.countPuts()
	first := r.ask(folder(t, files))
	r.runNext()
	n.want(t, "the first folder", 150, 0, 150)
	documents := r.index.Documents()
	root := folder(t, files)
	n = r.countPuts()
	second := r.ask(root)
	r.runNext()
	n.want(t, "the second folder", 0, 150, 0)
	if got := r.index.Documents(); got != documents {
		t.Errorf("%d documents are indexed, before the second folder %d", got, documents)
	}
	r.sameIndex(first.Sandbox, second.Sandbox)

	steps := []struct {
		name        string
		do          func()
		cut, shared int64
	}{
		{"changed", func() { write(t, root, "d1/f1.go", "package changed\n") }, 1, 0},
		{"what it was", func() { write(t, root, "d1/f1.go", files["d1/f1.go"]) }, 0, 1},
		{"renamed", func() { must(t, os.Rename(filepath.Join(root, "d1"), filepath.Join(root, "moved"))) }, 0, 22},
	}
	for _, step := range steps {
		n = r.countPuts()
		step.do()
		r.leaseAndRun(second)
		n.want(t, step.name, step.cut, step.shared, 0)
	}
	if len(r.indexed(second.Sandbox)) != 150 {
		t.Errorf("%d files are indexed of the second folder, want all", len(r.indexed(second.Sandbox)))
	}
}

// TestHeadsBesideFewKnownTexts: some known texts among many new ones do not keep the
// heads of these from coming first.
func TestHeadsBesideFewKnownTexts(t *testing.T) {
	files := manyFiles()
	known := map[string]string{}
	for _, path := range slices.Sorted(maps.Keys(files))[:50] {
		known[path] = files[path]
	}
	r := newRig(t, rigOptions{})
	r.ask(folder(t, known))
	r.runNext()
	n := r.countPuts()
	r.ask(folder(t, files))
	r.runNext()
	n.want(t, "a folder of which a third is known", 100, 50, 150)
}

// TestSweptWhileShared: when the last file with a text goes after a run has found it
// and before the run puts its own, the run cuts that one, and those that were to be
// put with it are put.
func TestSweptWhileShared(t *testing.T) {
	files := manyFiles()
	lost := []string{"d0/f0.go", "d1/f1.go", "d3/f3.go"}
	for name, gone := range map[string][]string{"some": lost, "all": slices.Collect(maps.Keys(files))} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, rigOptions{})
			q := r.ask(folder(t, files))
			r.runNext()
			swept := false
			cut := r.countPuts()
			r.disk.onPutFiles(func([]memory.File) error {
				if swept {
					return nil
				}
				swept = true
				for _, path := range gone {
					must(t, r.paths.DropFile(t.Context(), q.Sandbox, path))
				}
				return nil
			})
			second := r.ask(folder(t, files))
			r.runNext()
			if n := int(cut.cut.Load()); n != len(gone) {
				t.Errorf("%d files were cut, want the %d whose text was swept", n, len(gone))
			}
			got := r.indexed(second.Sandbox)
			for path, text := range files {
				f := got[path]
				if f.Hash != memory.DocumentID(text) || len(f.Chunks) == 0 {
					t.Errorf("%s is %+v", path, f)
				}
			}
		})
	}
}

// TestPrunedWhileTouched: a file whose chunks were taken away after a run has found that
// only its time is new is cut.
func TestPrunedWhileTouched(t *testing.T) {
	root := folder(t, map[string]string{"a.go": "package a\n\nfunc F() {}\n", "b.go": "package b\n"})
	opts := runOptions()
	opts.Now = func() time.Time { return time.Now().Add(time.Hour) } // no file was just changed
	r := newRig(t, rigOptions{run: opts})
	q := r.ask(root)
	r.runNext()
	n := r.countPuts()
	pruned := false
	r.disk.onPutFiles(func([]memory.File) error {
		if !pruned {
			pruned = true
			_, err := r.paths.PruneFiles(t.Context(), []memory.FileKey{{Sandbox: q.Sandbox, Path: "a.go"}})
			must(t, err)
		}
		return nil
	})
	for path := range r.indexed(q.Sandbox) {
		must(t, os.Chtimes(filepath.Join(root, path), r.clock.Now().Add(-time.Hour), r.clock.Now().Add(-time.Hour)))
	}
	r.leaseAndRun(q)
	if f := r.indexed(q.Sandbox)["a.go"]; len(f.Chunks) == 0 || f.Pruned || n.cut.Load() != 1 {
		t.Errorf("%d files were cut, a.go is %+v; want its chunks back", n.cut.Load(), f)
	}
}

// TestSharedFilesThatFail: an error of the store ends a run, and the next one goes on.
func TestSharedFilesThatFail(t *testing.T) {
	files := manyFiles()
	r := newRig(t, rigOptions{})
	first := r.ask(folder(t, files))
	r.runNext()
	broken := errors.New("power cut")
	batches := 0
	r.disk.onPutFiles(func([]memory.File) error {
		if batches++; batches == 2 {
			return broken
		}
		return nil
	})
	second := r.ask(folder(t, files))
	if err := r.run(r.lease()); !errors.Is(err, broken) {
		t.Fatalf("run: %v, want %v", err, broken)
	}
	n := r.countPuts()
	r.leaseAndRun(second)
	n.want(t, "the next run", 0, 150-64, 0)
	r.sameIndex(first.Sandbox, second.Sandbox)
}
