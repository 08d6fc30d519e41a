package memory

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// EventType classifies a lesson.
type EventType string

// The types of lessons.
const (
	EventError   EventType = "error"
	EventSuccess EventType = "success"
	EventPattern EventType = "pattern"
)

// Event is what a lesson's log line says.
type Event struct {
	AgentID string    `json:"agent_id,omitempty"`
	Type    EventType `json:"event_type"`
	Context string    `json:"context"`
	Command string    `json:"command,omitempty"`
	Lesson  string    `json:"lesson"`
	// Rate counts outcomes; nil when none is known. It is the rate of the latest report
	// that has one, and the outcomes since. RateAt is when it last changed: an older report
	// does not replace it.
	Rate   *Rate     `json:"rate,omitempty"`
	RateAt time.Time `json:"rate_at,omitzero"`
	// Seen counts how often the same lesson was remembered.
	Seen int `json:"seen,omitempty"`
	// Observations are its history, oldest first: the first and the latest, MaxObservations
	// in all.
	Observations []Observation `json:"tellings,omitempty"`
	// Fingerprints name the errors that it is about (package fingerprint).
	Fingerprints []string `json:"fingerprints,omitempty"`
	// Anchors are the code that it is about, at most MaxAnchors.
	Anchors []Anchor `json:"anchors,omitempty"`
	// Withdrawn says that the lesson is kept but no longer recalled.
	Withdrawn *Withdrawal `json:"aside,omitempty"`
	// Private says that its user keeps it from the lesson log and from the team. It stays so
	// when the lesson is told again.
	Private bool `json:"private,omitempty"`
	// Pinned says that its user wants it in the briefs of its project, before other lessons.
	Pinned bool `json:"pinned,omitempty"`
	// Team is what other members of the team say of it, sorted by their names.
	Team []TeamShare `json:"team,omitempty"`
}

// MaxObservations bounds a lesson's history.
const MaxObservations = 32

// Observation is one report of a lesson.
type Observation struct {
	At      time.Time `json:"at"`
	AgentID string    `json:"agent_id,omitempty"`
	Session string    `json:"session,omitempty"`
	Rate    *Rate     `json:"rate,omitempty"`
	// Line names the log line that reported it, so that reading the line again
	// counts nothing twice.
	Line DocID `json:"line,omitzero"`
}

// PrivateSessions are the sessions that a private lesson is known to be told in; none for other
// records.
func (r *Record) PrivateSessions() (ids []string) {
	if r.Event == nil || !r.Event.Private {
		return nil
	}
	for _, id := range []string{r.Session, r.Provenance.Session} { // the latter may be of another project
		if id != "" {
			ids = append(ids, id)
		}
	}
	for _, o := range r.Event.Observations {
		if o.Session != "" {
			ids = append(ids, o.Session)
		}
	}
	return ids
}

// Withdrawal says why a lesson is no longer recalled: another one superseded it, or
// it was retracted. By is that other lesson, or the one that says why.
type Withdrawal struct {
	At     time.Time `json:"at"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason"` // superseded, retracted
	// Followed says that a line of a repository's file superseded or retracted it: a later line of a
	// file may bring it back, which no file does with what was withdrawn here.
	Followed bool `json:"followed,omitempty"`
	// Member is the member of the team who withdrew it; empty for this user.
	Member string `json:"member,omitempty"`
}

// RefContent is a reference's own content: a text kept whole, for instance a
// document of an evaluation set. Part is its place when a long one was split.
type RefContent struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	Part  int    `json:"part,omitempty"`
}

// Rate is a success rate: Successes of Attempts.
type Rate struct {
	Successes int `json:"successes"`
	Attempts  int `json:"attempts"`
}

// String writes the rate as "X/Y".
func (r Rate) String() string { return fmt.Sprintf("%d/%d", r.Successes, r.Attempts) }

