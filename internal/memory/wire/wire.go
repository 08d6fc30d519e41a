// Package wire holds what the daemon's HTTP interface and its client agree on
// beside the types of package memory: the protocol's number, the routes, and
// the shapes that wrap several of those types.
//
// Requests and answers are JSON. A failed call has the status of its code and
// an ErrorBody. Routes with {id} take the id as one escaped segment.
package wire

import (
	"github.com/recalld/recalld/internal/memory"
)

// Protocol is the number of the protocol spoken here. It grows when an older
// daemon would refuse or misunderstand what a newer client sends: a new field
// that clients send by themselves counts, for requests are decoded strictly; a
// new field of an answer does not. Client and daemon compare it, never their
// versions, and a newer client has an older daemon make way.
//
// 2: Caller.Window.
const Protocol = 2

// ProtocolHeader carries the protocol's number in every request of a client and
// in every answer. A request without it, from curl say, is taken as the
// daemon's own.
const ProtocolHeader = "X-Recalld-Protocol"

// NoticeHeader is in every answer while something is wrong that concerns them all, and
// says what: that the store has lost data.
const NoticeHeader = "X-Recalld-Notice"

// The routes. Hello and Stop are understood across protocols, so that a newer
// client can have an older daemon make way: they never change.
const (
	Hello    = "/v1/hello"                // GET → Greeting
	Stop     = "/v1/stop"                 // POST
	Recall   = "/v1/recall"               // POST memory.RecallRequest → memory.Answer
	Receipts = "/v1/receipts/"            // GET {id} → memory.Receipt
	Remember = "/v1/remember"             // POST memory.RememberRequest → memory.Remembered
	Forget   = "/v1/forget"               // POST memory.ForgetRequest → memory.Forgotten
	Index    = "/v1/index"                // POST memory.IndexRequest → memory.IndexQueued
	Repos    = "/v1/repos"                // GET → RepoList
	Skipped  = "/v1/repos/skipped"        // POST memory.SkippedRequest → memory.SkippedList
	Pause    = "/v1/repos/pause"          // POST memory.PauseRequest → memory.Paused
	Trust    = "/v1/trust"                // POST memory.TrustRequest → memory.TrustState
	Files    = "/v1/files"                // POST memory.FilesRequest → memory.FileList
	Metrics  = "/metrics"                 // GET → text for Prometheus
	Start    = "/v1/sessions/start"       // POST memory.StartSessionRequest → memory.SessionState
	Step     = "/v1/sessions/step"        // POST memory.RecordStepRequest → memory.StepRecorded
	End      = "/v1/sessions/end"         // POST memory.EndSessionRequest → memory.SessionState
	Search   = "/v1/history/search"       // POST SearchRequest → memory.StepMatches
	Last     = "/v1/history/last"         // POST LastRequest → memory.StepList
	Summary  = "/v1/history/summary"      // POST SummaryRequest → memory.Summary
	Sessions = "/v1/history/sessions"     // POST SessionsRequest → memory.SessionList
	Tasks    = "/v1/tasks"                // POST memory.TaskWindowRequest → memory.TaskWindow
	Complete = "/v1/tasks/complete"       // POST memory.CompleteTaskRequest → session.TaskKept
	Block    = "/v1/tasks/block"          // POST memory.BlockTaskRequest → session.TaskKept
	Unblock  = "/v1/tasks/unblock"        // POST memory.UnblockTaskRequest → session.TaskKept
	Load     = "/v1/tasks/load"           // POST memory.LoadTasksRequest → memory.TasksLoaded
	Past     = "/v1/tasks/history"        // POST memory.TaskHistoryRequest → memory.TaskHistory
	Entries  = "/v1/catalogue"            // POST memory.EntriesRequest → memory.EntryList
	Register = "/v1/catalogue/register"   // POST memory.RegisterRequest → memory.Registered
	Remove   = "/v1/catalogue/unregister" // POST memory.UnregisterRequest → memory.Registered
	Tools    = "/v1/tools/search"         // POST memory.SearchToolsRequest → memory.ToolMatches
	Context  = "/v1/context"              // POST memory.ContextRequest → memory.Context
	Change   = "/v1/context/change"       // POST memory.ChangeContextRequest → memory.Context
	Assemble = "/v1/context/assemble"     // POST memory.AssembleRequest → memory.Assembled
	Turn     = "/v1/context/turn"         // POST memory.ContextOfRequest → memory.TurnContext
	Working  = "/v1/working"              // POST memory.WorkingContextRequest → memory.WorkingContext
	Report   = "/v1/working/report"       // POST memory.ReportRequest → memory.WorkingContext
	Compact  = "/v1/working/compact"      // POST memory.CompactRequest → memory.Compacted
	Ledger   = "/v1/receipts"             // POST memory.ReceiptsRequest → memory.ReceiptList
	Feedback = "/v1/feedback"             // POST memory.FeedbackRequest → session.FeedbackTaken
	Replay   = "/v1/replay"               // POST memory.ReplayRequest → a ReplayEvent per line
	Import   = "/v1/import"               // POST memory.ImportRequest → memory.Imported
	Export   = "/v1/export"               // POST memory.ExportRequest → memory.Exported
	Status   = "/v1/status"               // GET → memory.Status
	Check    = "/v1/check"                // POST → memory.CheckReport
	DeadJobs = "/v1/jobs/dead"            // GET → DeadJobList
	Requeue  = "/v1/jobs/requeue/"        // POST {id}
	Models   = "/v1/models"               // GET → ModelList
	Pull     = "/v1/models/pull"          // POST PullRequest → a PullEvent per line
	Adapt    = "/v1/models/adapt"         // POST memory.AdaptRequest → an AdaptEvent per line
	Reset    = "/v1/models/reset"         // POST → memory.BuiltinModel
	Builtin  = "/v1/models/builtin"       // GET → memory.BuiltinModel
	MIMEJSON = "application/json"         // of requests and answers
	MIMELine = "application/x-ndjson"     // of Pull's, Adapt's and Replay's answers
)

