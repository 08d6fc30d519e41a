package memory

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
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

// Limits of the history of tasks.
const (
	DefaultHistory = 20
	MaxHistory     = 200
	// MaxHistoryBytes bounds what the events of an answer take together, in bytes of JSON,
	// but for the first of them, which may be a state of MaxLoadedState.
	MaxHistoryBytes = 1 << 20
	// MaxHistoryLooked is how many updates of the audit log are read for one answer.
	MaxHistoryLooked = 20_000
)

// Limits of the texts of working memory, in code points.
const (
	MaxTaskType    = MaxNameText
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
	TaskID      string    `json:"task_id" limit:"1-200"`
	CompletedAt time.Time `json:"completed_at"`
	TaskType    string    `json:"task_type,omitempty" limit:"0-200"`
	// RequiresContext is false by default: such a task is redacted.
	RequiresContext bool   `json:"requires_context" desc:"Intent and summary are shown."`
	Intent          string `json:"intent,omitempty" limit:"0-2000"`
	Summary         string `json:"summary,omitempty" limit:"0-4000"`
	// ValidationReport is an object; its "valid" says success.
	ValidationReport json.RawMessage `json:"validation_report" limit:"1-65536" form:"object"`
}

// BlockedTask says why a task cannot go on.
type BlockedTask struct {
	TaskID    string    `json:"task_id" limit:"1-200"`
	Reason    string    `json:"reason" limit:"1-2000"`
	BlockedAt time.Time `json:"blocked_at"`
}

// CompleteTaskRequest reports a completed task. The time is by default now, the
// requirement of context the one of the settings, the summary made from the report.
type CompleteTaskRequest struct {
	// RequestID is as in RememberRequest.
	RequestID        string          `json:"request_id,omitempty" limit:"0-200"`
	TaskID           string          `json:"task_id" limit:"1-200" desc:"The task's id, of your own."`
	CompletedAt      time.Time       `json:"completed_at,omitzero" desc:"Default: now."`
	TaskType         string          `json:"task_type,omitempty" limit:"0-200" desc:"Its type, by which settings differ."`
	RequiresContext  *bool           `json:"requires_context,omitempty" desc:"Keep intent and summary for later tasks; default: the settings'."`
	Intent           string          `json:"intent,omitempty" limit:"0-2000" desc:"What it was for, in a sentence."`
	Summary          string          `json:"summary,omitempty" limit:"0-4000" desc:"What came of it; made from the report if left out."`
	ValidationReport json.RawMessage `json:"validation_report" limit:"1-65536" form:"object" desc:"How it was checked; {\"valid\": true} says success."`
	Project          string          `json:"project,omitempty" limit:"0-4096"`
	Caller           Caller          `json:"caller,omitzero"`
}

// Task is what the request reports. A task requires no context unless it says so.
func (r *CompleteTaskRequest) Task() CompletedTask {
	return CompletedTask{
		TaskID: r.TaskID, CompletedAt: r.CompletedAt, TaskType: r.TaskType,
		RequiresContext: r.RequiresContext != nil && *r.RequiresContext,
		Intent:          r.Intent, Summary: r.Summary, ValidationReport: r.ValidationReport,
	}
}

// BlockTaskRequest raises a blocker.
type BlockTaskRequest struct {
	RequestID string    `json:"request_id,omitempty" limit:"0-200"`
	TaskID    string    `json:"task_id" limit:"1-200" desc:"The task's id, of your own."`
	Reason    string    `json:"reason" limit:"1-2000" desc:"Why it cannot go on."`
	BlockedAt time.Time `json:"blocked_at,omitzero" desc:"Default: now."`
	Project   string    `json:"project,omitempty" limit:"0-4096"`
	Caller    Caller    `json:"caller,omitzero"`
}

// UnblockTaskRequest resolves a blocker. Resolution says how, for the audit log.
type UnblockTaskRequest struct {
	RequestID  string `json:"request_id,omitempty" limit:"0-200"`
	TaskID     string `json:"task_id" limit:"1-200" desc:"The task's id, of your own."`
	Resolution string `json:"resolution,omitempty" limit:"0-2000" desc:"How it was resolved."`
	Project    string `json:"project,omitempty" limit:"0-4096"`
	Caller     Caller `json:"caller,omitzero"`
}

