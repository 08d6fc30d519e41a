package working

import (
	"context"
	"encoding/json"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// Event is a change of a project's state, as the audit log keeps it: in full, and
// without secrets. In the store's log it is the detail of an entry, as JSON in a text:
// so reports stay byte by byte what they were. Forgetting what it is about takes the
// detail out of the store's log, not out of the file.
type Event struct {
	Event EventName `json:"event"`
	// At is when it was reported, which may be later than when it happened. Seq is the
	// number of the update that holds it; in the store's audit log that stands beside it.
	At      time.Time `json:"timestamp"`
	Seq     uint64    `json:"seq,omitempty"`
	Project string    `json:"project"`
	Client  string    `json:"client,omitempty"`
	// Task and Blocker are what was reported; of an unblocked task, the blocker that it
	// had, and Resolution says how.
	Task       json.RawMessage `json:"task,omitempty"`
	Blocker    json.RawMessage `json:"blocker,omitempty"`
	Resolution string          `json:"resolution,omitempty"`
	// Tasks and Blockers were loaded, also those that gave way at once.
	Tasks    []json.RawMessage `json:"completed_tasks,omitempty"`
	Blockers []json.RawMessage `json:"active_blockers,omitempty"`
	// GaveWay are the ids of the tasks that gave way to it.
	GaveWay []string `json:"gave_way,omitempty"`
}

// EventName says what happened.
type EventName string

// The events.
const (
	TaskCompleted EventName = "task_completed"
	TaskBlocked   EventName = "task_blocked"
	TaskUnblocked EventName = "task_unblocked"
	TasksLoaded   EventName = "tasks_loaded"
)

// actions name the events in the store's audit log.
var actions = map[EventName]string{
	TaskCompleted: "complete task", TaskBlocked: "block task", TaskUnblocked: "unblock task", TasksLoaded: "load tasks",
}

// event begins an event of a project.
func (s *Service) event(name EventName, p memory.Project, caller memory.Caller) *Event {
	client, _ := s.opts.Writer.Clean(caller.Client, memory.MaxNameText)
	return &Event{Event: name, At: s.now(), Project: p.ID, Client: client}
}

// detail is the event for the store's log.
func (e *Event) detail() string {
	text, _ := json.Marshal(e) // all that is raw in it was valid JSON
	return string(text)
}

// toFile appends an event that was committed to the audit file of the caller's
// repository. The store's log has it in any case, so a failure is a warning.
func (s *Service) toFile(ctx context.Context, caller memory.Caller, e *Event, done memory.Committed) (path, warning string) {
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
