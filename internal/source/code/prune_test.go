package code_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/code"
)

// pruneFiles are files of about one size, no two alike, written so long ago that
// they need not be read again.
func pruneFiles(name string, n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		var text strings.Builder
		fmt.Fprintf(&text, "package %s\n", name)
		for f := range 20 {
			fmt.Fprintf(&text, "\n// %s%dAnd%d counts %d and %d, which nobody else does in this way.\nfunc %s%dAnd%d() int {\n\treturn %d + %d\n}\n",
				name, i, f, i, f, name, i, f, i, f)
		}
		files[fmt.Sprintf("%s%02d.go", name, i)] = text.String()
	}
	return files
}

// indexAll asks for folders and runs what waits.
func (r *rig) indexAll(roots ...string) []*memory.IndexQueued {
	r.t.Helper()
	var out []*memory.IndexQueued
	for _, root := range roots {
		out = append(out, r.ask(root))
		r.clock.advance(time.Minute)
		r.runNext()
	}
	return out
}

// pruned are the paths of a sandbox whose chunks gave way.
func (r *rig) pruned(sandbox string) []string {
	r.t.Helper()
	files := r.indexed(sandbox)
	maps.DeleteFunc(files, func(_ string, f memory.File) bool { return !f.Pruned })
	return slices.Sorted(maps.Keys(files))
}

// diskBytes is what all code takes.
func (r *rig) diskBytes() int64 {
	_, disk := r.store.IndexSizes()
	return disk
}

// sizeOf is what folders take when they are indexed without a limit.
func sizeOf(t *testing.T, roots ...string) int64 {
	t.Helper()
	r := newRig(t, rigOptions{})
	r.indexAll(roots...)
	return r.diskBytes()
}

// TestPruneOrder: the project goes first that was used least recently, and in it
// the files that were; down to a tenth below the limit and no further.
func TestPruneOrder(t *testing.T) {
	old, used := folder(t, pruneFiles("old", 20)), folder(t, pruneFiles("used", 20))
	limit := sizeOf(t, old, used) * 80 / 100
	r := newRig(t, rigOptions{maxSize: limit})
	a := r.indexAll(old)[0]
	r.store.Used(r.clock.Now(), memory.FileKey{Sandbox: a.Sandbox, Path: "old03.go"})
	r.clock.advance(time.Minute)
	b := r.indexAll(used)[0]
	gone := r.pruned(a.Sandbox)
	if len(r.pruned(b.Sandbox)) > 0 || len(gone) == 0 || slices.Contains(gone, "old03.go") {
		t.Errorf("pruned are %q of the older project and %q of the newer one", gone, r.pruned(b.Sandbox))
	}
	if disk := r.diskBytes(); disk > limit*90/100 || disk < limit*80/100 {
		t.Errorf("the index takes %d of %d, want about nine tenths", disk, limit)
	}
	files := r.indexed(a.Sandbox)
	for _, path := range gone {
		if f := files[path]; f.Head == "" || len(f.Chunks) > 0 {
			t.Errorf("%s is %+v, want a head alone", path, f)
		}
	}
	s := r.state(a.Sandbox)
	counts, err := r.boxes.Counts()
	must(t, err)
	if s.Pruned != len(gone) || counts.Pruned != len(gone) || s.UsedAt.IsZero() || s.IndexBytes == 0 || counts.IndexBytes != r.diskBytes() || counts.MaxBytes != limit {
		t.Errorf("%d files were pruned; the state is %+v, the counts %+v", len(gone), s, counts)
	}
	if s.Files != 20 {
		t.Errorf("%d files are indexed, want the pruned ones among them", s.Files)
	}
}