// TaskSaved says what became of a task or blocker.
type TaskSaved struct {
	ID          string `json:"id" desc:"Of the record."`
	TaskID      string `json:"task_id"`
	Project     string `json:"project"`
	ProjectName string `json:"project_name,omitempty"`
	// Completed and Blocked count what the state holds now; Dropped what gave way to
	// its bounds. The audit log still has it.
	Completed int  `json:"completed" desc:"Completed tasks that are held now."`
	Blocked   int  `json:"blocked" desc:"Active blockers."`
	Dropped   int  `json:"dropped,omitempty" desc:"What gave way to the bounds; the audit log still has it."`
	Redacted  bool `json:"redacted,omitempty" desc:"A secret was taken out."`
	// NotKept names the fields that were given and dropped: intent and summary of a task
	// that requires no context.
	NotKept []string `json:"not_kept,omitempty" desc:"What was given and dropped, because the task requires no context."`
	// AuditFile is the file that the event was appended to, if one is written;
	// Warning says why it could not be. The record is there.
	AuditFile string `json:"audit_file,omitempty" desc:"The file that the event was appended to."`
	Warning   string `json:"warning,omitempty" desc:"What could not be done beside; the record is kept."`
	Seq       uint64 `json:"seq" desc:"The committed batch that holds it."`
}

// TaskWindowRequest asks for the window.
type TaskWindowRequest struct {
	// TaskType chooses the settings of a type of task.
	TaskType string `json:"task_type,omitempty" limit:"0-200" desc:"Show the window as the settings have it for this type."`
	// Limit replaces the size of the window.
	Limit   int    `json:"limit,omitempty" limit:"1-100" desc:"Most completed tasks; default: the settings', 5."`
	Project string `json:"project,omitempty" limit:"0-4096"`
	Caller  Caller `json:"caller,omitzero"`
}

// TaskWindow is the window, oldest first.
type TaskWindow struct {
	Project     string          `json:"project"`
	ProjectName string          `json:"project_name,omitempty"`
	Tasks       []CompletedTask `json:"tasks" desc:"Oldest first."`
	Blockers    []BlockedTask   `json:"blockers" desc:"All that are active."`
	Total       int             `json:"total" desc:"All completed tasks that are held."`
	Tokens      int             `json:"tokens"`
	// Text is contract 3's; empty when there is nothing. It is bounded: Shortened counts
	// the ids, intents and reasons that are cut in it, LeftOut the older blockers that it
	// leaves out. Tasks and Blockers have them all; in an assembled context they are only
	// what its text shows.
	Text      string `json:"text" desc:"For a prompt; empty when there is nothing."`
	Shortened int    `json:"shortened,omitempty" desc:"Ids, intents and reasons that are cut in the text."`
	LeftOut   int    `json:"left_out,omitempty" desc:"Older blockers that are not in the text."`
}

// LoadTasksRequest takes over a state: an object with completed_tasks and
// active_blockers, or a list of tasks. A task that lacks requires_context is redacted. Check
// does not look into the state: its reader does.
type LoadTasksRequest struct {
	RequestID string          `json:"request_id,omitempty" limit:"0-200"`
	State     json.RawMessage `json:"state" limit:"1-1048576" form:"object,array" desc:"An object with completed_tasks and active_blockers, or a list of tasks."`
	Project   string          `json:"project,omitempty" limit:"0-4096"`
	Caller    Caller          `json:"caller,omitzero"`
}

// TasksLoaded says what was taken over. Known tasks are as they were.
type TasksLoaded struct {
	Project     string `json:"project"`
	ProjectName string `json:"project_name,omitempty"`
	Tasks       int    `json:"tasks" desc:"Taken over."`
	Blockers    int    `json:"blockers" desc:"Taken over."`
	Known       int    `json:"known" desc:"There already, and left as they were."`
	// Dropped counts what gave way to the bounds, Settled what was forgotten or
	// resolved here before: neither comes back.
	Dropped  int  `json:"dropped,omitempty" desc:"What gave way to the bounds; the audit log still has it."`
	Settled  int  `json:"settled,omitempty" desc:"Forgotten or resolved here before; they do not come back."`
	Redacted bool `json:"redacted,omitempty" desc:"A secret was taken out."`
	// AuditFile and Warning are as in TaskSaved.
	AuditFile string `json:"audit_file,omitempty" desc:"The file that the events were appended to."`
	Warning   string `json:"warning,omitempty" desc:"What could not be done beside; the records are kept."`
}

