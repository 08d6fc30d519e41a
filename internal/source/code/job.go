package code

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// The priorities of runs: requested ones go before background refreshes.
const (
	askedPriority   = 10
	refreshPriority = 0
)

// maxChangedBytes bounds the total length of the paths in a queued run. A run with more
// looks at everything, which costs little more.
const maxChangedBytes = 256 << 10

// RunRequest is a queued run: the payload of its job.
type RunRequest struct {
	Sandbox string `json:"sandbox"`
	Project string `json:"project"`
	// Changed restricts the run to some files and folders; empty means all.
	Changed []string `json:"changed,omitempty"`
	// Asked means that a caller requested the run: it also restores pruned chunks.
	Asked    bool `json:"asked,omitempty"`
	Priority int  `json:"-"`
}

// MergeRuns joins two runs of a sandbox: the result covers the files of both. If one
// of them cannot be decoded, the result covers everything.
//
// Runs are joined per sandbox, not per project: two worktrees are two trees of files,
// and an agent that waits for its own tree should not wait for the others.
func MergeRuns(older, newer json.RawMessage) json.RawMessage {
	var a, b RunRequest
	unread := json.Unmarshal(older, &a) != nil
	if json.Unmarshal(newer, &b) != nil {
		if unread {
			return newer
		}
		b, unread = a, true
	}
	if unread || len(a.Changed) == 0 || len(b.Changed) == 0 {
		b.Changed = nil
	} else {
		b.Changed = boundChanged(append(a.Changed, b.Changed...))
	}
	b.Asked = a.Asked || b.Asked
	joined, err := json.Marshal(b)
	if err != nil {
		return newer
	}
	return joined
}

// boundChanged sorts the paths, or returns none if they are too many.
func boundChanged(paths []string) []string {
	slices.Sort(paths)
	paths = slices.Compact(paths)
	size := 0
	for _, p := range paths {
		size += len(p)
	}
	if size > maxChangedBytes || len(paths) > memory.MaxChangedFiles {
		return nil
	}
	return paths
}

// Run handles the job of a RunRequest: it brings the index of the sandbox up to date,
// stores the outcome, and prunes if the index has become too large. Run again, it
// continues where it was stopped. A run of a suspended or paused project ends at once and
// leaves the sandbox dirty.
func (s *Sandboxes) Run(ctx context.Context, payload json.RawMessage) error {
	var req RunRequest
	if err := json.Unmarshal(payload, &req); err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	err := s.run(ctx, req)
	if ctx.Err() == nil {
		s.catchUp(ctx)
	}
	if err != nil {
		return err
	}
	if err := s.prune(ctx); err != nil && ctx.Err() == nil {
		// The run itself is done; the next one tries again.
		s.opts.Logger.Error("index was not pruned", "part", "code", "error", err)
	}
	return nil
}

// run is Run without pruning and catching up.
func (s *Sandboxes) run(ctx context.Context, req RunRequest) error {
	ctx, end, ok := s.begin(ctx, req)
	if !ok {
		return nil
	}
	defer end()
	// It is read only now: from here on, forgetting the sandbox waits for this run.
	box, known, err := s.sandbox(req.Sandbox)
	switch {
	case err != nil:
		return err
	case !known:
		s.forgotten(req.Sandbox)
		return nil
	case box.Project != req.Project:
		// The folder belongs to another project now, whose discovery queued another run.
		return nil
	case s.held(box):
		s.markDirty(box.ID)
		return nil
	}
	began := s.opts.Clock().UTC()
	s.mu.Lock()
	dirty := s.state(box.ID).dirty
	s.mu.Unlock()
	changed := req.Changed
	if dirty > 0 || box.IndexedAt.IsZero() || box.LastError != "" {
		changed = nil // more was missed than requested
	}
	report, unread, err := s.index(ctx, box, changed, req.Asked)
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errSuspended), errors.Is(cause, errPaused):
		s.markDirty(req.Sandbox)
		return nil
	case cause != nil:
		return cause // the queue runs it again
	}
	if err == nil {
		s.noteUnread(box.ID, hints(box.Root, changed), unread)
	}
	if fault := s.finish(ctx, box, report, began, err); fault != nil {
		return errors.Join(err, fault)
	}
	if err == nil && s.opts.Indexed != nil {
		s.opts.Indexed(box)
	}
	rest := goesOn(report, err)
	s.mu.Lock()
	st := s.state(box.ID)
	st.unfinished = rest
	if err == nil && !report.Partial && st.dirty == dirty {
		st.dirty = 0 // else something was missed while it ran
	}
	s.mu.Unlock()
	switch {
	case rest:
		next := RunRequest{Sandbox: box.ID, Project: box.Project, Asked: req.Asked, Priority: refreshPriority}
		if _, err := s.enqueue(ctx, next); err != nil {
			return fmt.Errorf("queue the rest of a run: %w", err)
		}
		return nil
	case errors.Is(err, os.ErrNotExist):
		return nil // stored as the sandbox's error; a retry would not help
	}
	return err
}

