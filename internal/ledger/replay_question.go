package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/render"
)

// query is the query of a receipt.
type query struct {
	ledger  *Ledger
	receipt memory.Receipt
	project memory.Project
	// outside reports that the replay is requested from outside the project. Then nothing
	// from the project's files is shown.
	outside bool
	// entries are the catalogue entries that relevance decides on, by id.
	entries func() map[string]memory.EntryState
	// excluded are the items that are not compared, by id: those that the context had without
	// a search, with no reason, and chosen ones that it withheld.
	excluded map[string]memory.Reason
}

// result is the result of a query.
type result struct {
	items    []hit
	withheld []memory.Withheld
	degraded []memory.Degraded
}

// hit is an item of a result.
type hit struct {
	id, title string
	kind      memory.Kind
	path      string // of code
}

// prepare collects the items of a context that are not compared.
func (q *query) prepare() {
	if q.receipt.Purpose != memory.PurposeContext {
		return
	}
	q.excluded = map[string]memory.Reason{}
	for _, item := range q.receipt.Items {
		if cmp.Or(item.Mode, memory.IncludeAgent) != memory.IncludeAgent {
			q.excluded[item.ID] = ""
		}
	}
	for _, w := range q.receipt.Withheld {
		if w.Reason == memory.OverBudget || w.Reason == memory.Duplicate {
			q.excluded[w.ID] = w.Reason
		}
	}
}

// choosable returns the entries of a project that relevance decides on.
func (l *Ledger) choosable(project memory.Project) map[string]memory.EntryState {
	chosen := map[string]memory.EntryState{}
	for _, e := range l.opts.Catalogue.Items(project.ID) {
		if e.On && e.Mode == memory.IncludeAgent {
			chosen[e.ID] = e
		}
	}
	return chosen
}

// recorded returns the items of the receipt that are compared: those shown in full.
func (q *query) recorded() []hit {
	var hits []hit
	for _, item := range q.receipt.Items {
		if item.Strength == memory.Maybe {
			continue
		}
		hits = append(hits, hit{id: item.ID, kind: item.Kind, title: render.Name(item.Server, item.Name)})
	}
	return q.compared(hits)
}

// compared drops the items that are not compared. It orders the items of a context by kind.
func (q *query) compared(hits []hit) []hit {
	if q.receipt.Purpose != memory.PurposeContext {
		return hits
	}
	hits = slices.DeleteFunc(hits, func(h hit) bool {
		_, isExcluded := q.excluded[h.id]
		return isExcluded || h.kind == memory.Task || h.kind == memory.Blocker
	})
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Compare(slices.Index(memory.Kinds, a.kind), slices.Index(memory.Kinds, b.kind))
	})
	return hits
}

// ask runs the query with some settings, nil for today's. Thresholds that the replay
// changes count as if the query had named them.
func (q *query) ask(ctx context.Context, settings *memory.AnswerSettings, anew map[memory.Kind]float64) (result, error) {
	opts := recall.AskOptions{Settings: settings, Project: &q.project, At: q.receipt.At, Outside: q.outside}
	req := q.receipt.Request
	req.Explain = false
	if threshold, ok := anew[memory.Chunk]; ok {
		req.MinRelevance = &threshold // for code, because the file-name index has a threshold of its own
	}
	if req.Scope != nil && req.Scope.Name == memory.ScopeCurrent {
		if q.receipt.Session == "" {
			return result{}, memory.Errorf(memory.CodeNotFound, "its session is unknown")
		}
		req.Scope = &memory.Scope{Session: q.receipt.Session}
	}
	if q.receipt.Purpose != memory.PurposeContext {
		return q.askMemories(ctx, req, opts)
	}
	var out result
	for _, one := range recall.ContextQuestions(req) {
		found, err := q.askMemories(ctx, one, opts)
		if err != nil {
			return result{}, err
		}
		out.add(found)
	}
	entries := slices.DeleteFunc(slices.Clone(req.Kinds), func(k memory.Kind) bool { return !slices.Contains(memory.EntryKinds, k) })
	if len(entries) > 0 {
		found, err := q.match(ctx, entries, opts)
		if err != nil {
			return result{}, err
		}
		out.add(found)
	}
	out.items = q.compared(out.items)
	return out, nil
}

