package agentctx

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// WorkingContext carries out service.WorkingContext.
func (s *Contexts) WorkingContext(ctx context.Context, req memory.WorkingContextRequest) (*memory.WorkingContext, error) {
	_, session, err := s.find(ctx, &req, &req.SessionRef)
	if err != nil {
		return nil, err
	}
	wc, _, err := s.load(session.Key())
	return wc, err
}

// Report carries out service.Report. Tools and entities are in the order of their
// first report. Over their bounds it returns CodeInvalidInput and stores nothing of the
// request: only a compaction drops them.
func (s *Contexts) Report(ctx context.Context, req memory.ReportRequest) (*memory.WorkingContext, error) {
	project, session, err := s.find(ctx, &req, &req.SessionRef)
	if err != nil {
		return nil, err
	}
	entities := s.withoutSecrets(req.Entities)
	w, err := s.update(ctx, project, session.ID, req.RequestID, func(wc *memory.WorkingContext, _ *memory.Batch) (bool, error) {
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

// count counts a use of a tool.
func count(wc *memory.WorkingContext, t memory.ToolRef, at time.Time) {
	i := slices.IndexFunc(wc.ToolUse, func(u memory.ToolUse) bool { return u.ToolRef == t })
	if i < 0 {
		i = len(wc.ToolUse)
		wc.ToolUse = append(wc.ToolUse, memory.ToolUse{ToolRef: t})
	}
	wc.ToolUse[i].Count++
	wc.ToolUse[i].LastUsed = at
}

// addEntities adds entities to a working context and reports whether that changed it. An
// entity replaces the one with its id.
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

// same reports whether two entities are equal.
func same(a, b memory.Entity) bool {
	return a.ID == b.ID && a.Type == b.Type && a.Name == b.Name && string(a.Data) == string(b.Data)
}

// bounded checks the bounds of a working context. Its size is checked for reports only:
// search and assembly add little, and should not fail because a host reports much.
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

// withoutSecrets returns entities without secrets. Their data is encoded as it will be
// stored, so that the same report is recognized.
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
