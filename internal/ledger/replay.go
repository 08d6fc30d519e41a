package ledger

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// Choice selects the relevant entries of a context: of the first TopK the first TopN, and
// all that score IncludeScore or more.
type Choice struct {
	TopK, TopN   int
	IncludeScore float64
}

// Replay carries out service.Replay. It replays the newest queries up to the limit, one after
// the other, oldest first. A query that fails is reported with its error. Errors are those
// of the request, and CodeNotFound for an unknown session or embedder.
func (l *Ledger) Replay(ctx context.Context, req memory.ReplayRequest, progress func(memory.ReplayProgress)) (*memory.Replayed, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	project, err := l.project(ctx, req.Project, req.SessionID, req.Caller)
	if err != nil {
		return nil, err
	}
	receipts, more, err := l.opts.Store.Receipts(memory.ReceiptFilter{
		Project: project.ID, Session: req.SessionID, Since: req.Since,
		Purposes: []memory.Purpose{memory.PurposeRecall, memory.PurposeContext},
	}, req.Limit)
	if err != nil {
		return nil, fmt.Errorf("list receipts: %w", err)
	}
	slices.SortFunc(receipts, func(a, b memory.Receipt) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })

	out := &memory.Replayed{
		Project: project.ID, ProjectName: project.Name, New: changed(l.opts.Recall.Settings(), req),
		Answers: []memory.ReplayedAnswer{}, More: more,
	}
	progress(memory.ReplayProgress{Total: len(receipts)})
	outside := !memory.AsksFrom(ctx, l.opts.Projects, project.ID, req.Project, req.Caller)
	entries := sync.OnceValue(func() map[string]memory.EntryState { return l.choosable(project) })
	for i, r := range receipts {
		a, degraded, err := l.again(ctx, &query{ledger: l, receipt: r, project: project, outside: outside, entries: entries}, req)
		if err != nil {
			return nil, fmt.Errorf("replay receipt %s: %w", r.ID, err)
		}
		out.Answers = append(out.Answers, a)
		for _, d := range degraded {
			if !slices.Contains(out.Degraded, d) {
				out.Degraded = append(out.Degraded, d)
			}
		}
		progress(memory.ReplayProgress{Done: i + 1, Total: len(receipts)})
	}
	out.Tally = tally(out.Answers)
	out.Text = render.Replay(out, movedInAnswer)
	return out, nil
}

// again runs the query of one receipt twice. Errors are those that concern all receipts:
// the end of ctx, and an unknown embedder.
func (l *Ledger) again(ctx context.Context, q *query, req memory.ReplayRequest) (memory.ReplayedAnswer, []memory.Degraded, error) {
	r := q.receipt
	out := memory.ReplayedAnswer{Receipt: r.ID, Query: r.Request.Asked(), At: r.At, Items: []memory.ReplayedItem{}}
	q.prepare()
	before, err := q.ask(ctx, r.Settings, nil)
	if err == nil {
		base := l.recorded(r)
		after, failed := q.ask(ctx, new(changed(base, req)), req.MinRelevance)
		if failed == nil {
			out.Items, out.DataChanged, out.SettingsChanged = compare(q.recorded(), before, after)
			l.title(out.Items, q.outside)
			return out, append(before.degraded, after.degraded...), nil
		}
		if e := memory.AsError(failed); req.Embedder != "" && e.Field == "embedder" {
			return out, nil, failed
		}
		err = failed
	}
	if ctx.Err() != nil {
		return out, nil, ctx.Err()
	}
	out.Error = memory.AsError(err).Error()
	return out, nil, nil
}

// recorded returns the settings that a receipt was made with. Without settings in the
// receipt they are today's, with the threshold of its request.
func (l *Ledger) recorded(r memory.Receipt) memory.AnswerSettings {
	if r.Settings != nil {
		return *r.Settings
	}
	today := l.opts.Recall.Settings()
	today.Maybe = nil // there were no lines
	if threshold := r.Request.MinRelevance; threshold != nil {
		for kind := range today.MinRelevance {
			today.MinRelevance[kind] = *threshold
		}
	}
	return today
}

// changed returns settings with the changes of a request.
func changed(s memory.AnswerSettings, req memory.ReplayRequest) memory.AnswerSettings {
	s.Embedder = cmp.Or(req.Embedder, s.Embedder)
	if req.VectorWeight != nil {
		s.VectorWeight = *req.VectorWeight
	}
	if s.MinRelevance = maps.Clone(s.MinRelevance); s.MinRelevance == nil {
		s.MinRelevance = map[memory.Kind]float64{}
	}
	maps.Copy(s.MinRelevance, req.MinRelevance)
	return s
}
