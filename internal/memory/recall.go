package memory

import (
	"cmp"
	"encoding/json"
	"slices"
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
	Dir string `json:"dir,omitempty" limit:"0-4096" text:"exact"`
	// Client names the program: "claude-code", "cli".
	Client string `json:"client,omitempty" limit:"0-200" text:"exact"`
	// Session is the caller's session, if one is open.
	Session string `json:"session,omitempty" limit:"0-200" text:"exact"`
	// Window tells two windows of one client apart: the process that runs hooks and
	// bridge, or a connection. Empty where it is unknown.
	Window string `json:"window,omitempty" limit:"0-200" text:"exact"`
	// Hook is set by the hooks of a client: they record by themselves.
	Hook bool `json:"hook,omitempty"`
}

// RecallRequest is a question. Zero values mean the defaults of contract 0; those of limit,
// budget and threshold are left to the settings of the daemon.
type RecallRequest struct {
	Query string `json:"query" limit:"1-1000000" desc:"What you want to know: a question, an error message, or a log." mcp:"optional"`
	// IDs are memories to be shown in full, each by its id or the beginning of it that
	// no other shares; the answer is about them alone, and Query may be empty.
	IDs          []string `json:"ids,omitempty" limit:"0-20" each:"4-200" desc:"Ids that answers gave, or beginnings of ids, to be shown in full. No query is needed."`
	Kinds        []Kind   `json:"kinds,omitempty" limit:"0-7" enum:"lesson,step,chunk,task,reference,rule,tool" desc:"Default: lesson, step, chunk (code), task."`
	Project      string   `json:"project,omitempty" limit:"0-4096"` // id or name
	Repo         string   `json:"repo,omitempty" limit:"0-200" desc:"Only lessons of this repository."`
	Scope        *Scope   `json:"scope,omitempty" usual:"all" desc:"Whose steps."`
	Filters      *Filters `json:"filters,omitempty" desc:"All that are given must hold."`
	Limit        int      `json:"limit,omitempty" limit:"1-50" usual:"5" desc:"Most items."`
	MaxTokens    int      `json:"max_tokens,omitempty" limit:"50-8000" usual:"1000" desc:"Most tokens."`
	MinRelevance *float64 `json:"min_relevance,omitempty" limit:"0-1" desc:"Least relevance, 0 to 1; default 0.75 for code, 0.5 for the rest."`
	Format       Format   `json:"format,omitempty" enum:"text,json,markdown" default:"text" desc:"Of the answer."`
	Explain      bool     `json:"explain,omitempty" desc:"Give the factors of each rank."`
	// Typing says that the question is still being typed, or asks for titles that a page
	// shows: its answer gets no receipt, and counts for nothing.
	Typing bool   `json:"typing,omitempty" mcp:"-"`
	Caller Caller `json:"caller,omitzero"`
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
	FlowTag    string    `json:"flowTag,omitempty" limit:"1-200" text:"exact" desc:"A session's flow tag."`
	Screen     string    `json:"screen,omitempty" limit:"1-200" text:"exact" desc:"A step's screen."`
	GitBranch  string    `json:"gitBranch,omitempty" limit:"1-200" text:"exact" desc:"A session's branch."`
	SinceHours int       `json:"sinceHours,omitempty" limit:"1-720" desc:"Sessions created in the last hours."`
	Lang       string    `json:"lang,omitempty" limit:"1-200" desc:"Language of code."`
	Path       string    `json:"path,omitempty" limit:"1-4096" text:"exact" desc:"Path prefix or glob of code."`
	Tag        string    `json:"tag,omitempty" limit:"1-200" text:"exact" desc:"A tag, of a lesson or of a step's session."`
	Since      time.Time `json:"since,omitzero" text:"exact" desc:"Nothing older than this RFC 3339 time."`
}

// relations gives the language the name that it is kept under.
func (f *Filters) relations(string) (err error) {
	if f.Lang != "" {
		f.Lang, err = Language(f.Lang)
	}
	return err
}

// Asked is what a request asks for, in a line: its query, or the ids that it names.
func (r *RecallRequest) Asked() string {
	if r.Query == "" && len(r.IDs) > 0 {
		return "ids: " + strings.Join(r.IDs, ", ")
	}
	return r.Query
}

func (r *RecallRequest) relations(string) error {
	if r.Query == "" && len(r.IDs) == 0 {
		return Text("query", "", 1, MaxQuery)
	}
	if len(r.Kinds) == 0 {
		r.Kinds = slices.Clone(DefaultKinds)
	}
	return nil
}

