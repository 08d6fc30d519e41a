package memory

import (
	"encoding/json"
	"strings"
	"time"
)

// Format is how an answer is written out.
type Format string

// The formats.
const (
	FormatText     Format = "text"
	FormatJSON     Format = "json"
	FormatMarkdown Format = "markdown"
)

// Caller is who asks and from where. Transports fill it in.
type Caller struct {
	// Dir is the caller's working folder or root.
	Dir string `json:"dir,omitempty"`
	// Client names the program: "claude-code", "cli".
	Client string `json:"client,omitempty"`
	// Session is the caller's session, if one is open.
	Session string `json:"session,omitempty"`
	// Window tells two windows of one client apart: the process that runs hooks and
	// bridge, or a connection. Empty where nobody knows.
	Window string `json:"window,omitempty"`
}

// RecallRequest is a question. Zero values mean the defaults of contract 0; the
// tag given is the limit of a value that a caller spells out (package strict).
type RecallRequest struct {
	Query string `json:"query"`
	// IDs are memories to be shown in full, each by its id or the beginning of it that
	// no other shares; the answer is about them alone, and Query may be empty.
	IDs          []string `json:"ids,omitempty"`
	Kinds        []Kind   `json:"kinds,omitempty"`
	Project      string   `json:"project,omitempty"` // id or name
	Repo         string   `json:"repo,omitempty"`
	Scope        *Scope   `json:"scope,omitempty"`
	Filters      *Filters `json:"filters,omitempty"`
	Limit        int      `json:"limit,omitempty" given:"1–50"`
	MaxTokens    int      `json:"max_tokens,omitempty" given:"50–8000"`
	MinRelevance *float64 `json:"min_relevance,omitempty"`
	Format       Format   `json:"format,omitempty"`
	Explain      bool     `json:"explain,omitempty"`
	Caller       Caller   `json:"caller,omitzero"`
}

// Scope says whose sessions are meant: Name is "current" or "all", or Session
// names one.
type Scope struct {
	Name    string
	Session string
}

// Filters narrow the candidates before anything is ranked; they are ANDed. For
// the tag given see RecallRequest.
type Filters struct {
	FlowTag    string    `json:"flowTag,omitempty" given:"1–200 characters"`
	Screen     string    `json:"screen,omitempty" given:"1–200 characters"`
	GitBranch  string    `json:"gitBranch,omitempty" given:"1–200 characters"`
	SinceHours int       `json:"sinceHours,omitempty" given:"1–720"`
	Lang       string    `json:"lang,omitempty" given:"1–200 characters"`
	Path       string    `json:"path,omitempty" given:"1–4096 characters"` // prefix or glob, of code
	Tag        string    `json:"tag,omitempty" given:"1–200 characters"`
	Since      time.Time `json:"since,omitzero"`
}

// Asked is what a request asks for, in a line: its query, or the ids that it names.
func (r *RecallRequest) Asked() string {
	if r.Query == "" && len(r.IDs) > 0 {
		return "ids: " + strings.Join(r.IDs, ", ")
	}
	return r.Query
}

// Source is where an item comes from.
type Source struct {
	Path string `json:"path,omitempty"`
	// Lines are the first and last line shown, from 1.
	Lines   *[2]int `json:"lines,omitempty"`
	Session string  `json:"session,omitempty"`
	Repo    string  `json:"repo,omitempty"`
	// Sandbox is the root folder of the code.
	Sandbox string `json:"sandbox,omitempty"`
	Symbol  string `json:"symbol,omitempty"`
}

// PartCode is the Part of a Degraded that says why code is missing from an answer.
const PartCode = "code"

// FilePreview is the state of an item that is the beginning of a file, found by the
// file-name index.
const FilePreview = "light"

// Item is one memory of an answer.
type Item struct {
	ID      string `json:"id"`
	Kind    Kind   `json:"kind"`
	Text    string `json:"text"`
	Source  Source `json:"source"`
	Project string `json:"project"`
	// Relevance is how surely it has to do with the question, 0 to 1, by its words
	// and its vectors together: not the better of what each says alone.
	Relevance   float64      `json:"relevance"`
	RankFactors *RankFactors `json:"rank_factors,omitempty"`
	CreatedAt   time.Time    `json:"created_at,omitzero"`
	// Timestamp is CreatedAt under the name that lessons and steps give it.
	Timestamp   time.Time `json:"timestamp,omitzero"`
	Lesson      string    `json:"lesson,omitempty"`
	Context     string    `json:"context,omitempty"`
	Command     string    `json:"command,omitempty"`
	SuccessRate string    `json:"success_rate,omitempty"` // "9/10"
	// Foreign says that it is of another repository than the one that asked; of code,
	// that it is as another worktree or clone than the caller's has it.
	Foreign bool `json:"foreign,omitempty"`
	// Provenance is where a record comes from; code, which is read from its file
	// whenever it is shown, has none.
	Provenance *Provenance `json:"provenance,omitempty"`
	// State is "moved" for code that was found at other lines, and FilePreview for a file
	// that was found by its name and beginning, of which no more is shown.
	State string `json:"state,omitempty"`
	// Cut says that Text is not all of it: recall with its id gives the rest.
	Cut bool `json:"cut,omitempty"`
	// Similar counts near-duplicates that were collapsed into this one.
	Similar int `json:"similar,omitempty"`
	Tokens  int `json:"tokens"`
	// StepEnd is of a step alone.
	*StepEnd
	// Step and Task are what a step and a task or blocker say, where they were asked
	// for by their ids.
	Step *StepContent `json:"step,omitempty"`
	Task *TaskContent `json:"task,omitempty"`
}

