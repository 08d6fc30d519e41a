package agentctx

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/recalld/recalld/internal/memory"
)

// errMoved refuses a batch that was made from a working context which another writer
// has changed since.
var errMoved = errors.New("the working context has changed meanwhile")

// stateKey names the state that a session's working context is kept in.
func stateKey(key memory.SessionKey) memory.StateKey {
	return memory.StateKey{Project: key.Project, Kind: memory.StateSession, ID: key.ID}
}

// load returns the working context of a session and the bytes that it is stored as,
// nil where nothing is. One that is not stored yet has version 0.
func (s *Contexts) load(key memory.SessionKey) (*memory.WorkingContext, []byte, error) {
	raw, err := s.opts.States.State(stateKey(key))
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

func newWorkingContext(id string) *memory.WorkingContext {
	return &memory.WorkingContext{
		SessionID: id, DiscoveredTools: []memory.ToolRef{}, UsedTools: []memory.ToolRef{}, Entities: []memory.Entity{},
	}
}

// written is what became of a change.
type written struct {
	// context is what is stored now.
	context *memory.WorkingContext
	// changed says that edit changed it. repeated says that the request was done before:
	// nothing was written, and context is as it is now.
	changed, repeated bool
	seq               uint64 // of the update; 0 where nothing was written
}

// change edits the working context of a session and raises its version once. edit says
// whether it changed anything. extra, which may be nil, adds to the batch what is to be
// as durable as the change; it is called after edit, and may look at what that noted.
// Where neither has anything to write, nothing is written. An error of edit ends the
// change. CodeNotFound for a session that was forgotten meanwhile.
//
// What is committed follows from what is stored then: a commit is refused if another
// writer was there in between, and edit and extra are called again, on the new
// context. Both must therefore begin anew at every call. To run edit within the commit
// instead would leave nothing for extra to look at before it.
func (s *Contexts) change(ctx context.Context, project memory.Project, sessionID, requestID string,
	edit func(*memory.WorkingContext) (changed bool, err error), extra func(*memory.Batch)) (written, error) {
	key := memory.SessionKey{Project: project.ID, ID: sessionID}
	for {
		w, err := s.changeOnce(ctx, project, key, requestID, edit, extra)
		if errors.Is(err, errMoved) && ctx.Err() == nil {
			continue // one writer got through, so this ends
		}
		return w, err
	}
}

func (s *Contexts) changeOnce(ctx context.Context, project memory.Project, key memory.SessionKey, requestID string,
	edit func(*memory.WorkingContext) (bool, error), extra func(*memory.Batch)) (written, error) {
	var w written
	var base []byte
	var err error
	if w.context, base, err = s.load(key); err != nil {
		return written{}, err
	}
	if w.changed, err = edit(w.context); err != nil {
		return written{}, err
	}
	b := memory.Batch{RequestID: requestID}
	if w.changed {
		w.context.Version++
		state, err := w.context.MarshalJSON()
		if err != nil {
			return written{}, fmt.Errorf("write working context: %w", err)
		}
		b.States = []memory.StateEdit{{Key: stateKey(key), Edit: func(old []byte) ([]byte, error) {
			if !bytes.Equal(old, base) {
				return nil, errMoved
			}
			return state, nil
		}}}
	}
	if extra != nil {
		extra(&b)
	}
	if len(b.States)+len(b.Receipts)+len(b.Records) == 0 {
		return w, nil
	}
	done, err := s.opts.Writer.Write(ctx, project, b)
	if err != nil {
		return written{}, err
	}
	if w.seq = done.Seq; done.Repeated {
		w.changed, w.repeated = false, true
		if w.context, _, err = s.load(key); err != nil {
			return written{}, err
		}
	}
	return w, nil
}

// Turn returns how many requests of a session were assembled, 0 where none was or the
// session is unknown.
func (s *Contexts) Turn(key memory.SessionKey) int {
	wc, err := s.loadHead(key)
	if err != nil {
		return 0
	}
	return wc.Turn
}

// loadHead is load up to the lists of what the session came across: it has the turn and
// the changes by hand, and takes microseconds however much else there is. A state that
// cannot be read is CodeCorrupt.
func (s *Contexts) loadHead(key memory.SessionKey) (*memory.WorkingContext, error) {
	raw, err := s.opts.States.State(stateKey(key))
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

// corrupt is the error for a working context that cannot be read.
func corrupt(id string, err error) error {
	return memory.Errorf(memory.CodeCorrupt, "read working context of session %s: %w", id, err)
}
