package memory

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// The words of contexts (contracts 3, 5 and 6): a host is the program that runs an
// agent and builds its requests. Its catalogue is the rules, references and tools that
// it registered. A session context holds the entries that are always included and
// those added by hand. A request context is built for one message, one turn of a
// session, from the session context and what is relevant to the message. A working
// context is the discovered and used tools and the entities of a session; compaction
// clears it. The ledger keeps a receipt of every context and every answer.

// Defaults and limits of contexts.
const (
	DefaultTopK         = 20
	DefaultTopN         = 5
	DefaultIncludeScore = 0.7
	DefaultBudget       = 4000 // tokens of an assembled context
	MaxBudget           = 100_000
	DefaultKeepTurns    = 3
	MaxSummaryTokens    = 2000
	MaxByHand           = 1000 // entries added to a session by hand, and taken out of it
	MaxEntities         = 1000 // of a session
	MaxUsedTools        = 1000
)

// ContextItem is an entry in a context.
type ContextItem struct {
	Ref
	IncludeMode     Include  `json:"includeMode" enum:"always,manual" default:"manual" out:"always, manual or agent." mcp:"optional"`
	SimilarityScore *float64 `json:"similarityScore,omitempty" desc:"Its relevance to the message; agent items only." mcp:"out"`
}

// ContextRequest asks for a session's context.
type ContextRequest struct{ SessionRef }

// ChangeContextRequest changes a session's context by hand.
type ChangeContextRequest struct {
	RequestID string        `json:"request_id,omitempty" limit:"0-200"`
	Add       []ContextItem `json:"add,omitempty" limit:"0-200"` // includeMode always or manual; default manual
	Remove    []Ref         `json:"remove,omitempty" limit:"0-200"`
	SessionRef
}

func (r *ChangeContextRequest) relations(string) error {
	if len(r.Add)+len(r.Remove) == 0 {
		return Invalid("add", fmt.Sprintf("1–%d entries to add or remove", MaxChanges), "nothing is to be changed")
	}
	if n := len(r.Add) + len(r.Remove); n > MaxChanges {
		return Invalid("add", fmt.Sprintf("at most %d entries to add and remove", MaxChanges), "%d of them", n)
	}
	seen := make(map[Ref]string, len(r.Add)+len(r.Remove))
	once := func(field string, ref Ref) error {
		if before, twice := seen[ref]; twice {
			return Invalid(field, "each once", "is %s again", before)
		}
		seen[ref] = field
		return nil
	}
	for i, item := range r.Add {
		field := fmt.Sprintf("add[%d]", i)
		if err := once(field, item.Ref); err != nil {
			return err
		}
		if item.SimilarityScore != nil {
			return Invalid(field+".similarityScore", "none", "an entry that is added by hand has no score")
		}
	}
	for i, ref := range r.Remove {
		if err := once(fmt.Sprintf("remove[%d]", i), ref); err != nil {
			return err
		}
	}
	return nil
}

// Context is what a session holds: entries that are always included, in the
// catalogue's order, and then those that were added, in theirs.
type Context struct {
	Project     string        `json:"project"`
	ProjectName string        `json:"project_name,omitempty"`
	SessionID   string        `json:"sessionId"`
	Items       []ContextItem `json:"items" desc:"Those always included, then those added, in their order."`
	Rules       []string      `json:"rules"`
	References  []string      `json:"references"`
	Tools       []ToolRef     `json:"tools"`
	Changed     bool          `json:"changed,omitempty" desc:"The call changed anything."`
	Version     uint64        `json:"version" desc:"Of the working context."`
}

// AssembleRequest asks for the context of one message. Zero values mean the settings.
type AssembleRequest struct {
	// RequestID makes a repetition be answered with the receipt of the first.
	RequestID string `json:"request_id,omitempty" limit:"0-200"`
	Message   string `json:"message" limit:"1-1000000" desc:"The request that the context is for."`
	// TaskType is of the task that the context is for. RequiresContext that is
	// false leaves out history and code; nil is the settings'.
	TaskType        string   `json:"task_type,omitempty" limit:"0-200" desc:"Of the task that it is for."`
	RequiresContext *bool    `json:"requires_context,omitempty" desc:"false leaves out history and code; default: the settings'."`
	TopK            int      `json:"topK,omitempty" limit:"1-200" desc:"Matches considered; default: the settings', 20."`
	TopN            int      `json:"topN,omitempty" limit:"1-50" desc:"Matches taken; default: the settings', 5."`
	IncludeScore    *float64 `json:"includeScore,omitempty" limit:"0-1" desc:"Relevance from which a match is always taken; default: the settings', 0.7."`
	MaxTokens       int      `json:"max_tokens,omitempty" limit:"50-100000" desc:"Most tokens; default: the settings', 4,000."`
	// NoSearch switches search off: the request context is the session context.
	NoSearch bool `json:"no_search,omitempty" desc:"Take the session's context alone."`
	// Schemas asks for the descriptions and schemas of all active tools, within the
	// budget: a host that starts again has lost what it once found.
	Schemas bool `json:"schemas,omitempty" desc:"Answer with the schemas of all active tools."`
	SessionRef
}

