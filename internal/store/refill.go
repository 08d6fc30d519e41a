package store

import (
	"bytes"
	"errors"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// Refill is a backup from which a repair takes what is missing: projects, sessions, lessons,
// steps, tasks and blockers. What was removed of other kinds leaves no trace, so they are
// not taken. Something that was forgotten after the backup comes back only if the trace of
// that is lost too.
type Refill struct {
	// Walk passes the entries of the backup to fn, by key.
	Walk func(fn func(Entry) error) error
	// Schema is the version of their layout. Only the present one is taken.
	Schema uint64

	put map[string]int
}

// fill writes into the database in opts.Dir what it lacks.
func (r *Refill) fill(opts Options) error {
	r.put = map[string]int{}
	if r.Schema != Schema() {
		return nil
	}
	return writeBatch(opts, func(db *badger.DB, batch *badger.WriteBatch) error {
		return db.View(func(txn *badger.Txn) error {
			return r.Walk(func(e Entry) error {
				what, err := r.missing(View{txn}, e)
				if err != nil || what == "" {
					return err
				}
				r.put[what]++
				return batch.Set(bytes.Clone(e.Key), bytes.Clone(e.Value))
			})
		})
	})
}

// missing says what an entry is if it is to be taken: neither stored and readable, nor
// forgotten.
func (r *Refill) missing(v View, e Entry) (what string, _ error) {
	if len(e.Key) < 2 {
		return "", nil
	}
	payload, err := unseal(e.Key, e.Value)
	if err != nil {
		return "", err
	}
	id := string(e.Key[2:])
	switch string(e.Key[:2]) {
	case string(prefixRecord):
		record, err := decode[memory.Record](payload)
		if err != nil {
			return "", err
		}
		switch record.Kind {
		case memory.Lesson, memory.Step, memory.Task, memory.Blocker:
			what = string(record.Kind)
		default:
			return "", nil
		}
	case string(prefixSession):
		session, err := decodeSession(e.Key, payload)
		if err != nil {
			return "", err
		}
		what, id = "session", memory.RecordID("n", session.Project, session.ID)
	case string(prefixProject):
		what, id = "project", ""
	default:
		return "", nil
	}
	if dead, err := v.Tombstoned(id); id != "" && (dead || err != nil) {
		return "", err
	}
	err = get(v.txn, e.Key, func([]byte) error { return nil })
	if err == nil {
		return "", nil
	}
	if !errors.Is(err, badger.ErrKeyNotFound) && memory.CodeOf(err) != memory.CodeCorrupt {
		return "", err
	}
	return what, nil
}
