package store

import (
	"iter"
	"slices"
	"time"
)

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

// Audit appends a line to the audit log.
func (tx *Tx) Audit(action string, detail any, about ...string) {
	tx.audit = append(tx.audit, AuditEntry{Action: action, Detail: detail, About: about})
}

// Audit walks the audit log, oldest first.
func (v View) Audit() iter.Seq2[[]AuditEntry, error] {
	return scan(v, prefixAudit, func(_, b []byte) ([]AuditEntry, error) { return decode[[]AuditEntry](b) })
}

// eraseDetails takes the details out of the lines that are about one of the ids. It
// reads the whole log: forgetting is rare.
func (tx *Tx) eraseDetails(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	wanted := make(map[string]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	for lines, err := range tx.View.Audit() {
		if tx.s.damaged(err) {
			continue // nobody can read it either
		}
		erased := false
		for i := range lines {
			if slices.ContainsFunc(lines[i].About, func(id string) bool { return wanted[id] }) {
				lines[i].Detail, lines[i].About, erased = nil, nil, true
			}
		}
		if !erased {
			continue
		}
		b, err := encode(lines)
		if err != nil {
			return err
		}
		k := keyAudit(lines[0].Seq)
		// There may be more of them than fit a transaction.
		tx.add(&tx.ahead, write{key: k, value: seal(k, b)})
	}
	return nil
}
