package indexer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/internal/memory"
)

// lightRig holds files of two projects: some with chunks, some with a head alone, one
// whose chunks gave way.
func lightRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, nil)
	r.commit(memory.Batch{Sandboxes: []memory.Sandbox{
		{ID: "s-1", Project: "p-1", Root: "/one"}, {ID: "s-2", Project: "p-2", Root: "/two"},
	}})
	r.putFile("p-1", "s-1", "queue/retry.go", "package queue retries jobs")
	r.putFile("p-1", "s-1", "queue/pruned.go", "package queue pruned jobs")
	old := testTime.Add(-time.Hour)
	r.commit(memory.Batch{
		PruneFiles: []memory.FileKey{{Sandbox: "s-1", Path: "queue/pruned.go"}},
		Files: []memory.File{
			{Project: "p-1", Sandbox: "s-1", Path: "docs/Queue.md", Lang: "markdown", Head: "# The retry queue", ModTime: old},
			{Project: "p-2", Sandbox: "s-2", Path: "queue/retry.go", Lang: "go", Head: "package queue", ModTime: testTime},
		},
	})
	return r
}

func paths(cs []memory.Candidate) []string {
	out := []string{}
	for _, c := range cs {
		out = append(out, c.File.Path)
	}
	return out
}

func TestLight(t *testing.T) {
	r := lightRig(t)
	for name, test := range map[string]struct {
		question string
		sel      memory.Selection
		want     []string
	}{
		"of the project":  {"retry", memory.Selection{Project: "p-1"}, []string{"queue/retry.go", "docs/Queue.md"}},
		"of the other":    {"retry", memory.Selection{Project: "p-2"}, []string{"queue/retry.go"}},
		"of none":         {"retry", memory.Selection{}, []string{}},
		"of an unknown":   {"retry", memory.Selection{Project: "p-3"}, []string{}},
		"by language":     {"retry", memory.Selection{Project: "p-1", Lang: "markdown"}, []string{"docs/Queue.md"}},
		"by folder":       {"retry", memory.Selection{Project: "p-1", Path: "queue"}, []string{"queue/retry.go"}},
		"by glob":         {"retry", memory.Selection{Project: "p-1", Path: "**/*.md"}, []string{"docs/Queue.md"}},
		"by time":         {"retry", memory.Selection{Project: "p-1", Since: testTime}, []string{"queue/retry.go"}},
		"among kinds":     {"retry", memory.Selection{Project: "p-1", Kinds: memory.DefaultKinds}, []string{"queue/retry.go", "docs/Queue.md"}},
		"code not wanted": {"retry", memory.Selection{Project: "p-1", Kinds: []memory.Kind{memory.Lesson}}, []string{}},
		"of a session":    {"retry", memory.Selection{Project: "p-1", Session: "some"}, []string{}},
		"with a tag":      {"retry", memory.Selection{Project: "p-1", Tag: "some"}, []string{}},
		"all lessons":     {"retry", memory.Selection{Project: "p-1", AllLessons: true}, []string{"queue/retry.go", "docs/Queue.md"}},
		"nothing fits":    {"kubernetes", memory.Selection{Project: "p-1"}, []string{}},
	} {
		got := r.index.FilesByName(test.question, test.sel, 10)
		if !slices.Equal(paths(got), test.want) {
			t.Errorf("%s: %v, want %v", name, paths(got), test.want)
		}
		for _, c := range got {
			if !c.Head || c.Kind != memory.Chunk || c.Fit <= 0 || c.Fit > 1 || c.Project != test.sel.Project {
				t.Errorf("%s: the candidate is %+v, want a head of the project with a fit", name, c)
			}
		}
	}
	if got := paths(r.index.FilesByName("retry", memory.Selection{Project: "p-1"}, 1)); !slices.Equal(got, []string{"queue/retry.go"}) {
		t.Errorf("one of several is %v, want the best", got)
	}
	if got := paths(r.index.PrunedFiles("queue", memory.Selection{Project: "p-1"}, 10)); !slices.Equal(got, []string{"queue/pruned.go"}) {
		t.Errorf("of pruned files %v, want the one that is", got)
	}
	if got, want := r.index.CodeCounts("p-1"), (memory.CodeCounts{Files: 3, Chunked: 1, Pruned: 1}); got != want {
		t.Errorf("held of the project: %+v, want %+v", got, want)
	}
}

func TestFilesByPattern(t *testing.T) {
	r := lightRig(t)
	for pattern, want := range map[string][]string{
		"queue": {"docs/Queue.md", "queue/retry.go", "queue/pruned.go"}, "*.md": {"docs/Queue.md"}, "retry queue": {"queue/retry.go", "docs/Queue.md"}, "x*": {},
	} {
		got, total := r.index.Files(pattern, "p-1", 10)
		if !slices.Equal(paths(got), want) || total != len(want) {
			t.Errorf("files %q = %v of %d, want %v", pattern, paths(got), total, want)
		}
	}
	if got, total := r.index.Files("queue", "p-1", 2); len(got) != 2 || total != 3 {
		t.Errorf("two of the files: %d of %d", len(got), total)
	}
	if got, total := r.index.Files("queue", "p-9", 2); len(got) != 0 || total != 0 {
		t.Errorf("of an unknown project: %d of %d files", len(got), total)
	}
}

