package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// Feedback carries out service.Feedback. One batch writes the verdict with the receipt and the
// counts of its records. CodeNotFound for an unknown receipt, or an item that it does not
// have.
func (l *Ledger) Feedback(ctx context.Context, req memory.FeedbackRequest) (*memory.FeedbackResult, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	note, _ := l.opts.Writer.Clean(req.Note, memory.MaxNote)
	l.judging.Lock()
	defer l.judging.Unlock()
	receipt, err := l.receipt("receipt", req.Receipt)
	if err != nil {
		return nil, err
	}
	req.Receipt, req.Item = receipt.ID, itemCalled(receipt.Items, req.Item) // of which the request may have a part
	verdict := memory.ItemVerdict{
		Item: req.Item, Verdict: req.Verdict, Note: note,
		// Milliseconds, like all times that files have.
		At: l.opts.Clock().UTC().Truncate(time.Millisecond),
	}
	var w *weighing
	done, err := l.opts.Writer.WriteWith(ctx, memory.Project{ID: receipt.Project}, func() (memory.Batch, error) {
		// Again, as it may have been forgotten since; from here on it cannot be.
		if receipt, err = l.receipt("receipt", req.Receipt); err != nil {
			return memory.Batch{}, err
		}
		w, err = l.weigh(receipt, verdict)
		if err != nil {
			return memory.Batch{}, err
		}
		return w.batch(req), nil
	})
	if err != nil {
		return nil, err
	}
	if done.Repeated {
		return l.repeated(req, done)
	}
	return l.feedback(req, w.items, w.replaced, done)
}

// itemCalled returns the id of the only item whose id begins like this, else the part.
func itemCalled(items []memory.ReceiptItem, part string) string {
	id := part
	for _, item := range items {
		switch {
		case item.ID == part || part == "":
			return part
		case !strings.HasPrefix(item.ID, part) || item.ID == id:
		case id != part:
			return part // of several
		default:
			id = item.ID
		}
	}
	return id
}

// receipt returns the receipt that a field of a request names.
func (l *Ledger) receipt(field, id string) (memory.Receipt, error) {
	r, err := l.opts.Store.Receipt(id)
	return r, memory.ReceiptError(field, id, err)
}

// weighing is a verdict with all that it changes.
type weighing struct {
	receipt memory.Receipt // with the verdict
	verdict memory.ItemVerdict
	items   []memory.ReceiptItem // that the verdict is on
	records []memory.Record      // of the items
	before  map[string]*memory.ItemVerdict
	// replaced reports that an item had another verdict.
	replaced bool
}

// weigh reads the items of a verdict and the verdicts that it replaces.
func (l *Ledger) weigh(receipt memory.Receipt, verdict memory.ItemVerdict) (*weighing, error) {
	w := &weighing{receipt: receipt, verdict: verdict, items: itemsOn(receipt, verdict.Item), before: map[string]*memory.ItemVerdict{}}
	if verdict.Item != "" && len(w.items) == 0 {
		return nil, &memory.Error{Code: memory.CodeNotFound, Field: "item",
			Message: "the receipt holds no item " + memory.Quote(verdict.Item), Hint: "a verdict without an item is on all that it holds"}
	}
	seen := map[string]bool{}
	for _, item := range w.items {
		if item.ID == "" || seen[item.ID] {
			continue
		}
		seen[item.ID] = true
		if j, ok := on(receipt.Judged, item); ok {
			w.before[item.ID] = &j
			w.replaced = w.replaced || j.Verdict != verdict.Verdict
		}
		if item.Kind == memory.Chunk {
			continue // code has no counts
		}
		r, err := l.opts.Store.Record(item.ID)
		switch {
		case err == nil:
			w.records = append(w.records, r)
		case memory.CodeOf(err) != memory.CodeNotFound:
			return nil, fmt.Errorf("read what was judged: %w", err)
		}
	}
	w.receipt.Judged = judge(receipt, verdict)
	return w, nil
}

// itemsOn returns the items that a verdict is on: the named one, or all that were shown in
// full.
func itemsOn(r memory.Receipt, named string) []memory.ReceiptItem {
	return slices.DeleteFunc(slices.Clone(r.Items), func(x memory.ReceiptItem) bool {
		if named == "" {
			return x.Strength == memory.Maybe
		}
		return x.ID != named
	})
}

// batch writes the verdict and the counts. Counting happens inside the commit, on the
// record that is stored then, because other receipts may have the same record.
func (w *weighing) batch(req memory.FeedbackRequest) memory.Batch {
	return memory.Batch{
		RequestID: req.RequestID,
		Records:   w.records,
		Existing:  true,
		Merge: func(old, _ memory.Record) memory.Record {
			return count(old, w.verdict, w.before[old.ID])
		},
		Receipts: []memory.Receipt{w.receipt},
		Action:   "feedback",
		Detail:   map[string]string{"receipt": w.receipt.ID, "item": req.Item, "verdict": string(req.Verdict)},
	}
}

// repeated answers a request that was committed before, without a change, with the verdict
// that holds: a later request may have said another.
func (l *Ledger) repeated(req memory.FeedbackRequest, done memory.Committed) (*memory.FeedbackResult, error) {
	receipt, err := l.opts.Store.Receipt(req.Receipt)
	if err != nil {
		return nil, err
	}
	items, asked := itemsOn(receipt, req.Item), memory.ReceiptItem{} // all that it holds
	if req.Item != "" {
		asked = items[0] // or weigh had refused it
	}
	if holds, judged := on(receipt.Judged, asked); judged {
		req.Verdict = holds.Verdict
	}
	return l.feedback(req, items, false, done)
}

// feedback returns the result of a verdict, with the present counts.
func (l *Ledger) feedback(req memory.FeedbackRequest, items []memory.ReceiptItem, replaced bool, done memory.Committed) (*memory.FeedbackResult, error) {
	out := &memory.FeedbackResult{
		Receipt: req.Receipt, Verdict: req.Verdict, Items: make([]memory.ItemFeedback, len(items)), Replaced: replaced, Seq: done.Seq,
	}
	for i, item := range items {
		out.Items[i] = memory.ItemFeedback{ID: item.ID, Kind: item.Kind}
		if item.Kind == memory.Chunk {
			continue
		}
		r, err := l.opts.Store.Record(item.ID)
		if memory.CodeOf(err) == memory.CodeNotFound {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read what was judged: %w", err)
		}
		out.Items[i].Verdicts = r.Verdicts
		if r.Event != nil && r.Event.Rate != nil {
			out.Items[i].SuccessRate = r.Event.Rate.String()
		}
	}
	return out, nil
}
