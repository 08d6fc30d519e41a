package code

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// The priorities of runs: what somebody waits for goes before what is looked at
// again by itself.
const (
	askedPriority   = 10
	refreshPriority = 0
)

// maxChangedBytes bounds the paths that a waiting run names; a run with more
// looks at everything, which costs little more.
const maxChangedBytes = 256 << 10

// RunRequest is a run that waits in the queue: the payload of its job.
type RunRequest struct {
	Sandbox string `json:"sandbox"`
	Project string `json:"project"`
	// Changed restricts the run to some files and folders; none is all.
	Changed  []string `json:"changed,omitempty"`
	Priority int      `json:"-"`
}

// MergeRuns joins two runs of a sandbox: what either of them is to look at.
// What one that cannot be read was to look at is not known: the other looks at
// everything.
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
	joined, err := json.Marshal(b)
	if err != nil {
		return newer
	}
	return joined
}

// boundChanged sorts the paths, or returns none when they are too many to keep.
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

// errSuspended is why a run is cancelled, and a request refused, while the runs of
// its project are held.
var errSuspended = errors.New("runs of the project are held")

// Run handles the job of a RunRequest: it brings the index of the sandbox up to
// date and writes down how that went. Run again, it goes on where it was ended. A
// run that is held is over: it is owed, should the sandbox outlive that.
func (s *Sandboxes) Run(ctx context.Context, payload json.RawMessage) error {
	var req RunRequest
	if err := json.Unmarshal(payload, &req); err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	ctx, end, ok := s.begin(ctx, req)
	if !ok {
		return nil
	}
	defer end()
	// Read only now: from here on nobody forgets it without waiting for the run.
	box, err := s.opts.Shelf.Sandbox(req.Sandbox)
	if memory.CodeOf(err) == memory.CodeNotFound && err != nil {
		s.forgotten(req.Sandbox)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read sandbox: %w", err)
	}
	if box.Project != req.Project {
		// The folder is another project's by now, and whoever found that out has
		// asked for a run: once this one is settled it is that one's turn.
		return nil
	}
	began := s.opts.Clock().UTC()
	s.mu.Lock()
	owed := s.dropped[box.ID]
	s.mu.Unlock()
	changed := req.Changed
	if owed > 0 || box.IndexedAt.IsZero() || box.LastError != "" {
		changed = nil // more is missing than was asked for
	}
	report, err := s.index(ctx, box, changed)
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errSuspended):
		s.owe(req.Sandbox)
		return nil
	case cause != nil:
		return cause // given back
	}
	if fault := s.finish(ctx, box, report, began, err); fault != nil {
		return errors.Join(err, fault)
	}
	if err == nil && !report.Partial {
		s.caughtUp(box.ID, owed)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil // said in the sandbox's state; trying again brings no folder back
	}
	return err
}

// begin makes a run known. It returns false for one that is held.
func (s *Sandboxes) begin(ctx context.Context, req RunRequest) (_ context.Context, end func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.suspended[req.Project] > 0 {
		s.dropped[req.Sandbox]++
		s.answered(req.Sandbox, s.asked[req.Sandbox])
		return nil, nil, false
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r := &running{project: req.Project, cancel: cancel, ended: make(chan struct{})}
	s.running[req.Sandbox] = r
	asked := s.asked[req.Sandbox]
	return ctx, func() {
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		defer close(r.ended)
		if s.running[req.Sandbox] != r {
			return // its lease ran out, and the next one goes on
		}
		delete(s.running, req.Sandbox)
		delete(s.progress, req.Sandbox)
		s.answered(req.Sandbox, asked)
	}, true
}

// owe marks a sandbox as lagging until everything in it was looked at.
func (s *Sandboxes) owe(sandbox string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped[sandbox]++
}

// forgotten drops what is known of a sandbox that is not stored any more.
func (s *Sandboxes) forgotten(sandbox string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.dropped, sandbox)
	delete(s.refreshed, sandbox)
}

// index runs over the sandbox and reports progress.
func (s *Sandboxes) index(ctx context.Context, box memory.Sandbox, changed []string) (Report, error) {
	known, err := s.opts.Shelf.Files(box.ID)
	if err != nil {
		return Report{}, fmt.Errorf("list known files: %w", err)
	}
	for path, f := range known {
		if f.Project != box.Project {
			// The folder has become another project's: what it holds is written anew.
			f.Chunker = 0
			known[path] = f
		}
	}
	opts := s.opts.Run
	opts.Progress = func(p memory.Progress) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.progress[box.ID] = p
	}
	return Index(ctx, box, KnownFiles(known), changed, s.opts.Writer, opts)
}

// finish writes down how a run went. After a run over some files only, the
// totals are counted anew.
func (s *Sandboxes) finish(ctx context.Context, box memory.Sandbox, report Report, began time.Time, failed error) error {
	if failed == nil && report.Partial {
		if err := s.countAnew(box.ID, &report); err != nil {
			return err
		}
	}
	now := s.opts.Clock().UTC()
	err := s.record(ctx, box.Project, box.ID, func(p memory.Project, b *memory.Sandbox) memory.Project {
		if failed != nil {
			b.LastError, b.LastErrorAt = failed.Error(), now
			return p
		}
		b.LastError, b.IndexedAt, b.LastRun = "", began, memory.Millis(now.Sub(began))
		b.Files, b.Chunks, b.Bytes = report.Files, report.Chunks, report.Bytes
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
	log := s.opts.Logger.With("part", "code", "root", box.Root, "took", now.Sub(began).Round(time.Millisecond))
	if failed != nil {
		log.Warn("indexing failed", "error", failed)
	} else {
		log.Info("indexed", "files", report.Files, "chunks", report.Chunks, "changed", report.Changed, "dropped", report.Dropped)
	}
	return nil
}

// caughtUp says that a run has looked at all that was owed when it began.
func (s *Sandboxes) caughtUp(sandbox string, owed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dropped[sandbox] == owed {
		delete(s.dropped, sandbox)
	}
}

func (s *Sandboxes) countAnew(sandbox string, report *Report) error {
	files, err := s.opts.Shelf.Files(sandbox)
	if err != nil {
		return fmt.Errorf("count files: %w", err)
	}
	report.Files, report.Chunks, report.Bytes = len(files), 0, 0
	for _, f := range files {
		report.Chunks += len(f.Chunks)
		report.Bytes += f.Size
	}
	return nil
}