// TaskEventName says what happened.
type TaskEventName string

// The events.
const (
	TaskCompleted TaskEventName = "task_completed"
	TaskBlocked   TaskEventName = "task_blocked"
	TaskUnblocked TaskEventName = "task_unblocked"
	StateLoaded   TaskEventName = "tasks_loaded"
)

// TaskEvent is a change of a project's tasks and blockers, as the audit log keeps it: in
// full, and without secrets. What was forgotten since is not in it.
type TaskEvent struct {
	Event TaskEventName `json:"event" desc:"task_completed, task_blocked, task_unblocked or tasks_loaded."`
	// At is when it was reported, which may be later than when it happened. Seq is the
	// number of the update that holds it.
	At      time.Time `json:"timestamp" desc:"When it was reported."`
	Seq     uint64    `json:"seq,omitempty" desc:"The update that holds it."`
	Project string    `json:"project"`
	Client  string    `json:"client,omitempty"`
	// Task is the CompletedTask, and Blocker the BlockedTask, that was reported, with the
	// fields that this version does not know. Of an unblocked task, Blocker is the one that
	// it had, and Resolution says how it was resolved.
	Task       json.RawMessage `json:"task,omitempty"`
	Blocker    json.RawMessage `json:"blocker,omitempty" desc:"Of an unblocked task, the one that it had."`
	Resolution string          `json:"resolution,omitempty"`
	// Tasks and Blockers were loaded, also those that gave way at once.
	Tasks    []json.RawMessage `json:"completed_tasks,omitempty" desc:"Loaded."`
	Blockers []json.RawMessage `json:"active_blockers,omitempty" desc:"Loaded."`
	// GaveWay are the ids of the tasks that gave way to it.
	GaveWay []string `json:"gave_way,omitempty" desc:"Ids of tasks."`
}

// TaskHistoryRequest asks for the events of a project, newest first.
type TaskHistoryRequest struct {
	// TaskID leaves out what is about other tasks.
	TaskID string `json:"task_id,omitempty" limit:"0-200" desc:"Only about this task."`
	Limit  int    `json:"limit,omitempty" limit:"1-200" default:"20" desc:"Most events."`
	// Before leaves out the events of this update and of all later ones: the Before of the
	// answer that went before.
	Before  uint64 `json:"before,omitempty" desc:"Only older ones: the before of the last answer."`
	Project string `json:"project,omitempty" limit:"0-4096"`
	Caller  Caller `json:"caller,omitzero"`
}

// TaskHistory is what happened, newest first.
type TaskHistory struct {
	Project     string      `json:"project"`
	ProjectName string      `json:"project_name,omitempty"`
	Events      []TaskEvent `json:"events" desc:"Newest first."`
	// More says that there may be older events, and Before asks for them: an answer ends
	// at its limit, at MaxHistoryBytes, or when MaxHistoryLooked updates were read.
	More   bool   `json:"more,omitempty" desc:"There may be older events."`
	Before uint64 `json:"before,omitempty" desc:"Asks for them."`
	Tokens int    `json:"tokens"`
	// Text has a line for each event, with its texts shortened; empty without any.
	Text string `json:"text" desc:"A line for each event."`
}

// TaskContent is what the record of a completed task or of a blocker holds.
type TaskContent struct {
	TaskID string `json:"task_id"`
	Type   string `json:"task_type,omitempty"`
	// RequiresContext says that intent and summary are kept.
	RequiresContext bool            `json:"requires_context,omitempty"`
	Intent          string          `json:"intent,omitempty"`
	Summary         string          `json:"summary,omitempty"`
	Report          json.RawMessage `json:"validation_report,omitempty"`
	// Reason is a blocker's.
	Reason string `json:"reason,omitempty"`
}

// TaskText is what a context hands out of a task or blocker. The validation report
// stands for the outcome.
func TaskText(t *TaskContent) string {
	parts := []string{t.TaskID, t.Type}
	if t.RequiresContext {
		parts = append(parts, t.Intent, t.Summary)
	}
	parts = append(parts, t.Reason, string(t.Report))
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "\n")
}