// AssembledItem is an entry with what it hands out.
type AssembledItem struct {
	ContextItem
	ID          string          `json:"id,omitempty"`
	Description string          `json:"description,omitempty"`
	Text        string          `json:"text,omitempty" desc:"Of a rule or reference."`
	InputSchema json.RawMessage `json:"inputSchema,omitempty" desc:"Of a tool."`
	// Followed says that it is in a file of the repository.
	Followed bool `json:"followed,omitempty" mcp:"-"`
	Tokens   int  `json:"tokens"`
	// State is "changed" in the answer to a repeated request, where the text is the one of
	// today and another one than the first answer had.
	State Reason `json:"state,omitempty" desc:"changed, in a repeated answer."`
}

// Assembled is the context of one request: what a host builds it from. Items are those
// of the session context, then those that are relevant: rules, references, tools.
type Assembled struct {
	Project     string          `json:"project"`
	ProjectName string          `json:"project_name,omitempty"`
	SessionID   string          `json:"sessionId"`
	Turn        int             `json:"turn" desc:"Counts the session's requests, from 1."`
	Items       []AssembledItem `json:"items"`
	// Memories are the lessons, steps and code that have to do with the message.
	Memories []Item      `json:"memories" desc:"Lessons, steps and code."`
	Window   *TaskWindow `json:"window,omitempty" desc:"Recent tasks and blockers."`
	// ActiveTools are the tools that the session may call: the core, the tools of its
	// context and the discovered ones.
	ActiveTools []ToolRef    `json:"activeTools" desc:"What the session may call."`
	ToolSchemas []ActiveTool `json:"toolSchemas,omitempty" desc:"Of active tools that are not among items, on asking."`
	Guidance    string       `json:"guidance,omitempty" desc:"How newly found tools are used well; told once."`
	Withheld    []Withheld   `json:"withheld" desc:"Candidates not handed out, and why."`
	Degraded    []Degraded   `json:"degraded,omitempty" desc:"Parts that did not take part."`
	// Incomplete says that not all that could be relevant was searched, and Why.
	Incomplete bool   `json:"incomplete,omitempty" desc:"Not all was searched, so what is missing here may exist; ask again."`
	Why        string `json:"why,omitempty" desc:"Why it is incomplete."`
	// Tokens is the room that all of it takes, the schemas of its tools included. Text,
	// which has no schemas and shortens code, takes no more.
	Tokens    int           `json:"tokens"`
	MaxTokens int           `json:"max_tokens"`
	Record    ContextRecord `json:"record" desc:"What is kept of it."`
	Receipt   string        `json:"receipt" desc:"Names it in the ledger."`
	// Text is the whole written out for a prompt.
	Text string `json:"text,omitempty" mcp:"-"`
}

// ActiveTool is a tool that a session may call, as its host registers it with a model.
type ActiveTool struct {
	ToolRef
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	// Followed says that it is in a file of the repository.
	Followed bool `json:"followed,omitempty" mcp:"-"`
	Tokens   int  `json:"tokens"`
}

// ContextRecord is what contract 6 keeps of a request.
type ContextRecord struct {
	Items     []RecordItem `json:"items" desc:"A memory's name is its id."`
	Timestamp time.Time    `json:"timestamp"`
}

// RecordItem is an entry or a memory of a record. A memory's name is its id.
type RecordItem struct {
	Type            Kind     `json:"type"`
	Name            string   `json:"name"`
	ServerName      string   `json:"serverName,omitempty"`
	IncludeMode     Include  `json:"includeMode" desc:"always, manual or agent."`
	SimilarityScore *float64 `json:"similarityScore,omitempty" desc:"Its relevance to the message; agent items only."`
	// State, where a record is read back, says that the text which was handed out is no
	// longer to be had: "changed" or "gone". It is left out where the text is as it was,
	// and where that is unknown. Text is the text at that time, on request; of a tool its description
	// and schema.
	State Reason `json:"state,omitempty" desc:"changed or gone: its text."`
	Text  string `json:"text,omitempty" desc:"Of then."`
}

// RecordOf is what contract 6 keeps of the receipt of a context: its items in the order
// in which they were handed out. A lesson, step or chunk goes by its id, a task or
// blocker by the id of the task. The receipt is not pointed to.
func RecordOf(r *Receipt) ContextRecord {
	record := ContextRecord{Items: make([]RecordItem, len(r.Items)), Timestamp: r.At}
	for i, item := range r.Items {
		x := RecordItem{Type: item.Kind, Name: cmp.Or(item.Name, item.ID), ServerName: item.Server, IncludeMode: item.Mode}
		if x.IncludeMode == IncludeAgent && item.Relevance > 0 { // a discovered tool has none
			x.SimilarityScore = new(item.Relevance)
		}
		record.Items[i] = x
	}
	return record
}

