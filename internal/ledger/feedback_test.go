package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// TestVerdictsMoveCounts gives verdicts on an item of one receipt, one after the other:
// each takes the place of the one before.
func TestVerdictsMoveCounts(t *testing.T) {
	const worked, failed, irrelevant, outdated = memory.Worked, memory.Failed, memory.Irrelevant, memory.Outdated
	for name, test := range map[string]struct {
		rate     string
		verdicts []memory.Verdict
		lesson   string
		rule     string
	}{
		"worked":                    {"1/2", []memory.Verdict{worked}, "2/3 worked 1", "- worked 1"},
		"failed":                    {"1/2", []memory.Verdict{failed}, "1/3 failed 1", "- failed 1"},
		"outdated":                  {"1/2", []memory.Verdict{outdated}, "1/3 outdated 1", "- outdated 1"},
		"irrelevant moves no rate":  {"1/2", []memory.Verdict{irrelevant}, "1/2 irrelevant 1", "- irrelevant 1"},
		"nothing was known":         {"", []memory.Verdict{worked}, "1/1 worked 1", "- worked 1"},
		"the same again":            {"1/2", []memory.Verdict{worked, worked}, "2/3 worked 1", "- worked 1"},
		"worked, then failed":       {"1/2", []memory.Verdict{worked, failed}, "1/3 failed 1", "- failed 1"},
		"failed, then worked":       {"1/2", []memory.Verdict{failed, worked}, "2/3 worked 1", "- worked 1"},
		"worked, then irrelevant":   {"", []memory.Verdict{worked, irrelevant}, "- irrelevant 1", "- irrelevant 1"},
		"irrelevant, then outdated": {"0/0", []memory.Verdict{irrelevant, outdated}, "0/1 outdated 1", "- outdated 1"},
	} {
		r := newRig(t)
		lesson, rule := r.lesson("npm install", "clear the cache", test.rate), r.rule("Style", "Use tabs.")
		receipt := r.receipt(memory.ReceiptItem{ID: lesson, Kind: memory.Lesson}, memory.ReceiptItem{ID: rule, Kind: memory.Rule})
		for _, v := range test.verdicts {
			r.now = r.now.Add(time.Minute)
			r.judge(receipt, lesson, v)
			r.judge(receipt, rule, v)
		}
		if got := r.counts(lesson); got != test.lesson {
			t.Errorf("%s: the lesson has %s, want %s", name, got, test.lesson)
		}
		if got := r.counts(rule); got != test.rule {
			t.Errorf("%s: the rule has %s, want %s", name, got, test.rule)
		}
		kept, err := r.store.Receipt(receipt)
		if last := test.verdicts[len(test.verdicts)-1]; err != nil || len(kept.Judged) != 2 || kept.Judged[0].Verdict != last || !kept.Judged[0].At.Equal(r.now) {
			t.Errorf("%s: the receipt has %+v, %v; want one verdict %s on each item", name, kept.Judged, err, last)
		}
	}
}

// TestVerdictOnPartsOfIDs: what an answer's text shows of the ids is enough.
func TestVerdictOnPartsOfIDs(t *testing.T) {
	r := newRig(t)
	lesson, other := r.lesson("npm install", "clear the cache", "1/2"), r.lesson("go build", "tidy first", "1/2")
	receipt := r.receipt(memory.ReceiptItem{ID: lesson, Kind: memory.Lesson}, memory.ReceiptItem{ID: other, Kind: memory.Lesson})
	got, err := r.ledger.Feedback(t.Context(), memory.FeedbackRequest{Receipt: receipt[len(receipt)-memory.ReceiptDigits:], Item: lesson[:8], Verdict: memory.Worked})
	if err != nil || got.Receipt != receipt || len(got.Items) != 1 || got.Items[0].ID != lesson || r.counts(lesson) != "2/3 worked 1" {
		t.Errorf("feedback on %s and %s: %+v, %v; want it on %s of %s", receipt[len(receipt)-memory.ReceiptDigits:], lesson[:8], got, err, lesson, receipt)
	}
	if _, err := r.ledger.Feedback(t.Context(), memory.FeedbackRequest{Receipt: receipt, Item: "l-", Verdict: memory.Worked}); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("feedback on a beginning that two items have: %v, want not_found", err)
	}
}

