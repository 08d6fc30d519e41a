package agentctx

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"sync"

	"github.com/recalld/recalld/internal/memory"
)

// AuditFile appends a line to the audit file of the caller's repository and returns the path
// of the file, or no path if the caller is in no repository of the project.
type AuditFile func(ctx context.Context, caller memory.Caller, project string, line []byte) (path string, err error)

// TaskOptions configure Tasks.
type TaskOptions struct {
	Ports
	// AuditFile also appends every event to a file. Nil writes no file.
	AuditFile AuditFile
	// Settings are the user's choices. They are required.
	Settings TaskSettings
}

func (o *TaskOptions) validate() error {
	if err := o.Ports.validate(); err != nil {
		return err
	}
	return memory.Check(&o.Settings)
}

// Tasks keeps the completed tasks and blockers of projects. It is safe for concurrent use.
type Tasks struct {
	opts TaskOptions
	seed maphash.Seed // of turns
	// turns guard the states of projects from the read of a state to the commit of the next.
	// Each guards the projects whose ids hash to it; there are many, so that projects seldom
	// wait for one another.
	turns [64]sync.Mutex
}

// NewTasks returns Tasks.
func NewTasks(opts TaskOptions) (*Tasks, error) {
	if err := opts.validate(); err != nil {
		return nil, fmt.Errorf("make working memory: %w", err)
	}
	return &Tasks{opts: opts, seed: maphash.MakeSeed()}, nil
}

// commit commits the batch that prepare makes of the state of a project, as the only writer
// of that state. A repeated request is answered like the first one, even if the state would
// refuse it now: the first one may be the reason.
func (s *Tasks) commit(ctx context.Context, p memory.Project, requestID string, prepare func() (memory.Batch, error)) (memory.Committed, error) {
	turn := &s.turns[maphash.String(s.seed, p.ID)%uint64(len(s.turns))]
	turn.Lock()
	defer turn.Unlock()
	return s.opts.Writer.WriteWith(ctx, p, func() (memory.Batch, error) {
		b, err := prepare()
		if err != nil && requestID != "" {
			b, err = memory.Batch{Refused: err}, nil
		}
		b.RequestID = requestID
		return b, err
	})
}

// In the store's audit log an event is the detail of an entry, as JSON in a string, so that
// reports keep every byte. Forgetting a task removes the detail from the store's log, not
// from the file.

// actions are the names of the events in the store's audit log.
var actions = map[memory.TaskEventName]string{
	memory.TaskCompleted: "complete task", memory.TaskBlocked: "block task", memory.TaskUnblocked: "unblock task", memory.StateLoaded: "load tasks",
}

// event returns a new event of a project.
func (s *Tasks) event(name memory.TaskEventName, p memory.Project, caller memory.Caller) *memory.TaskEvent {
	client, _ := s.opts.Writer.Clean(caller.Client, memory.MaxNameText)
	return &memory.TaskEvent{Event: name, At: s.opts.now(), Project: p.ID, Client: client}
}

// detailOf encodes an event for the store's log.
func detailOf(e *memory.TaskEvent) string {
	text, _ := json.Marshal(e) // all that is raw in it was valid JSON
	return string(text)
}

// toFile appends a committed event to the audit file of the caller's repository. The store's
// log has the event too, so a failure is only a warning.
func (s *Tasks) toFile(ctx context.Context, caller memory.Caller, e *memory.TaskEvent, done memory.Committed) (path, warning string) {
	if s.opts.AuditFile == nil || done.Repeated { // its line was written then
		return "", ""
	}
	e.Seq = done.Seq
	line, err := json.Marshal(e)
	if err == nil {
		path, err = s.opts.AuditFile(ctx, caller, e.Project, append(line, '\n'))
	}
	if err != nil {
		s.opts.Logger.Warn("write audit file", "part", "working", "project", e.Project, "error", err)
		return "", "write audit file: " + err.Error() + "; the record is kept"
	}
	return path, ""
}
