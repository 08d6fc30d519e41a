package session

import (
	"encoding/json"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// Limits of working memory.
const (
	// MaxTasks bounds the completed tasks of a project, MaxTaskState what they and
	// the blockers take together, in bytes of JSON.
	MaxTasks     = 100
	MaxTaskState = 500_000
	// DefaultWindow is how many completed tasks the window shows, MaxWindow the most
	// that it can be asked for.
	DefaultWindow = 5
	MaxWindow     = 100
	// MaxBlockers bounds the active blockers of a project, MaxBlockerState what they
	// take together, in bytes of JSON: the rest of MaxTaskState is for tasks, however
	// much is blocked.
	MaxBlockers     = 200
	MaxBlockerState = 250_000
	// MaxTaskReport bounds a validation report, MaxLoadedState a state that is taken
	// over, both in bytes.
	MaxTaskReport  = 64 << 10
	MaxLoadedState = 1 << 20
)

// Limits of the texts of working memory, in code points.
const (
	MaxTaskID      = memory.MaxNameText
	MaxTaskType    = memory.MaxNameText
	MaxIntent      = 2000
	MaxTaskSummary = 4000
	MaxReason      = 2000
	MaxResolution  = 2000
)

// Bounds of the window's text, in code points but for MaxShownBlockers: it stands in
// every assembled context.
const (
	MaxShownID       = 100
	MaxShownText     = 240 // of an intent or a reason
	MaxShownBlockers = 20  // the newest
)

// CompletedTask is a task that was done, well or not. Intent and summary are kept
// only if it requires context.
type CompletedTask struct {
	TaskID      string    `json:"task_id"`
	CompletedAt time.Time `json:"completed_at"`
	TaskType    string    `json:"task_type,omitempty"`
	// RequiresContext is false where it is not said: such a task is opaque.
	RequiresContext bool   `json:"requires_context"`
	Intent          string `json:"intent,omitempty"`
	Summary         string `json:"summary,omitempty"`
	// ValidationReport is an object; its "valid" says success.
	ValidationReport json.RawMessage `json:"validation_report"`
}

// Blocker says why a task cannot go on.
type Blocker struct {
	TaskID    string    `json:"task_id"`
	Reason    string    `json:"reason"`
	BlockedAt time.Time `json:"blocked_at"`
}

// CompleteTaskRequest reports a completed task. The time is by default now, the
// requirement of context that of the settings, the summary made from the report.
type CompleteTaskRequest struct {
	// RequestID is as in memory.RememberRequest.
	RequestID        string          `json:"request_id,omitempty"`
	TaskID           string          `json:"task_id"`
	CompletedAt      time.Time       `json:"completed_at,omitzero"`
	TaskType         string          `json:"task_type,omitempty"`
	RequiresContext  *bool           `json:"requires_context,omitempty"`
	Intent           string          `json:"intent,omitempty"`
	Summary          string          `json:"summary,omitempty"`
	ValidationReport json.RawMessage `json:"validation_report"`
	Project          string          `json:"project,omitempty"`
	Caller           memory.Caller   `json:"caller,omitzero"`
}

// BlockTaskRequest raises a blocker.
type BlockTaskRequest struct {
	RequestID string        `json:"request_id,omitempty"`
	TaskID    string        `json:"task_id"`
	Reason    string        `json:"reason"`
	BlockedAt time.Time     `json:"blocked_at,omitzero"`
	Project   string        `json:"project,omitempty"`
	Caller    memory.Caller `json:"caller,omitzero"`
}

// UnblockTaskRequest resolves a blocker. Resolution says how, for the audit log.
type UnblockTaskRequest struct {
	RequestID  string        `json:"request_id,omitempty"`
	TaskID     string        `json:"task_id"`
	Resolution string        `json:"resolution,omitempty"`
	Project    string        `json:"project,omitempty"`
	Caller     memory.Caller `json:"caller,omitzero"`
}

// TaskKept says what became of a task or blocker.
type TaskKept struct {
	ID          string `json:"id"`
	TaskID      string `json:"task_id"`
	Project     string `json:"project"`
	ProjectName string `json:"project_name,omitempty"`
	// Completed and Blocked count what the state holds now; Dropped what gave way to
	// its bounds. The audit log still has it.
	Completed int  `json:"completed"`
	Blocked   int  `json:"blocked"`
	Dropped   int  `json:"dropped,omitempty"`
	Redacted  bool `json:"redacted,omitempty"`
	// NotKept names the fields that were given and dropped: intent and summary of a task
	// that requires no context.
	NotKept []string `json:"not_kept,omitempty"`
	// AuditFile is the file that the event was appended to, if one is written;
	// Warning says why it could not be. The record is there.
	AuditFile string `json:"audit_file,omitempty"`
	Warning   string `json:"warning,omitempty"`
	Seq       uint64 `json:"seq"`
}

// TaskWindowRequest asks for the window.
type TaskWindowRequest struct {
	// TaskType chooses the settings of a type of task.
	TaskType string `json:"task_type,omitempty"`
	// Limit replaces the size of the window.
	Limit   int           `json:"limit,omitempty" given:"1–100"`
	Project string        `json:"project,omitempty"`
	Caller  memory.Caller `json:"caller,omitzero"`
}

// TaskWindow is the window, oldest first.
type TaskWindow struct {
	Project     string          `json:"project"`
	ProjectName string          `json:"project_name,omitempty"`
	Tasks       []CompletedTask `json:"tasks"`
	Blockers    []Blocker       `json:"blockers"`
	// Total counts all completed tasks that are held.
	Total  int `json:"total"`
	Tokens int `json:"tokens"`
	// Text is contract 3's; empty when there is nothing. It is bounded: Shortened counts
	// the ids, intents and reasons that are cut in it, LeftOut the older blockers that it
	// leaves out. Tasks and Blockers have them all.
	Text      string `json:"text"`
	Shortened int    `json:"shortened,omitempty"`
	LeftOut   int    `json:"left_out,omitempty"`
}

// LoadTasksRequest takes over a state: an object with completed_tasks and
// active_blockers, or a list of tasks. A task that lacks requires_context is opaque.
type LoadTasksRequest struct {
	RequestID string          `json:"request_id,omitempty"`
	State     json.RawMessage `json:"state"`
	Project   string          `json:"project,omitempty"`
	Caller    memory.Caller   `json:"caller,omitzero"`
}

// TasksLoaded says what was taken over. Known tasks are as they were.
type TasksLoaded struct {
	Project     string `json:"project"`
	ProjectName string `json:"project_name,omitempty"`
	Tasks       int    `json:"tasks"`
	Blockers    int    `json:"blockers"`
	Known       int    `json:"known"`
	// Dropped counts what gave way to the bounds, Settled what was forgotten or
	// resolved here before: neither comes back.
	Dropped  int  `json:"dropped,omitempty"`
	Settled  int  `json:"settled,omitempty"`
	Redacted bool `json:"redacted,omitempty"`
	// AuditFile and Warning are as in TaskKept.
	AuditFile string `json:"audit_file,omitempty"`
	Warning   string `json:"warning,omitempty"`
}
