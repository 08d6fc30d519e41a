package agentctx

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// contextEntry is an entry in a context.
type contextEntry struct {
	*memory.EntryState
	mode memory.Include
	// score and factors belong to relevant entries.
	score   float64
	factors *memory.RankFactors
	tokens  int // in the budget
	// state is set for an entry of a repeated request; see memory.PastText.
	state memory.Reason
}

// item returns the entry as a context shows it.
func (p contextEntry) item() memory.ContextItem {
	item := memory.ContextItem{Ref: p.Ref, IncludeMode: p.mode}
	if p.mode == memory.IncludeAgent {
		item.SimilarityScore = &p.score
	}
	return item
}

// sessionContext is the part of the catalogue that a session has.
type sessionContext struct {
	// entries are those always included, in the order of the catalogue, then those added, in
	// the order of addition.
	entries []contextEntry
	// gone were added and have left the catalogue.
	gone []memory.Ref
	// decided were added or removed by hand: relevance does not decide on them.
	decided map[memory.Ref]bool
	// out are entries that the session does not have and no search may add, with reasons;
	// see maxExcluded.
	out []memory.Withheld
}

// maxExcluded bounds the excluded entries of one reason: a catalogue may have thousands that
// are added by hand only.
const maxExcluded = 20

// sessionContextOf returns the context of a session that started at a time. A disabled entry
// is in it only if it was added by hand; a removed one stays out whatever its mode. An entry
// that became always included after the start is not in it: a session context changes by
// hand only.
func sessionContextOf(items []memory.EntryState, wc *memory.WorkingContext, started time.Time) sessionContext {
	h := sessionContext{decided: make(map[memory.Ref]bool, len(wc.Removed)+len(wc.Added))}
	for _, ref := range wc.Removed {
		h.decided[ref] = true
	}
	added := make(map[memory.Ref]*memory.EntryState, len(wc.Added))
	for _, item := range wc.Added {
		added[item.Ref] = nil
	}
	for i := range items {
		e := &items[i]
		if _, by := added[e.Ref]; by {
			added[e.Ref] = e
		}
		if included(e, started) && !h.decided[e.Ref] {
			h.entries = append(h.entries, contextEntry{EntryState: e, mode: memory.IncludeAlways})
		}
	}
	for _, item := range wc.Added {
		switch e := added[item.Ref]; {
		case e == nil:
			h.gone = append(h.gone, item.Ref)
		case !included(e, started): // else it is among the first
			h.entries = append(h.entries, contextEntry{EntryState: e, mode: item.IncludeMode})
		}
		h.decided[item.Ref] = true
	}
	n := map[memory.Reason]int{}
	for i := range items {
		e := &items[i]
		if _, by := added[e.Ref]; by {
			continue
		}
		if reason := exclusionReason(e, h.decided[e.Ref], started); reason != "" && n[reason] < maxExcluded {
			n[reason]++
			h.out = append(h.out, contextEntry{EntryState: e}.withheld(reason))
		}
	}
	slices.SortStableFunc(h.out, func(a, b memory.Withheld) int {
		return cmp.Compare(slices.Index(exclusionOrder, a.Reason), slices.Index(exclusionOrder, b.Reason))
	})
	return h
}

// exclusionOrder orders the reasons of exclusionReason, decisions of people first.
var exclusionOrder = []memory.Reason{memory.Removed, memory.NextStart, memory.Disabled, memory.ByHand}

// exclusionReason says why a session does not have an entry that was not added. It is empty
// for an entry that it has, or that relevance decides on.
func exclusionReason(e *memory.EntryState, removed bool, started time.Time) memory.Reason {
	switch {
	case removed:
		return memory.Removed
	case !e.On:
		return memory.Disabled
	case e.Mode == memory.IncludeManual:
		return memory.ByHand
	case e.Mode == memory.IncludeAlways && !included(e, started):
		return memory.NextStart
	}
	return ""
}

// included reports whether an entry is in the context of a session from its start.
func included(e *memory.EntryState, started time.Time) bool {
	return e.Mode == memory.IncludeAlways && e.On && !e.Since.After(started)
}

// SessionContext carries out service.SessionContext.
func (s *Contexts) SessionContext(ctx context.Context, req memory.ContextRequest) (*memory.Context, error) {
	project, session, err := s.findLoaded(ctx, &req, &req.SessionRef)
	if err != nil {
		return nil, err
	}
	wc, _, err := s.load(session.Key())
	if err != nil {
		return nil, err
	}
	return contextOf(project, wc, s.visibleItems(ctx, project.ID, req.SessionRef), session.Started()), nil
}