// TestVerdictOnAWholeReceipt is one on each of its items, and takes the place of those
// on single ones; a later one on a single item takes its place there.
func TestVerdictOnAWholeReceipt(t *testing.T) {
	r := newRig(t)
	a, b := r.lesson("one", "first thing", "1/2"), r.lesson("two", "second thing", "1/2")
	receipt := r.receipt(
		memory.ReceiptItem{ID: a, Kind: memory.Lesson}, memory.ReceiptItem{ID: b, Kind: memory.Lesson},
		memory.ReceiptItem{ID: "c-1", Kind: memory.Chunk}, memory.ReceiptItem{ID: "l-gone", Kind: memory.Lesson})
	want := func(step, forA, forB string) {
		t.Helper()
		if gotA, gotB := r.counts(a), r.counts(b); gotA != forA || gotB != forB {
			t.Errorf("%s: %s and %s, want %s and %s", step, gotA, gotB, forA, forB)
		}
	}
	r.judge(receipt, a, memory.Failed)
	want("one failed", "1/3 failed 1", "1/2")
	out := r.judge(receipt, "", memory.Worked)
	want("all worked", "2/3 worked 1", "2/3 worked 1")
	if !out.Replaced {
		t.Error("that all worked has replaced nothing, want the verdict on the first")
	}
	one := &memory.VerdictCounts{Worked: 1}
	if diff := cmp.Diff([]memory.ItemFeedback{
		{ID: a, Kind: memory.Lesson, SuccessRate: "2/3", Verdicts: one}, {ID: b, Kind: memory.Lesson, SuccessRate: "2/3", Verdicts: one},
		{ID: "c-1", Kind: memory.Chunk}, {ID: "l-gone", Kind: memory.Lesson},
	}, out.Items); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	r.judge(receipt, b, memory.Irrelevant)
	want("but the second was irrelevant", "2/3 worked 1", "1/2 irrelevant 1")
	if out := r.judge(receipt, "", memory.Worked); !out.Replaced {
		t.Error("that all worked after all has replaced nothing, want the verdict on the second")
	}
	want("all worked after all", "2/3 worked 1", "2/3 worked 1")
	kept, err := r.store.Receipt(receipt)
	if err != nil || len(kept.Judged) != 1 || kept.Judged[0].Item != "" {
		t.Errorf("the receipt has the verdicts %+v, %v; want the one on all", kept.Judged, err)
	}
}

// TestVerdictsOfSeveralReceiptsAddUp: each answer that held a lesson has its own.
func TestVerdictsOfSeveralReceiptsAddUp(t *testing.T) {
	r := newRig(t)
	lesson := r.lesson("one", "first thing", "")
	for i := range 5 {
		receipt := r.receipt(memory.ReceiptItem{ID: lesson, Kind: memory.Lesson})
		r.judge(receipt, "", memory.Verdicts[i%2])
	}
	if got := r.counts(lesson); got != "3/5 worked 3 failed 2" {
		t.Errorf("the lesson has %s, want 3/5 worked 3 failed 2", got)
	}
}

