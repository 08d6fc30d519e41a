package code

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
)

// errSuspended cancels runs and refuses requests while a project is being removed.
// errPaused cancels runs that are paused.
var (
	errSuspended = errors.New("runs of the project are held")
	errPaused    = errors.New("runs are paused")
)

// Switch stores whether all background work is paused, also over a restart.
type Switch interface {
	Paused() (bool, error)
	SetPaused(ctx context.Context, on bool) error
}

// Pause pauses or resumes the runs of a folder's project, or of all. Requests are
// accepted meanwhile and run after the pause. Callers that run other background work
// pause it by the All of the response. See service.Pause.
func (s *Sandboxes) Pause(ctx context.Context, req memory.PauseRequest) (*memory.Paused, error) {
	if err := memory.Text("path", req.Path, 0, memory.MaxPathText); err != nil {
		return nil, err
	}
	s.pauses.Lock()
	defer s.pauses.Unlock()
	var err error
	if req.Path == "" {
		err = s.pauseAll(ctx, !req.Resume)
	} else {
		err = s.pauseProject(ctx, req)
	}
	if err != nil {
		return nil, err
	}
	return s.paused()
}

// paused returns what is paused.
func (s *Sandboxes) paused() (*memory.Paused, error) {
	boxes, err := s.opts.Store.Sandboxes()
	if err != nil {
		return nil, fmt.Errorf("list sandboxes: %w", err)
	}
	s.mu.Lock()
	out := &memory.Paused{All: s.allPaused, Sandboxes: []string{}}
	s.mu.Unlock()
	for _, b := range boxes {
		if b.Paused {
			out.Sandboxes = append(out.Sandboxes, b.Root)
		}
	}
	slices.Sort(out.Sandboxes)
	return out, nil
}

func (s *Sandboxes) pauseAll(ctx context.Context, on bool) error {
	if err := s.opts.Switch.SetPaused(ctx, on); err != nil {
		return err
	}
	s.mu.Lock()
	was := s.allPaused
	s.allPaused = on
	s.mu.Unlock()
	if on {
		s.end(errPaused, func(*running) bool { return true })
		return nil
	}
	if !was {
		return nil
	}
	return s.makeUp(ctx, func(memory.Sandbox) bool { return true })
}

// pauseProject pauses every sandbox of the project: a run over one worktree would index
// text for the others.
func (s *Sandboxes) pauseProject(ctx context.Context, req memory.PauseRequest) error {
	_, id, err := located(req.Path, req.Caller)
	if err != nil {
		return err
	}
	box, known, err := s.sandbox(project.SandboxID(id.Root))
	if err != nil {
		return err
	}
	if !known {
		return &memory.Error{Code: memory.CodeNotFound, Field: "path", Message: id.Root + " is not indexed"}
	}
	changed, err := s.markPaused(ctx, box.Project, !req.Resume)
	if err != nil {
		return err
	}
	if !req.Resume {
		s.end(errPaused, func(r *running) bool { return r.project == box.Project })
		return nil
	}
	return s.makeUp(ctx, func(b memory.Sandbox) bool { return changed[b.ID] })
}

// markPaused stores for every sandbox of a project whether it is paused, and returns
// those that changed. A sandbox that appears meanwhile has the state of the others at
// that time, so it repeats until none differs.
func (s *Sandboxes) markPaused(ctx context.Context, project string, on bool) (map[string]bool, error) {
	changed := map[string]bool{}
	for more := true; more; {
		more = false
		boxes, err := s.opts.Store.ProjectSandboxes(project)
		if err != nil {
			return nil, fmt.Errorf("list sandboxes: %w", err)
		}
		for _, b := range boxes {
			if b.Paused == on {
				continue
			}
			err := s.record(ctx, project, b.ID, func(p memory.Project, b *memory.Sandbox) memory.Project {
				b.Paused = on
				return p
			})
			if err != nil {
				return nil, beingForgotten(err)
			}
			changed[b.ID], more = true, true
		}
	}
	return changed, nil
}

// beingForgotten translates errSuspended for callers.
func beingForgotten(err error) error {
	if !errors.Is(err, errSuspended) {
		return err
	}
	return &memory.Error{Code: memory.CodeConflict, Field: "path", Message: "the project is being forgotten",
		Hint: "ask again when that is done", Cause: err}
}

// makeUp queues full runs of sandboxes that were paused and whose folder exists; a
// missing folder is looked at when it comes back. A run requested during the pause keeps
// its priority.
func (s *Sandboxes) makeUp(ctx context.Context, held func(memory.Sandbox) bool) error {
	boxes, err := s.opts.Store.Sandboxes()
	if err != nil {
		return fmt.Errorf("list sandboxes: %w", err)
	}
	for _, b := range boxes {
		if !held(b) || b.Paused || !s.present(ctx, b) {
			continue
		}
		run := RunRequest{Sandbox: b.ID, Project: b.Project, Priority: refreshPriority}
		if b.RequestedAt.After(b.IndexedAt) {
			run.Priority, run.Asked = askedPriority, true
		}
		if _, err := s.enqueue(ctx, run); err != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("queue run of %s: %w", b.Root, err)
			}
			s.markDirty(b.ID) // the queue is full: catchUp queues it after another run
			s.opts.Logger.Warn("sandbox waits for room in the queue", "part", "code", "root", b.Root, "error", err)
		}
	}
	return nil
}

// held reports whether a sandbox is paused.
func (s *Sandboxes) held(b memory.Sandbox) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return b.Paused || s.allPaused
}

// pausedProject reports whether a project is paused, and so its future sandboxes.
func (s *Sandboxes) pausedProject(project string) (bool, error) {
	boxes, err := s.opts.Store.ProjectSandboxes(project)
	if err != nil {
		return false, fmt.Errorf("list sandboxes: %w", err)
	}
	return slices.ContainsFunc(boxes, func(b memory.Sandbox) bool { return b.Paused }), nil
}

// end cancels runs and waits for their end.
func (s *Sandboxes) end(cause error, which func(*running) bool) {
	var ending []*running
	s.mu.Lock()
	for _, st := range s.states {
		if st.running != nil && which(st.running) {
			ending = append(ending, st.running)
		}
	}
	s.mu.Unlock()
	for _, r := range ending {
		r.cancel(cause)
		<-r.ended
	}
}

// Suspend ends the runs of a project and prevents new ones until release is called, so
// that nothing is added to a project that is being removed.
func (s *Sandboxes) Suspend(project string) (release func()) {
	s.records.Lock() // a change under way is written first, the next one is refused
	s.mu.Lock()
	s.suspended[project]++
	s.mu.Unlock()
	s.records.Unlock()
	s.end(errSuspended, func(r *running) bool { return r.project == project })
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.suspended[project]--; s.suspended[project] == 0 {
			delete(s.suspended, project)
		}
	})
}
