package memory

import "time"

// AuditRequest asks who changed what.
type AuditRequest struct {
	Limit int `json:"limit,omitempty" limit:"1-1000" default:"50" desc:"Most changes, the newest first."`
	// Client and Operation choose; empty: all.
	Client    string    `json:"client,omitempty" limit:"0-200" text:"exact"`
	Operation string    `json:"operation,omitempty" limit:"0-200" text:"exact"`
	Since     time.Time `json:"since,omitzero" text:"exact"`
	Failed    bool      `json:"failed,omitempty" desc:"Only those that were refused or failed."`
}

// Validate checks the limits and fills in the defaults.
func (r *AuditRequest) Validate() error { return check(r) }

// AuditLine is a call that changed something, or was refused. What it says of its caller is
// what the caller says of itself.
type AuditLine struct {
	At        time.Time `json:"time"`
	Operation string    `json:"msg"`
	// Policy is the client in the list of clients, which a client cannot choose.
	Policy    string `json:"policy,omitempty"`
	Client    string `json:"client,omitempty"`
	Session   string `json:"session,omitempty"`
	Window    string `json:"window,omitempty"`
	Dir       string `json:"dir,omitempty"`
	Project   string `json:"project,omitempty"`
	RequestID string `json:"request,omitempty"`
	// IDs are those that the request names, or that were made.
	IDs  []string `json:"ids,omitempty"`
	Hook bool     `json:"hook,omitempty"`
	// Error is why it was refused or failed: its code and field, no text.
	Error string `json:"error,omitempty"`
}

// AuditList is the answer of Audit.
type AuditList struct {
	Changes []AuditLine `json:"changes"` // newest first
}
