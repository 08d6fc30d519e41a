package code_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// TestRunGoesOnAfterEveryFailure: wherever a run ends, the next one leads to the
// chunks of a run that was never disturbed, and puts no file again that was put.
func TestRunGoesOnAfterEveryFailure(t *testing.T) {
	files := map[string]string{}
	for i := range 6 {
		files[fmt.Sprintf("d%d/f%d.go", i%2, i)] = fmt.Sprintf("package f\n\n// F%d counts.\nfunc F%d() int { return %d }\n", i, i, i)
	}
	root := folder(t, files)
	clean := newRig(t, rigOptions{})
	q := clean.ask(root)
	clean.runNext()
	want := chunksOf(clean.indexed(q.Sandbox))

	broken := errors.New("power cut")
	for n := range len(files) + 1 { // the heads are put first, as one
		r := newRig(t, rigOptions{})
		r.ask(root)
		puts, put := 0, map[string]int{}
		failAt := func() error {
			if puts++; puts == n+1 {
				return broken
			}
			return nil
		}
		r.disk.files = func([]memory.File) error { return failAt() }
		r.disk.onPut(func(_ context.Context, f memory.File) error {
			err := failAt()
			if err == nil {
				put[f.Path]++
			}
			return err
		})
		if err := r.run(r.lease()); !errors.Is(err, broken) {
			t.Fatalf("put %d fails: the run ends with %v", n, err)
		}
		if s := r.state(q.Sandbox); s.LastError == "" || !s.IndexedAt.IsZero() {
			t.Errorf("put %d failed: the state is %+v", n, s)
		}
		// As a process that died would find it.
		next := r.reopen(rigOptions{})
		next.disk.onPut(func(_ context.Context, f memory.File) error {
			put[f.Path]++
			return nil
		})
		next.runNext()
		if diff := cmp.Diff(want, chunksOf(next.indexed(q.Sandbox))); diff != "" {
			t.Errorf("put %d failed: the chunks (-undisturbed +resumed):\n%s", n, diff)
		}
		for path, times := range put {
			if times != 1 {
				t.Errorf("put %d failed: %s was put %d times", n, path, times)
			}
		}
		if s := next.state(q.Sandbox); s.LastError != "" || s.Files != len(files) || s.Stale {
			t.Errorf("put %d failed: after the next run the state is %+v", n, s)
		}
		next.close()
	}
}

func chunksOf(files map[string]memory.File) map[string][]memory.FileChunk {
	chunks := map[string][]memory.FileChunk{}
	for path, f := range files {
		chunks[path] = f.Chunks
	}
	return chunks
}

// TestPartialRunReadsWhatItTouches: a run over one file looks up that file, however
// many there are, and its totals are those of all.
func TestPartialRunReadsWhatItTouches(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("d%d/f%d.go", i%10, i)] = fmt.Sprintf("package f%d\n", i)
	}
	root := folder(t, files)
	r := newRig(t, rigOptions{})
	q := r.ask(root)
	r.runNext()
	r.reads.files.Store(0)
	r.reads.lists.Store(0)
	write(t, root, "d1/f1.go", "package f1\n\nfunc New() {}\n")
	write(t, root, "d1/more.go", "package more\n")
	r.ask(root, "d1/f1.go", "d1/more.go", "d2/gone.go")
	r.runNext()
	if lists, reads := r.reads.lists.Load(), r.reads.files.Load(); lists > 0 || reads > 3 {
		t.Errorf("a run over three files lists all %d times and looks up %d files", lists, reads)
	}
	bytes := int64(0)
	for _, f := range r.indexed(q.Sandbox) {
		bytes += f.Size
	}
	if s := r.state(q.Sandbox); s.Files != 301 || s.Chunks != 301 || s.Bytes != bytes {
		t.Errorf("after it there are %d files, %d chunks, %d bytes; want 301, 301, %d", s.Files, s.Chunks, s.Bytes, bytes)
	}
}

// TestTimeLimitGoesOn: a run that is ended by its time limit has not failed, leaves
// the others their turn and goes on where it was; one that gets nowhere fails.
func TestTimeLimitGoesOn(t *testing.T) {
	opts := runOptions()
	opts.TimeLimit = 50 * time.Millisecond
	r := newRig(t, rigOptions{run: opts})
	root := folder(t, map[string]string{"a.go": "package a\n", "b.go": "package b\n", "c.go": "package c\n"})
	other := folder(t, map[string]string{"o.go": "package o\n"})
	q := r.ask(root)
	put := map[string]int{}
	r.disk.onPut(func(ctx context.Context, f memory.File) error {
		if len(put) > 0 {
			<-ctx.Done() // the second file takes too long
			return ctx.Err()
		}
		put[f.Path]++
		return nil
	})
	o := r.ask(other)
	r.runNext()
	s := r.state(q.Sandbox)
	if s.LastError == "" || s.Progress == nil || s.Progress.Phase != "queued" || !s.Stale {
		t.Errorf("ended by its time limit: %+v, progress %+v, want it to wait for the rest", s, s.Progress)
	}
	counts, err := r.boxes.Counts()
	must(t, err)
	if counts.Runs != 1 || counts.Failed != 0 {
		t.Errorf("it counts as %d runs, %d failed", counts.Runs, counts.Failed)
	}
	r.disk.onPut(func(_ context.Context, f memory.File) error {
		put[f.Path]++
		return nil
	})
	r.runNext()
	if s := r.state(o.Sandbox); s.Files != 1 {
		t.Errorf("behind it the other project has %d files, want its turn before the rest", s.Files)
	}
	r.runNext()
	if s := r.state(q.Sandbox); s.LastError != "" || s.Files != 3 || s.Stale || s.Progress != nil {
		t.Errorf("after the rest: %+v", s)
	}
	if want := []string{"a.go", "b.go", "c.go", "o.go"}; !slices.Equal(slices.Sorted(maps.Keys(put)), want) || put["a.go"] != 1 {
		t.Errorf("put %v, want each of %q once", put, want)
	}

	r.disk.onPut(func(ctx context.Context, f memory.File) error {
		<-ctx.Done()
		return ctx.Err()
	})
	write(t, root, "a.go", "package changed\n")
	r.ask(root)
	if err := r.run(r.lease()); err == nil {
		t.Error("a run that gets nowhere has not failed")
	}
	if counts, err = r.boxes.Counts(); err != nil || counts.Failed != 1 {
		t.Errorf("it counts as %+v, %v", counts, err)
	}
}