func (o *result) add(other result) {
	o.items = append(o.items, other.items...)
	o.withheld = append(o.withheld, other.withheld...)
	o.degraded = append(o.degraded, other.degraded...)
}

// askMemories asks for memories. What would only be told in a line counts as withheld.
func (q *query) askMemories(ctx context.Context, req memory.RecallRequest, opts recall.AskOptions) (result, error) {
	a, receipt, err := q.ledger.opts.Recall.Ask(ctx, req, opts)
	if err != nil {
		return result{}, err
	}
	out := result{withheld: a.Withheld, degraded: a.Degraded}
	for _, item := range a.Items {
		if item.Strength == memory.Maybe {
			reason := memory.OverLimit
			if item.Relevance < receipt.Settings.MinRelevance[item.Kind] {
				reason = memory.BelowThreshold
			}
			out.withheld = append(out.withheld, memory.Withheld{ID: item.ID, Kind: item.Kind, Reason: reason, NearestScore: item.Relevance, Path: item.Source.Path})
			continue
		}
		h := hit{id: item.ID, kind: item.Kind, title: render.Title(item.Text), path: item.Source.Path}
		if item.Source.Path != "" {
			h.title = item.Source.Path
			if lines := item.Source.Lines; lines != nil {
				h.title += fmt.Sprintf(":%d-%d", lines[0], lines[1])
			}
		}
		out.items = append(out.items, h)
	}
	return out, nil
}

// choice returns how the context chose entries, by today's settings if its receipt does
// not say.
func (q *query) choice() Choice {
	if s := q.receipt.Settings; s != nil && s.TopK > 0 {
		return Choice{TopK: s.TopK, TopN: s.TopN, IncludeScore: s.IncludeScore}
	}
	return q.ledger.opts.Choice
}

// match chooses entries as a context does. Entries that the budget left out count as
// chosen; entries that the context has without a search do not.
func (q *query) match(ctx context.Context, kinds []memory.Kind, opts recall.AskOptions) (result, error) {
	take := q.choice()
	asked := q.receipt.Request
	sel := memory.Selection{
		Kinds: kinds, Project: q.project.ID, Only: map[string]bool{},
		Followed: !q.outside && memory.AsksFrom(ctx, q.ledger.opts.Projects, q.project.ID, asked.Project, asked.Caller),
	}
	for id := range q.entries() {
		if reason, isExcluded := q.excluded[id]; !isExcluded || reason != "" {
			sel.Only[id] = true
		}
	}
	m, err := q.ledger.opts.Recall.Match(ctx, q.receipt.Request.Query, sel, take.TopK, opts)
	if err != nil {
		return result{}, err
	}
	out := result{withheld: m.Withheld, degraded: m.Degraded}
	chosen := 0
	for _, x := range m.Items {
		e := q.entries()[x.ID]
		switch {
		case chosen >= take.TopN && x.Relevance < take.IncludeScore:
			out.withheld = append(out.withheld, memory.Withheld{ID: x.ID, Kind: x.Kind, Reason: memory.OverLimit, NearestScore: x.Relevance})
		case q.excluded[x.ID] == memory.Duplicate:
		default:
			chosen++
			out.items = append(out.items, hit{id: x.ID, kind: x.Kind, title: render.Name(e.ServerName, e.Name)})
		}
	}
	return out, nil
}

// reason returns why a result lacks an item, or nothing if it is unknown.
func (o *result) reason(h hit) memory.Reason {
	for _, w := range o.withheld {
		// Code that was not read has a path and no id yet.
		if w.ID == h.id || h.path != "" && w.Path == h.path {
			return w.Reason
		}
	}
	return ""
}