// Source is where an item comes from.
type Source struct {
	Path    string  `json:"path,omitempty"`
	Lines   *[2]int `json:"lines,omitempty" desc:"First and last line, from 1."`
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

// Strength says how sure it is that an item answers the question, and so how much of it is
// shown.
type Strength string

// The strengths, the strongest first.
const (
	Sure   Strength = "sure"   // in full
	Likely Strength = "likely" // in full, marked, within a share of the budget
	Maybe  Strength = "maybe"  // in one line with its id
)

// CompareStrengths sorts what is sure first.
func CompareStrengths(a, b Strength) int { return cmp.Compare(a.weakness(), b.weakness()) }

func (s Strength) weakness() int {
	switch s {
	case Sure:
		return 0
	case Likely:
		return 1
	}
	return 2
}

// Item is one memory of an answer. Of one that is Maybe, Text is its line; its other content
// is left out.
type Item struct {
	ID       string   `json:"id"`
	Kind     Kind     `json:"kind"`
	Strength Strength `json:"strength,omitempty" desc:"Of maybe, text is a line about it."`
	Text     string   `json:"text" desc:"What the budget has room for; empty for a lesson whose fields have it."`
	Source   Source   `json:"source"`
	Project  string   `json:"project"`
	// Relevance is how surely it has to do with the question, 0 to 1, by its words
	// and its vectors together: not the better of what each says alone.
	Relevance   float64      `json:"relevance" desc:"Calibrated, 0–1."`
	RankFactors *RankFactors `json:"rank_factors,omitempty" desc:"Why it ranks where it does. Score = its match, the fused score as a share of the best one, × the factors."`
	CreatedAt   time.Time    `json:"created_at,omitzero"`
	// Timestamp is CreatedAt under the name that lessons and steps give it.
	Timestamp   time.Time `json:"timestamp,omitzero" desc:"The same as created_at."`
	Lesson      string    `json:"lesson,omitempty" desc:"The whole of it, and so context and command; left out where text is cut and there is no room."`
	Context     string    `json:"context,omitempty"`
	Command     string    `json:"command,omitempty"`
	SuccessRate string    `json:"success_rate,omitempty" desc:"Successes of attempts: 9/10."`
	Team        string    `json:"team,omitempty" desc:"Who in the team shares it, with what each counted: ann, 4/5."`
	// Pinned and Private are marks of a lesson in lists.
	Pinned  bool `json:"pinned,omitempty" mcp:"-" desc:"Briefs of its project have the newest three such lessons first. In lists of lessons alone."`
	Private bool `json:"private,omitempty" mcp:"-" desc:"It is kept on this machine. In lists of lessons alone."`
	// Foreign says that it is of another repository than the one that asked; of code,
	// that it is as another worktree or clone than the caller's has it.
	Foreign bool `json:"foreign,omitempty" desc:"It is of another repository than the one that asked; of code, that another worktree or clone has it so."`
	// Provenance is where a record comes from; code, which is read from its file
	// whenever it is shown, has none.
	Provenance *Provenance `json:"provenance,omitempty" mcp:"-"`
	// State is "moved" for code that was found at other lines, and FilePreview for a file
	// that was found by its name and beginning, of which no more is shown.
	State string `json:"state,omitempty"`
	Cut   bool   `json:"cut,omitempty" desc:"Text is not all of it; recall with its id gives the rest."`
	// Anchors say what has become of the code that a lesson is about.
	Anchors []AnchorCheck `json:"anchors,omitempty"`
	Similar int           `json:"similar,omitempty" desc:"Near-duplicates collapsed into this one."`
	Tokens  int           `json:"tokens"`
	// StepEnd is of a step alone.
	*StepEnd
	// Step and Task are what a step and a task or blocker say, where they were asked
	// for by their ids.
	Step *StepContent `json:"step,omitempty" desc:"The whole step, asked for by its id." mcp:"flat"`
	Task *TaskContent `json:"task,omitempty" desc:"The whole task or blocker, asked for by its id." mcp:"flat"`
}

// RankFactors explain a rank: Score is the fused score, as a share of the best
// one, times the factors, each near 1.
type RankFactors struct {
	Score   float64 `json:"score"`
	Recency float64 `json:"recency"`
	Success float64 `json:"success"`
	Project float64 `json:"project"`
	Session float64 `json:"session"`
	// Error says that it is about the very error that the query quotes; it
	// comes before what is only like the question.
	Error bool `json:"error,omitempty" desc:"It tells of the very error that was asked about."`
	// Followed says that it was read from a file of the repository: it stands after
	// what was reported or imported.
	Followed bool `json:"followed,omitempty" mcp:"-"`
	// Definition is the name that the question asks for and the item declares, Place
	// the place that it names and the item is at: "http.NewRequest",
	// "net/http/transfer.go:123". Both come before what is only like the question.
	Definition string `json:"definition,omitempty" desc:"The name that was asked for, which it declares."`
	Place      string `json:"place,omitempty" desc:"The place that was asked for."`
	// Neighbours is what the steps or turns around it added to its score when they were
	// put in order.
	Neighbours float64 `json:"neighbours,omitempty" mcp:"-"`
	// FileKind says of code that it is in a test, an example, documentation or settings,
	// which come after what defines the thing.
	FileKind string `json:"file_kind,omitempty" mcp:"-"`
	// Named is a name that the question spells in words and the item has.
	Named string `json:"named,omitempty" mcp:"-"`
	// Anchor is the worst state of the item's anchors.
	Anchor AnchorState `json:"anchor,omitempty" mcp:"-"`
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
	// Of entries of the catalogue: not searched for; a rule decided.
	Removed   Reason = "removed"    // taken out of the session by hand
	NextStart Reason = "next_start" // always included, since after the session started
	Disabled  Reason = "disabled"
	ByHand    Reason = "manual" // included by hand only, and it was not
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
	Name   string `json:"name,omitempty" desc:"Of a rule, reference, tool or task."`
	Server string `json:"server,omitempty"`
	// Title is the beginning of a lesson or step, in explained answers alone.
	Title string `json:"title,omitempty" mcp:"-"`
	Note  string `json:"note,omitempty" desc:"More about the reason, of what was asked for by its id."`
}

// Degraded names a part that should have taken part in an answer and did not.
type Degraded struct {
	Part   string `json:"part"`   // "vector/ollama/nomic-embed-text", "index", "code"
	Reason string `json:"reason"` // "loading", "unavailable", "deadline", "partial: 40 % embedded, 2 of 5 documents"
}

// RecallResponse is what recall found.
type RecallResponse struct {
	// Project is the project that was searched; ProjectName what it is called.
	Project     string     `json:"project" desc:"The project that was searched."`
	ProjectName string     `json:"project_name,omitempty"`
	Items       []Item     `json:"items" desc:"Lessons, steps, then code; what is maybe last."`
	Withheld    []Withheld `json:"withheld" desc:"Candidates not shown, and why, as far as the budget has room for them."`
	Degraded    []Degraded `json:"degraded,omitempty" desc:"Parts that did not take part."`
	// Stale says that code shown, or missing, may lag behind the disk.
	Stale bool `json:"stale" desc:"The code index lags behind the disk."`
	// NothingRelevant is said only after a search that was complete. Incomplete says
	// that this one was not, and Why: it can be asked again. A vector retriever that is
	// missing or late is in Degraded alone.
	NothingRelevant bool   `json:"nothing_relevant,omitempty" desc:"The search was complete and found nothing relevant."`
	Incomplete      bool   `json:"incomplete,omitempty" desc:"Not all was searched, so what is missing here may exist; ask again."`
	Why             string `json:"why,omitempty" desc:"Why it is incomplete."`
	Redacted        bool   `json:"redacted,omitempty" desc:"A secret was taken out."`
	// Waiting says which files of the caller's repository are not read before the user
	// agrees, and how to; it is said once.
	Waiting string `json:"waiting,omitempty" mcp:"-"`
	Tokens  int    `json:"tokens"`
	Receipt string `json:"receipt" desc:"Names this answer in the ledger, for feedback."`
	// Text is the answer written out in the format asked for.
	Text string `json:"text,omitempty" mcp:"-"`
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
			return Invalid("scope", scopeForms, "is empty")
		}
		*s = Scope{Name: name}
		return nil
	}
	var obj map[string]json.RawMessage
	if err := json.Unmarshal(b, &obj); err != nil {
		return Invalid("scope", scopeForms, `must be "current", "all" or {"sessionId": "…"}`)
	}
	for k := range obj {
		if k != "sessionId" {
			return Invalid("scope."+k, "sessionId", "unknown field")
		}
	}
	var id string
	if err := json.Unmarshal(obj["sessionId"], &id); err != nil {
		return Invalid("scope.sessionId", "a string", "must be a string")
	}
	if id == "" { // which would read as no scope at all
		return Invalid("scope.sessionId", "at least 4 characters", "is empty")
	}
	*s = Scope{Session: id}
	return nil
}

func (s *Scope) relations(at string) error {
	if s.Session != "" {
		return Text(at+"sessionId", s.Session, MinSessionID, MaxNameText)
	}
	switch s.Name {
	case "":
		s.Name = ScopeAll
	case ScopeAll, ScopeCurrent:
	default:
		return Invalid(strings.TrimSuffix(at, "."), scopeForms, "unknown scope %s", Quote(s.Name))
	}
	return nil
}

// The names of scopes.
const (
	ScopeCurrent = "current"
	ScopeAll     = "all"
)

// DefaultKinds are the kinds that a recall looks for when none is named.
var DefaultKinds = []Kind{Lesson, Step, Chunk, Task}

// DefaultMinRelevance is the relevance threshold of a kind on the calibrated scale.
func DefaultMinRelevance(k Kind) float64 {
	switch k {
	case Chunk:
		return 0.75
	case Rule, Reference, Tool: // related is enough
		return 0.4
	}
	return 0.5
}
