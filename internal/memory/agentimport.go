package memory

import "time"

// AgentImportRequest asks for the logs that coding agents keep on disk. Without consent,
// and if none was given before, only a dry run is allowed.
type AgentImportRequest struct {
	// DryRun only counts.
	DryRun bool `json:"dry_run,omitempty"`
	// Consent agrees to the import, and to following the logs from then on.
	Consent bool `json:"consent,omitempty"`
	// Stop takes the consent back. What was imported stays.
	Stop bool `json:"stop,omitempty"`
	// Client restricts the import to one client.
	Client string `json:"client,omitempty" limit:"0-200" text:"exact"`
	// Since leaves out logs that were last changed before.
	Since time.Time `json:"since,omitzero"`
}

// AgentImportProgress is one message of an import.
type AgentImportProgress struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// AgentImported says what an import of agents' logs found.
type AgentImported struct {
	DryRun bool `json:"dry_run,omitempty"`
	// Consented says that the logs are followed.
	Consented bool `json:"consented,omitempty"`
	// Sources are by client and folder.
	Sources []AgentSource `json:"sources"`
	// Logs counts files. Unchanged ones were read before.
	Logs      int `json:"logs"`
	Unchanged int `json:"unchanged"`
	// Added are new steps, Known were there already. Live sessions were recorded by hooks
	// while they ran.
	Added   int `json:"added"`
	Known   int `json:"known"`
	Live    int `json:"live,omitempty"`
	Lessons int `json:"lessons"`
	// Skipped could not be read; Problems says why, for the first hundred.
	Skipped  int             `json:"skipped"`
	Problems []ImportProblem `json:"problems,omitempty"`
}

// AgentSource is what a client did in one folder.
type AgentSource struct {
	Client   string    `json:"client"`
	Dir      string    `json:"dir"`
	Project  string    `json:"project,omitempty"`
	Sessions int       `json:"sessions"`
	Steps    int       `json:"steps"`
	Fixes    int       `json:"fixes"`
	Oldest   time.Time `json:"oldest"`
	Newest   time.Time `json:"newest"`
}
