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

// placed is an entry in a context.
type placed struct {
	*memory.EntryState
	mode memory.Include
	// score and factors are of relevant entries.
	score   float64
	factors *memory.RankFactors
	// state is that of an entry of a repeated request, see memory.Then.
	state memory.Reason
}

// item is what a context shows of it.
func (p placed) item() memory.ContextItem {
	item := memory.ContextItem{Ref: p.Ref, IncludeMode: p.mode}
	if p.mode == memory.IncludeAgent {
		item.SimilarityScore = &p.score
	}
	return item
}

// holding is what a session holds of its catalogue.
type holding struct {
	// entries are those that are always included, in the catalogue's order, and then
	// those that were added, in theirs.
	entries []placed
	// gone were added and are not in the catalogue any more.
	gone []memory.Ref
	// decided were added or taken out: relevance has no say in them.
	decided map[memory.Ref]bool
	// out are those that nobody searches for and that the session does not hold, with
	// the reason; see maxOut.
	out []memory.Withheld
}

// maxOut bounds how many entries of one reason a holding names: catalogues have
// thousands that are included by hand only.
const maxOut = 20

// hold works out the context of a session that started at a time. A disabled entry is
// held only if it was added by hand, and what was taken out stays out whatever becomes
// of its mode. What is always included since a later time is not held: the context of a
// session changes only by hand.
func hold(items []memory.EntryState, wc *memory.WorkingContext, started time.Time) holding {
	h := holding{decided: make(map[memory.Ref]bool, len(wc.Removed)+len(wc.Added))}
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
			h.entries = append(h.entries, placed{EntryState: e, mode: memory.IncludeAlways})
		}
	}
	for _, item := range wc.Added {
		switch e := added[item.Ref]; {
		case e == nil:
			h.gone = append(h.gone, item.Ref)
		case !included(e, started): // else it is among the first
			h.entries = append(h.entries, placed{EntryState: e, mode: item.IncludeMode})
		}
		h.decided[item.Ref] = true
	}
	n := map[memory.Reason]int{}
	for i := range items {
		e := &items[i]
		if _, by := added[e.Ref]; by {
			continue
		}
		if reason := whyOut(e, h.decided[e.Ref], started); reason != "" && n[reason] < maxOut {
			n[reason]++
			h.out = append(h.out, placed{EntryState: e}.withheld(reason))
		}
	}
	slices.SortStableFunc(h.out, func(a, b memory.Withheld) int {
		return cmp.Compare(slices.Index(outReasons, a.Reason), slices.Index(outReasons, b.Reason))
	})
	return h
}

// outReasons are the reasons of whyOut, what a person decided first.
var outReasons = []memory.Reason{memory.Removed, memory.NextStart, memory.Disabled, memory.ByHand}

// whyOut says why a session does not hold an entry that nobody added to it; empty for
// one that it holds, or that relevance decides on.
func whyOut(e *memory.EntryState, removed bool, started time.Time) memory.Reason {
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

// included says that an entry is in the context of a session from its start on.
func included(e *memory.EntryState, started time.Time) bool {
	return e.Mode == memory.IncludeAlways && e.On && !e.Since.After(started)
}

// SessionContext implements memory.Contexts.
func (s *Contexts) SessionContext(ctx context.Context, req memory.ContextRequest) (*memory.Context, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	if err := s.opts.ready(); err != nil {
		return nil, err
	}
	project, meant, err := s.find(ctx, req.SessionRef)
	if err != nil {
		return nil, err
	}
	wc, _, err := s.load(meant.Key())
	if err != nil {
		return nil, err
	}
	return contextOf(project, wc, s.items(ctx, project.ID, req.SessionRef), meant.Started()), nil
}

// ChangeContext implements memory.Contexts. All of a request is done or nothing.
func (s *Contexts) ChangeContext(ctx context.Context, req memory.ChangeContextRequest) (*memory.Context, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	if err := s.opts.ready(); err != nil {
		return nil, err
	}
	project, meant, err := s.find(ctx, req.SessionRef)
	if err != nil {
		return nil, err
	}
	items := s.items(ctx, project.ID, req.SessionRef)
	w, err := s.update(ctx, project, meant.ID, req.RequestID, func(wc *memory.WorkingContext, _ *memory.Batch) (bool, error) {
		return byHand(items, wc, req, meant.Started())
	})
	if err != nil {
		return nil, err
	}
	out := contextOf(project, w.context, items, meant.Started())
	out.Changed = w.changed || w.repeated // only what changed something is known as repeated
	return out, nil
}

// contextOf is a session context as it is answered.
func contextOf(project memory.Project, wc *memory.WorkingContext, items []memory.EntryState, started time.Time) *memory.Context {
	out := &memory.Context{
		Project: project.ID, ProjectName: project.Name, SessionID: wc.SessionID, Version: wc.Version,
		Items: []memory.ContextItem{}, Rules: []string{}, References: []string{}, Tools: []memory.ToolRef{},
	}
	for _, e := range hold(items, wc, started).entries {
		out.Items = append(out.Items, e.item())
		switch e.Type {
		case memory.Rule:
			out.Rules = append(out.Rules, e.Name)
		case memory.Reference:
			out.References = append(out.References, e.Name)
		default:
			out.Tools = append(out.Tools, memory.ToolRef{ServerName: e.ServerName, ToolName: e.Name})
		}
	}
	return out
}

// byHand changes a session context as a request says, and says whether that changed
// anything. Taking out an entry that is always included keeps it out of this session;
// of any other, only that it was added is taken back. What has gone from the catalogue
// can be taken out, not added.
func byHand(items []memory.EntryState, wc *memory.WorkingContext, req memory.ChangeContextRequest, started time.Time) (changed bool, err error) {
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

// missing is the error for an entry that the catalogue does not have.
func missing(field string, ref memory.Ref) error {
	return &memory.Error{
		Code: memory.CodeNotFound, Field: field,
		Message: fmt.Sprintf("the catalogue has no %s %s", ref.Type, memory.Quote(render.Name(ref.ServerName, ref.Name))),
		Hint:    "register it, or list the catalogue to see what there is",
	}
}
