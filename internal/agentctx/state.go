package agentctx

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/recalld/recalld/internal/memory"
)

// errContextChanged refuses a batch that was made from a working context which another
// writer has changed since.
var errContextChanged = errors.New("the working context has changed meanwhile")

// stateKey is the key of a session's working context.
func stateKey(key memory.SessionKey) memory.StateKey {
	return memory.StateKey{Project: key.Project, Kind: memory.StateSession, ID: key.ID}
}

// load returns the working context of a session and its stored bytes, nil if it is not
// stored. Then its version is 0.
func (s *Contexts) load(key memory.SessionKey) (*memory.WorkingContext, []byte, error) {
	raw, err := s.opts.Store.State(stateKey(key))
	switch {
	case err == nil:
	case memory.CodeOf(err) == memory.CodeNotFound:
		return newWorkingContext(key.ID), nil, nil
	default:
		return nil, nil, fmt.Errorf("read working context: %w", err)
	}
	wc := new(memory.WorkingContext)
	if err := wc.UnmarshalJSON(raw); err != nil {
		return nil, nil, corrupt(key.ID, err)
	}
	return wc, raw, nil
}

// CheckState says whether a state of another store can be read as one of its kind.
func CheckState(kind string, raw json.RawMessage) error {
	if kind == memory.StateServers {
		_, err := decodeServers(raw)
		return err
	}
	return new(memory.WorkingContext).UnmarshalJSON(raw)
}

func newWorkingContext(id string) *memory.WorkingContext {
	return &memory.WorkingContext{
		SessionID: id, DiscoveredTools: []memory.ToolRef{}, UsedTools: []memory.ToolRef{}, Entities: []memory.Entity{},
	}
}

// contextUpdate is the result of an update of a working context.
type contextUpdate struct {
	// context is what is stored now.
	context *memory.WorkingContext
	// changed reports that the edit changed it. repeated reports that the request was done
	// before: nothing was written, and context is the present one.
	changed, repeated bool
	seq               uint64 // of the commit; 0 if nothing was written
}

// contextEdit changes a working context and reports whether it did. It adds to the batch
// what must be as durable as the change. It may be called several times, each time with a
// newer context and an empty batch.
type contextEdit func(*memory.WorkingContext, *memory.Batch) (changed bool, err error)

// update edits the working context of a session and raises its version by one. It writes
// nothing if the edit changes nothing and adds nothing to the batch. An error of edit ends
// the update, unless the request was done before. CodeNotFound if the session was forgotten in the meantime.
//
// The commit is refused if another writer changed the context in between; then edit runs
// again on the new context.
func (s *Contexts) update(ctx context.Context, project memory.Project, sessionID, requestID string, edit contextEdit) (contextUpdate, error) {
	key := memory.SessionKey{Project: project.ID, ID: sessionID}
	for {
		u, err := s.tryUpdate(ctx, project, key, requestID, edit)
		if errors.Is(err, errContextChanged) && ctx.Err() == nil {
			continue // another writer succeeded, so this ends
		}
		return u, err
	}
}

// errNoChange ends a commit that has nothing to write.
var errNoChange = errors.New("the context does not change")

// tryUpdate is update, or errContextChanged if another writer was faster.
func (s *Contexts) tryUpdate(ctx context.Context, project memory.Project, key memory.SessionKey, requestID string, edit contextEdit) (contextUpdate, error) {
	wc, base, err := s.load(key)
	if err != nil {
		return contextUpdate{}, err
	}
	b := memory.Batch{RequestID: requestID, Subject: key.Project + "/" + key.ID}
	u := contextUpdate{context: wc}
	if u.changed, err = edit(wc, &b); err != nil && requestID == "" {
		return contextUpdate{}, err
	}
	switch {
	case err != nil: // unless the request was done before, as Tasks.commit
		b = memory.Batch{RequestID: requestID, Subject: b.Subject, Refused: err}
	case u.changed:
		wc.Version++
		state, err := wc.MarshalJSON()
		if err != nil {
			return contextUpdate{}, fmt.Errorf("write working context: %w", err)
		}
		b.States = []memory.StateEdit{{Key: stateKey(key), Edit: func(old []byte) ([]byte, error) {
			if !bytes.Equal(old, base) {
				return nil, errContextChanged
			}
			return state, nil
		}}}
	}
	if b.Refused == nil && len(b.States)+len(b.Receipts)+len(b.Records) == 0 {
		if requestID == "" {
			return u, nil
		}
		b.Refused = errNoChange // but the request may have been done before
	}
	done, err := s.opts.Writer.Write(ctx, project, b)
	if errors.Is(err, errNoChange) {
		return u, nil
	}
	if err != nil {
		return contextUpdate{}, err
	}
	if u.seq = done.Seq; done.Repeated {
		u.changed, u.repeated = false, true
		if u.context, _, err = s.load(key); err != nil {
			return contextUpdate{}, err
		}
	}
	return u, nil
}

// Turn returns the number of assembled requests of a session, 0 for an unknown session.
func (s *Contexts) Turn(key memory.SessionKey) int {
	wc, err := s.loadHead(key)
	if err != nil {
		return 0
	}
	return wc.Turn
}

// loadHead is load without the lists of tools and entities: it reads the turn and the
// changes by hand in microseconds. CodeCorrupt for an unreadable state.
func (s *Contexts) loadHead(key memory.SessionKey) (*memory.WorkingContext, error) {
	raw, err := s.opts.Store.State(stateKey(key))
	wc := newWorkingContext(key.ID)
	switch {
	case memory.CodeOf(err) == memory.CodeNotFound:
		return wc, nil
	case err != nil:
		return nil, fmt.Errorf("read working context: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err = d.Token(); err != nil { // the brace
		return nil, corrupt(key.ID, err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, corrupt(key.ID, err)
		}
		var field any = new(json.RawMessage)
		switch name {
		case "turn":
			field = &wc.Turn
		case "added":
			field = &wc.Added
		case "removed":
			field = &wc.Removed
		case "discoveredTools":
			return wc, nil
		}
		if err := d.Decode(field); err != nil {
			return nil, corrupt(key.ID, err)
		}
	}
	return wc, nil
}

// corrupt is the error for an unreadable working context.
func corrupt(id string, err error) error {
	return memory.Errorf(memory.CodeCorrupt, "read working context of session %s: %w", id, err)
}