// Entity is something that a session dealt with: an order, a file, a pull request.
type Entity struct {
	ID   string `json:"id" limit:"1-200"`
	Type string `json:"type,omitempty" limit:"0-500"`
	Name string `json:"name,omitempty" limit:"0-500"`
	// Data is an object of the host's, kept as it came.
	Data json.RawMessage `json:"data,omitempty" limit:"0-16384" form:"object"`
}

func (e *Entity) relations(string) error {
	e.Data = compact(e.Data)
	return nil
}

// WorkingContextRequest asks for a session's working context.
type WorkingContextRequest struct{ SessionRef }

// ReportRequest tells what a session used and met. A tool of the host itself has no server.
type ReportRequest struct {
	RequestID string    `json:"request_id,omitempty" limit:"0-200"`
	UsedTools []ToolRef `json:"usedTools,omitempty" limit:"0-1000"`
	// Entities are added in their order; one with a known id replaces it in its place.
	Entities []Entity `json:"entities,omitempty" limit:"0-1000" desc:"One with a known id replaces it."`
	// ClearDiscovered takes away what search_tools found, and nothing else.
	ClearDiscovered bool `json:"clearDiscovered,omitempty" desc:"Forget the tools that search_tools found."`
	SessionRef
}

func (r *ReportRequest) relations(string) error {
	if len(r.UsedTools)+len(r.Entities) == 0 && !r.ClearDiscovered {
		return Invalid("entities", "entities, usedTools or clearDiscovered", "nothing is reported")
	}
	return nil
}

// WorkingContext is what a session has come across. Its JSON is what is stored, byte
// for byte.
type WorkingContext struct {
	SessionID string `json:"sessionId"`
	// Version is raised by every change and clearing, and reset by nothing.
	Version uint64 `json:"version" desc:"Raised by every change."`
	// Turn counts the requests that were assembled.
	Turn int `json:"turn"`
	// Added and Removed are the changes by hand to the session context.
	Added           []ContextItem `json:"added,omitempty" desc:"Changes of the context by hand."`
	Removed         []Ref         `json:"removed,omitempty"`
	DiscoveredTools []ToolRef     `json:"discoveredTools"`
	UsedTools       []ToolRef     `json:"usedTools"`
	// ToolUse counts how often each of UsedTools was reported, in their order. A tool
	// that an older version kept has none until it is used again.
	ToolUse  []ToolUse `json:"toolUse,omitempty" desc:"How often, and when last."`
	Entities []Entity  `json:"entities"`
	// Guided are the tools whose guidance was handed out since the last compaction.
	Guided      []ToolRef `json:"guided,omitempty" desc:"Tools whose guidance was told."`
	Summary     string    `json:"summary,omitempty" desc:"Of the last compaction."`
	Compactions int       `json:"compactions,omitempty"`
	CompactedAt time.Time `json:"compactedAt,omitzero"`
	// Extra holds fields that this version does not know. They stand beside the
	// others.
	Extra map[string]json.RawMessage `json:"-"`
}

// ToolUse is how often a tool was used.
type ToolUse struct {
	ToolRef
	Count    int       `json:"count"`
	LastUsed time.Time `json:"lastUsed"`
}

// SummaryItem is the type of the item that holds the summary of the last compaction. It
// is the first of every assembled context until the next one; its name is SummaryName.
const (
	SummaryItem = Kind("summary")
	SummaryName = "summary of the last compaction"
)

// CompactRequest is a clean slate. How many tokens a summary has, and whether it names a
// tool, the compaction checks.
type CompactRequest struct {
	RequestID string `json:"request_id,omitempty" limit:"0-200"`
	// Summary says what was done, with names and ids, and names no tool. Where it is
	// empty a local chat model writes it, if one is configured, from Transcript.
	Summary    string `json:"summary,omitempty" limit:"0-20000" desc:"What was done and what comes next, without the name of a tool; at most 2,000 tokens."`
	Transcript string `json:"transcript,omitempty" limit:"0-200000" desc:"The conversation, for a model that writes the summary."`
	// KeepTurns replaces the setting.
	KeepTurns int `json:"keepTurns,omitempty" limit:"1-100" desc:"Recent turns to keep; default: the settings', 3."`
	SessionRef
}

func (r *CompactRequest) relations(string) error {
	if r.Summary != "" && isBlank(r.Summary) {
		return Invalid("summary", Range{1, MaxSummary}.Of("characters"), "has no visible character")
	}
	return nil
}

