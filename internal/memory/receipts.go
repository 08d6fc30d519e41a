package memory

import (
	"time"
)

// Limits of the ledger.
const (
	DefaultReceipts = 20
	MaxReceipts     = 200
	MaxReplayed     = 1000
	MaxNote         = 1000
	MaxTurn         = 1_000_000
)

// ReceiptsRequest lists receipts. Zero values do not narrow.
type ReceiptsRequest struct {
	SessionID string    `json:"sessionId,omitempty" limit:"4-200" text:"id" desc:"Only of this session."`
	Turn      *int      `json:"turn,omitempty" limit:"0-1000000" desc:"Only of this turn of the session; 0 is before the first."`
	Since     time.Time `json:"since,omitzero" desc:"Nothing older."`
	Limit     int       `json:"limit,omitempty" limit:"1-200" default:"20" desc:"Most receipts."`
	Project   string    `json:"project,omitempty" limit:"0-4096"`
	Caller    Caller    `json:"caller,omitzero"`
}

// ReceiptList is what the ledger holds, newest first.
type ReceiptList struct {
	Project     string    `json:"project"`
	ProjectName string    `json:"project_name,omitempty"`
	Receipts    []Receipt `json:"receipts" desc:"Newest first."`
	// More says that there are older ones.
	More bool `json:"more,omitempty" desc:"There are older ones."`
}

// ContextOfRequest asks what a turn was given; 0 is the last one.
type ContextOfRequest struct {
	Turn int `json:"turn,omitempty" limit:"1-1000000" desc:"Counted from 1; default: the last one."`
	// Texts asks for the texts that were handed out, as far as they are as they were.
	Texts bool `json:"texts,omitempty" desc:"With the texts handed out, where they are as they were."`
	SessionRef
}

// TurnContext is what a turn was given.
type TurnContext struct {
	Project     string         `json:"project"`
	ProjectName string         `json:"project_name,omitempty"`
	SessionID   string         `json:"sessionId"`
	Turn        int            `json:"turn"`
	Record      *ContextRecord `json:"record" desc:"Null for a turn without one."` // null when the turn has none
	Withheld    []Withheld     `json:"withheld" desc:"Candidates not handed out, and why."`
	Receipt     string         `json:"receipt,omitempty"`
	// Summary is contract 6's line, Text its list; without a record NoContext.
	Summary string `json:"summary" desc:"What it held, in a line."`
	Text    string `json:"text" mcp:"-"`
}

// NoContext is the text of a turn without a record.
const NoContext = "No context data available"

// FeedbackRequest is a verdict. Without an item it is on all that the receipt holds,
// whatever was said of single items before.
type FeedbackRequest struct {
	RequestID string  `json:"request_id,omitempty" limit:"0-200"`
	Receipt   string  `json:"receipt" limit:"1-200" desc:"The receipt that the answer named."`
	Item      string  `json:"item,omitempty" limit:"0-200" desc:"Id of one item of it; default: all."`
	Verdict   Verdict `json:"verdict" enum:"worked,failed,irrelevant,outdated"`
	Note      string  `json:"note,omitempty" limit:"0-1000" desc:"Why, in a sentence."`
	Caller    Caller  `json:"caller,omitzero"`
}

// ItemFeedback is what a verdict came to on one item.
type ItemFeedback struct {
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// SuccessRate and Verdicts are the counts as they are now. An item that is gone, and
	// code, have none: the verdict stands on the receipt alone.
	SuccessRate string         `json:"success_rate,omitempty" desc:"Successes of attempts, now."`
	Verdicts    *VerdictCounts `json:"verdicts,omitempty"`
}

// FeedbackResult says what a verdict came to.
type FeedbackResult struct {
	Receipt string         `json:"receipt"`
	Verdict Verdict        `json:"verdict"`
	Items   []ItemFeedback `json:"items"`
	// Replaced says that the same item had another verdict on this receipt, which no
	// longer counts.
	Replaced bool   `json:"replaced,omitempty" desc:"An earlier verdict no longer counts."`
	Seq      uint64 `json:"seq"`
}

// ReplayRequest asks past questions again: those of a session, or since a time.
type ReplayRequest struct {
	SessionID string    `json:"sessionId,omitempty" limit:"4-200" text:"id"`
	Since     time.Time `json:"since,omitzero"`
	Limit     int       `json:"limit,omitempty" limit:"1-1000" default:"1000"`
	// The new settings; what is left out stays as it was recorded.
	Embedder     string           `json:"embedder,omitempty" limit:"0-200"`
	MinRelevance map[Kind]float64 `json:"min_relevance,omitempty"`
	VectorWeight *float64         `json:"vector_weight,omitempty" limit:"0-10"`
	Project      string           `json:"project,omitempty" limit:"0-4096"`
	Caller       Caller           `json:"caller,omitzero"`
}

// ReplayProgress is how far a replay is.
type ReplayProgress struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// ReplayedItem is one item that differs, or that all have in common. Ranks count from
// 1; 0 is that it was not shown.
type ReplayedItem struct {
	ID       string `json:"id"`
	Kind     Kind   `json:"kind"`
	Title    string `json:"title,omitempty"` // a short form of its text, or its path
	Recorded int    `json:"recorded"`        // as the receipt has it
	Before   int    `json:"before"`          // with the recorded settings, on today's data
	After    int    `json:"after"`           // with the new settings, on today's data
	// Why it is missing after: the reason it was withheld for.
	Reason Reason `json:"reason,omitempty"`
}

// ReplayedAnswer is one question asked again.
type ReplayedAnswer struct {
	Receipt string         `json:"receipt"`
	Query   string         `json:"query"`
	At      time.Time      `json:"at"`
	Items   []ReplayedItem `json:"items"`
	// DataChanged and SettingsChanged tell what is different: of the recorded answer
	// for the data's sake, and of that for the settings'.
	DataChanged     bool   `json:"data_changed,omitempty"`
	SettingsChanged bool   `json:"settings_changed,omitempty"`
	Error           string `json:"error,omitempty"` // why it could not be asked
}

// ReplayCounts sums up a replay in items.
type ReplayCounts struct {
	Questions int `json:"questions"`
	Failed    int `json:"failed,omitempty"`
	// Of the items: those that all three have, those that came or went with the data,
	// and those that come, go or move with the settings. An item moves when it changes
	// places with another that stays.
	Same            int `json:"same"`
	DataAdded       int `json:"data_added"`
	DataRemoved     int `json:"data_removed"`
	SettingsAdded   int `json:"settings_added"`
	SettingsRemoved int `json:"settings_removed"`
	SettingsMoved   int `json:"settings_moved"`
}

// Replayed is what a replay came to.
type Replayed struct {
	Project     string         `json:"project"`
	ProjectName string         `json:"project_name,omitempty"`
	New         AnswerSettings `json:"new"`
	// Degraded names the parts that were missing when questions were asked again: what
	// differs may be for their sake.
	Degraded []Degraded       `json:"degraded,omitempty"`
	Answers  []ReplayedAnswer `json:"answers"`
	Tally    ReplayCounts     `json:"tally"`
	// More says that there were more than the limit.
	More bool   `json:"more,omitempty"`
	Text string `json:"text,omitempty"`
}