// ChangeContext carries out service.ChangeContext. It does all of a request or nothing.
func (s *Contexts) ChangeContext(ctx context.Context, req memory.ChangeContextRequest) (*memory.Context, error) {
	project, session, err := s.findLoaded(ctx, &req, &req.SessionRef)
	if err != nil {
		return nil, err
	}
	items := s.visibleItems(ctx, project.ID, req.SessionRef)
	w, err := s.update(ctx, project, session.ID, req.RequestID, func(wc *memory.WorkingContext, _ *memory.Batch) (bool, error) {
		return changeByHand(items, wc, req, session.Started())
	})
	if err != nil {
		return nil, err
	}
	out := contextOf(project, w.context, items, session.Started())
	out.Changed = w.changed || w.repeated // only what changed something is known as repeated
	return out, nil
}

// contextOf returns a session context as an answer.
func contextOf(project memory.Project, wc *memory.WorkingContext, items []memory.EntryState, started time.Time) *memory.Context {
	out := &memory.Context{
		Project: project.ID, ProjectName: project.Name, SessionID: wc.SessionID, Version: wc.Version,
		Items: []memory.ContextItem{}, Rules: []string{}, References: []string{}, Tools: []memory.ToolRef{},
	}
	for _, e := range sessionContextOf(items, wc, started).entries {
		out.Items = append(out.Items, e.item())
		switch e.Type {
		case memory.Rule:
			out.Rules = append(out.Rules, e.Name)
		case memory.Reference:
			out.References = append(out.References, e.Name)
		default:
			out.Tools = append(out.Tools, toolOf(e.EntryState))
		}
	}
	return out
}

// changeByHand adds and removes entries and reports whether that changed anything. Removing
// an entry that is always included keeps it out of this session; removing another one only
// undoes its addition. An entry that has left the catalogue can be removed, not added.
func changeByHand(items []memory.EntryState, wc *memory.WorkingContext, req memory.ChangeContextRequest, started time.Time) (changed bool, err error) {
	wanted := make(map[memory.Ref]*memory.EntryState, len(req.Add)+len(req.Remove))
	for _, item := range req.Add {
		wanted[item.Ref] = nil
	}
	for _, ref := range req.Remove {
		wanted[ref] = nil
	}
	for i := range items {
		if _, ok := wanted[items[i].Ref]; ok {
			wanted[items[i].Ref] = &items[i]
		}
	}
	// No entry is in both lists, so their order does not matter.
	for i, ref := range req.Remove {
		e := wanted[ref]
		at := slices.IndexFunc(wc.Added, func(item memory.ContextItem) bool { return item.Ref == ref })
		out := slices.Contains(wc.Removed, ref)
		if e == nil && at < 0 && !out {
			return false, missing(fmt.Sprintf("remove[%d]", i), ref)
		}
		if at >= 0 {
			wc.Added, changed = slices.Delete(wc.Added, at, at+1), true
		}
		if e != nil && e.Mode == memory.IncludeAlways && !out {
			wc.Removed, changed = append(wc.Removed, ref), true
		}
	}
	for i, item := range req.Add {
		e := wanted[item.Ref]
		if e == nil {
			return false, missing(fmt.Sprintf("add[%d]", i), item.Ref)
		}
		if at := slices.Index(wc.Removed, item.Ref); at >= 0 {
			wc.Removed, changed = slices.Delete(wc.Removed, at, at+1), true
		}
		has := slices.ContainsFunc(wc.Added, func(has memory.ContextItem) bool { return has.Ref == item.Ref })
		if !has && !included(e, started) {
			wc.Added, changed = append(wc.Added, item), true
		}
	}
	for _, list := range []struct {
		field string
		n     int
	}{{"add", len(wc.Added)}, {"remove", len(wc.Removed)}} {
		if list.n > memory.MaxByHand {
			return false, memory.Invalid(list.field, fmt.Sprintf("at most %d entries of a session", memory.MaxByHand), "there would be %d", list.n)
		}
	}
	return changed, nil
}

// missing is the error for an entry that is not in the catalogue.
func missing(field string, ref memory.Ref) error {
	return &memory.Error{
		Code: memory.CodeNotFound, Field: field,
		Message: fmt.Sprintf("the catalogue has no %s %s", ref.Type, memory.Quote(render.Name(ref.ServerName, ref.Name))),
		Hint:    "register it, or list the catalogue to see what there is",
	}
}
