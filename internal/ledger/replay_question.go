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

// question is what a receipt has asked.
type question struct {
	p       *Replayer
	receipt memory.Receipt
	project memory.Project
	// outside says that it is replayed from elsewhere than its project, where nothing is
	// shown that was followed from the project's files.
	outside bool
	// entries are those that a context of the project may choose, by id.
	entries func() map[string]memory.EntryState
	// aside is what is not compared, by id: what the context held anyway, with no reason,
	// and what it withheld of what it had chosen.
	aside map[string]memory.Reason
}

// replayOutcome is what a question found.
type replayOutcome struct {
	items    []hit
	withheld []memory.Withheld
	degraded []memory.Degraded
}

// hit is an item of an outcome.
type hit struct {
	id, title string
	kind      memory.Kind
	path      string // of code
}

// prepare finds out what of a context is not compared.
func (q *question) prepare() {
	if q.receipt.Purpose != memory.PurposeContext {
		return
	}
	q.aside = map[string]memory.Reason{}
	for _, item := range q.receipt.Items {
		if cmp.Or(item.Mode, memory.IncludeAgent) != memory.IncludeAgent {
			q.aside[item.ID] = ""
		}
	}
	for _, w := range q.receipt.Withheld {
		if w.Reason == memory.OverBudget || w.Reason == memory.Duplicate {
			q.aside[w.ID] = w.Reason
		}
	}
}

// choosable are the entries that a context of a project may choose by relevance.
func (p *Replayer) choosable(project memory.Project) map[string]memory.EntryState {
	chosen := map[string]memory.EntryState{}
	if p.opts.Catalogue == nil {
		return chosen
	}
	for _, e := range p.opts.Catalogue.Items(project.ID) {
		if e.On && e.Mode == memory.IncludeAgent {
			chosen[e.ID] = e
		}
	}
	return chosen
}

// recorded is what the receipt shows, as far as it is compared.
func (q *question) recorded() []hit {
	var hits []hit
	for _, item := range q.receipt.Items {
		hits = append(hits, hit{id: item.ID, kind: item.Kind, title: render.Name(item.Server, item.Name)})
	}
	return q.compared(hits)
}

// compared leaves out what is not compared. A context's parts come in the order of
// kinds, whatever order it has them in.
func (q *question) compared(hits []hit) []hit {
	if q.receipt.Purpose != memory.PurposeContext {
		return hits
	}
	hits = slices.DeleteFunc(hits, func(h hit) bool {
		entry := slices.Contains(memory.EntryKinds, h.kind)
		_, aside := q.aside[h.id]
		return aside || h.kind == memory.Task || h.kind == memory.Blocker || entry && q.p.opts.Catalogue == nil
	})
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Compare(slices.Index(memory.Kinds, a.kind), slices.Index(memory.Kinds, b.kind))
	})
	return hits
}

// ask asks the question under some settings, nil for today's. Floors that were asked
// for anew are among them, and count as if the question named them.
func (q *question) ask(ctx context.Context, settings *memory.AnswerSettings, anew map[memory.Kind]float64) (replayOutcome, error) {
	opts := recall.AskOptions{Settings: settings, Project: &q.project, At: q.receipt.At, Outside: q.outside}
	req := q.receipt.Request
	req.Explain = false
	if floor, ok := anew[memory.Chunk]; ok {
		req.MinRelevance = &floor // of code, where files that are known by their beginning alone have one of their own
	}
	if req.Scope != nil && req.Scope.Name == memory.ScopeCurrent {
		if q.receipt.Session == "" {
			return replayOutcome{}, memory.Errorf(memory.CodeNotFound, "its session is not known")
		}
		req.Scope = &memory.Scope{Session: q.receipt.Session}
	}
	if q.receipt.Purpose != memory.PurposeContext {
		return q.askMemories(ctx, req, opts)
	}
	var out replayOutcome
	for _, one := range recall.ContextQuestions(req) {
		found, err := q.askMemories(ctx, one, opts)
		if err != nil {
			return replayOutcome{}, err
		}
		out.add(found)
	}
	entries := slices.DeleteFunc(slices.Clone(req.Kinds), func(k memory.Kind) bool { return !slices.Contains(memory.EntryKinds, k) })
	if q.p.opts.Catalogue != nil && len(entries) > 0 {
		found, err := q.match(ctx, entries, opts)
		if err != nil {
			return replayOutcome{}, err
		}
		out.add(found)
	}
	out.items = q.compared(out.items)
	return out, nil
}

