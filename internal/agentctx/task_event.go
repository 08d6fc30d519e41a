package agentctx

import (
	"context"
	"encoding/json"

	"github.com/recalld/recalld/internal/memory"
)

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
