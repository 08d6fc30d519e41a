package memory

import (
	"strings"
	"time"
)

// AuditRequest asks who changed what.
type AuditRequest struct {
	Limit int `json:"limit,omitempty" limit:"1-1000" default:"50" desc:"Most changes, the newest first."`
	// Client and Operation choose; empty: all. A client is called as it calls itself, by its
	// policy, or as By writes both.
	Client    string    `json:"client,omitempty" limit:"0-200" text:"exact" desc:"Only this client's: what it calls itself, or its policy."`
	Operation string    `json:"operation,omitempty" limit:"0-200" text:"exact"`
	Since     time.Time `json:"since,omitzero" text:"exact"`
	Failed    bool      `json:"failed,omitempty" desc:"Only those that were refused or failed."`
}

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
	// NoDaemon says that a command did it while no daemon had the data folder, or past it.
	NoDaemon bool `json:"no_daemon,omitempty"`
	// Error is why it was refused or failed: its code and field, no text.
	Error string `json:"error,omitempty"`
}

// By is who asked for it: what the client calls itself, and its policy in brackets.
func (l *AuditLine) By() string {
	if l.Policy == "" {
		return l.Client
	}
	return strings.TrimSpace(l.Client + " (" + l.Policy + ")")
}

// IsOf reports whether a client is called so.
func (l *AuditLine) IsOf(client string) bool {
	return client == l.Client || client == l.By() || l.Policy != "" && (client == l.Policy || client == "("+l.Policy+")")
}

// AuditList is the answer of Audit.
type AuditList struct {
	Changes []AuditLine `json:"changes"` // newest first
}
