package ledger

import (
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// judge returns the verdicts of a receipt with one more. A verdict on an item replaces the
// former one on it. A verdict on the whole receipt replaces all but those on lines: it is on
// what was shown in full.
func judge(r memory.Receipt, v memory.ItemVerdict) []memory.ItemVerdict {
	lines := map[string]bool{}
	for _, item := range r.Items {
		lines[item.ID] = item.Strength == memory.Maybe
	}
	kept := slices.DeleteFunc(slices.Clone(r.Judged), func(j memory.ItemVerdict) bool {
		return j.Item == v.Item || v.Item == "" && !lines[j.Item]
	})
	return append(kept, v)
}

// on returns the last verdict on an item or, if it was shown in full, on the whole receipt.
func on(judged []memory.ItemVerdict, item memory.ReceiptItem) (memory.ItemVerdict, bool) {
	for _, j := range slices.Backward(judged) {
		if j.Item == item.ID || j.Item == "" && item.Strength != memory.Maybe {
			return j, true
		}
	}
	return memory.ItemVerdict{}, false
}

// count returns a record that counts a verdict in place of the one before, if there is one.
// It does not change what the given record points to.
func count(r memory.Record, v memory.ItemVerdict, before *memory.ItemVerdict) memory.Record {
	counts := memory.VerdictCounts{}
	if r.Verdicts != nil {
		counts = *r.Verdicts
	}
	if r.Event != nil {
		r.Event = new(*r.Event)
	}
	if before != nil {
		add(&counts, before.Verdict, -1)
		takeBack(r.Event, *before)
	}
	add(&counts, v.Verdict, 1)
	tried(r.Event, v)
	if r.Verdicts = &counts; counts == (memory.VerdictCounts{}) {
		r.Verdicts = nil
	}
	r.Updated = v.At
	return r
}

// add changes the count of a verdict; it is never negative.
func add(counts *memory.VerdictCounts, v memory.Verdict, n int) {
	of := map[memory.Verdict]*int{
		memory.Worked: &counts.Worked, memory.Failed: &counts.Failed,
		memory.Irrelevant: &counts.Irrelevant, memory.Outdated: &counts.Outdated,
	}[v]
	if of != nil {
		*of = max(*of+n, 0)
	}
}

// outcome is what a verdict adds to a lesson's rate: worked +1/+1, failed and
// outdated +0/+1. An irrelevant lesson was not tried.
func outcome(v memory.Verdict) memory.Rate {
	switch v {
	case memory.Worked:
		return memory.Rate{Successes: 1, Attempts: 1}
	case memory.Failed, memory.Outdated:
		return memory.Rate{Attempts: 1}
	}
	return memory.Rate{}
}

// tried counts a verdict in the rate of a lesson. Other records have no event.
func tried(e *memory.Event, v memory.ItemVerdict) {
	o := outcome(v.Verdict)
	if e == nil || o.Attempts == 0 {
		return
	}
	rate := memory.Rate{}
	if e.Rate != nil {
		rate = *e.Rate
	}
	if rate.Attempts >= memory.MaxAttempts {
		return
	}
	setRate(e, memory.Rate{Successes: rate.Successes + o.Successes, Attempts: rate.Attempts + o.Attempts}, v.At)
}

// takeBack removes a verdict from the rate of a lesson, unless the lesson was reported with
// a rate since: such a rate contains no verdicts.
func takeBack(e *memory.Event, v memory.ItemVerdict) {
	o := outcome(v.Verdict)
	if e == nil || e.Rate == nil || o.Attempts == 0 {
		return
	}
	if slices.ContainsFunc(e.Observations, func(t memory.Observation) bool { return t.Rate != nil && t.At.After(v.At) }) {
		return
	}
	left := memory.Rate{Successes: max(e.Rate.Successes-o.Successes, 0), Attempts: max(e.Rate.Attempts-o.Attempts, 0)}
	left.Successes = min(left.Successes, left.Attempts)
	setRate(e, left, v.At)
}

// setRate sets a rate and the time of its change. A rate without attempts is removed.
func setRate(e *memory.Event, rate memory.Rate, at time.Time) {
	if e.Rate = &rate; rate.Attempts == 0 {
		e.Rate = nil
	}
	if at.After(e.RateAt) {
		e.RateAt = at
	}
}
