package memory

import "time"

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