func (o *replayOutcome) add(other replayOutcome) {
	o.items = append(o.items, other.items...)
	o.withheld = append(o.withheld, other.withheld...)
	o.degraded = append(o.degraded, other.degraded...)
}

func (q *question) askMemories(ctx context.Context, req memory.RecallRequest, opts recall.AskOptions) (replayOutcome, error) {
	a, _, err := q.p.opts.Asker.Ask(ctx, req, opts)
	if err != nil {
		return replayOutcome{}, err
	}
	out := replayOutcome{withheld: a.Withheld, degraded: a.Degraded, items: make([]hit, len(a.Items))}
	for i, item := range a.Items {
		out.items[i] = hit{id: item.ID, kind: item.Kind, title: render.Title(item.Text), path: item.Source.Path}
		if item.Source.Path != "" {
			out.items[i].title = item.Source.Path
			if lines := item.Source.Lines; lines != nil {
				out.items[i].title += fmt.Sprintf(":%d-%d", lines[0], lines[1])
			}
		}
	}
	return out, nil
}

// taken says which entries the context took, or takes by today's settings where its
// receipt does not say.
func (q *question) taken() Taken {
	if s := q.receipt.Settings; s != nil && s.TopK > 0 {
		return Taken{TopK: s.TopK, TopN: s.TopN, IncludeScore: s.IncludeScore}
	}
	return q.p.opts.Taken
}

// match chooses entries as a context does. What its budget left out took a place among
// those that it chose; what it held was none of them.
func (q *question) match(ctx context.Context, kinds []memory.Kind, opts recall.AskOptions) (replayOutcome, error) {
	take := q.taken()
	asked := q.receipt.Request
	sel := memory.Selection{
		Kinds: kinds, Project: q.project.ID, Only: map[string]bool{},
		Followed: !q.outside && memory.AsksFrom(ctx, q.p.opts.Projects, q.project.ID, asked.Project, asked.Caller),
	}
	for id := range q.entries() {
		if reason, aside := q.aside[id]; !aside || reason != "" {
			sel.Only[id] = true
		}
	}
	m, err := q.p.opts.Asker.Match(ctx, q.receipt.Request.Query, sel, take.TopK, opts)
	if err != nil {
		return replayOutcome{}, err
	}
	out := replayOutcome{withheld: m.Withheld, degraded: m.Degraded}
	chosen := 0
	for _, x := range m.Items {
		e := q.entries()[x.ID]
		switch {
		case chosen >= take.TopN && x.Relevance < take.IncludeScore:
			out.withheld = append(out.withheld, memory.Withheld{ID: x.ID, Kind: x.Kind, Reason: memory.OverLimit, NearestScore: x.Relevance})
		case q.aside[x.ID] == memory.Duplicate:
		default:
			chosen++
			out.items = append(out.items, hit{id: x.ID, kind: x.Kind, title: render.Name(e.ServerName, e.Name)})
		}
	}
	return out, nil
}

// reason is why an outcome lacks an item; empty where it does not tell.
func (o *replayOutcome) reason(h hit) memory.Reason {
	for _, w := range o.withheld {
		// Code that was not read has no id of its own yet, only a path.
		if w.ID == h.id || h.path != "" && w.Path == h.path {
			return w.Reason
		}
	}
	return ""
}
