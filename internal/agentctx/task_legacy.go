package agentctx

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// legacyState is a state that another program wrote, in its order.
type legacyState struct {
	tasks    []legacyTask
	blockers []legacyBlocker
}

type legacyTask struct {
	memory.CompletedTask
	extra map[string]json.RawMessage // fields that this version does not know
}

type legacyBlocker struct {
	memory.BlockedTask
	extra map[string]json.RawMessage
}

// maxExtra bounds the unknown fields of a task or blocker, in bytes together.
const maxExtra = 16 << 10

// readLegacyState reads an object with completed_tasks and active_blockers, or a list of
// tasks. Unknown fields of a task or blocker are kept; those beside the lists are dropped.
// CodeInvalidInput names the field and index at fault.
func readLegacyState(raw json.RawMessage) (legacyState, error) {
	var old legacyState
	var tasks, blockers []json.RawMessage
	if strings.HasPrefix(strings.TrimSpace(string(raw)), "[") {
		if err := json.Unmarshal(raw, &tasks); err != nil {
			return old, memory.Invalid("state", "a JSON object or list", "must be a list")
		}
	} else {
		f := newFields("state", raw)
		f.read(&tasks, "a list", "completed_tasks", "completedTasks")
		f.read(&blockers, "a list", "active_blockers", "activeBlockers", "blockers")
		if f.err != nil {
			return old, f.err
		}
	}
	for i, x := range tasks {
		t, err := readTask(fmt.Sprintf("completed_tasks[%d]", i), x)
		if err != nil {
			return old, err
		}
		old.tasks = append(old.tasks, t)
	}
	for i, x := range blockers {
		b, err := readBlocker(fmt.Sprintf("active_blockers[%d]", i), x)
		if err != nil {
			return old, err
		}
		old.blockers = append(old.blockers, b)
	}
	return old, nil
}

// readTask reads one task. Errors name it by where.
func readTask(where string, raw json.RawMessage) (t legacyTask, err error) {
	f := newFields(where, raw)
	f.read(&t.TaskID, "a text", "task_id", "taskId")
	f.read(&t.TaskType, "a text", "task_type", "taskType")
	f.read(&t.RequiresContext, "true or false", "requires_context", "requiresContext")
	f.read(&t.Intent, "a text", "intent")
	f.read(&t.Summary, "a text", "summary")
	f.read(&t.ValidationReport, "an object", "validation_report", "validationReport")
	t.CompletedAt = f.time("completed_at", "completedAt")
	t.extra, err = f.rest(&t.CompletedTask)
	return t, err
}

// readBlocker reads one blocker. Errors name it by where.
func readBlocker(where string, raw json.RawMessage) (b legacyBlocker, err error) {
	f := newFields(where, raw)
	f.read(&b.TaskID, "a text", "task_id", "taskId")
	f.read(&b.Reason, "a text", "reason")
	b.BlockedAt = f.time("blocked_at", "blockedAt")
	b.extra, err = f.rest(&b.BlockedTask)
	return b, err
}

// within prefixes the field of an error with the entry that it is in.
func within(where string, err error) error {
	e := *memory.AsError(err)
	e.Field = where + "." + e.Field
	return &e
}

// fields are the fields of an object that are not read yet. The first error stays, and
// nothing is read after it.
type fields struct {
	where string
	left  map[string]json.RawMessage
	err   error
}

func newFields(where string, raw json.RawMessage) *fields {
	f := &fields{where: where}
	if err := json.Unmarshal(raw, &f.left); err != nil || f.left == nil {
		f.err = memory.Invalid(where, "a JSON object", "must be an object")
	}
	return f
}

// read reads and removes the field that has one of the names; is says what it must be. It
// ignores a missing or null field.
func (f *fields) read(into any, is string, names ...string) {
	found := ""
	for _, name := range names {
		raw, ok := f.left[name]
		if delete(f.left, name); !ok || string(raw) == "null" || f.err != nil {
			continue
		}
		switch {
		case found != "":
			f.err = memory.Invalid(f.where+"."+name, "one of "+found+" and "+name, "appears twice")
		case json.Unmarshal(raw, into) != nil:
			f.err = memory.Invalid(f.where+"."+name, is, "is not %s", is)
		}
		found = name
	}
}

// timeForms are the accepted forms of a time: RFC 3339, and to the minute, as in the
// recent-task summary.
var timeForms = []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00"}

func (f *fields) time(names ...string) time.Time {
	const limit = "an RFC 3339 time"
	var text string
	if f.read(&text, limit, names...); f.err != nil || text == "" {
		return time.Time{}
	}
	for _, form := range timeForms {
		if at, err := time.Parse(form, text); err == nil {
			return at
		}
	}
	f.err = memory.Invalid(f.where+"."+names[0], limit, "%s is not a time", memory.Quote(text))
	return time.Time{}
}

// rest checks what was read and returns the fields that were not, or nil if there are none.
func (f *fields) rest(read any) (map[string]json.RawMessage, error) {
	if f.err != nil {
		return nil, f.err
	}
	if err := memory.Check(read); err != nil {
		return nil, within(f.where, err)
	}
	if n := memory.ExtraSize(f.left); n > maxExtra {
		return nil, memory.Invalid(f.where, fmt.Sprintf("at most %d bytes of other fields", maxExtra), "%d bytes are too many", n)
	}
	if len(f.left) == 0 {
		return nil, nil
	}
	return f.left, nil
}
