package code

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// tally counts runs since the start. Those that were cancelled are not among them.
type tally struct {
	runs, failed int
	took         time.Duration
}

// Repos lists the sandboxes by project name and root.
func (s *Sandboxes) Repos(context.Context) ([]memory.SandboxState, error) {
	boxes, err := s.opts.Shelf.Sandboxes()
	if err != nil {
		return nil, err
	}
	projects, err := s.opts.Shelf.Projects()
	if err != nil {
		return nil, err
	}
	names := make(map[string]string, len(projects))
	for _, p := range projects {
		names[p.ID] = p.Name
	}
	sizes, _ := s.opts.Shelf.IndexSizes()
	s.mu.Lock()
	defer s.mu.Unlock()
	states := make([]memory.SandboxState, len(boxes))
	for i, b := range boxes {
		size := sizes[b.ID]
		states[i] = memory.SandboxState{
			Sandbox: b, ProjectName: names[b.Project], Stale: s.stale(b), Watch: s.watching(b).String(),
			IndexBytes: size.Disk, Pruned: size.Pruned, UsedAt: size.UsedAt,
		}
		if p, ok := s.progress[b.ID]; ok {
			states[i].Progress = &p
		}
		if (b.Paused || s.allPaused) && s.running[b.ID] == nil {
			states[i].Progress = &memory.Progress{Phase: "paused"} // whatever waits
		}
	}
	slices.SortFunc(states, func(a, b memory.SandboxState) int {
		return strings.Compare(a.ProjectName+"\x00"+a.Root, b.ProjectName+"\x00"+b.Root)
	})
	return states, nil
}

// Counts says what became of runs, and what their results take. The fields that
// are about the queue and about questions are left to who knows of those.
func (s *Sandboxes) Counts() (memory.CodeState, error) {
	boxes, err := s.opts.Shelf.Sandboxes()
	if err != nil {
		return memory.CodeState{}, err
	}
	sizes, disk := s.opts.Shelf.IndexSizes()
	s.mu.Lock()
	defer s.mu.Unlock()
	c := memory.CodeState{
		Paused: s.allPaused, Sandboxes: len(boxes), Runs: s.tally.runs, Failed: s.tally.failed,
		IndexBytes: disk, MaxBytes: s.opts.MaxSize,
	}
	if c.Runs > 0 {
		c.MeanRun = memory.Millis(s.tally.took / time.Duration(c.Runs))
	}
	for _, b := range boxes {
		if s.stale(b) {
			c.Stale++
		}
		c.Pruned += sizes[b.ID].Pruned
	}
	return c, nil
}

// stale says whether the index of a sandbox may lag behind the disk. One whose
// changes are noticed does not, however long ago it was indexed, unless something
// waits to be looked at. Callers hold mu.
func (s *Sandboxes) stale(b memory.Sandbox) bool {
	switch {
	case isDropped(b):
		return false // nothing is known of it, which is right
	case s.dropped[b.ID] > 0, b.IndexedAt.IsZero():
		return true
	case s.opts.Clock().Sub(b.IndexedAt) <= s.opts.StaleAfter:
		return false
	}
	return b.LastError != "" || s.asked[b.ID] > 0 || !s.watching(b).Live()
}

// Missing says in a few words why the index has not all code of a project: it was
// never asked for, or never finished. It is empty when it has.
func (s *Sandboxes) Missing(project string) string {
	boxes, err := s.opts.Shelf.ProjectSandboxes(project)
	if err != nil {
		return "" // said by Stale
	}
	why := "nothing of the project is indexed"
	for _, b := range boxes {
		switch {
		case isDropped(b):
		case !b.IndexedAt.IsZero():
			return "" // another worktree of it is, and most of the text is the same
		case s.held(b):
			why = "indexing is paused"
		case b.LastError != "":
			why = "indexing has failed"
		default:
			why = memory.FirstIndexing
		}
	}
	return why
}

// Stale says whether the code of a project may lag behind the disk: an index is
// older than StaleAfter, was never finished, or, seen, this very answer has met
// code that is not as it was indexed. Then it has the project looked at again,
// in the background and not too often.
func (s *Sandboxes) Stale(project string, seen bool) bool {
	boxes, err := s.opts.Shelf.ProjectSandboxes(project)
	if err != nil {
		s.opts.Logger.Error("sandboxes cannot be read", "part", "code", "error", err)
		return true
	}
	stale := seen
	s.mu.Lock()
	for _, b := range boxes {
		stale = stale || s.stale(b)
	}
	s.mu.Unlock()
	if stale {
		select {
		case s.wake <- project:
		default: // others are looked at first; the next question asks again
		}
	}
	return stale
}