// TestConcurrentVerdictsLoseNothing: on one record by many receipts, and on many items
// of one receipt.
func TestConcurrentVerdictsLoseNothing(t *testing.T) {
	const n = 24
	r := newRig(t)
	shared := r.lesson("shared", "known to all", "")
	var items []memory.ReceiptItem
	var receipts []string
	for i := range n {
		id := r.lesson(fmt.Sprint("number ", i), fmt.Sprint("lesson of number ", i), "")
		items = append(items, memory.ReceiptItem{ID: id, Kind: memory.Lesson})
		receipts = append(receipts, r.receipt(memory.ReceiptItem{ID: shared, Kind: memory.Lesson}))
	}
	one := r.receipt(items...)
	var wg sync.WaitGroup
	errs := make([]error, 2*n)
	for i := range n {
		wg.Go(func() {
			_, errs[i] = r.ledger.Feedback(t.Context(), memory.FeedbackRequest{Receipt: receipts[i], Item: shared, Verdict: memory.Worked})
		})
		wg.Go(func() {
			_, errs[n+i] = r.ledger.Feedback(t.Context(), memory.FeedbackRequest{Receipt: one, Item: items[i].ID, Verdict: memory.Failed})
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if got, want := r.counts(shared), fmt.Sprintf("%d/%d worked %d", n, n, n); got != want {
		t.Errorf("the shared lesson has %s, want %s", got, want)
	}
	kept, err := r.store.Receipt(one)
	if err != nil || len(kept.Judged) != n {
		t.Errorf("the receipt has %d verdicts, %v; want %d", len(kept.Judged), err, n)
	}
	for _, item := range items {
		if got := r.counts(item.ID); got != "0/1 failed 1" {
			t.Errorf("%s has %s, want 0/1 failed 1", item.ID, got)
		}
	}
}

func TestRepeatedRequestChangesNothing(t *testing.T) {
	r := newRig(t)
	lesson := r.lesson("one", "first thing", "")
	receipt := r.receipt(memory.ReceiptItem{ID: lesson, Kind: memory.Lesson})
	req := memory.FeedbackRequest{RequestID: "once", Receipt: receipt, Item: lesson, Verdict: memory.Worked}
	first, err := r.ledger.Feedback(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	seq := r.store.Seq()
	again, err := r.ledger.Feedback(t.Context(), req)
	if err != nil || r.store.Seq() != seq {
		t.Fatalf("the same request again: %v, update %d after %d", err, r.store.Seq(), seq)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("answers (-first +again):\n%s", diff)
	}
	// Late, when something else is said already.
	r.judge(receipt, lesson, memory.Failed)
	if again, err = r.ledger.Feedback(t.Context(), req); err != nil || again.Verdict != memory.Failed || r.counts(lesson) != "0/1 failed 1" {
		t.Errorf("the same request late: %+v, %v, the lesson has %s; want it as it was", again, err, r.counts(lesson))
	}
}

func TestFeedbackOnWhatIsNotThere(t *testing.T) {
	r := newRig(t)
	lesson := r.lesson("one", "first thing", "")
	receipt := r.receipt(memory.ReceiptItem{ID: lesson, Kind: memory.Lesson}, memory.ReceiptItem{ID: "c-1", Kind: memory.Chunk})
	seq := r.store.Seq()
	for field, req := range map[string]memory.FeedbackRequest{
		"receipt": {Receipt: "rc-none", Verdict: memory.Worked},
		"item":    {Receipt: receipt, Item: "l-other", Verdict: memory.Worked},
	} {
		_, err := r.ledger.Feedback(t.Context(), req)
		if e, ok := errors.AsType[*memory.Error](err); !ok || e.Code != memory.CodeNotFound || e.Field != field {
			t.Errorf("%s: %v, want it not found", field, err)
		}
	}
	if r.store.Seq() != seq {
		t.Error("what was refused has been written")
	}
	// Code, and what is gone, are judged on the receipt alone; nothing comes back.
	if out := r.judge(receipt, "c-1", memory.Worked); len(out.Items) != 1 || out.Items[0].Verdicts != nil {
		t.Errorf("code has %+v, want no counts", out.Items)
	}
	r.write(memory.Batch{DropRecords: []string{lesson}})
	if out := r.judge(receipt, lesson, memory.Worked); len(out.Items) != 1 || out.Items[0].Verdicts != nil || out.Items[0].SuccessRate != "" {
		t.Errorf("what is gone has %+v, want no counts", out.Items)
	}
	if _, err := r.store.Record(lesson); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("the lesson that was gone = %v, want it not found", err)
	}
	if kept, err := r.store.Receipt(receipt); err != nil || len(kept.Judged) != 2 {
		t.Errorf("the receipt has %+v, %v; want both verdicts", kept.Judged, err)
	}
}

// late drops a record between what the ledger reads and what it commits.
type late struct {
	Writer
	*rig
	drop string
}

func (l late) WriteWith(ctx context.Context, p memory.Project, prepare func() (memory.Batch, error)) (memory.Committed, error) {
	return l.ingest.WriteWith(ctx, p, func() (memory.Batch, error) {
		b, err := prepare()
		if err == nil {
			_, err = l.store.Commit(ctx, memory.Batch{DropRecords: []string{l.drop}})
		}
		return b, err
	})
}

// TestFeedbackBringsNothingBack: a catalogue may drop a rule at any moment.
func TestFeedbackBringsNothingBack(t *testing.T) {
	r := newRig(t)
	rule := r.rule("Style", "Use tabs.")
	receipt := r.receipt(memory.ReceiptItem{ID: rule, Kind: memory.Rule})
	r.ledger.opts.Writer = late{r.ingest, r, rule}
	r.judge(receipt, rule, memory.Worked)
	if _, err := r.store.Record(rule); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("the rule that went meanwhile = %v, want it not found", err)
	}
}

// TestVerdictBeforeATelling: whoever tells a lesson with a rate says what is known; a
// verdict of before is no part of that, and taking it back changes nothing.
func TestVerdictBeforeATelling(t *testing.T) {
	r := newRig(t)
	lesson := r.lesson("one", "first thing", "1/1")
	receipt := r.receipt(memory.ReceiptItem{ID: lesson, Kind: memory.Lesson})
	r.now = r.now.Add(time.Hour)
	r.judge(receipt, lesson, memory.Worked)
	r.now = r.now.Add(time.Hour)
	r.lesson("one", "first thing", "5/8")
	r.now = r.now.Add(time.Hour)
	r.judge(receipt, lesson, memory.Failed)
	if got, want := r.counts(lesson), "5/9 failed 1"; got != want {
		t.Errorf("the lesson has %s, want %s", got, want)
	}
}

func TestNotesHoldNoSecret(t *testing.T) {
	r := newRig(t)
	lesson := r.lesson("one", "first thing", "")
	receipt := r.receipt(memory.ReceiptItem{ID: lesson, Kind: memory.Lesson})
	_, err := r.ledger.Feedback(t.Context(), memory.FeedbackRequest{Receipt: receipt, Verdict: memory.Worked, Note: "with hunter2"})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := r.store.Receipt(receipt)
	if err != nil || len(kept.Judged) != 1 || kept.Judged[0].Note != "with [redacted]" {
		t.Errorf("the verdicts are %+v, %v; want the note without its secret", kept.Judged, err)
	}
}

// TestFeedbackOnAnAnswerThatWaits: the receipt of a recall is written later, and does
// not take the place of the one that was judged meanwhile.
func TestFeedbackOnAnAnswerThatWaits(t *testing.T) {
	r := newRig(t)
	lesson := r.lesson("npm install fails with EACCES", "change the owner of the cache folder", "")
	a := r.ask("npm install EACCES")
	if !slices.Contains(itemIDs(a), lesson) {
		t.Fatalf("the answer holds %v, want the lesson", itemIDs(a))
	}
	r.judge(a.Receipt, lesson, memory.Worked)
	r.lesson("other", "one more commit", "")
	kept, err := r.store.Receipt(a.Receipt)
	if err != nil || len(kept.Judged) != 1 {
		t.Errorf("the receipt has %+v, %v; want the verdict", kept.Judged, err)
	}
}

func (r *rig) ask(query string) *memory.RecallResponse {
	r.t.Helper()
	a, err := r.recall.Recall(r.t.Context(), memory.RecallRequest{Query: query, Project: "demo", Explain: true, Caller: r.caller})
	if err != nil {
		r.t.Fatalf("recall %q: %v", query, err)
	}
	return a
}

func itemIDs(a *memory.RecallResponse) (ids []string) {
	for _, i := range a.Items {
		ids = append(ids, i.ID)
	}
	return ids
}

// TestFeedbackMovesTheRank: of two lessons that fit as well, the one that worked comes
// first; what was said stands in the next explanation; no number of verdicts takes a
// factor out of its bounds, and asking alone changes nothing.
func TestFeedbackMovesTheRank(t *testing.T) {
	r := newRig(t)
	first := r.lesson("docker build fails", "prune the builder cache before building", "")
	second := r.lesson("docker build fails", "prune the image cache before building", "")
	const question = "docker build fails prune cache before building"
	for range 3 {
		r.ask(question)
	}
	before := r.ask(question)
	if len(before.Items) != 2 || before.Items[0].RankFactors.Success != 1 || before.Items[0].RankFactors.Verdicts != nil {
		t.Fatalf("before any verdict: %+v", before.Items)
	}
	worse := before.Items[1].ID
	for range 30 {
		a := r.ask(question)
		r.judge(a.Receipt, worse, memory.Worked)
		for _, id := range []string{first, second} {
			if id != worse {
				r.judge(a.Receipt, id, memory.Failed)
			}
		}
	}
	after := r.ask(question)
	if len(after.Items) != 2 || after.Items[0].ID != worse {
		t.Fatalf("after thirty verdicts %v, want %s first", itemIDs(after), worse)
	}
	good, bad := after.Items[0], after.Items[1]
	if good.RankFactors.Success <= 1 || good.RankFactors.Success > 1.2 || bad.RankFactors.Success >= 1 || bad.RankFactors.Success < .8 {
		t.Errorf("success counts %v and %v, want more and less than 1, within 0.8–1.2", good.RankFactors.Success, bad.RankFactors.Success)
	}
	if v := good.RankFactors.Verdicts; v == nil || v.Worked != 30 || good.SuccessRate != "30/30" {
		t.Errorf("the next explanation tells %+v and %s, want 30 worked and 30/30", v, good.SuccessRate)
	}
	if good.Relevance != before.Items[1].Relevance {
		t.Errorf("relevance went from %v to %v: only the rank may move", before.Items[1].Relevance, good.Relevance)
	}
	kept, err := r.store.Receipt(after.Receipt)
	if err != nil || kept.Items[0].RankFactors.Verdicts == nil {
		t.Errorf("the receipt tells %+v, %v; want the verdicts of before", kept.Items, err)
	}
}

// TestFeedbackOnATurn: the receipt of a turn stays that of the turn, and a rule that
// was judged in it is ranked by that from then on.
func TestFeedbackOnATurn(t *testing.T) {
	r := newRig(t)
	r.session("mm-one")
	rule := r.rule("Retries", "Retry a failed build of docker once.")
	r.turn("rc-1", "mm-one", 1, memory.PurposeContext, memory.ReceiptItem{ID: rule, Kind: memory.Rule, Name: "Retries", Mode: memory.IncludeAgent, Relevance: .9})
	r.judge("rc-1", rule, memory.Worked)
	got, err := r.ledger.ContextOf(t.Context(), memory.ContextOfRequest{Turn: 1, SessionRef: memory.SessionRef{Project: "demo", SessionID: "mm-one"}})
	if err != nil || got.Receipt != "rc-1" || got.Summary != "1 rule (agent)" {
		t.Errorf("the turn has %+v, %v; want its record as before", got, err)
	}
	list, err := r.ledger.Receipts(t.Context(), memory.ReceiptsRequest{Project: "demo", SessionID: "mm-one"})
	if err != nil || len(list.Receipts) != 1 || len(list.Receipts[0].Judged) != 1 {
		t.Errorf("the session's receipts are %+v, %v; want one, with its verdict", list, err)
	}
	a, err := r.recall.Recall(t.Context(), memory.RecallRequest{Query: "retry a failed docker build", Project: "demo", Kinds: []memory.Kind{memory.Rule}, Explain: true})
	if err != nil || len(a.Items) != 1 {
		t.Fatalf("recall: %+v, %v; want the rule", a, err)
	}
	if f := a.Items[0].RankFactors; f.Success <= 1 || f.Verdicts == nil || f.Verdicts.Worked != 1 {
		t.Errorf("the rule is ranked by %+v, want its success and the verdict", f)
	}
}
