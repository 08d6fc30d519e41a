package agentctx

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// WorkingContext implements memory.WorkingContexts.
func (s *Contexts) WorkingContext(ctx context.Context, req memory.WorkingContextRequest) (*memory.WorkingContext, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	project, meant, err := s.find(ctx, req.SessionRef)
	if err != nil {
		return nil, err
	}
	wc, _, err := s.load(memory.SessionKey{Project: project.ID, ID: meant.ID})
	return wc, err
}

// Report implements memory.WorkingContexts. Tools and entities stand in the order in
// which they first came. Over their bounds it returns CodeInvalidInput and keeps none of
// the request: what a session met is dropped by compaction alone, never in silence.
func (s *Contexts) Report(ctx context.Context, req memory.ReportRequest) (*memory.WorkingContext, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	project, meant, err := s.find(ctx, req.SessionRef)
	if err != nil {
		return nil, err
	}
	entities := s.withoutSecrets(req.Entities)
	w, err := s.update(ctx, project, meant.ID, req.RequestID, func(wc *memory.WorkingContext, _ *memory.Batch) (bool, error) {
		changed := false
		if req.ClearDiscovered && len(wc.DiscoveredTools) > 0 {
			wc.DiscoveredTools, changed = []memory.ToolRef{}, true
		}
		used := setOf(wc.UsedTools)
		for _, t := range req.UsedTools {
			changed = true
			if !used[t] {
				used[t] = true
				wc.UsedTools = append(wc.UsedTools, t)
			}
			count(wc, t, s.opts.now())
		}
		if addEntities(wc, entities) {
			changed = true
		}
		if len(req.UsedTools)+len(req.Entities) == 0 {
			return changed, nil // nothing was added
		}
		return changed, bounded(wc)
	})
	return w.context, err
}

// count notes that a tool was used.
func count(wc *memory.WorkingContext, t memory.ToolRef, at time.Time) {
	i := slices.IndexFunc(wc.ToolUse, func(u memory.ToolUse) bool { return u.ToolRef == t })
	if i < 0 {
		i = len(wc.ToolUse)
		wc.ToolUse = append(wc.ToolUse, memory.ToolUse{ToolRef: t})
	}
	wc.ToolUse[i].Count++
	wc.ToolUse[i].LastUsed = at
}

// addEntities puts entities into a working context and says whether that changed it.
// One with a known id takes the place of the other.
func addEntities(wc *memory.WorkingContext, entities []memory.Entity) (changed bool) {
	at := make(map[string]int, len(wc.Entities))
	for i, e := range wc.Entities {
		at[e.ID] = i
	}
	for _, e := range entities {
		i, known := at[e.ID]
		switch {
		case !known:
			at[e.ID] = len(wc.Entities)
			wc.Entities = append(wc.Entities, e)
		case same(wc.Entities[i], e):
			continue
		default:
			wc.Entities[i] = e
		}
		changed = true
	}
	return changed
}

// same says that two entities are written the same.
func same(a, b memory.Entity) bool {
	return a.ID == b.ID && a.Type == b.Type && a.Name == b.Name && string(a.Data) == string(b.Data)
}

// bounded refuses what is over the bounds of a working context. Its size is bounded for
// reports alone: what search and assembly add is small, and they are not to fail because
// a host reports much.
func bounded(wc *memory.WorkingContext) error {
	refuse := func(field, limit string, n int) error {
		e := memory.Invalid(field, limit, "there would be %d", n)
		e.Hint = "compact the session to begin anew"
		return e
	}
	if n := len(wc.UsedTools); n > memory.MaxUsedTools {
		return refuse("usedTools", fmt.Sprintf("at most %d in a session", memory.MaxUsedTools), n)
	}
	if n := len(wc.Entities); n > memory.MaxEntities {
		return refuse("entities", fmt.Sprintf("at most %d in a session", memory.MaxEntities), n)
	}
	raw, err := wc.MarshalJSON()
	if err != nil {
		return fmt.Errorf("write working context: %w", err)
	}
	if n := len(raw); n > memory.MaxWorkingContext {
		return refuse("entities", fmt.Sprintf("at most %d bytes of JSON in a working context", memory.MaxWorkingContext), n)
	}
	return nil
}

// withoutSecrets returns entities that can be kept. Their data is written as the state
// will be, so that the same data reported again is known for the same.
func (s *Contexts) withoutSecrets(entities []memory.Entity) []memory.Entity {
	out := slices.Clone(entities)
	for i := range out {
		e := &out[i]
		e.ID, _ = s.opts.Writer.Clean(e.ID, memory.MaxNameText)
		e.Type, _ = s.opts.Writer.Clean(e.Type, memory.MaxEntityText)
		e.Name, _ = s.opts.Writer.Clean(e.Name, memory.MaxEntityText)
		e.Data, _ = s.opts.Writer.CleanJSON(e.Data)
		if stored, err := json.Marshal(e.Data); err == nil && e.Data != nil {
			e.Data = stored
		}
	}
	return out
}
