package project

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// slowStore records projects when it is let.
type slowStore struct {
	mu       sync.Mutex
	projects []memory.Project
	let      chan error
}

func (s *slowStore) Projects() ([]memory.Project, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.projects), nil
}

func (s *slowStore) Sandboxes() ([]memory.Sandbox, error) { return nil, nil }

func (s *slowStore) RecordProject(_ context.Context, p memory.Project, _ string) (bool, error) {
	if err := <-s.let; err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.projects {
		if s.projects[i].ID == p.ID {
			s.projects[i] = p
			return true, nil
		}
	}
	return false, nil
}

// TestRecorderDoesNotWait: a question that reveals the remote of a repository is answered
// before that is written, the next call finds the project by it, and Close waits for the
// write.
func TestRecorderDoesNotWait(t *testing.T) {
	dir := realTemp(t)
	root := filepath.Join(dir, "shop")
	repo(t, root, "")
	before := identify(t, root).Project
	store := &slowStore{projects: []memory.Project{before}, let: make(chan error, 1)}
	r := NewRecorder(store, slog.New(slog.DiscardHandler))
	repo(t, root, "https://git.example.org/org/shop.git")

	p, known, err := r.Resolve(t.Context(), "", memory.Caller{Dir: root})
	if err != nil || !known || p.ID != before.ID || p.Remote == "" {
		t.Fatalf("Resolve = %+v, %v, %v; want the project of before with its remote", p, known, err)
	}
	if stored, _ := store.Projects(); stored[0].Remote != "" {
		t.Fatal("the remote is written before the question is answered")
	}
	if all, err := r.Projects(); err != nil || all[0].Remote != p.Remote {
		t.Errorf("the directory has the remote %q (%v), want %q before it is written", all[0].Remote, err, p.Remote)
	}
	store.let <- nil
	r.Close()
	if stored, _ := store.Projects(); stored[0].Remote != p.Remote {
		t.Errorf("after Close the remote %q is stored, want %q", stored[0].Remote, p.Remote)
	}
	r.Record(p, "", func(bool) { t.Error("something is recorded after Close") })
}

// TestRecorderFails: a disk that refuses a write keeps no question from its answer, and
// nothing that is not written stays in the directory.
func TestRecorderFails(t *testing.T) {
	p := memory.Project{ID: "p-1", Name: "shop", Names: []string{"shop"}}
	store := &slowStore{projects: []memory.Project{p}, let: make(chan error, 1)}
	r := NewRecorder(store, slog.New(slog.DiscardHandler))
	changed := p
	changed.Names = []string{"shop", "store"}
	recorded := true
	store.let <- errors.New("no space left")
	r.Record(changed, "", func(ok bool) { recorded = ok })
	r.Close()
	if all, _ := r.Projects(); recorded || len(all[0].Names) != 1 {
		t.Errorf("recorded %v, names %v; want the project as it is stored", recorded, all[0].Names)
	}
}
