package memory

import "time"

// TeamLesson is what one member of a team shares of one lesson.
type TeamLesson struct {
	Repo    string    `json:"repo"`
	Type    EventType `json:"type"`
	Context string    `json:"context"`
	Command string    `json:"command,omitempty"`
	Lesson  string    `json:"lesson"`
	Tags    []string  `json:"tags,omitempty"`
	Agent   string    `json:"agent,omitempty"`
	// At is when the member last reported the lesson; zero if it only counted outcomes.
	At time.Time `json:"at,omitzero"`
	// Rate is how often it worked for this member; nil when it counted nothing.
	Rate *Rate `json:"rate,omitempty"`
	// Withdrawn says that the member superseded or retracted it.
	Withdrawn *Withdrawal `json:"withdrawn,omitempty"`
}

// TeamShare is what is kept of one member's share of a lesson.
type TeamShare struct {
	Member    string      `json:"member"`
	At        time.Time   `json:"at,omitzero"`
	Rate      *Rate       `json:"rate,omitempty"`
	Withdrawn *Withdrawal `json:"withdrawn,omitempty"`
}

// TeamSummary is what one member of a team shares of a session: the summary of its last
// compaction.
type TeamSummary struct {
	Text string    `json:"text"`
	At   time.Time `json:"at"` // of the compaction
}

// MaxTeamSummary is the longest summary that is shared, in characters: as a lesson.
const MaxTeamSummary = 4000

// Proven is how often a lesson worked: for its user, and for the other members of the team.
// It is nil if no outcome was counted.
func (e *Event) Proven() *Rate {
	sum := Rate{}
	if e.Rate != nil {
		sum = *e.Rate
	}
	for _, s := range e.Team {
		if s.Rate != nil {
			sum.Successes, sum.Attempts = sum.Successes+s.Rate.Successes, sum.Attempts+s.Rate.Attempts
		}
	}
	if sum.Attempts == 0 {
		return e.Rate
	}
	if over := sum.Attempts - MaxAttempts; over > 0 { // keep the share
		sum.Successes = sum.Successes * MaxAttempts / sum.Attempts
		sum.Attempts = MaxAttempts
	}
	return &sum
}

// TeamJoinRequest joins a team. The connection string may hold a password; it is kept in a
// file that only the user can read.
type TeamJoinRequest struct {
	URL string `json:"url" limit:"1-4096"`
}

// TeamShareRequest shares the lessons of a project with the team, or stops sharing them.
type TeamShareRequest struct {
	Project string `json:"project,omitempty" limit:"0-4096"`
	// As names the team's project; the normalised address of the repository if empty.
	As     string `json:"as,omitempty" limit:"0-512"`
	Stop   bool   `json:"stop,omitempty"`
	Caller Caller `json:"caller,omitzero"`
}

// TeamLeaveRequest ends the membership.
type TeamLeaveRequest struct {
	// Force leaves without the server, which may be gone for good.
	Force bool `json:"force,omitempty" desc:"Leave without asking the server, which keeps the membership and what was shared."`
}

// TeamState is the state of a membership.
type TeamState struct {
	// Member is the user's name in the team, empty outside any team.
	Member string `json:"member,omitempty"`
	// Server names the hosts and the database, without a password.
	Server string `json:"server,omitempty"`
	// Connected says that the last exchange succeeded, LastError why not.
	Connected bool      `json:"connected"`
	LastError string    `json:"last_error,omitempty"`
	SyncedAt  time.Time `json:"synced_at,omitzero"`
	// Allowed are the team projects that the server lets the user see, "*" for all. It is
	// known once the server has answered.
	Allowed []string `json:"allowed,omitempty"`
	// Summaries says that session summaries are shared, too (team.summaries of the settings).
	Summaries bool          `json:"summaries"`
	Projects  []TeamProject `json:"projects"`
}

// TeamProject is a project that is shared.
type TeamProject struct {
	Project     string `json:"project"`
	ProjectName string `json:"project_name,omitempty"`
	TeamName    string `json:"team_name"`
	// Shared are the lessons that the user shares, Received those of other members.
	Shared   int `json:"shared"`
	Received int `json:"received"`
	// Summaries are the session summaries that the user shares.
	Summaries int `json:"summaries"`
	// Problem is why it is not exchanged.
	Problem string `json:"problem,omitempty"`
}
