package store

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// Session returns a session.
func (v View) Session(k memory.SessionKey) (memory.Session, error) {
	key := keySession(k)
	var x memory.Session
	err := get(v.txn, key, func(b []byte) (err error) {
		x, err = decodeSession(key, b)
		return err
	})
	if errors.Is(err, badger.ErrKeyNotFound) {
		return x, memory.Errorf(memory.CodeNotFound, "there is no session %q", k.ID)
	}
	return x, notFound(err, "session", key)
}

// Sessions walks the sessions of a project by id, or the sessions of all projects if
// project is empty.
func (v View) Sessions(project string) iter.Seq2[memory.Session, error] {
	prefix := prefixSession
	if project != "" {
		prefix = keySession(memory.SessionKey{Project: project})
	}
	return scan(v, prefix, decodeSession)
}

func decodeSession(key, payload []byte) (memory.Session, error) {
	x, err := decode[memory.Session](payload)
	if err == nil && !bytes.Equal(key, keySession(x.Key())) {
		err = corrupt(key, "it belongs to another session")
	}
	return x, err
}

// putSession writes a session. It replaces the one with its key, or merges with it if merge is
// not nil. A private session stays private. It returns CodeInvalidInput if the id cannot be part
// of a key.
func (tx *Tx) putSession(x memory.Session, merge func(old, new memory.Session) (memory.Session, error)) error {
	if x.ID == "" || strings.ContainsRune(x.Project+x.ID, 0) {
		return memory.Invalid("sessionId", "", "%q cannot name a session", x.ID)
	}
	old, _, err := tx.existingSession(x.Key())
	if err != nil {
		return err
	}
	private := x.Private || old != nil && old.Private
	if old != nil && merge != nil {
		if x, err = merge(*old, x); err != nil {
			return err
		}
	}
	x.Private = private
	if err := tx.putValue(keySession(x.Key()), x); err != nil {
		return err
	}
	tx.change.Sessions = append(tx.change.Sessions, memory.SessionChange{Old: old, New: &x})
	return nil
}

// DropSession removes a session, if it exists, with its state and receipts. It does not remove
// the session's steps.
func (tx *Tx) DropSession(k memory.SessionKey) error {
	tx.preDelete(keyState(memory.StateKey{Project: k.Project, Kind: memory.StateSession, ID: k.ID}))
	tx.dropTurns(prefixSessionTurns(k))
	old, there, err := tx.existingSession(k)
	if err != nil || !there {
		return err
	}
	tx.del(keySession(k))
	if old != nil {
		tx.change.Sessions = append(tx.change.Sessions, memory.SessionChange{Old: old})
	}
	return nil
}

// hasSession reports whether a session is stored or written by this update.
func (tx *Tx) hasSession(k memory.SessionKey) (bool, error) {
	for _, c := range tx.change.Sessions {
		if c.New != nil && c.New.Key() == k {
			return true, nil
		}
	}
	_, stored, err := tx.existingSession(k)
	return stored, err
}

func (tx *Tx) existingSession(k memory.SessionKey) (*memory.Session, bool, error) {
	x, err := tx.Session(k)
	return existing(tx.s, x, err)
}

// Session returns a session, or CodeNotFound.
func (s *Store) Session(project, id string) (memory.Session, error) {
	return read(s, func(v View) (memory.Session, error) {
		return v.Session(memory.SessionKey{Project: project, ID: id})
	})
}

// ProjectSessions returns the sessions of a project by id.
func (s *Store) ProjectSessions(project string) ([]memory.Session, error) {
	if project == "" { // View.Sessions would return the sessions of all projects
		return nil, nil
	}
	return read(s, func(v View) ([]memory.Session, error) { return slices.Collect(sound(s, v.Sessions(project))), nil })
}

// checkSessions collects the sessions, and reports sessions that cannot be read.
func checkSessions(v View, sessions map[memory.SessionKey]memory.Session, bad func(string, ...any)) {
	for x, err := range v.Sessions("") {
		if err != nil {
			bad("%w", err)
			continue
		}
		sessions[x.Key()] = x
	}
}
