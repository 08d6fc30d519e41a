package code

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// sandboxState is the state of a sandbox besides what is stored. Sandboxes.mu guards it.
//
// A sandbox is busy while a run of it is queued or running. queued counts the calls of
// enqueue whose run has not ended; a run that ends takes with it those that were queued
// when it began, because the queue holds one waiting run of a sandbox and joins the
// others to it. dirty and unfinished outlive runs. A dirty sandbox has missed a run, so
// the next run looks at everything, whatever was requested. An unfinished one has the
// rest of a run in the queue; if that is dropped or held, it becomes dirty instead.
type sandboxState struct {
	queued  int
	running *running // nil if none
	// dirty counts the runs that were dropped or held since the last full run began. It
	// is a counter so that a run does not clear what was missed while it ran.
	dirty int
	// unfinished is true if the time limit ended the last run.
	unfinished bool
	// unread are the files and folders that could not be read, nil before a run looked at
	// everything. It is newer than what is stored, which runs over some paths leave as it is.
	unread map[string]bool
	// refreshed is when isDue last allowed a refresh.
	refreshed time.Time
}

// running is a run in progress.
type running struct {
	project  string
	cancel   context.CancelCauseFunc
	ended    chan struct{}
	progress memory.Progress
}

// state returns the state of a sandbox, a new one if there is none. Callers hold mu.
func (s *Sandboxes) state(sandbox string) *sandboxState {
	st := s.states[sandbox]
	if st == nil {
		st = &sandboxState{}
		s.states[sandbox] = st
	}
	return st
}

// busy reports whether a run is queued or running.
func (st *sandboxState) busy() bool { return st.queued > 0 || st.running != nil }

// dequeue takes back n calls of enqueue. Runs queued by an earlier process are not
// counted.
func (st *sandboxState) dequeue(n int) { st.queued = max(0, st.queued-n) }

// miss marks the sandbox as dirty. The rest of a run is not queued any more.
func (st *sandboxState) miss() { st.dirty, st.unfinished = st.dirty+1, false }

// giveUp marks the sandbox as dirty because its queued runs will not run.
func (st *sandboxState) giveUp() {
	st.miss()
	st.queued = 0
}

// progress returns how far a run is, nil if none is queued or running.
func (st *sandboxState) progress() *memory.Progress {
	switch {
	case st.running != nil:
		p := st.running.progress
		return &p
	case st.queued > 0:
		return &memory.Progress{Phase: "queued"}
	}
	return nil
}

// counters count runs since the start, without cancelled ones.
type counters struct {
	runs, failed int
	took         time.Duration
}

// Repos lists the sandboxes by project name and root.
func (s *Sandboxes) Repos(context.Context) ([]memory.SandboxState, error) {
	boxes, err := s.opts.Store.Sandboxes()
	if err != nil {
		return nil, err
	}
	projects, err := s.opts.Store.Projects()
	if err != nil {
		return nil, err
	}
	names := make(map[string]string, len(projects))
	for _, p := range projects {
		names[p.ID] = p.Name
	}
	sizes, _ := s.opts.Store.IndexSizes()
	s.mu.Lock()
	defer s.mu.Unlock()
	states := make([]memory.SandboxState, len(boxes))
	for i, b := range boxes {
		size := sizes[b.ID]
		states[i] = memory.SandboxState{
			Sandbox: b, ProjectName: names[b.Project], Stale: s.stale(b), Watch: s.watching(b).String(),
			IndexBytes: size.Disk, Pruned: size.Pruned, UsedAt: size.UsedAt,
		}
		st := s.state(b.ID)
		if st.unread != nil {
			states[i].Skipped = withUnread(b.Skipped, len(st.unread))
		}
		states[i].Progress = st.progress()
		if (b.Paused || s.allPaused) && st.running == nil {
			states[i].Progress = &memory.Progress{Phase: "paused"} // also if a run is queued
		}
	}
	slices.SortFunc(states, func(a, b memory.SandboxState) int {
		return strings.Compare(a.ProjectName+"\x00"+a.Root, b.ProjectName+"\x00"+b.Root)
	})
	return states, nil
}

// withUnread returns counts of skipped files with another count of those that cannot be read.
func withUnread(skipped map[string]int, n int) map[string]int {
	skipped = maps.Clone(skipped)
	delete(skipped, string(SkipUnreadable))
	if n > 0 {
		if skipped == nil {
			skipped = map[string]int{}
		}
		skipped[string(SkipUnreadable)] = n
	}
	return skipped
}

// Counts returns the totals of runs and indexes. Others fill in the fields about the
// queue and about queries.
func (s *Sandboxes) Counts() (memory.CodeState, error) {
	boxes, err := s.opts.Store.Sandboxes()
	if err != nil {
		return memory.CodeState{}, err
	}
	sizes, disk := s.opts.Store.IndexSizes()
	s.mu.Lock()
	defer s.mu.Unlock()
	c := memory.CodeState{
		Paused: s.allPaused, Sandboxes: len(boxes), Runs: s.counters.runs, Failed: s.counters.failed,
		IndexBytes: disk, MaxBytes: s.opts.MaxSize,
	}
	if c.Runs > 0 {
		c.MeanRun = memory.Millis(s.counters.took / time.Duration(c.Runs))
	}
	for _, b := range boxes {
		if s.stale(b) {
			c.Stale++
		}
		c.Pruned += sizes[b.ID].Pruned
	}
	return c, nil
}

// stale reports whether the index of a sandbox may lag behind the disk. A watched sandbox
// does not, however long ago it was indexed, unless a run is queued. Callers hold mu.
func (s *Sandboxes) stale(b memory.Sandbox) bool {
	switch {
	case isDropped(b):
		return false // nothing of it is indexed, which is right
	case s.state(b.ID).dirty > 0, b.IndexedAt.IsZero():
		return true
	case s.opts.Clock().Sub(b.IndexedAt) <= s.opts.StaleAfter:
		return false
	}
	return b.LastError != "" || s.state(b.ID).queued > 0 || !s.watching(b).Live()
}

// Missing returns in a few words why the code of a project is not fully indexed: it was
// never requested, or never finished. It is empty if the code is indexed.
func (s *Sandboxes) Missing(project string) string {
	boxes, err := s.opts.Store.ProjectSandboxes(project)
	if err != nil {
		return "" // said by Stale
	}
	why := memory.NotIndexed
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

// Stale reports whether the code of a project may lag behind the disk: an index is older
// than StaleAfter, was never finished, or this query met code that has changed (seen). It
// then requests a refresh in the background.
func (s *Sandboxes) Stale(project string, seen bool) bool {
	boxes, err := s.opts.Store.ProjectSandboxes(project)
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
		default: // others are refreshed first; the next query tries again
		}
	}
	return stale
}
