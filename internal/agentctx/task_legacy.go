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

// The names of a field in legacy states: in snake case, in camel case, and without the part
// that is obvious.
var (
	tasksNames     = []string{"completed_tasks", "completedTasks"}
	blockersNames  = []string{"active_blockers", "activeBlockers", "blockers"}
	idNames        = []string{"task_id", "taskId"}
	completedNames = []string{"completed_at", "completedAt"}
	typeNames      = []string{"task_type", "taskType"}
	contextNames   = []string{"requires_context", "requiresContext"}
	intentNames    = []string{"intent"}
	summaryNames   = []string{"summary"}
	reportNames    = []string{"validation_report", "validationReport"}
	reasonNames    = []string{"reason"}
	blockedNames   = []string{"blocked_at", "blockedAt"}
)

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
		f, err := newFields("state", raw)
		if err == nil {
			err = f.read(&tasks, "a list", tasksNames)
		}
		if err == nil {
			err = f.read(&blockers, "a list", blockersNames)
		}
		if err != nil {
			return old, err
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
	f, err := newFields(where, raw)
	if err != nil {
		return t, err
	}
	err = f.readAll(
		field{&t.TaskID, "a text", idNames}, field{&t.TaskType, "a text", typeNames},
		field{&t.RequiresContext, "true or false", contextNames}, field{&t.Intent, "a text", intentNames},
		field{&t.Summary, "a text", summaryNames}, field{&t.ValidationReport, "an object", reportNames})
	if err == nil {
		t.CompletedAt, err = f.time(completedNames)
	}
	if err == nil {
		err = within(where, t.Validate())
	}
	if err == nil {
		t.extra, err = f.rest()
	}
	return t, err
}

// readBlocker reads one blocker. Errors name it by where.
func readBlocker(where string, raw json.RawMessage) (b legacyBlocker, err error) {
	f, err := newFields(where, raw)
	if err != nil {
		return b, err
	}
	err = f.readAll(field{&b.TaskID, "a text", idNames}, field{&b.Reason, "a text", reasonNames})
	if err == nil {
		b.BlockedAt, err = f.time(blockedNames)
	}
	if err == nil {
		err = within(where, b.Validate())
	}
	if err == nil {
		b.extra, err = f.rest()
	}
	return b, err
}

// within prefixes the field of an error with the entry that it is in.
func within(where string, err error) error {
	if err == nil {
		return nil
	}
	e := *memory.AsError(err)
	e.Field = where + "." + e.Field
	return &e
}

// fields are the fields of an object that are not read yet.
type fields struct {
	where string
	left  map[string]json.RawMessage
}

// field is a field to read: the destination, its type in words, and its names.
type field struct {
	into  any
	is    string
	names []string
}

func newFields(where string, raw json.RawMessage) (*fields, error) {
	f := &fields{where: where}
	if err := json.Unmarshal(raw, &f.left); err != nil || f.left == nil {
		return nil, memory.Invalid(where, "a JSON object", "must be an object")
	}
	return f, nil
}

// read reads and removes a field. It ignores a missing or null field.
func (f *fields) read(into any, is string, names []string) error {
	found := ""
	for _, name := range names {
		raw, ok := f.left[name]
		if !ok {
			continue
		}
		delete(f.left, name)
		if string(raw) == "null" {
			continue
		}
		if found != "" {
			return memory.Invalid(f.where+"."+name, "one of "+found+" and "+name, "appears twice")
		}
		found = name
		if err := json.Unmarshal(raw, into); err != nil {
			return memory.Invalid(f.where+"."+name, is, "is not %s", is)
		}
	}
	return nil
}

func (f *fields) readAll(all ...field) error {
	for _, x := range all {
		if err := f.read(x.into, x.is, x.names); err != nil {
			return err
		}
	}
	return nil
}

// timeForms are the accepted forms of a time: RFC 3339, and to the minute, as in the
// recent-task summary.
var timeForms = []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00"}

func (f *fields) time(names []string) (time.Time, error) {
	const limit = "an RFC 3339 time"
	var text string
	if err := f.read(&text, limit, names); err != nil || text == "" {
		return time.Time{}, err
	}
	for _, form := range timeForms {
		if at, err := time.Parse(form, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, memory.Invalid(f.where+"."+names[0], limit, "%s is not a time", memory.Quote(text))
}

// rest returns the fields that were not read, or nil if there are none.
func (f *fields) rest() (map[string]json.RawMessage, error) {
	n := 0
	for name, raw := range f.left {
		n += len(name) + len(raw)
	}
	if n > maxExtra {
		return nil, memory.Invalid(f.where, fmt.Sprintf("at most %d bytes of other fields", maxExtra), "%d bytes are too many", n)
	}
	if len(f.left) == 0 {
		return nil, nil
	}
	return f.left, nil
}
