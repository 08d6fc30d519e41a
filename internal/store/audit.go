package store

import (
	"errors"
	"iter"
	"math"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// Audit appends a line to the audit log.
func (tx *Tx) Audit(action string, detail any, about ...string) {
	tx.audit = append(tx.audit, memory.AuditEntry{Action: action, Detail: detail, About: about})
}

// Audit walks the audit log, oldest first.
func (v View) Audit() iter.Seq2[[]memory.AuditEntry, error] {
	return scan(v, prefixAudit, func(_, b []byte) ([]memory.AuditEntry, error) { return decode[[]memory.AuditEntry](b) })
}

// AuditBack walks the audit log backwards, from before an update on or, with 0, from its
// end: the lines of one update at a time. It reads no more than it yields; lines that are
// damaged are passed over.
func (s *Store) AuditBack(before uint64) iter.Seq2[[]memory.AuditEntry, error] {
	return func(yield func([]memory.AuditEntry, error) bool) {
		err := s.View(func(v View) error {
			it := v.txn.NewIterator(badger.IteratorOptions{Prefix: prefixAudit, Reverse: true})
			defer it.Close()
			// Backwards, a search stops at the key itself or at the one before it.
			from := keyAudit(before - 1)
			if before == 0 {
				from = keyAudit(math.MaxUint64)
			}
			for it.Seek(from); before != 1 && it.Valid(); it.Next() {
				var lines []memory.AuditEntry
				item := it.Item()
				err := item.Value(func(value []byte) error {
					payload, err := unseal(item.Key(), value)
					if err != nil {
						return err
					}
					lines, err = decode[[]memory.AuditEntry](payload)
					return err
				})
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

// about are the lines of the audit log that are about some ids, as far as the log was
// read: they are found before the update that erases their details, which others wait for.
type about struct {
	ids   map[string]bool
	lines [][]byte // by their keys
	next  uint64   // from which on the log was not read
}

func (a *about) has(l *memory.AuditEntry) bool {
	return slices.ContainsFunc(l.About, func(id string) bool { return a.ids[id] })
}

// linesAbout reads the whole log: forgetting is rare.
func (s *Store) linesAbout(ids []string) (*about, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	a := &about{ids: make(map[string]bool, len(ids))}
	for _, id := range ids {
		a.ids[id] = true
	}
	return a, s.View(func(v View) error {
		for lines, err := range v.Audit() {
			if s.damaged(err) || len(lines) == 0 {
				continue // nobody can read it either
			}
			a.next = lines[0].Seq + 1
			if slices.ContainsFunc(lines, func(l memory.AuditEntry) bool { return a.has(&l) }) {
				a.lines = append(a.lines, keyAudit(lines[0].Seq))
			}
		}
		return nil
	})
}

// eraseDetails takes the details out of the lines that are about some ids: of those
// that were found, and of those that were written since.
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
		k := keyAudit(lines[0].Seq)
		// There may be more of them than fit a transaction.
		tx.add(&tx.preWrites, write{key: k, value: seal(k, b)})
		return nil
	}
	for _, k := range a.lines {
		var lines []memory.AuditEntry
		err := get(tx.txn, k, func(b []byte) (err error) {
			lines, err = decode[[]memory.AuditEntry](b)
			return err
		})
		if err == nil {
			err = erase(lines)
		} else if errors.Is(err, badger.ErrKeyNotFound) || tx.s.damaged(err) {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	for lines, err := range tx.View.auditFrom(a.next) {
		if tx.s.damaged(err) {
			continue
		}
		if err := erase(lines); err != nil {
			return err
		}
	}
	return nil
}

// auditFrom walks the audit log from a sequence number on.
func (v View) auditFrom(seq uint64) iter.Seq2[[]memory.AuditEntry, error] {
	return scanFrom(v, prefixAudit, keyAudit(seq), func(_, b []byte) ([]memory.AuditEntry, error) { return decode[[]memory.AuditEntry](b) })
}
