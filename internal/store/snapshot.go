package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// Entry is a stored value with its key, as a backup keeps it. The value has its checksum.
type Entry struct {
	Key, Value []byte
	// ExpiresAt is a Unix time in seconds; 0 is never.
	ExpiresAt uint64
}

// Snapshot is one committed state of a store. It costs the store nothing but the space of
// values that are replaced while it is open.
type Snapshot struct {
	// Store identifies the store, Seq is the number of the last update.
	Store, Seq uint64
	// Schema is the version of the layout.
	Schema uint64
	// Counts are the records by kind, sessions and files.
	Counts map[string]int

	txn  *badger.Txn
	done func()
}

// Snapshot opens the last committed state. It returns CodeUnavailable until Load has
// ended, and CodeCorrupt for a store that has lost something: a backup of it would look
// whole. The caller must close the snapshot.
func (s *Store) Snapshot() (*Snapshot, error) {
	x := &Snapshot{}
	var refused error
	err := s.betweenCommits(func() {
		switch {
		case s.damage != nil:
			refused = &memory.Error{Code: memory.CodeCorrupt, Message: s.damage.Text(), Hint: memory.RepairCommand}
		case !s.loaded:
			refused = memory.Errorf(memory.CodeUnavailable, "the store is being loaded; try again in a moment")
		}
		if refused != nil {
			return
		}
		var db *handle
		db, x.done = s.use()
		x.txn = db.NewTransaction(false)
		x.Store, x.Seq, x.Counts = s.id, s.seq, s.totals.positive()
	})
	if err = errors.Join(err, refused); err != nil {
		return nil, err
	}
	if x.Schema, err = getUint(x.txn, keySchema); err != nil {
		x.Close()
		return nil, fmt.Errorf("read schema version: %w", err)
	}
	return x, nil
}

// Close ends the snapshot.
func (x *Snapshot) Close() {
	x.txn.Discard()
	x.done()
}

// Walk passes every entry to fn, by key. The entry is fn's to keep only until it returns. A
// value that fails its checksum ends the walk with CodeCorrupt.
func (x *Snapshot) Walk(ctx context.Context, fn func(Entry) error) error {
	it := x.txn.NewIterator(badger.IteratorOptions{PrefetchSize: 16, PrefetchValues: true})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		item := it.Item()
		err := item.Value(func(value []byte) error {
			if _, err := unseal(item.Key(), value); err != nil {
				return err
			}
			return fn(Entry{Key: item.Key(), Value: value, ExpiresAt: item.ExpiresAt()})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Forgotten returns the ids of everything forgotten: its tombstones, sorted.
func (x *Snapshot) Forgotten() []string { return tombstones(View{x.txn}) }

func tombstones(v View) (ids []string) {
	for k := range v.keys(prefixTomb) {
		ids = append(ids, string(k[len(prefixTomb):]))
	}
	return ids
}

// Eraser takes out of the entries of an older state what was forgotten since. The entries
// must come by key.
type Eraser struct {
	dead map[string]bool
	// now is the present state, which decides about texts; nil keeps them, for Load sweeps
	// what nothing references.
	now      *badger.Txn
	receipts map[string]bool
	docs     map[memory.DocID]bool
}

// newEraser makes an eraser for the ids of Forgotten.
func newEraser(forgotten []string) *Eraser {
	e := &Eraser{dead: map[string]bool{}, receipts: map[string]bool{}, docs: map[memory.DocID]bool{}}
	for _, id := range forgotten {
		e.dead[id] = true
	}
	return e
}

// Eraser makes one that also removes the texts' terms and vectors, and writes the audit
// log as it is now.
func (x *Snapshot) Eraser() *Eraser {
	e := newEraser(x.Forgotten())
	e.now = x.txn
	return e
}

// Keep reports whether an entry is kept, and may replace its value.
func (e *Eraser) Keep(entry *Entry) (bool, error) {
	k := entry.Key
	if len(k) < 2 {
		return false, corrupt(k, "the key is unknown")
	}
	rest := k[2:]
	switch string(k[:2]) {
	case string(prefixRecord):
		if !e.dead[string(rest)] {
			return true, nil
		}
		payload, err := unseal(k, entry.Value)
		if err != nil {
			return false, err
		}
		if r, err := decode[memory.Record](payload); err == nil {
			e.docs[r.Doc] = true
		}
		return false, nil
	case string(prefixSession):
		project, id, _ := strings.Cut(string(rest), "\x00")
		return !e.deadSession(project, id), nil
	case string(prefixState):
		at, ok := parseState(k)
		return !ok || at.Kind != memory.StateSession || !e.deadSession(at.Project, at.ID), nil
	case string(prefixTurn):
		t, ok := parseTurn(k)
		if !ok || !e.deadSession(t.Project, t.ID) {
			return true, nil
		}
		e.receipts[t.receipt] = true
		return false, nil
	case string(prefixReceipt):
		return !e.receipts[string(rest)], nil
	case string(prefixTerms):
		return e.now == nil || !e.deadDoc(rest), nil
	case string(prefixVector):
		return e.now == nil || !e.deadDoc(rest[min(len(collectionKey{}), len(rest)):]), nil
	case string(prefixAudit):
		return e.asNow(entry)
	}
	return true, nil
}

func (e *Eraser) deadSession(project, id string) bool {
	return e.dead[memory.RecordID("n", project, id)]
}

// deadDoc reports whether a text was of a forgotten record and nothing has it now.
func (e *Eraser) deadDoc(id []byte) bool {
	if len(id) != len(memory.DocID{}) || !e.docs[memory.DocID(id)] {
		return false
	}
	_, err := e.now.Get(keyTerms(memory.DocID(id)))
	return errors.Is(err, badger.ErrKeyNotFound)
}

// asNow replaces a line of the audit log: forgetting erases details of older lines.
func (e *Eraser) asNow(entry *Entry) (bool, error) {
	if e.now == nil {
		return true, nil
	}
	item, err := e.now.Get(entry.Key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	entry.Value, err = item.ValueCopy(nil)
	return err == nil, err
}

// ForgottenID returns the id that a key says was forgotten; is is false for other keys.
func ForgottenID(key []byte) (id string, is bool) {
	rest, is := bytes.CutPrefix(key, prefixTomb)
	return string(rest), is
}
