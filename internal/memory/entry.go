package memory

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Include says when an entry of the catalogue gets into a context.
type Include string

// The include modes. A tool's own wins over its server's, which wins over
// IncludeAlways.
const (
	IncludeAlways Include = "always" // in every context
	IncludeManual Include = "manual" // where somebody added it
	IncludeAgent  Include = "agent"  // where it is relevant to the message
)

// Entry is what the record of a rule, a reference or a tool holds beside the text
// that it is found by. A record with the same kind, name and server replaces it.
type Entry struct {
	Name string `json:"name"`
	// Server is the tool's; rules and references have none.
	Server string `json:"server,omitempty"`
	// Source says who registered it: a host's name, or "file:" and the path of the
	// file in the repository. What a source no longer has is removed with it.
	Source      string `json:"source,omitempty"`
	Description string `json:"description,omitempty"`
	// Content is what a rule or reference hands out.
	Content string `json:"content,omitempty"`
	// Guidance tells how a tool is used well; it is handed out once.
	Guidance    string          `json:"guidance,omitempty"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
	// Core tools are active in every session from the start.
	Core bool `json:"core,omitempty"`
	// Include and Enabled are the entry's own; empty and nil leave them to its
	// server's, which leave them to always and enabled.
	Include Include `json:"include,omitempty"`
	Enabled *bool   `json:"enabled,omitempty"`
	// Since is when Include or Enabled were last set to something else, or the entry
	// registered; zero where that was before anybody could have a session.
	Since time.Time `json:"since,omitzero"`
	// Version counts the entry's changes, from 1.
	Version int `json:"version"`
	// Ord is its place among what was registered with it.
	Ord int `json:"ord"`
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

// StateKey names a state: a small JSON value that belongs to a project and is
// changed by editing it.
type StateKey struct{ Project, Kind, ID string }

// The kinds of states.
const (
	// StateSession is a session's working context; the id is the session's. It
	// goes with the session.
	StateSession = "session"
	// StateServers are the settings of a catalogue's servers; it has no id.
	StateServers = "servers"
	// StateTrust are the folders whose files somebody agreed to; it has no id.
	StateTrust = "trust"
)

// StateEdit changes a state. Edit gets what is stored, nil for nothing, and returns
// what is to be; nil removes it, and an error refuses the batch. It may be called
// more than once.
type StateEdit struct {
	Key  StateKey
	Edit func(old []byte) ([]byte, error)
}

// Purpose says what a receipt is of.
type Purpose string

// The purposes.
const (
	PurposeRecall  Purpose = ""        // an answer to a question
	PurposeContext Purpose = "context" // a context assembled for a request
	PurposeTools   Purpose = "tools"   // a search for tools
)

// Verdict is what came of something that was handed out.
type Verdict string

// The verdicts.
const (
	Worked     Verdict = "worked"
	Failed     Verdict = "failed"
	Irrelevant Verdict = "irrelevant"
	Outdated   Verdict = "outdated"
)

// Verdicts lists every verdict.
var Verdicts = []Verdict{Worked, Failed, Irrelevant, Outdated}

// ItemVerdict is a verdict on an item of a receipt.
type ItemVerdict struct {
	// Item is the item's id; empty is the whole receipt.
	Item    string    `json:"item,omitempty"`
	Verdict Verdict   `json:"verdict"`
	At      time.Time `json:"at"`
	Note    string    `json:"note,omitempty"`
}

// VerdictCounts counts the verdicts on a record.
type VerdictCounts struct {
	Worked     int `json:"worked,omitempty"`
	Failed     int `json:"failed,omitempty"`
	Irrelevant int `json:"irrelevant,omitempty"`
	Outdated   int `json:"outdated,omitempty"`
}

// MaxVectorWeight bounds the weight of vectors in the fusion: by then the words decide
// little.
const MaxVectorWeight = 10

// AnswerSettings are the settings that an answer was made with: what replay asks
// again with.
type AnswerSettings struct {
	MinRelevance map[Kind]float64 `json:"min_relevance,omitempty"`
	VectorWeight float64          `json:"vector_weight"`
	// Embedder limits the vector retrievers to the space of one model, "builtin" or
	// "ollama/nomic-embed-text"; "none" leaves them all out, empty lets all in.
	Embedder string `json:"embedder,omitempty"`
	// Code and CodeBytes bound the code in the answer: pieces, and bytes of their text
	// together. Zero leaves them to whoever answers.
	Code      int `json:"code,omitempty"`
	CodeBytes int `json:"code_bytes,omitempty"`
	// TopK, TopN and IncludeScore say which relevant entries a context took (contract 6).
	// TopK is zero where no context was assembled.
	TopK         int     `json:"top_k,omitempty"`
	TopN         int     `json:"top_n,omitempty"`
	IncludeScore float64 `json:"include_score,omitempty"`
}

// EntryText is the text that a context hands out of an entry: of a rule or reference
// its content, or its description if it has nothing else; of a tool its description and
// its schema.
func EntryText(kind Kind, description, content string, schema json.RawMessage) string {
	switch {
	case kind != Tool && content != "":
		return content
	case kind != Tool || len(schema) == 0:
		return description
	case description == "":
		return string(schema)
	}
	return description + "\n" + string(schema)
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
