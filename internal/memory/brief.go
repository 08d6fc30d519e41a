package memory

// BriefRequest asks for what an agent should know when a session starts.
type BriefRequest struct {
	MaxTokens int `json:"max_tokens,omitempty" limit:"50-1000" default:"200" desc:"Most tokens of the text."`
	// Compacted says that the model has lost the conversation of the caller's session.
	Compacted bool   `json:"compacted,omitempty" desc:"The conversation was compacted: what the caller's session did comes first."`
	Project   string `json:"project,omitempty" limit:"0-4096"`
	Caller    Caller `json:"caller,omitzero"`
}

// Brief holds the pinned lessons of a project, its active blockers, lessons that have worked,
// and its last tasks, as many as the text has room for; after a compaction first what the
// session did. A project without any has an empty one.
type Brief struct {
	Project     string `json:"project"`
	ProjectName string `json:"project_name"`
	// Text is the brief for a model, marked as data.
	Text     string `json:"text"`
	Tokens   int    `json:"tokens"`
	Blockers int    `json:"blockers"`
	Tasks    int    `json:"tasks"`
	Lessons  int    `json:"lessons"`
	Steps    int    `json:"steps,omitempty"`
}
