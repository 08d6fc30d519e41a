package store

import (
	"errors"
	"iter"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// Audit appends a line to the audit log.
func (tx *Tx) Audit(action string, detail any, about ...string) {
	tx.audit = append(tx.audit, memory.AuditEntry{Action: action, Detail: detail, About: about})
}

// Audit walks the audit log, oldest first, the lines of one update at a time.
func (v View) Audit() iter.Seq2[[]memory.AuditEntry, error] { return v.auditFrom(0) }

// auditFrom walks the audit log beginning at a sequence number.
func (v View) auditFrom(seq uint64) iter.Seq2[[]memory.AuditEntry, error] {
	return scanFrom(v, prefixAudit, keyAudit(seq), decodeValue[[]memory.AuditEntry])
}

// AuditBack walks the audit log backwards, the lines of one update at a time. It begins
// before the given sequence number; 0 is the end. It reads no more than it yields, and
// skips damaged lines.
func (s *Store) AuditBack(before uint64) iter.Seq2[[]memory.AuditEntry, error] {
	return func(yield func([]memory.AuditEntry, error) bool) {
		err := s.View(func(v View) error {
			it := v.txn.NewIterator(badger.IteratorOptions{Prefix: prefixAudit, Reverse: true})
			defer it.Close()
			// A reverse Seek stops at the key or at the one before it. 0 wraps to the largest number.
			for it.Seek(keyAudit(before - 1)); it.Valid(); it.Next() {
				lines, err := readItem(it.Item(), decodeValue[[]memory.AuditEntry])
				if !s.damaged(err) && !yield(lines, nil) {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

// about lists the audit lines about some ids. They are searched before the update that
// erases their details, because other updates wait for that one.
type about struct {
	ids   map[string]bool
	lines [][]byte // by their keys
	next  uint64   // the first sequence number that was not searched
}

func (a *about) has(l *memory.AuditEntry) bool {
	return slices.ContainsFunc(l.About, func(id string) bool { return a.ids[id] })
}

// linesAbout searches the whole log, which is acceptable because records are rarely
// forgotten.
func (s *Store) linesAbout(ids []string) (*about, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	a := &about{ids: make(map[string]bool, len(ids))}
	for _, id := range ids {
		a.ids[id] = true
	}
	return a, s.View(func(v View) error {
		for lines := range sound(s, v.Audit()) {
			if len(lines) == 0 {
				continue
			}
			a.next = lines[0].Seq + 1
			if slices.ContainsFunc(lines, func(l memory.AuditEntry) bool { return a.has(&l) }) {
				a.lines = append(a.lines, keyAudit(lines[0].Seq))
			}
		}
		return nil
	})
}

// eraseDetails erases the details of the lines in a and of later lines about its ids.
func (tx *Tx) eraseDetails(a *about) error {
	if a == nil {
		return nil
	}
	erase := func(lines []memory.AuditEntry) error {
		erased := false
		for i := range lines {
			if a.has(&lines[i]) {
				lines[i].Detail, lines[i].About, erased = nil, nil, true
			}
		}
		if !erased {
			return nil
		}
		b, err := encode(lines)
		if err != nil {
			return err
		}
		tx.prePut(keyAudit(lines[0].Seq), b) // there may be more lines than fit a transaction
		return nil
	}
	for _, k := range a.lines {
		lines, err := getValue[[]memory.AuditEntry](tx.View, k)
		if errors.Is(err, badger.ErrKeyNotFound) || tx.s.damaged(err) {
			continue
		}
		if err := erase(lines); err != nil {
			return err
		}
	}
	for lines := range sound(tx.s, tx.View.auditFrom(a.next)) {
		if err := erase(lines); err != nil {
			return err
		}
	}
	return nil
}
