package agentctx

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// keptRequests is a little more than the time for which the store recognizes a repeated
// request.
const keptRequests = 25 * time.Hour

// repeat answers a repeated request with the receipt and record of the first one. Receipts
// have no texts, so the texts are today's: a changed text is marked, an item without a text
// is in the record only, and Degraded says so. Guidance is returned again, because the
// caller did not get the first answer.
func (a *assembly) repeat(ctx context.Context, wc *memory.WorkingContext) (*memory.Assembled, error) {
	first, err := a.first()
	if err != nil {
		return nil, err
	}
	b := newBudget(a.req.MaxTokens)
	entries := make(map[memory.Ref]*memory.EntryState, len(first.Items))
	for i := range a.items {
		entries[a.items[i].Ref] = &a.items[i]
	}
	memories := make(map[string]memory.Item, len(a.result.memories))
	for _, m := range a.result.memories {
		memories[m.ID] = m
	}
	// There is no budget here: the first answer fitted.
	lost := false
	shown := map[taskKey]bool{}
	inside := memory.AsksFrom(ctx, a.s.opts.Projects, a.project.ID, a.req.Project, a.req.Caller)
	then := a.s.opts.Recall.Then(ctx, a.project, inside, first.Items)
	for i, item := range first.Items {
		there := true
		e := entries[memory.Ref{Type: item.Kind, Name: item.Name, ServerName: item.Server}]
		switch item.Kind {
		case memory.SummaryItem:
			then[i] = thenSummary(item, wc.Summary)
			b.addSummary(wc.Summary)
			there = b.compacted != ""
		case memory.Rule, memory.Reference, memory.Tool:
			switch {
			case e == nil:
				there = false
			case !item.Active:
				b.entries = append(b.entries, contextEntry{EntryState: e, mode: item.Mode, score: item.Relevance, tokens: item.Tokens, state: then[i].State})
			case item.Tokens > 0:
				b.active = append(b.active, activeTool(e))
			}
		case memory.Task, memory.Blocker:
			shown[taskKey{item.Kind, item.Name}] = true
		default:
			var m memory.Item
			if m, there = memories[item.ID]; there {
				m.State = cmp.Or(string(then[i].State), m.State)
				b.memories = append(b.memories, m)
			}
		}
		lost = lost || !there || then[i].State != ""
	}
	// The tasks are one text: it is the first answer's if it has the same tasks.
	if summary := withoutLeftOut(a.tasks); summary != nil && shows(summary, shown) {
		b.tasks = summary
	} else {
		lost = lost || len(shown) > 0
	}
	for _, e := range b.entries {
		if e.Type == memory.Tool {
			b.guided = append(b.guided, *e.EntryState)
		}
	}
	out := a.out(b, wc, guide(newWorkingContext(a.session.ID), b.guided))
	out.Turn, out.Receipt, out.Record = first.Turn, first.ID, memory.RecordOf(&first)
	for i := range out.Record.Items {
		out.Record.Items[i].State = then[i].State
	}
	out.Withheld, out.Tokens, out.Degraded = append(out.Withheld, first.Withheld...), first.Tokens, slices.Clone(first.Degraded)
	if lost {
		out.Degraded = append(out.Degraded, memory.Degraded{Part: partRepeat, Reason: "what has changed since is in the record alone"})
	}
	return out, nil
}

// first returns the receipt of the repeated request. CodeConflict if another request had the
// id.
func (a *assembly) first() (memory.Receipt, error) {
	receipts, _, err := a.s.opts.Receipts.Receipts(memory.ReceiptFilter{
		Project: a.project.ID, Session: a.session.ID, Since: a.start.Add(-keptRequests), Purposes: []memory.Purpose{memory.PurposeContext},
	}, memory.MaxReplayed)
	if err != nil {
		return memory.Receipt{}, err
	}
	for _, r := range receipts {
		if r.RequestID == a.req.RequestID {
			return r, nil
		}
	}
	return memory.Receipt{}, memory.OtherRequest()
}

// shows reports whether a task summary has exactly these tasks and blockers.
func shows(w *memory.TaskWindow, names map[taskKey]bool) bool {
	if len(w.Tasks)+len(w.Blockers) != len(names) {
		return false
	}
	return !slices.ContainsFunc(w.Tasks, func(t memory.CompletedTask) bool { return !names[taskKey{memory.Task, t.TaskID}] }) &&
		!slices.ContainsFunc(w.Blockers, func(t memory.BlockedTask) bool { return !names[taskKey{memory.Blocker, t.TaskID}] })
}

// thenSummary compares a compaction summary that was handed out with the present one.
func thenSummary(item memory.ReceiptItem, now string) memory.PastText {
	switch {
	case item.Hash == "":
		return memory.PastText{}
	case now == "":
		return memory.PastText{State: memory.Gone}
	case hashOf(now) != item.Hash:
		return memory.PastText{State: memory.Changed}
	}
	return memory.PastText{Text: now}
}

// ThenSummary returns what is left of a compaction summary that was handed out.
func (s *Contexts) ThenSummary(key memory.SessionKey, item memory.ReceiptItem) (memory.PastText, error) {
	wc, _, err := s.load(key)
	if err != nil {
		return memory.PastText{}, err
	}
	return thenSummary(item, wc.Summary), nil
}
