package ingest

import (
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// maxFingerprints bounds the errors that one lesson is found by.
const maxFingerprints = 16

// maxAttempts is the largest count of outcomes: a rate must be readable as it is
// written (see memory.ParseRate).
const maxAttempts = 9_999_999

// observe returns the edit by which a lesson is told: once more, if it is there. one
// is the lesson as told, with one telling. A live telling is a call; any other
// comes from a file, in any order and perhaps again, and counts only where it is
// new. What comes from a followed file changes only what files have told: a lesson
// that was told or imported stays as it is, and one that only files told becomes what
// is told or imported now.
func observe(one memory.Record, live bool) edit {
	return func(old memory.Record) (memory.Record, bool) {
		if old.Event == nil { // none yet, or no lesson of ours
			return one, true
		}
		followed := one.Provenance.Followed()
		switch {
		case followed && !old.Provenance.Followed():
			return old, false
		case !followed && old.Provenance.Followed():
			return promote(old, one, live), true
		}
		t := one.Event.Observations[0]
		tellings := observations(old)
		if !live && isKnown(old.Event, tellings, t) {
			return old, false
		}
		merged, event := old, *old.Event
		event.Seen++
		event.Observations = insertObservation(tellings, t)
		if !t.At.Before(tellings[len(tellings)-1].At) {
			event.Type = one.Event.Type
		}
		if !followed && t.Rate != nil && (event.Rate == nil || !t.At.Before(event.RateAt)) {
			event.Rate, event.RateAt = t.Rate, t.At
		}
		if event.Withdrawn != nil && (live || t.At.After(event.Withdrawn.At)) && (!followed || event.Withdrawn.Followed) {
			event.Withdrawn = nil
		}
		event.Fingerprints = union(event.Fingerprints, one.Event.Fingerprints, maxFingerprints)
		merged.Event = &event
		if one.Provenance.Trust() > merged.Provenance.Trust() {
			merged.Provenance = one.Provenance
		}
		merged.Tags = union(merged.Tags, one.Tags, memory.MaxTags)
		for name, raw := range one.Extra {
			if _, ok := merged.Extra[name]; !ok {
				merged.Extra = withField(merged.Extra, name, raw)
			}
		}
		if t.At.Before(merged.Created) {
			merged.Created = t.At
		}
		if last := event.Observations[len(event.Observations)-1].At; last.After(merged.Created) && last.After(merged.Updated) {
			merged.Updated = last
		}
		return merged, true
	}
}

// promote returns a lesson that is told or imported now and was known from followed
// files alone. Of those nothing stays: neither dates, tags nor other fields. The
// outcomes that were counted here stay, and so does it that somebody here put the
// lesson aside since an imported line was written.
func promote(old, one memory.Record, live bool) memory.Record {
	event, told := *one.Event, one.Event.Observations[0]
	if old.Event.Rate != nil && (event.Rate == nil || told.At.Before(old.Event.RateAt)) {
		event.Rate, event.RateAt = old.Event.Rate, old.Event.RateAt
	}
	if a := old.Event.Withdrawn; a != nil && !a.Followed && !live && !told.At.After(a.At) {
		event.Withdrawn = a
	}
	one.Event, one.Verdicts = &event, old.Verdicts
	return one
}

// observations returns the tellings of a lesson. One that was stored before they were
// kept has been told when it was made.
func observations(r memory.Record) []memory.Observation {
	if len(r.Event.Observations) > 0 {
		return r.Event.Observations
	}
	return []memory.Observation{{At: r.Created, AgentID: r.Event.AgentID, Session: r.Session, Rate: r.Event.Rate}}
}

// isKnown says that a telling from a file is in the history: by its line, or, for
// a line that was written out again, by when and by whom it was told. Its rate
// decides nothing, for outcomes may have changed it on one side. Of a history that
// has reached its bound, the middle is missing: what falls into it was there,
// unless it says more of the rate than is known.
func isKnown(e *memory.Event, tellings []memory.Observation, t memory.Observation) bool {
	for _, x := range tellings {
		if !t.Line.IsZero() && x.Line == t.Line || x.At.Equal(t.At) && x.AgentID == t.AgentID {
			return true
		}
	}
	if len(tellings) < memory.MaxObservations || t.At.Before(tellings[0].At) || t.At.After(tellings[1].At) {
		return false
	}
	return t.Rate == nil || e.Rate != nil && !t.At.After(e.RateAt)
}

// adoptRate returns the edit by which a file tells what a lesson's rate had come to
// by outcomes (memory.LogLine.Counted). It is no telling, unless nothing else is
// known of the lesson, and an older one changes nothing.
func adoptRate(one memory.Record) edit {
	return func(old memory.Record) (memory.Record, bool) {
		switch {
		case old.Event == nil:
			return one, true
		case one.Provenance.Followed():
			return old, false
		case old.Provenance.Followed():
			return promote(old, one, false), true
		}
		event, told := *old.Event, one.Event
		if told.Rate == nil || told.RateAt.Before(event.RateAt) || told.RateAt.Equal(event.RateAt) && sameRate(told.Rate, event.Rate) {
			return old, false
		}
		event.Rate, event.RateAt = told.Rate, told.RateAt
		old.Event = &event
		if told.RateAt.After(old.Created) && told.RateAt.After(old.Updated) {
			old.Updated = told.RateAt
		}
		return old, true
	}
}

func sameRate(a, b *memory.Rate) bool { return a == b || a != nil && b != nil && *a == *b }

// insertObservation puts a telling in its place by time and keeps the first and the
// latest ones.
func insertObservation(tellings []memory.Observation, t memory.Observation) []memory.Observation {
	i := len(tellings)
	for i > 0 && tellings[i-1].At.After(t.At) {
		i--
	}
	tellings = slices.Insert(slices.Clone(tellings), i, t)
	if len(tellings) > memory.MaxObservations {
		tellings = slices.Delete(tellings, 1, 2)
	}
	return tellings
}

// The reasons of an aside.
const (
	superseded = "superseded"
	retracted  = "retracted"
)

// withdrawal returns the edit by which a lesson of a project is no longer recalled.
// From a file it does not concern a lesson that was told since.
func withdrawal(project string, a memory.Withdrawal, live bool) edit {
	return func(r memory.Record) (memory.Record, bool) {
		if r.Event == nil || r.Project != project || r.ID == a.By {
			return r, false
		}
		tellings := observations(r)
		if !live && tellings[len(tellings)-1].At.After(a.At) {
			return r, false
		}
		if a.Followed && !r.Provenance.Followed() {
			return r, false
		}
		if old := r.Event.Withdrawn; old != nil && (a.Followed && !old.Followed || a.Followed == old.Followed && !a.At.After(old.At)) {
			return r, false
		}
		event := *r.Event
		event.Withdrawn = &a
		r.Event, r.Updated = &event, a.At
		return r, true
	}
}

// countOutcome returns the edit by which a lesson was tried once more. A snapshot
// of the rate that is taken later replaces it, for whoever took that one knew; one
// of before, which a file may still tell, does not.
func countOutcome(ok bool, now time.Time) edit {
	return func(r memory.Record) (memory.Record, bool) {
		if r.Event == nil {
			return r, false
		}
		event := *r.Event
		rate := memory.Rate{}
		if event.Rate != nil {
			rate = *event.Rate
		}
		if rate.Attempts >= maxAttempts {
			return r, false
		}
		rate.Attempts++
		if ok {
			rate.Successes++
		}
		event.Rate, event.RateAt = &rate, now
		r.Event, r.Updated = &event, now
		return r, true
	}
}

// union adds what is new to a list of at most most, which is not changed itself.
func union(list, more []string, most int) []string {
	list = slices.Clip(list)
	for _, x := range more {
		if len(list) < most && !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}
