// The words of contexts (contracts 3, 5 and 6): a host is the program that runs an
// agent and builds its requests. Its catalogue is the rules, references and tools that
// it registered. A session context holds the entries that are always included and
// those added by hand. A request context is built for one message, one turn of a
// session, from the session context and what is relevant to the message. A working
// context is the discovered and used tools and the entities of a session; compaction
// clears it. The ledger keeps a receipt of every context and every answer.

package memory

import (
	"context"
)

// Service is all that the daemon offers, implemented by the daemon itself and, over
// the socket, by its client.
type Service interface {
	BaseService
	WorkingMemory
	Catalogue
	Contexts
	WorkingContexts
	Ledger
}

// Ref identifies an entry: its type, its name and, of a tool, its server.
type Ref struct {
	Type       Kind   `json:"type"` // rule, reference or tool
	Name       string `json:"name"`
	ServerName string `json:"serverName,omitempty"`
}

// ToolRef identifies a tool.
type ToolRef struct {
	ServerName string `json:"serverName"`
	ToolName   string `json:"toolName"`
}

// String writes a tool as contexts show it: "filesystem:read_file".
func (t ToolRef) String() string { return t.ServerName + ":" + t.ToolName }

// Ref returns the tool's identity among all entries.
func (t ToolRef) Ref() Ref { return Ref{Type: Tool, Name: t.ToolName, ServerName: t.ServerName} }

// SessionRef says whose session is meant. SessionID is by default the caller's current
// session; CodeInvalidInput when none is open, CodeNotFound for an unknown id.
type SessionRef struct {
	SessionID string `json:"sessionId,omitempty"`
	Project   string `json:"project,omitempty"`
	Caller    Caller `json:"caller,omitzero"`
}

// WorkingMemory keeps what was done and what is blocked in a project.
type WorkingMemory interface {
	// CompleteTask keeps a completed task. A task with an id that is there replaces it.
	CompleteTask(ctx context.Context, req CompleteTaskRequest) (*TaskSaved, error)
	// BlockTask raises a blocker; one for the same task replaces it.
	BlockTask(ctx context.Context, req BlockTaskRequest) (*TaskSaved, error)
	// UnblockTask resolves a task's blocker. CodeNotFound when it has none.
	UnblockTask(ctx context.Context, req UnblockTaskRequest) (*TaskSaved, error)
	// TaskWindow returns the last completed tasks and all active blockers.
	TaskWindow(ctx context.Context, req TaskWindowRequest) (*TaskWindow, error)
	// LoadTasks takes over a state that was kept elsewhere or before. It is repeated
	// without harm.
	LoadTasks(ctx context.Context, req LoadTasksRequest) (*TasksLoaded, error)
	// TaskHistory reads what the audit log has of tasks and blockers, also of those that
	// gave way or were resolved.
	TaskHistory(ctx context.Context, req TaskHistoryRequest) (*TaskHistory, error)
}

// Catalogue keeps the rules, references and tools of a project.
type Catalogue interface {
	// Register adds entries and changes those that are there.
	Register(ctx context.Context, req RegisterRequest) (*Registered, error)
	// Unregister removes entries. Old receipts still name them.
	Unregister(ctx context.Context, req UnregisterRequest) (*Registered, error)
	// Entries lists them in the order in which they were registered.
	Entries(ctx context.Context, req EntriesRequest) (*EntryList, error)
	// SearchTools finds tools by meaning and makes them active for the session, if
	// one is open.
	SearchTools(ctx context.Context, req SearchToolsRequest) (*ToolMatches, error)
}

// Contexts says what a request is given.
type Contexts interface {
	// SessionContext returns what the session holds.
	SessionContext(ctx context.Context, req ContextRequest) (*Context, error)
	// ChangeContext adds entries and takes some out. CodeNotFound for an entry that
	// does not exist.
	ChangeContext(ctx context.Context, req ChangeContextRequest) (*Context, error)
	// Assemble builds the context of one request and records it; when it returns, the
	// record is durable. A part that is missing is named in Degraded.
	Assemble(ctx context.Context, req AssembleRequest) (*Assembled, error)
}

// WorkingContexts keeps what a session has come across.
type WorkingContexts interface {
	// WorkingContext returns it as it is stored.
	WorkingContext(ctx context.Context, req WorkingContextRequest) (*WorkingContext, error)
	// Report adds used tools and entities, or clears discovered tools.
	Report(ctx context.Context, req ReportRequest) (*WorkingContext, error)
	// Compact stores a summary and clears all but the core, in one transaction.
	// CodeInvalidInput for a summary that names a tool or is too long,
	// CodeUnavailable when none is given and no model writes one.
	Compact(ctx context.Context, req CompactRequest) (*Compacted, error)
}

// Ledger reads receipts, takes verdicts and asks again.
type Ledger interface {
	// Receipts lists receipts, newest first.
	Receipts(ctx context.Context, req ReceiptsRequest) (*ReceiptList, error)
	// ContextOf returns what a turn of a session was given, as contract 6 records it.
	ContextOf(ctx context.Context, req ContextOfRequest) (*TurnContext, error)
	// Feedback takes a verdict on a receipt or one of its items. CodeNotFound.
	Feedback(ctx context.Context, req FeedbackRequest) (*FeedbackResult, error)
	// Replay asks past questions again under other settings and reports progress, in
	// order, until it is done. It changes nothing.
	Replay(ctx context.Context, req ReplayRequest, progress func(ReplayProgress)) (*Replayed, error)
}
