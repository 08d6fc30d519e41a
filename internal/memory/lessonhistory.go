package memory

import "time"

// LessonRequest asks for one lesson with its history.
type LessonRequest struct {
	ID string `json:"id" limit:"1-200" text:"exact" desc:"Its whole id."`
	// Handouts asks where it was handed out, which reads the ledger.
	Handouts bool   `json:"handouts,omitempty" desc:"With the answers that held it."`
	Project  string `json:"project,omitempty" limit:"0-4096"`
	Caller   Caller `json:"caller,omitzero"`
}

// LessonHistory is one lesson, recalled or withdrawn, with what was reported of it and where
// it was handed out.
type LessonHistory struct {
	Lesson Item      `json:"lesson"`
	Type   EventType `json:"event_type,omitempty"`
	Tags   []string  `json:"tags,omitempty"`
	// Seen counts how often it was told. Observations are the first and the latest of them,
	// oldest first.
	Seen         int             `json:"seen" desc:"How often it was told."`
	Observations []LessonReport  `json:"observations" desc:"Oldest first: the first and the latest."`
	Withdrawn    *Withdrawal     `json:"withdrawn,omitempty" desc:"Why it is no longer recalled."`
	Verdicts     *VerdictCounts  `json:"verdicts,omitempty"`
	HandedOut    []LessonHandout `json:"handed_out" desc:"Of the last 5,000 answers those that held it, newest first, at most 50, if they were asked for."`
	// More says that older answers held it, too, or may have.
	More bool `json:"more,omitempty" desc:"Older answers held it, too."`
}

// LessonReport is one report of a lesson.
type LessonReport struct {
	At          time.Time `json:"at"`
	Agent       string    `json:"agent,omitempty"`
	Session     string    `json:"session,omitempty"`
	SuccessRate string    `json:"success_rate,omitempty" desc:"As it was told: 9/10."`
}

// LessonHandout is one answer that held a lesson.
type LessonHandout struct {
	Receipt   string    `json:"receipt"`
	At        time.Time `json:"at"`
	Asked     string    `json:"asked"`
	Purpose   Purpose   `json:"purpose,omitempty"`
	Session   string    `json:"session,omitempty"`
	Turn      int       `json:"turn,omitempty"`
	Relevance float64   `json:"relevance"`
	Tokens    int       `json:"tokens"`
	// Verdict is the last one on the lesson in this answer.
	Verdict   Verdict   `json:"verdict,omitempty"`
	VerdictAt time.Time `json:"verdict_at,omitzero"`
}

// MaxHandouts bounds the answers that a LessonHistory lists.
const MaxHandouts = 50

// RestoreLessonRequest brings back a lesson that was superseded or retracted.
type RestoreLessonRequest struct {
	ID      string `json:"id" limit:"1-200" text:"exact" desc:"Of the withdrawn lesson."`
	Project string `json:"project,omitempty" limit:"0-4096"`
	Caller  Caller `json:"caller,omitzero"`
}

// RestoredLesson says what was brought back.
type RestoredLesson struct {
	ID string `json:"id"`
	// By is the lesson that had withdrawn it; empty if it was recalled all along.
	By string `json:"by,omitempty" desc:"The lesson that had withdrawn it; it stays. Empty if none had."`
}

// MarkLessonRequest marks a lesson. What is nil stays as it is.
type MarkLessonRequest struct {
	ID string `json:"id" limit:"1-200" text:"exact" desc:"Its whole id."`
	// Pinned puts it before other lessons in the briefs of its project.
	Pinned *bool `json:"pinned,omitempty" desc:"Whether it is pinned: briefs of its project have the newest three such lessons first."`
	// Private keeps it from the lesson log and from the team.
	Private *bool  `json:"private,omitempty" desc:"Whether it is kept on this machine: not in the repository's log, not for the team."`
	Project string `json:"project,omitempty" limit:"0-4096"`
	Caller  Caller `json:"caller,omitzero"`
}

func (r *MarkLessonRequest) relations(string) error {
	if r.Pinned == nil && r.Private == nil {
		return Invalid("pinned", "pinned or private", "nothing is to be changed")
	}
	return nil
}

// PrivateNote says what making a lesson private does not reach.
const PrivateNote = "the repository's log of lessons, if it has the lesson, and what was exported or backed up before still hold the text; the team's copy is taken back when its server answers"

// MarkedLesson says how a lesson is marked now.
type MarkedLesson struct {
	ID      string `json:"id"`
	Pinned  bool   `json:"pinned"`
	Private bool   `json:"private"`
	// Note says what may hold the text of a lesson that has just become private.
	Note string `json:"note,omitempty"`
}