// TestPruneUsedProjectLast: the use of one file keeps its project behind one that
// was indexed later, and a project that is asked for again counts as used.
func TestPruneUsedProjectLast(t *testing.T) {
	one, two := folder(t, pruneFiles("one", 20)), folder(t, pruneFiles("two", 20))
	small := folder(t, pruneFiles("small", 4))
	limit := sizeOf(t, one, two) * 101 / 100
	r := newRig(t, rigOptions{maxSize: limit})
	q := r.indexAll(one, two)
	r.store.Used(r.clock.Now(), memory.FileKey{Sandbox: q[0].Sandbox, Path: "one00.go"})
	r.clock.advance(time.Minute)
	r.indexAll(small)
	if len(r.pruned(q[0].Sandbox)) > 0 || len(r.pruned(q[1].Sandbox)) == 0 {
		t.Errorf("pruned are %q of the used project and %q of the other", r.pruned(q[0].Sandbox), r.pruned(q[1].Sandbox))
	}
}

// TestPruneDoesNotThrash: what was pruned is not brought back by looking again, is
// when somebody asks, and others make room for it then.
func TestPruneDoesNotThrash(t *testing.T) {
	one, two := folder(t, pruneFiles("one", 20)), folder(t, pruneFiles("two", 20))
	limit := sizeOf(t, one, two) * 80 / 100
	r := newRig(t, rigOptions{maxSize: limit})
	r.clock.advance(time.Since(r.clock.Now()) + time.Hour) // no file was just written
	q := r.indexAll(one, two)
	before := r.pruned(q[0].Sandbox)
	if len(before) == 0 {
		t.Fatal("nothing was pruned")
	}
	puts := 0
	r.disk.prune = func([]memory.FileKey) error {
		puts++
		return nil
	}
	generation := r.indexed(q[0].Sandbox)[before[0]].Generation
	for range 3 {
		for _, q := range q {
			r.leaseAndRun(q)
		}
	}
	if after := r.pruned(q[0].Sandbox); !slices.Equal(after, before) || puts > 0 || r.indexed(q[0].Sandbox)[before[0]].Generation != generation {
		t.Errorf("looked at again: pruned are %q, before %q, in %d batches", after, before, puts)
	}
	r.indexAll(one)
	if len(r.pruned(q[0].Sandbox)) > 0 || len(r.pruned(q[1].Sandbox)) == 0 || r.diskBytes() > limit {
		t.Errorf("asked for again: pruned are %q and %q, %d of %d bytes", r.pruned(q[0].Sandbox), r.pruned(q[1].Sandbox), r.diskBytes(), limit)
	}
	// A changed file comes back by itself.
	path := r.pruned(q[1].Sandbox)[0]
	write(t, two, path, "package two\n\nfunc Changed() {}\n")
	r.leaseAndRun(q[1])
	if f := r.indexed(q[1].Sandbox)[path]; f.Pruned || len(f.Chunks) == 0 {
		t.Errorf("changed, %s is %+v", path, f)
	}
}

// TestPruneSharedWorktrees: the files of a worktree free little while another holds
// the same; the sizes say so, and pruning goes on until enough is free.
func TestPruneSharedWorktrees(t *testing.T) {
	files := pruneFiles("w", 20)
	main, tree := folder(t, files), folder(t, files)
	for _, root := range []string{main, tree} {
		gitFolder(t, root, "https://example.org/team/shop.git")
	}
	limit := sizeOf(t, main, tree) * 70 / 100
	r := newRig(t, rigOptions{maxSize: limit})
	q := r.indexAll(main, tree)
	if q[0].Project != q[1].Project {
		t.Fatalf("the worktrees are projects %s and %s", q[0].Project, q[1].Project)
	}
	if disk := r.diskBytes(); disk > limit*90/100 {
		t.Errorf("the index takes %d of %d", disk, limit)
	}
	a, b := r.pruned(q[0].Sandbox), r.pruned(q[1].Sandbox)
	if len(a) == 0 || len(a) < len(b)-1 || len(a) > len(b)+1 {
		t.Errorf("pruned are %d files here and %d there, want the same of both", len(a), len(b))
	}
	if len(a) == 20 {
		t.Error("everything was pruned")
	}
}