// RememberRequest is a lesson to be kept.
type RememberRequest struct {
	// RequestID is made by the client; the same request with the same id is answered as the
	// first and changes nothing, another one is refused. A request that failed or changed
	// nothing leaves its id free.
	RequestID string    `json:"request_id,omitempty" limit:"0-200"`
	Repo      string    `json:"repo,omitempty" limit:"0-200" desc:"Default: the one you work in."`
	Type      EventType `json:"event_type,omitempty" enum:"error,success,pattern" usual:"pattern" desc:"error: wrong, then right; success: a known problem solved; pattern: reusable."`
	// AlsoType is Type under its short name. Check puts it into Type.
	AlsoType    EventType `json:"type,omitempty" enum:"error,success,pattern" desc:"The same as event_type." mcp:"deprecated"`
	Context     string    `json:"context,omitempty" limit:"0-2000" desc:"What was attempted, with the error."`
	Command     string    `json:"command,omitempty" limit:"0-2000" desc:"The exact command."`
	Lesson      string    `json:"lesson" limit:"1-4000" desc:"What was learned."`
	SuccessRate string    `json:"success_rate,omitempty" desc:"As 9/10." pattern:"^\\d{1,7}/\\d{1,7}$"`
	Tags        []string  `json:"tags,omitempty" limit:"0-20" each:"1-64" desc:"A few words."`
	AgentID     string    `json:"agent_id,omitempty" limit:"0-200" desc:"Default: the client's name."`
	// Supersedes are ids of lessons that this one replaces, Retracts ids of
	// lessons that were found wrong. Both stay stored and are not recalled.
	Supersedes []string `json:"supersedes,omitempty" limit:"0-20" each:"1-200" desc:"Ids of outdated lessons."`
	Retracts   []string `json:"retracts,omitempty" limit:"0-20" each:"1-200" desc:"Ids of wrong lessons."`
	// Anchors name the code that it is about. Without any, the paths and symbols in its
	// texts are looked up in the index.
	Anchors []AnchorRequest `json:"anchors,omitempty" limit:"0-8" desc:"Code it is about; default: what it names."`
	// Private keeps it out of the repository's lesson log and away from the team.
	Private bool   `json:"private,omitempty" desc:"Keep it on this machine: not in the repository's log, not for the team."`
	Project string `json:"project,omitempty" limit:"0-4096"`
	Caller  Caller `json:"caller,omitzero"`
}

func (r *RememberRequest) relations(string) error {
	if r.Type != "" && r.AlsoType != "" && r.Type != r.AlsoType {
		return Invalid("type", "one of type and event_type, which are one field", "is %s, and event_type is %s",
			Quote(string(r.AlsoType)), Quote(string(r.Type)))
	}
	r.Type, r.AlsoType = cmp.Or(r.Type, r.AlsoType, EventPattern), ""
	if r.SuccessRate == "" {
		return nil
	}
	_, err := ParseRate(r.SuccessRate)
	return err
}

// Remembered says what became of a lesson.
type Remembered struct {
	ID          string `json:"id"`
	Project     string `json:"project"`
	ProjectName string `json:"project_name,omitempty"`
	Repo        string `json:"repo"`
	Merged      bool   `json:"merged,omitempty" desc:"The same lesson was there already."`
	Redacted    bool   `json:"redacted,omitempty" desc:"A secret was taken out."`
	// Log is the log file that it was appended to, if logs are written; Warning
	// says why it could not be. The record is there.
	Log     string `json:"log,omitempty" desc:"The log file that it was appended to."`
	Warning string `json:"warning,omitempty" desc:"What could not be done beside; the lesson is kept."`
	Seq     uint64 `json:"seq" desc:"The committed batch that holds it."`
}

// ReferenceDoc is one text to be kept whole under a name.
type ReferenceDoc struct {
	Name    string    `json:"name"`
	Title   string    `json:"title,omitempty"`
	Text    string    `json:"text"`
	Created time.Time `json:"created_at,omitzero"`
}

// ForgetRequest names what is to be removed for good: records and sessions by id,
// or a project with all it holds.
type ForgetRequest struct {
	IDs     []string `json:"ids,omitempty" limit:"0-1000" each:"1-200"`
	Project string   `json:"project,omitempty" limit:"0-4096"`
}

func (r *ForgetRequest) relations(string) error {
	return either("ids", len(r.IDs) > 0, "project", r.Project != "")
}

// Forgotten says what was removed. The steps of sessions are among the records.
type Forgotten struct {
	Records   int `json:"records"`
	Sessions  int `json:"sessions,omitempty"`
	Files     int `json:"files"`
	Documents int `json:"documents"`
	// Unknown are the ids, as the request has them, of which nothing was found: the
	// others were removed.
	Unknown []string `json:"unknown,omitempty"`
	// Note says what may still hold the text: backups and exports, logs and session
	// files of the repository.
	Note string `json:"note,omitempty"`
}

// MaxAttempts is the largest count of outcomes that ParseRate reads.
const MaxAttempts = 9_999_999

var ratePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d{1,7})/(\d{1,7})$`) })

// ParseRate reads a success rate written "X/Y", 0 ≤ X ≤ Y.
func ParseRate(s string) (Rate, error) {
	if m := ratePattern().FindStringSubmatch(s); m != nil {
		x, _ := strconv.Atoi(m[1])
		y, _ := strconv.Atoi(m[2])
		if x <= y {
			return Rate{Successes: x, Attempts: y}, nil
		}
	}
	return Rate{}, Invalid("success_rate", "X/Y with 0 ≤ X ≤ Y", "%s is not a rate", Quote(s))
}
