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