// RankFactors explain a rank: Score is the fused score, as a share of the best
// one, times the factors, each near 1.
type RankFactors struct {
	Score   float64 `json:"score"`
	Recency float64 `json:"recency"`
	Success float64 `json:"success"`
	Project float64 `json:"project"`
	Session float64 `json:"session"`
	// Error says that it tells of the very error that the question quotes; it
	// comes before what is only like the question.
	Error bool `json:"error,omitempty"`
	// Followed says that it was read from a file of the repository: it stands after
	// what was told or imported.
	Followed bool `json:"followed,omitempty"`
	// Definition is the name that the question asks for and the item declares, Place
	// the place that it names and the item is at: "http.NewRequest",
	// "net/http/transfer.go:123". Both come before what is only like the question.
	Definition string `json:"definition,omitempty"`
	Place      string `json:"place,omitempty"`
	// Retrievers holds what each retriever said: its raw score and the
	// relevance that this would have alone.
	Retrievers map[string]RetrieverScore `json:"retrievers,omitempty"`
	// Verdicts are those that were given on the item before.
	Verdicts *VerdictCounts `json:"verdicts,omitempty"`
}

// RetrieverScore is one retriever's opinion of one candidate.
type RetrieverScore struct {
	Score     float64 `json:"score"`
	Relevance float64 `json:"relevance"`
}

// Reason says why a candidate was withheld.
type Reason string

// The reasons.
const (
	BelowThreshold Reason = "below_floor"
	Gone           Reason = "gone"       // the file no longer exists
	Outside        Reason = "outside"    // the path leaves the sandbox
	Binary         Reason = "binary"     // the file is no longer text
	Changed        Reason = "changed"    // the text on disk is another one
	Unreadable     Reason = "unreadable" // the file cannot be read
	Duplicate      Reason = "duplicate"
	OverBudget     Reason = "over_budget"
	OverLimit      Reason = "over_limit"
	TooSlow        Reason = "too_slow" // the gate's deadline passed
	// Of entries of the catalogue: nobody searched for them, and a rule decided.
	Removed   Reason = "removed"    // taken out of the session by hand
	NextStart Reason = "next_start" // always included, since after the session started
	Disabled  Reason = "disabled"
	ByHand    Reason = "manual" // included by hand only, and nobody did
	// Of what was asked for by its id:
	NotFound     Reason = "not_found"     // no id begins so
	Ambiguous    Reason = "ambiguous"     // several do
	OtherProject Reason = "other_project" // it is another project's
	NotShown     Reason = "not_shown"     // it is not recalled from here
	Superseded   Reason = "superseded"    // another lesson took its place
	Retracted    Reason = "retracted"     // it was found wrong
)

// Withheld is a candidate that was not shown.
type Withheld struct {
	ID     string `json:"id"`
	Kind   Kind   `json:"kind"`
	Reason Reason `json:"reason"`
	// NearestScore is its relevance.
	NearestScore float64 `json:"nearest_score"`
	Path         string  `json:"path,omitempty"`
	// Name and Server are as in ReceiptItem.
	Name   string `json:"name,omitempty"`
	Server string `json:"server,omitempty"`
	// Note says more about the reason, of what was asked for by its id.
	Note string `json:"note,omitempty"`
}

// Degraded names a part that should have taken part in an answer and did not.
type Degraded struct {
	Part   string `json:"part"`   // "vector/ollama/nomic-embed-text", "index", "code"
	Reason string `json:"reason"` // "loading", "unavailable", "deadline", "partial: 40 % embedded, 2 of 5 documents"
}

// RecallResponse is what recall found.
type RecallResponse struct {
	// Project is the project that was searched; ProjectName what it is called.
	Project     string     `json:"project"`
	ProjectName string     `json:"project_name,omitempty"`
	Items       []Item     `json:"items"`
	Withheld    []Withheld `json:"withheld"`
	Degraded    []Degraded `json:"degraded,omitempty"`
	// Stale says that code shown, or missing, may lag behind the disk.
	Stale bool `json:"stale"`
	// NothingRelevant is said only after a search that was complete. Incomplete says
	// that this one was not, and Why: it can be asked again. A vector retriever that is
	// missing or late is in Degraded alone.
	NothingRelevant bool   `json:"nothing_relevant,omitempty"`
	Incomplete      bool   `json:"incomplete,omitempty"`
	Why             string `json:"why,omitempty"`
	Redacted        bool   `json:"redacted,omitempty"`
	// Waiting says which files of the caller's repository are not read before the user
	// agrees, and how to; it is said once.
	Waiting string `json:"waiting,omitempty"`
	Tokens  int    `json:"tokens"`
	Receipt string `json:"receipt"`
	// Text is the answer written out in the format asked for.
	Text string `json:"text,omitempty"`
}

