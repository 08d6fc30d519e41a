package memory

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// ReceiptFilter chooses receipts of the ledger. Zero values do not narrow.
type ReceiptFilter struct {
	Project string
	// Session is the session that asked; it needs Project, in which ids are unique.
	Session string
	// Turn is a request of a session; 0 is what came before the first.
	Turn *int
	// Since is the earliest At.
	Since time.Time
	// Purposes are those wanted; any, if there are none.
	Purposes []Purpose
	// Before is the id of a receipt: only those with a lesser one are wanted, which are older.
	Before string
	// Item is the id of an item that was handed out. Only the newest 5,000 receipts are looked
	// at for it.
	Item string
}

// AuditEntry is one line of the audit log.
type AuditEntry struct {
	Seq    uint64    `json:"seq"`
	At     time.Time `json:"at"`
	Action string    `json:"action"`
	Detail any       `json:"detail,omitempty"`
	// About are the ids of what Detail repeats in full, and of their project. When one
	// of them is forgotten Detail goes, and the rest of the line stays.
	About []string `json:"about,omitempty"`
}

// Receipt is what the ledger keeps of an answer: enough to explain it and to
// ask again. It holds no text of items.
type Receipt struct {
	ID       string        `json:"id"`
	At       time.Time     `json:"at"`
	Request  RecallRequest `json:"request" desc:"What was asked." mcp:"flat"`
	Project  string        `json:"project"`
	Items    []ReceiptItem `json:"items"`
	Withheld []Withheld    `json:"withheld"`
	Degraded []Degraded    `json:"degraded,omitempty"`
	Tokens   int           `json:"tokens"`
	// Budget is how many tokens it could have had; receipts of before have none.
	Budget      int      `json:"budget,omitempty" mcp:"-"`
	Spaces      []string `json:"spaces,omitempty"`
	Calibration string   `json:"calibration"`
	Took        Millis   `json:"took_ms"`
	// Seq is the last committed batch that the answer could see.
	Seq uint64 `json:"seq"`
	// RequestID is the request's that it answers, of a context: a repetition is
	// answered from it.
	RequestID string `json:"request_id,omitempty" mcp:"-"`
	// Purpose says what it is of. Session is the session that asked and Turn the
	// request of that session which it served, counted from 1; 0 is before the first.
	Purpose  Purpose         `json:"purpose,omitempty" desc:"context, tools, or absent for an answer of recall."`
	Session  string          `json:"session,omitempty"`
	Turn     int             `json:"turn,omitempty"`
	Settings *AnswerSettings `json:"settings,omitempty" desc:"Those that it was made with." mcp:"flat"`
	// Judged are the verdicts that came later, oldest first.
	Judged []ItemVerdict `json:"judged,omitempty" desc:"Verdicts, oldest first."`
}

// ReceiptItem is an item as the ledger keeps it.
type ReceiptItem struct {
	ID          string       `json:"id"`
	Kind        Kind         `json:"kind"`
	Relevance   float64      `json:"relevance"`
	Strength    Strength     `json:"strength,omitempty" desc:"How sure it was: what was maybe was told in a line."` // none before there were strengths
	RankFactors *RankFactors `json:"rank_factors,omitempty" mcp:"flat"`
	Tokens      int          `json:"tokens"`
	// Name and Server name a rule, reference or tool, and Name the id of a
	// task. They stay readable when the item is gone.
	Name   string `json:"name,omitempty"`
	Server string `json:"server,omitempty"`
	// Provenance is where it came from; code has none.
	Provenance *Provenance `json:"provenance,omitempty" mcp:"-"`
	Mode       Include     `json:"mode,omitempty" desc:"How it got into a context."`
	// Active says of a tool that it could be called and was handed out by its name:
	// the core's and discovered ones that the context does not write out.
	Active bool `json:"active,omitempty" mcp:"-"`
	// Hash is the hash of the text that a context handed out, by which the text is found
	// again; receipts of before have none, nor what was handed out by its name alone. Bytes
	// is how long that text was without the mark of a cut, of code and of what was cut, and
	// Path where the code was.
	Hash  string `json:"hash,omitempty" desc:"Of its text."`
	Bytes int    `json:"bytes,omitempty"`
	Path  string `json:"path,omitempty"`
}

// PastText is what is left of a text that was handed out.
type PastText struct {
	// State is Changed or Gone; empty where the text is as it was, or where that is unknown.
	State Reason
	// Text is the text at that time. It is empty where it is no longer as it was or not known, and
	// where the caller may not be shown it.
	Text string
}

// ReceiptDigits is how many digits at the end of a receipt's id name it in texts. Of 10,000
// receipts one in 1,700 shares them with another.
const ReceiptDigits = 6

// ReceiptLength is the length of a whole id: rc-, the time in 12 digits and 8 digits by chance.
const ReceiptLength = 23

