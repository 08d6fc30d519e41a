package store

import (
	"cmp"
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// Sandboxes returns all sandboxes, by id. Callers must not change what they point to.
func (s *Store) Sandboxes() ([]memory.Sandbox, error) {
	kept, err := s.keptSandboxes()
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	all := make([]memory.Sandbox, 0, len(kept.project))
	for _, list := range kept.of {
		all = append(all, list...)
	}
	slices.SortFunc(all, bySandbox)
	return all, nil
}

// ProjectSandboxes returns the sandboxes of a project, by id, from a cache, because every
// query needs them. Callers must not change what they point to.
func (s *Store) ProjectSandboxes(project string) ([]memory.Sandbox, error) {
	kept, err := s.keptSandboxes()
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.Clone(kept.of[project]), nil
}

// sandboxes caches the stored sandboxes by project, each list by id. Callers lock.
type sandboxes struct {
	of      map[string][]memory.Sandbox
	project map[string]string // by sandbox
}

// sandboxChange is a sandbox that was written or removed. A removed one has only an id.
type sandboxChange struct {
	memory.Sandbox
	removed bool
}

func bySandbox(a, b memory.Sandbox) int { return cmp.Compare(a.ID, b.ID) }

func (k *sandboxes) put(b memory.Sandbox) {
	k.drop(b.ID)
	k.project[b.ID] = b.Project
	list := k.of[b.Project]
	at, _ := slices.BinarySearchFunc(list, b, bySandbox)
	k.of[b.Project] = slices.Insert(list, at, b)
}

func (k *sandboxes) drop(id string) {
	project, ok := k.project[id]
	if !ok {
		return
	}
	delete(k.project, id)
	list := k.of[project]
	at, _ := slices.BinarySearchFunc(list, memory.Sandbox{ID: id}, bySandbox)
	if k.of[project] = slices.Delete(list, at, at+1); len(k.of[project]) == 0 {
		delete(k.of, project)
	}
}

// keptSandboxes returns the cached sandboxes with mu held, or an error with mu released.
// The first call reads them; later commits update them.
func (s *Store) keptSandboxes() (*sandboxes, error) {
	s.mu.Lock()
	if s.sandboxes != nil {
		return s.sandboxes, nil
	}
	at := s.sandboxesAt
	s.mu.Unlock()
	stored, err := read(s, func(v View) (*sandboxes, error) {
		all := &sandboxes{of: map[string][]memory.Sandbox{}, project: map[string]string{}}
		for b := range sound(s, v.Sandboxes()) {
			all.put(b)
		}
		return all, nil
	})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.sandboxes == nil && s.sandboxesAt == at { // else a commit may have changed some
		s.sandboxes = stored
	}
	if s.sandboxes != nil {
		return s.sandboxes, nil
	}
	return stored, nil
}

// putSandbox writes a sandbox.
func (tx *Tx) putSandbox(b memory.Sandbox) error {
	tx.sandboxes = append(tx.sandboxes, sandboxChange{Sandbox: b})
	return tx.putValue(key(prefixSandbox, b.ID), b)
}

// dropSandbox removes a sandbox, if it is there.
func (tx *Tx) dropSandbox(id string) {
	tx.sandboxes = append(tx.sandboxes, sandboxChange{memory.Sandbox{ID: id}, true})
	tx.del(key(prefixSandbox, id))
}

// settleSandboxes applies committed changes to the cache. It is called with mu held.
func (s *Store) settleSandboxes(changes []sandboxChange) {
	if len(changes) > 0 {
		s.sandboxesAt++
	}
	if s.sandboxes == nil {
		return
	}
	for _, c := range changes {
		if c.removed {
			s.sandboxes.drop(c.ID)
		} else {
			s.sandboxes.put(c.Sandbox)
		}
	}
}

// checkSandboxes compares the cached sandboxes with the stored ones.
func (s *Store) checkSandboxes(v View, bad func(string, ...any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sandboxes == nil {
		return
	}
	stored := 0
	for b, err := range v.Sandboxes() {
		if err != nil {
			continue // damagedValues finds it
		}
		stored++
		list := s.sandboxes.of[b.Project]
		at, found := slices.BinarySearchFunc(list, b, bySandbox)
		if !found || !list[at].RequestedAt.Equal(b.RequestedAt) || !list[at].IndexedAt.Equal(b.IndexedAt) || list[at].Root != b.Root || list[at].Paused != b.Paused {
			bad("sandbox %s: the cached one differs from the stored one", b.ID)
		}
	}
	if kept := len(s.sandboxes.project); kept != stored {
		bad("sandboxes: %d are stored, %d are cached", stored, kept)
	}
}
