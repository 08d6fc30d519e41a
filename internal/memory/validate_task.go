package memory

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Validate checks the limits. The settings and the clock fill in what is not said.
func (r *CompleteTaskRequest) Validate() error {
	if err := validTaskRequest(&r.RequestID, &r.Project, &r.Caller); err != nil {
		return err
	}
	t := r.Task()
	if err := t.validate(true); err != nil {
		return err
	}
	r.TaskID, r.TaskType, r.Intent, r.Summary = t.TaskID, t.TaskType, t.Intent, t.Summary
	return nil
}

// Task is what the request reports. A requirement of context that it does not say
// is none.
func (r *CompleteTaskRequest) Task() CompletedTask {
	return CompletedTask{
		TaskID: r.TaskID, CompletedAt: r.CompletedAt, TaskType: r.TaskType,
		RequiresContext: r.RequiresContext != nil && *r.RequiresContext,
		Intent:          r.Intent, Summary: r.Summary, ValidationReport: r.ValidationReport,
	}
}

// Validate checks the limits. The clock fills in the time.
func (r *BlockTaskRequest) Validate() error {
	if err := validTaskRequest(&r.RequestID, &r.Project, &r.Caller); err != nil {
		return err
	}
	b := BlockedTask{TaskID: r.TaskID, Reason: r.Reason, BlockedAt: r.BlockedAt}
	if err := b.validate(true); err != nil {
		return err
	}
	r.TaskID, r.Reason = b.TaskID, b.Reason
	return nil
}

// Validate checks the limits.
func (r *UnblockTaskRequest) Validate() error {
	if err := validTaskRequest(&r.RequestID, &r.Project, &r.Caller); err != nil {
		return err
	}
	if err := validText("task_id", &r.TaskID, 1, MaxTaskID); err != nil {
		return err
	}
	return validText("resolution", &r.Resolution, 0, MaxResolution)
}

// Validate checks the limits; zero leaves the size of the window to the settings.
func (r *TaskWindowRequest) Validate() error {
	if err := validTaskRequest(nil, &r.Project, &r.Caller); err != nil {
		return err
	}
	if r.Limit < 0 || r.Limit > MaxWindow {
		return Invalid("limit", fmt.Sprintf("1–%d", MaxWindow), "%d is out of range", r.Limit)
	}
	return validText("task_type", &r.TaskType, 0, MaxTaskType)
}

// Validate checks the limits and fills in the default.
func (r *TaskHistoryRequest) Validate() error {
	if err := validTaskRequest(nil, &r.Project, &r.Caller); err != nil {
		return err
	}
	if err := validCount("limit", &r.Limit, DefaultHistory, MaxHistory); err != nil {
		return err
	}
	return validText("task_id", &r.TaskID, 0, MaxTaskID)
}

// Validate checks the limits, but not what the state says: reading it tells.
func (r *LoadTasksRequest) Validate() error {
	if err := validTaskRequest(&r.RequestID, &r.Project, &r.Caller); err != nil {
		return err
	}
	const limit = "a JSON object or list of at most 1048576 bytes"
	switch text := strings.TrimSpace(string(r.State)); {
	case len(r.State) > MaxLoadedState:
		return Invalid("state", limit, "%d bytes are too many", len(r.State))
	case text == "" || text[0] != '{' && text[0] != '[' || !isJSON(r.State):
		return Invalid("state", limit, "is no JSON object or list")
	}
	return nil
}

// Validate checks the limits of a task that was kept elsewhere, and trims its texts.
func (t *CompletedTask) Validate() error { return t.validate(false) }

// validate is Validate; a new task may lack its time.
func (t *CompletedTask) validate(isNew bool) error {
	for _, x := range []struct {
		field     string
		text      *string
		min, most int
	}{
		{"task_id", &t.TaskID, 1, MaxTaskID}, {"task_type", &t.TaskType, 0, MaxTaskType},
		{"intent", &t.Intent, 0, MaxIntent}, {"summary", &t.Summary, 0, MaxTaskSummary},
	} {
		if err := validText(x.field, x.text, x.min, x.most); err != nil {
			return err
		}
	}
	if err := validTaskTime("completed_at", t.CompletedAt, isNew); err != nil {
		return err
	}
	return validReport(t.ValidationReport)
}

// Validate checks the limits of a blocker that was kept elsewhere, and trims its
// texts.
func (b *BlockedTask) Validate() error { return b.validate(false) }

func (b *BlockedTask) validate(isNew bool) error {
	if err := validText("task_id", &b.TaskID, 1, MaxTaskID); err != nil {
		return err
	}
	if err := validText("reason", &b.Reason, 1, MaxReason); err != nil {
		return err
	}
	return validTaskTime("blocked_at", b.BlockedAt, isNew)
}

// validReport checks a validation report.
func validReport(report json.RawMessage) error {
	const limit = "a JSON object of at most 65536 bytes"
	switch text := strings.TrimSpace(string(report)); {
	case text == "":
		return Invalid("validation_report", limit, "is missing")
	case len(report) > MaxTaskReport:
		return Invalid("validation_report", limit, "%d bytes are too many", len(report))
	case text[0] != '{' || !isJSON(report):
		return Invalid("validation_report", limit, "is no JSON object")
	}
	return nil
}

// isJSON says that a value is JSON in valid UTF-8, which encoding/json lets pass
// without.
func isJSON(raw json.RawMessage) bool { return utf8.Valid(raw) && json.Valid(raw) }

func validTaskTime(field string, at time.Time, mayLack bool) error {
	if at.IsZero() && !mayLack {
		return Invalid(field, "a time", "is missing")
	}
	return ValidTime(field, at)
}

// validTaskRequest checks what all requests of working memory have in common; a nil
// id is of one that writes nothing.
func validTaskRequest(requestID, project *string, caller *Caller) error {
	if requestID != nil {
		if err := validText("request_id", requestID, 0, MaxNameText); err != nil {
			return err
		}
	}
	if err := validText("project", project, 0, MaxPathText); err != nil {
		return err
	}
	return caller.Validate()
}
