package ledger

import (
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// maxAttempts is the largest count of outcomes that can be written as a rate (see
// memory.ParseRate).
const maxAttempts = 9_999_999

// judge adds a verdict to those of a receipt and returns them. One on an item takes
// the place of the one on it before, one on the whole receipt that of all.
func judge(judged []memory.ItemVerdict, v memory.ItemVerdict) []memory.ItemVerdict {
	if v.Item == "" {
		return []memory.ItemVerdict{v}
	}
	kept := slices.DeleteFunc(slices.Clone(judged), func(j memory.ItemVerdict) bool { return j.Item == v.Item })
	return append(kept, v)
}

// on returns the verdict on an item that counts: the last one on it or on the whole
// receipt.
func on(judged []memory.ItemVerdict, item string) (memory.ItemVerdict, bool) {
	for _, j := range slices.Backward(judged) {
		if j.Item == item || j.Item == "" {
			return j, true
		}
	}
	return memory.ItemVerdict{}, false
}

// count returns a record with a verdict counted, and the one that it replaces no
// longer, if there is one. What the record given points to is not changed.
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

// add changes the count of a verdict, which stays at least 0.
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
// outdated +0/+1. What was irrelevant was not tried.
func outcome(v memory.Verdict) memory.Rate {
	switch v {
	case memory.Worked:
		return memory.Rate{Successes: 1, Attempts: 1}
	case memory.Failed, memory.Outdated:
		return memory.Rate{Attempts: 1}
	}
	return memory.Rate{}
}

// tried counts a verdict in the rate of a lesson; any other record has no event.
func tried(e *memory.Event, v memory.ItemVerdict) {
	o := outcome(v.Verdict)
	if e == nil || o.Attempts == 0 {
		return
	}
	rate := memory.Rate{}
	if e.Rate != nil {
		rate = *e.Rate
	}
	if rate.Attempts >= maxAttempts {
		return
	}
	setRate(e, memory.Rate{Successes: rate.Successes + o.Successes, Attempts: rate.Attempts + o.Attempts}, v.At)
}

// takeBack takes a verdict out of the rate of a lesson, unless the lesson was told
// with a rate since: that says what its teller knew, and holds no verdict of ours.
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

// setRate keeps a rate and when it changed; one of no attempts is none.
func setRate(e *memory.Event, rate memory.Rate, at time.Time) {
	if e.Rate = &rate; rate.Attempts == 0 {
		e.Rate = nil
	}
	if at.After(e.RateAt) {
		e.RateAt = at
	}
}
