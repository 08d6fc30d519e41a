package store

import (
	"fmt"
	"slices"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestSeeProject: folders are kept with a project that is stored, the newest first
// and not without bound, whoever writes the project meanwhile.
func TestSeeProject(t *testing.T) {
	s := open(t, Options{})
	p := memory.Project{ID: "p-1", Name: "shop", Names: []string{"shop"}}
	see := func(p memory.Project, root string, want bool) {
		t.Helper()
		stored, err := s.RecordProject(t.Context(), p, root)
		if err != nil || stored != want {
			t.Fatalf("SeeProject(%s) = %t, %v; want %t", root, stored, err, want)
		}
	}
	get := func() memory.Project {
		t.Helper()
		all, err := s.Projects()
		if err != nil || len(all) != 1 {
			t.Fatalf("projects are %+v, %v; want one", all, err)
		}
		return all[0]
	}
	see(p, "/a", false)
	if all, err := s.Projects(); err != nil || len(all) != 0 {
		t.Fatalf("a project that is only seen is stored: %+v, %v", all, err)
	}
	put := func() {
		t.Helper()
		if _, err := s.Commit(t.Context(), memory.Batch{Projects: []memory.Project{p}}); err != nil {
			t.Fatal(err)
		}
	}
	put()
	see(p, "/a", true)
	seen := p
	seen.Names, seen.Remote = append(seen.Names, "store"), "host/shop"
	see(seen, "/b", true)
	see(seen, "/a", true)
	want := memory.Project{ID: "p-1", Name: "shop", Names: []string{"shop", "store"}, Remote: "host/shop", Roots: []string{"/b", "/a"}}
	if got := get(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the project is %+v, want %+v", got, want)
	}
	put()
	if got := get(); !slices.Equal(got.Roots, want.Roots) {
		t.Errorf("written by somebody who did not know of them the roots are %v, want %v", got.Roots, want.Roots)
	}
	for i := range memory.MaxRoots {
		see(p, fmt.Sprintf("/more/%d", i), true)
	}
	if got := get().Roots; len(got) != memory.MaxRoots || got[0] != fmt.Sprintf("/more/%d", memory.MaxRoots-1) || slices.Contains(got, "/a") {
		t.Errorf("the roots are %v, want the newest %d", got, memory.MaxRoots)
	}
	before, err := s.Update(t.Context(), func(*Tx) error { return nil })
	must(t, err)
	see(p, "/more/3", true)
	if after, err := s.Update(t.Context(), func(*Tx) error { return nil }); err != nil || after != before {
		t.Errorf("seeing what is known makes update %d after %d, %v; want none", after, before, err)
	}
}
