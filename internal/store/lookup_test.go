package store

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// TestProjectsFollowCommits: what is kept of the projects never outlives a
// commit that changes them.
func TestProjectsFollowCommits(t *testing.T) {
	s := open(t, Options{})
	names := func() []string {
		t.Helper()
		projects, err := s.Projects()
		must(t, err)
		names := []string{}
		for _, p := range projects {
			names = append(names, p.Name)
		}
		return names
	}
	for _, step := range []struct {
		what  string
		batch memory.Batch
		want  []string
	}{
		{"added", memory.Batch{Projects: []memory.Project{{ID: "p-1", Name: "one"}}}, []string{"one"}},
		{"a second one", memory.Batch{Projects: []memory.Project{{ID: "p-2", Name: "two"}}}, []string{"one", "two"}},
		{"renamed", memory.Batch{Projects: []memory.Project{{ID: "p-1", Name: "first"}}}, []string{"first", "two"}},
		{"dropped", memory.Batch{DropProjects: []string{"p-1"}}, []string{"two"}},
	} {
		before := names()
		if diff := cmp.Diff(before, names()); diff != "" {
			t.Errorf("%s: asked twice (-first +second):\n%s", step.what, diff)
		}
		if _, err := s.Commit(t.Context(), step.batch); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, names()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.what, diff)
		}
	}
}

// TestProjectsBesideWriters: an acknowledged project is listed, whoever reads
// the list at the same time.
func TestProjectsBesideWriters(t *testing.T) {
	s := open(t, Options{NoSync: true})
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := range 25 {
				id := fmt.Sprintf("p-%d-%d", w, i)
				if _, err := s.Commit(t.Context(), memory.Batch{Projects: []memory.Project{{ID: id}}}); err != nil {
					t.Error(err)
					return
				}
				projects, err := s.Projects()
				listed := false
				for _, p := range projects {
					listed = listed || p.ID == id
				}
				if err != nil || !listed {
					t.Errorf("project %s was acknowledged and is not among %d listed, %v", id, len(projects), err)
				}
			}
		})
	}
	all.Wait()
}

func TestKnown(t *testing.T) {
	s := open(t, Options{})
	kept, keptDoc := lesson("l-kept", "kept")
	again, againDoc := lesson("l-again", "forgotten and told again")
	commit(t, s, memory.Batch{Tombstones: []string{"l-again", "l-gone"}})
	put(t, s, kept, keptDoc)
	put(t, s, again, againDoc)
	records, forgotten, err := s.Known([]string{"l-kept", "l-again", "l-gone", "l-never", "l-kept", ""})
	must(t, err)
	if len(records) != 2 || records["l-kept"].Text != "kept" || records["l-again"].ID != "l-again" {
		t.Errorf("the records are %+v, want those that are stored", records)
	}
	if !forgotten["l-gone"] || forgotten["l-again"] || forgotten["l-kept"] || forgotten["l-never"] {
		t.Errorf("forgotten are %v, want l-gone alone", forgotten)
	}
	must(t, setRaw(s, key(prefixRecord, "l-kept"), []byte("spoilt")))
	if _, _, err := s.Known([]string{"l-kept"}); memory.CodeOf(err) != memory.CodeCorrupt {
		t.Errorf("of a damaged record: %v, want %s", err, memory.CodeCorrupt)
	}
	must(t, s.Close())
	if _, _, err := s.Known([]string{"l-kept"}); err == nil {
		t.Error("a closed store knows records")
	}
}
