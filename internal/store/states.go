package store

import (
	"bytes"
	"errors"
	"strings"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// maxState bounds a state in bytes. It is read and written whole with every edit,
// and several must fit one transaction.
const maxState = 1 << 20

// State returns a state as it was stored.
func (v View) State(k memory.StateKey) ([]byte, error) {
	key := keyState(k)
	state, err := v.getBytes(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, memory.Errorf(memory.CodeNotFound, "there is no state %s", nameState(k))
	}
	return state, notFound(err, "state", key)
}

// State returns a state as it was stored, or CodeNotFound.
func (s *Store) State(k memory.StateKey) ([]byte, error) {
	return read(s, func(v View) ([]byte, error) { return v.State(k) })
}

// EditState changes a state. An update may edit a state once, because it does not read its
// own writes. It returns the edit's error, CodeInvalidInput for a state that is too large
// or has an invalid name, and CodeNotFound for the state of a session that is not stored:
// nothing would ever remove it.
func (tx *Tx) EditState(e memory.StateEdit) error {
	k := e.Key
	if k.Project == "" || k.Kind == "" || strings.ContainsRune(k.Project+k.Kind+k.ID, 0) {
		return memory.Invalid("states", "", "a project, a kind and an id without NUL name a state, not %q, %q and %q", k.Project, k.Kind, k.ID)
	}
	stored, err := tx.State(k)
	old, _, err := existing(tx.s, stored, err)
	if err != nil {
		return err
	}
	if old == nil { // missing or damaged: the edit starts from nothing
		old = new([]byte)
	}
	state, err := e.Edit(*old)
	switch {
	case err != nil:
		return err
	case state == nil:
		tx.del(keyState(k))
		return nil
	case len(state) > maxState:
		return memory.Invalid("states", "1 MiB", "the state %s would have %d bytes", nameState(k), len(state))
	}
	if k.Kind == memory.StateSession {
		x := memory.SessionKey{Project: k.Project, ID: k.ID}
		if known, err := tx.hasSession(x); err != nil {
			return err
		} else if !known {
			return memory.Errorf(memory.CodeNotFound, "there is no session %q", k.ID)
		}
	}
	tx.put(keyState(k), state)
	return nil
}

// nameState describes a state's key.
func nameState(k memory.StateKey) string {
	if k.ID == "" {
		return k.Kind + " of " + k.Project
	}
	return k.Kind + " " + memory.Quote(k.ID) + " of " + k.Project
}

// checkStates reports states with an invalid key, and states of sessions that do not exist.
// It does not read the values.
func checkStates(v View, sessions map[memory.SessionKey]memory.Session, bad func(string, ...any)) {
	for k := range v.keys(prefixState) {
		at, ok := parseState(k)
		if !ok {
			bad("stored value %q: the key names no state", k)
			continue
		}
		if at.Kind != memory.StateSession {
			continue
		}
		if _, ok := sessions[memory.SessionKey{Project: at.Project, ID: at.ID}]; !ok {
			bad("state %s: its session is not stored", nameState(at))
		}
	}
}

// parseState reads what keyState wrote.
func parseState(k []byte) (memory.StateKey, bool) {
	parts := bytes.Split(k[len(prefixState):], []byte{0})
	if len(parts) != 3 {
		return memory.StateKey{}, false
	}
	return memory.StateKey{Project: string(parts[0]), Kind: string(parts[1]), ID: string(parts[2])}, true
}