// Compacted is the answer to a compaction.
type Compacted struct {
	Project     string `json:"project"`
	ProjectName string `json:"project_name,omitempty"`
	SessionID   string `json:"sessionId"`
	Summary     string `json:"summary"`
	// Model wrote the summary; empty when the caller did.
	Model string `json:"model,omitempty" desc:"What wrote the summary, if not you."`
	// KeepTurns is how many recent turns the host is to keep.
	KeepTurns int `json:"keepTurns" desc:"How many recent turns to keep."`
	// Cleared counts what is gone.
	ClearedTools    int       `json:"clearedTools"`
	ClearedEntities int       `json:"clearedEntities"`
	ActiveTools     []ToolRef `json:"activeTools" desc:"The core."`
	Version         uint64    `json:"version" desc:"Of the working context."`
	Redacted        bool      `json:"redacted,omitempty" desc:"A secret was taken out."`
}

// Ref identifies an entry: its type, its name and, of a tool, its server.
type Ref struct {
	Type       Kind   `json:"type" enum:"rule,reference,tool"`
	Name       string `json:"name" limit:"1-200"`
	ServerName string `json:"serverName,omitempty" limit:"0-200" desc:"Of a tool; rules and references have none." out:"-"`
}

func (r *Ref) relations(at string) error {
	if err := oneLine(at+"name", r.Name); err != nil {
		return err
	}
	switch {
	case r.Type == Tool && r.ServerName == "":
		return Text(at+"serverName", "", 1, MaxNameText)
	case r.Type != Tool && r.ServerName != "":
		return Invalid(at+"serverName", "tools only", "a %s has no server", r.Type)
	}
	return oneLine(at+"serverName", r.ServerName)
}

// ToolRef identifies a tool.
type ToolRef struct {
	ServerName string `json:"serverName" limit:"0-200" mcp:"optional"`
	ToolName   string `json:"toolName" limit:"1-200"`
}

// String writes a tool as contexts show it: "filesystem:read_file".
func (t ToolRef) String() string { return t.ServerName + ":" + t.ToolName }

// SessionRef says whose session is meant. SessionID is by default the caller's current
// session; CodeInvalidInput when none is open, CodeNotFound for an unknown id.
type SessionRef struct {
	SessionID string `json:"sessionId,omitempty" limit:"4-200" text:"id" desc:"Default: the current session."`
	Project   string `json:"project,omitempty" limit:"0-4096"`
	Caller    Caller `json:"caller,omitzero"`
}

// noticeField is a field that transports add to every answer with stored text (see
// package render). It is none of the working context's own.
const noticeField = "notice"

// plainContext is a WorkingContext without its methods.
type plainContext WorkingContext

// contextFields are the names of its fields in JSON.
var contextFields = sync.OnceValue(func() []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[plainContext]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
			names = append(names, name)
		}
	}
	return names
})

// MarshalJSON writes a working context in one way only: its fields in their order,
// then those that this version does not know by their names, and lists that are empty
// as such. What is the same has therefore the same bytes.
func (wc WorkingContext) MarshalJSON() ([]byte, error) {
	plain := plainContext(wc)
	plain.DiscoveredTools = listed(plain.DiscoveredTools)
	plain.UsedTools = listed(plain.UsedTools)
	plain.Entities = listed(plain.Entities)
	raw, err := json.Marshal(plain)
	if err != nil || len(wc.Extra) == 0 {
		return raw, err
	}
	b := bytes.NewBuffer(raw[:len(raw)-1]) // without the brace
	for _, name := range slices.Sorted(maps.Keys(wc.Extra)) {
		field, err := json.Marshal(map[string]json.RawMessage{name: wc.Extra[name]})
		if err != nil {
			return nil, err
		}
		b.WriteByte(',')
		b.Write(field[1 : len(field)-1])
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON wrote, by this version or a newer one.
func (wc *WorkingContext) UnmarshalJSON(raw []byte) error {
	plain := plainContext{}
	// Half a megabyte takes milliseconds: it is read twice only if there is need to.
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if d.Decode(&plain) != nil {
		plain = plainContext{}
		if err := json.Unmarshal(raw, &plain); err != nil {
			return err
		}
		if err := json.Unmarshal(raw, &plain.Extra); err != nil {
			return err
		}
		// A field of its own is read in upper and lower case.
		maps.DeleteFunc(plain.Extra, func(name string, _ json.RawMessage) bool {
			return name == noticeField || slices.ContainsFunc(contextFields(), func(own string) bool { return strings.EqualFold(name, own) })
		})
	}
	plain.DiscoveredTools = listed(plain.DiscoveredTools)
	plain.UsedTools = listed(plain.UsedTools)
	plain.Entities = listed(plain.Entities)
	*wc = WorkingContext(plain)
	return nil
}

// listed returns a list that is empty instead of missing.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