// Receipt is what the ledger keeps of an answer: enough to explain it and to
// ask again. It holds no text of items.
type Receipt struct {
	ID          string        `json:"id"`
	At          time.Time     `json:"at"`
	Request     RecallRequest `json:"request"`
	Project     string        `json:"project"`
	Items       []ReceiptItem `json:"items"`
	Withheld    []Withheld    `json:"withheld"`
	Degraded    []Degraded    `json:"degraded,omitempty"`
	Tokens      int           `json:"tokens"`
	Spaces      []string      `json:"spaces,omitempty"`
	Calibration string        `json:"calibration"`
	Took        Millis        `json:"took_ms"`
	// Seq is the last committed batch that the answer could see.
	Seq uint64 `json:"seq"`
	// RequestID is the request's that it answers, of a context: a repetition is
	// answered from it.
	RequestID string `json:"request_id,omitempty"`
	// Purpose says what it is of. Session is the session that asked and Turn the
	// request of that session which it served, counted from 1; 0 is before the first.
	Purpose Purpose `json:"purpose,omitempty"`
	Session string  `json:"session,omitempty"`
	Turn    int     `json:"turn,omitempty"`
	// Settings are those that the answer was made with.
	Settings *AnswerSettings `json:"settings,omitempty"`
	// ItemVerdict are the verdicts that came later, oldest first.
	Judged []ItemVerdict `json:"judged,omitempty"`
}

// ReceiptItem is an item as the ledger keeps it.
type ReceiptItem struct {
	ID          string       `json:"id"`
	Kind        Kind         `json:"kind"`
	Relevance   float64      `json:"relevance"`
	RankFactors *RankFactors `json:"rank_factors,omitempty"`
	Tokens      int          `json:"tokens"`
	// Name and Server are those of a rule, reference or tool, and Name the id of a
	// task. They stay readable when the item is gone.
	Name   string `json:"name,omitempty"`
	Server string `json:"server,omitempty"`
	// Provenance is where it came from; code has none.
	Provenance *Provenance `json:"provenance,omitempty"`
	// Mode says how an item got into a context.
	Mode Include `json:"mode,omitempty"`
	// Active says of a tool that it could be called and was handed out by its name:
	// the core's and discovered ones that the context does not write out.
	Active bool `json:"active,omitempty"`
	// Hash is that of the text that a context handed out of it, by which the text is found
	// again; receipts of before have none, nor what was handed out by its name alone. Bytes
	// is how long that text was without the mark of a cut, of code and of what was cut, and
	// Path where the code was.
	Hash  string `json:"hash,omitempty"`
	Bytes int    `json:"bytes,omitempty"`
	Path  string `json:"path,omitempty"`
}

// PastText is what is left of a text that was handed out.
type PastText struct {
	// State is Changed or Gone; empty where the text is as it was, or where nobody knows.
	State Reason
	// Text is that of then. It is empty where it is no longer as it was or not known, and
	// where the caller may not be shown it.
	Text string
}

// MarshalJSON writes a scope as contract 1 does: a name, or an object.
func (s Scope) MarshalJSON() ([]byte, error) {
	if s.Session != "" {
		return json.Marshal(map[string]string{"sessionId": s.Session})
	}
	return json.Marshal(s.Name)
}

// UnmarshalJSON reads a scope: "current", "all" or {"sessionId": "…"}.
func (s *Scope) UnmarshalJSON(b []byte) error {
	var name string
	if json.Unmarshal(b, &name) == nil {
		if name == "" {
			return Invalid("scope", `"current", "all" or {"sessionId": "…"}`, "is empty")
		}
		*s = Scope{Name: name}
		return nil
	}
	var obj map[string]json.RawMessage
	if err := json.Unmarshal(b, &obj); err != nil {
		return Invalid("scope", "", `must be "current", "all" or {"sessionId": "…"}`)
	}
	for k := range obj {
		if k != "sessionId" {
			return Invalid("scope."+k, "sessionId", "unknown field")
		}
	}
	var id string
	if err := json.Unmarshal(obj["sessionId"], &id); err != nil {
		return Invalid("scope.sessionId", "at least 4 characters", "must be a string")
	}
	if id == "" { // which would read as no scope at all
		return Invalid("scope.sessionId", "at least 4 characters", "is empty")
	}
	*s = Scope{Session: id}
	return nil
}