// Greeting is the answer to Hello.
type Greeting struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"`
	PID      int    `json:"pid"`
	// Data is the data folder served.
	Data string `json:"data"`
}

// ErrorBody is the body of a failed call.
type ErrorBody struct {
	Error *memory.Error `json:"error"`
}

// Lists are objects, so that something can be added beside the list.
type (
	// RepoList is the answer to Repos.
	RepoList struct {
		Repos []memory.SandboxState `json:"repos"`
	}
	// DeadJobList is the answer to DeadJobs.
	DeadJobList struct {
		Jobs []memory.DeadJob `json:"jobs"`
	}
	// ModelList is the answer to Models.
	ModelList struct {
		Models []memory.ModelState `json:"models"`
	}
)

// PullRequest names the model to fetch.
type PullRequest struct {
	Name string `json:"name"`
}

// PullEvent is one line of a download: progress, or, as the last one, the end or
// the failure.
type PullEvent struct {
	Progress *memory.PullProgress `json:"progress,omitempty"`
	Done     bool                 `json:"done,omitempty"`
	Error    *memory.Error        `json:"error,omitempty"`
}

// AdaptEvent is one line of an adaptation: progress, or, as the last one, what it came
// to or the failure.
type AdaptEvent struct {
	Progress *memory.AdaptProgress `json:"progress,omitempty"`
	Done     *memory.Adaptation    `json:"done,omitempty"`
	Error    *memory.Error         `json:"error,omitempty"`
}

// ReplayEvent is one line of a replay: progress, or, as the last one, what it came to
// or the failure.
type ReplayEvent struct {
	Progress *memory.ReplayProgress `json:"progress,omitempty"`
	Done     *memory.Replayed       `json:"done,omitempty"`
	Error    *memory.Error          `json:"error,omitempty"`
}