func TestLocationOfAHead(t *testing.T) {
	r := lightRig(t)
	head := r.index.FilesByName("retry", memory.Selection{Project: "p-1", Lang: "markdown"}, 1)[0]
	at, err := r.index.Location(head)
	want := memory.Location{Project: "p-1", Sandbox: "s-1", Root: "/one", Path: "docs/Queue.md", Lang: "markdown", Head: "# The retry queue"}
	if err != nil || at != want {
		t.Errorf("location = %+v, %v; want %+v", at, err, want)
	}
	r.commit(memory.Batch{DropFiles: []memory.FileKey{head.File}})
	if _, err := r.index.Location(head); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("location of a file that has gone: %v, want not found", err)
	}
	if got := r.index.FilesByName("retry", memory.Selection{Project: "p-1", Lang: "markdown"}, 1); len(got) != 0 {
		t.Errorf("a file that has gone is found: %v", paths(got))
	}
}

// TestLightAfterChanges: replaced, renamed and restarted, each file is found by what it
// is now.
func TestLightAfterChanges(t *testing.T) {
	r := lightRig(t)
	sel := memory.Selection{Project: "p-1"}
	f := memory.File{Project: "p-1", Sandbox: "s-1", Path: "docs/Queue.md", Lang: "markdown", Head: "# Backpressure", ModTime: testTime}
	r.commit(memory.Batch{Files: []memory.File{f}})
	old := f.Path
	f.Path = "docs/pressure.md"
	r.commit(memory.Batch{Files: []memory.File{f}, DropFiles: []memory.FileKey{{Sandbox: "s-1", Path: old}}})
	for range 2 {
		if got := paths(r.index.FilesByName("backpressure", sel, 5)); !slices.Equal(got, []string{"docs/pressure.md"}) {
			t.Errorf("by its new head and name: %v", got)
		}
		if got := paths(r.index.FilesByName("retry", sel, 5)); !slices.Equal(got, []string{"queue/retry.go"}) {
			t.Errorf("by its old head: %v, want the other file alone", got)
		}
		r.reopen()
	}
}

func TestNoLight(t *testing.T) {
	x, err := New(Options{Builtin: builtin.New(), NoFileNames: true})
	must(t, err)
	must(t, x.loadFile(memory.File{Project: "p", Sandbox: "s", Path: "queue.go", Head: "package queue"}))
	if got := x.FilesByName("queue", memory.Selection{Project: "p"}, 5); len(got) != 0 {
		t.Errorf("switched off, the light index finds %v", paths(got))
	}
	if got := x.CodeCounts("p"); got.Files != 1 {
		t.Errorf("switched off, %+v is held, want the file counted", got)
	}
}

// halfway is a store in which something happens once all files are told and no word is.
type halfway struct {
	Store
	half func()
}

func (s halfway) Load(ctx context.Context, l memory.Loader) (uint64, error) {
	terms := l.Terms
	l.Terms = func(doc memory.DocID, encoded []byte) error {
		s.half()
		return terms(doc, encoded)
	}
	return s.Store.Load(ctx, l)
}

// TestLightWhileLoading: files are found before their words are, and one that was
// dropped meanwhile has no place any more.
func TestLightWhileLoading(t *testing.T) {
	r := lightRig(t)
	must(t, r.store.Close())
	r.start()
	err := r.index.Load(t.Context(), halfway{r.store, sync.OnceFunc(func() {
		if r.index.Loaded() {
			t.Error("the indexes are loaded, want them loading")
		}
		got := r.index.FilesByName("retry", memory.Selection{Project: "p-1"}, 5)
		if !slices.Equal(paths(got), []string{"queue/retry.go", "docs/Queue.md"}) {
			t.Fatalf("while loading %v is found, want both files", paths(got))
		}
		if at, err := r.index.Location(got[0]); err != nil || at.Root != "/one" {
			t.Errorf("its place is %+v, %v", at, err)
		}
		r.commit(memory.Batch{DropFiles: []memory.FileKey{got[1].File}})
		if _, err := r.index.Location(got[1]); memory.CodeOf(err) != memory.CodeNotFound {
			t.Errorf("the place of one that was dropped: %v, want not found", err)
		}
	})})
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	if got := paths(r.index.FilesByName("retry", memory.Selection{Project: "p-1"}, 5)); !slices.Equal(got, []string{"queue/retry.go"}) {
		t.Errorf("after loading %v is found, want what was not dropped", got)
	}
}

// TestLightBesideChanges: questions and patterns are answered while files come and go.
func TestLightBesideChanges(t *testing.T) {
	r := lightRig(t)
	sel := memory.Selection{Project: "p-1", Lang: "go"}
	done := make(chan struct{})
	var asking sync.WaitGroup
	for range 2 {
		asking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				for _, c := range r.index.FilesByName("retry queue", sel, 5) {
					if c.File.Path == "" || c.Project != "p-1" {
						t.Errorf("found %+v, want a file of the project", c)
					}
				}
				r.index.Files("**/*.go", "p-1", 5)
				r.index.CodeCounts("p-1")
			}
		})
	}
	for i := range 60 {
		f := memory.File{Project: "p-1", Sandbox: "s-1", Path: fmt.Sprintf("queue/f%d.go", i%7), Lang: "go", Head: "package queue"}
		if i%3 == 2 {
			r.commit(memory.Batch{DropFiles: []memory.FileKey{{Sandbox: "s-1", Path: f.Path}}})
		} else {
			r.commit(memory.Batch{Files: []memory.File{f}})
		}
	}
	close(done)
	asking.Wait()
}