// ReceiptError is the error of looking for a receipt by an id in a field of a request, which a
// store does not know.
func ReceiptError(field, id string, err error) error {
	if CodeOf(err) == CodeNotFound {
		return NoReceipt(field, id, err)
	}
	if e, ok := errors.AsType[*Error](err); ok && e.Code == CodeInvalidInput { // several have it
		named := *e
		named.Field = field
		return &named
	}
	return err
}

// NoReceipt is the error for an id, in a field of a request, that no receipt has.
func NoReceipt(field, id string, cause error) error {
	return &Error{Code: CodeNotFound, Field: field, Message: "no receipt is called " + Quote(id),
		Hint: "answers name theirs; the list of receipts has those that are kept", Cause: cause}
}

const scopeForms = "current, all or {sessionId}"

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
	// MinRelevance is the least relevance of what is shown in full, Sure that of what is
	// sure, Maybe that of what is told in a line. A kind without Maybe has no lines.
	MinRelevance map[Kind]float64 `json:"min_relevance,omitempty"`
	Sure         map[Kind]float64 `json:"sure,omitempty"`
	Maybe        map[Kind]float64 `json:"maybe,omitempty"`
	VectorWeight float64          `json:"vector_weight"`
	// Embedder limits the vector retrievers to the space of one model, "builtin" or
	// "ollama/nomic-embed-text"; "none" leaves them all out, empty lets all in.
	Embedder string `json:"embedder,omitempty"`
	// Code and CodeBytes bound the code in the answer: chunks, and bytes of their text
	// together. Zero leaves them to the settings.
	Code      int `json:"code,omitempty"`
	CodeBytes int `json:"code_bytes,omitempty"`
	// TopK, TopN and IncludeScore say which relevant entries a context took (contract 6).
	// TopK is zero where no context was assembled.
	TopK         int     `json:"top_k,omitempty"`
	TopN         int     `json:"top_n,omitempty"`
	IncludeScore float64 `json:"include_score,omitempty"`
}

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
	Before    string    `json:"before,omitempty" limit:"0-200" text:"exact" desc:"Only what is older than this receipt." mcp:"-"`
	Limit     int       `json:"limit,omitempty" limit:"1-200" default:"20" desc:"Most receipts."`
	Project   string    `json:"project,omitempty" limit:"0-4096"`
	Caller    Caller    `json:"caller,omitzero"`
}

func (r *ReceiptsRequest) relations(string) error {
	if r.Turn != nil && r.SessionID == "" {
		return Invalid("turn", "with a sessionId", "turns are counted within a session")
	}
	return nil
}

// ReceiptList is what the ledger holds, newest first.
type ReceiptList struct {
	Project     string    `json:"project"`
	ProjectName string    `json:"project_name,omitempty"`
	Receipts    []Receipt `json:"receipts" desc:"Newest first."`
	More        bool      `json:"more,omitempty" desc:"There are older ones."`
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
	Record      *ContextRecord `json:"record" desc:"Null for a turn without one."`
	Withheld    []Withheld     `json:"withheld" desc:"Candidates not handed out, and why."`
	Receipt     string         `json:"receipt,omitempty"`
	// Summary is contract 6's line, Text its list; without a record NoContext.
	Summary string `json:"summary" desc:"What it held, in a line."`
	Text    string `json:"text,omitempty" mcp:"-"`
}

// NoContext is the text of a turn without a record.
const NoContext = "No context data available"

// FeedbackRequest is a verdict. Without an item it is on all that the receipt holds,
// whatever was said of single items before.
type FeedbackRequest struct {
	RequestID string  `json:"request_id,omitempty" limit:"0-200"`
	Receipt   string  `json:"receipt" limit:"1-200" desc:"As the answer named it."`
	Item      string  `json:"item,omitempty" limit:"0-200" desc:"Id of one item; default: all."`
	Verdict   Verdict `json:"verdict" enum:"worked,failed,irrelevant,outdated"`
	Note      string  `json:"note,omitempty" limit:"0-1000" desc:"Why."`
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

// ReplayRequest asks past queries again: the queries of a session, or since a time. Whether
// the embedder exists, the read path checks.
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

func (r *ReplayRequest) relations(string) error {
	if r.SessionID == "" && r.Since.IsZero() {
		return Invalid("since", "a time, or a sessionId", "no queries are named")
	}
	for _, kind := range slices.Sorted(maps.Keys(r.MinRelevance)) {
		if !slices.Contains(Kinds, kind) {
			names := make([]string, len(Kinds))
			for i, k := range Kinds {
				names[i] = string(k)
			}
			return Invalid("min_relevance", strings.Join(names, ", "), "unknown kind %s", Quote(string(kind)))
		}
		if f := r.MinRelevance[kind]; !(f >= 0 && f <= 1) {
			return Invalid("min_relevance."+string(kind), "0–1", "%v is out of range", f)
		}
	}
	return nil
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
	// DataChanged says that today's data changes the recorded answer, SettingsChanged that
	// the new settings change it once more.
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