// TestPruneGoesOn: pruning that is ended in the middle has pruned whole files, and
// the next run goes on; when code was used is known after a restart.
func TestPruneGoesOn(t *testing.T) {
	const n = 200
	root := folder(t, pruneFiles("f", n))
	whole := sizeOf(t, root)
	r := newRig(t, rigOptions{})
	q := r.indexAll(root)[0]
	r.store.Used(r.clock.Now(), memory.FileKey{Sandbox: q.Sandbox, Path: "f00.go"}, memory.FileKey{Sandbox: q.Sandbox, Path: "f01.go"})

	r = r.reopen(rigOptions{maxSize: whole / 2})
	batches, broken := 0, errors.New("power cut")
	r.disk.prune = func([]memory.FileKey) error {
		if batches++; batches == 2 {
			return broken
		}
		return nil
	}
	r.leaseAndRun(q)
	if got := len(r.pruned(q.Sandbox)); got == 0 || r.diskBytes() <= whole/2 {
		t.Fatalf("ended in the middle it has pruned %d files down to %d of %d", got, r.diskBytes(), whole/2)
	}
	if s := r.state(q.Sandbox); s.LastError != "" {
		t.Errorf("the run has failed with its pruning: %s", s.LastError)
	}
	r = r.reopen(rigOptions{maxSize: whole / 2})
	r.leaseAndRun(q)
	if disk := r.diskBytes(); disk > whole/2*90/100 {
		t.Errorf("gone on, the index takes %d of %d", disk, whole/2)
	}
	if gone := r.pruned(q.Sandbox); slices.Contains(gone, "f00.go") || slices.Contains(gone, "f01.go") || len(gone) > n*2/3 {
		t.Errorf("pruned are %d files, %.100s", len(gone), strings.Join(gone, " "))
	}
}

// TestPruneWaitsForTheRest: a repository that is larger than the limit and takes
// several runs is pruned when the last of them has ended.
func TestPruneWaitsForTheRest(t *testing.T) {
	root := folder(t, pruneFiles("f", 8))
	limit := sizeOf(t, root) / 2
	r := newRig(t, rigOptions{maxSize: limit})
	q := r.ask(root)
	puts := 0
	r.disk.onPut(func(context.Context, memory.File) error {
		if puts++; puts == 7 { // as if it were reached here, on a machine of any speed
			return code.ErrTimeLimit
		}
		return nil
	})
	r.runNext()
	if gone := r.pruned(q.Sandbox); len(gone) > 0 || r.diskBytes() <= limit {
		t.Errorf("in the middle, %q are pruned, the index takes %d of %d", gone, r.diskBytes(), limit)
	}
	r.runNext()
	if n := r.waiting(); n > 0 || len(r.pruned(q.Sandbox)) == 0 || r.diskBytes() > limit {
		t.Errorf("at the end %d runs wait, %q are pruned, the index takes %d of %d", n, r.pruned(q.Sandbox), r.diskBytes(), limit)
	}
}

// TestPruneLeavesRunsAlone: while the project that is to be pruned is being indexed
// nothing is, neither of it nor of one that was used later; its own end prunes it.
func TestPruneLeavesRunsAlone(t *testing.T) {
	old, newer := folder(t, pruneFiles("old", 10)), folder(t, pruneFiles("newer", 10))
	limit := sizeOf(t, old, newer) * 80 / 100
	r := newRig(t, rigOptions{maxSize: limit})
	a := r.indexAll(old)[0]
	write(t, old, "more.go", "package old\n")
	lease := r.leaseOf(a)
	var b *memory.IndexQueued
	r.disk.onPut(func(_ context.Context, f memory.File) error {
		r.disk.onPut(nil)
		b = r.indexAll(newer)[0]
		if n, m := len(r.pruned(a.Sandbox)), len(r.pruned(b.Sandbox)); n+m > 0 || r.diskBytes() <= limit {
			t.Errorf("in the middle of a run %d files of it are pruned, %d of the other, at %d of %d", n, m, r.diskBytes(), limit)
		}
		return nil
	})
	must(t, r.run(lease))
	if n, m := len(r.pruned(a.Sandbox)), len(r.pruned(b.Sandbox)); n == 0 || m > 0 || r.diskBytes() > limit {
		t.Errorf("after it %d files of it are pruned, %d of the other, at %d of %d", n, m, r.diskBytes(), limit)
	}
}