// goesOn reports whether the time limit ended a run that made progress: another run, queued
// behind the runs of other projects, continues it. A run without progress has failed.
func goesOn(report Report, err error) bool {
	return errors.Is(err, ErrTimeLimit) && report.Changed+report.Touched+report.Heads+report.Dropped > 0
}

// begin registers a run. It returns false if the project is suspended.
func (s *Sandboxes) begin(ctx context.Context, req RunRequest) (_ context.Context, end func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state(req.Sandbox)
	if s.suspended[req.Project] > 0 {
		st.giveUp()
		return nil, nil, false
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r := &running{project: req.Project, cancel: cancel, ended: make(chan struct{}), progress: memory.Progress{Phase: "queued"}}
	st.running = r
	queued := st.queued
	return ctx, func() {
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		defer close(r.ended)
		if st := s.state(req.Sandbox); st.running == r { // else its lease ran out and another run of the job began
			st.running = nil
			st.dequeue(queued)
		}
	}, true
}

// markDirty makes the next run of a sandbox look at everything.
func (s *Sandboxes) markDirty(sandbox string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state(sandbox).miss()
}

// forgotten resets the state of a sandbox whose files are not stored any more.
func (s *Sandboxes) forgotten(sandbox string) {
	if s.opts.Forgotten != nil {
		s.opts.Forgotten(sandbox)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state(sandbox)
	st.dirty, st.unfinished, st.refreshed = 0, false, time.Time{}
	if !st.busy() {
		delete(s.states, sandbox)
	}
}

// index runs over the sandbox and reports progress. unread are the files and folders that it
// could not read.
func (s *Sandboxes) index(ctx context.Context, box memory.Sandbox, changed []string, asked bool) (report Report, unread map[string]bool, err error) {
	known, err := knownOf(s.opts.Store, box.ID, hints(box.Root, changed) == nil)
	if err != nil {
		return Report{}, nil, err
	}
	opts := s.opts.Run
	unread = map[string]bool{}
	opts.Skipped = func(skip Skip) {
		if skip.Reason == SkipUnreadable {
			unread[skip.Path] = true
		}
	}
	opts.Restore, opts.Indexed = asked, s.opts.Store.IndexSize(box.ID).Files
	opts.Progress = func(p memory.Progress) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r := s.state(box.ID).running; r != nil {
			r.progress = p
		}
	}
	report, err = Index(ctx, box, known, changed, s.opts.Writer, opts)
	return report, unread, err
}

// noteUnread keeps what a run could not read. One over some paths knows nothing of the others.
func (s *Sandboxes) noteUnread(sandbox string, only []string, unread map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state(sandbox)
	switch {
	case only == nil:
		st.unread = unread
	case st.unread != nil:
		maps.DeleteFunc(st.unread, func(name string, _ bool) bool { return covered(only, name) })
		maps.Copy(st.unread, unread)
	}
}

// finish stores the outcome of a run. The totals come from the store, which counts as it
// writes, because a run over some files does not see the others.
func (s *Sandboxes) finish(ctx context.Context, box memory.Sandbox, report Report, began time.Time, failed error) error {
	now := s.opts.Clock().UTC()
	size := s.opts.Store.IndexSize(box.ID)
	err := s.record(ctx, box.Project, box.ID, func(p memory.Project, b *memory.Sandbox) memory.Project {
		b.Files, b.Chunks, b.Bytes = size.Files, size.Chunks, size.Bytes
		if failed != nil {
			b.LastError, b.LastErrorAt = failed.Error(), now
			return p
		}
		b.LastError, b.IndexedAt, b.LastRun = "", began, memory.Millis(now.Sub(began))
		b.Note = report.Note
		if !report.Partial {
			b.Skipped = make(map[string]int, len(report.Skipped))
			for reason, n := range report.Skipped {
				b.Skipped[string(reason)] = n
			}
		}
		return p
	})
	if err != nil {
		return fmt.Errorf("write sandbox: %w", err)
	}
	took := now.Sub(began)
	s.mu.Lock()
	s.counters.runs++
	s.counters.took += took
	if failed != nil && !goesOn(report, failed) {
		s.counters.failed++
	}
	s.mu.Unlock()
	if s.opts.Ran != nil {
		s.opts.Ran(took)
	}
	log := s.opts.Logger.With("part", "code", "root", box.Root, "took", took.Round(time.Millisecond))
	switch {
	case failed == nil:
		log.Info("indexed", "files", size.Files, "chunks", size.Chunks, "changed", report.Changed, "shared", report.Shared, "dropped", report.Dropped)
	case goesOn(report, failed):
		log.Info("indexing goes on later", "files", size.Files, "chunks", size.Chunks, "changed", report.Changed, "why", failed)
	default:
		log.Warn("indexing failed", "error", failed)
	}
	return nil
}
