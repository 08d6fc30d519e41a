package ingest

import (
	"maps"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// maxFingerprints bounds the errors that one lesson is found by.
const maxFingerprints = 16

// observe returns a lesson with one more observation, and whether that changed it. old has
// no event if the lesson is new. one is the lesson as recorded, with one observation. A live
// observation comes from a call. Any other comes from a file, in any order and perhaps
// repeatedly, and counts only if it is new. An observation from a followed file changes only
// lessons that are known from followed files alone. Such a lesson is promoted when it is
// recorded by a call or imported.
func observe(old, one memory.Record, live bool) (memory.Record, bool) {
	if old.Event == nil {
		return one, true
	}
	followed := one.Provenance.Followed()
	switch {
	case followed && old.Provenance.Origin == memory.OriginTeam && teamTells(old.Event):
		known := old.Provenance.Path != ""
		if !known { // it stays when the team takes it back
			old.Provenance.Path = one.Provenance.Path
		}
		return old, !known
	case followed && (old.Provenance.Origin == memory.OriginTeam || old.Provenance.Followed() && len(old.Event.Observations) == 0):
		return promote(old, one, live), true // the team only counted outcomes, or has taken it back
	case followed && !old.Provenance.Followed():
		return old, false
	case !followed && (old.Provenance.Followed() || old.Provenance.Origin == memory.OriginTeam):
		return promote(old, one, live), true
	}
	t := one.Event.Observations[0]
	before := observations(old)
	if !live && isKnown(old.Event, before, t) {
		return old, false
	}
	merged, event := old, *old.Event
	event.Seen++
	event.Observations = insertObservation(before, t)
	if !t.At.Before(before[len(before)-1].At) {
		event.Type = one.Event.Type
	}
	if !followed && t.Rate != nil && (event.Rate == nil || !t.At.Before(event.RateAt)) {
		event.Rate, event.RateAt = t.Rate, t.At
	}
	if event.Withdrawn != nil && (live || t.At.After(event.Withdrawn.At)) && (!followed || event.Withdrawn.Followed) {
		event.Withdrawn = nil
	}
	event.Private = event.Private || one.Event.Private // a repetition does not publish it
	event.Pinned = event.Pinned || one.Event.Pinned
	event.Fingerprints = union(event.Fingerprints, one.Event.Fingerprints, maxFingerprints)
	if live && len(one.Event.Anchors) > 0 || len(event.Anchors) == 0 { // it holds for the code of now
		event.Anchors = one.Event.Anchors
	}
	merged.Event = &event
	if one.Provenance.Trust() > merged.Provenance.Trust() {
		merged.Provenance = one.Provenance
	}
	merged.Tags = union(merged.Tags, one.Tags, memory.MaxTags)
	if len(one.Extra) > 0 {
		merged.Extra = maps.Clone(one.Extra)
		maps.Copy(merged.Extra, old.Extra)
	}
	if t.At.Before(merged.Created) {
		merged.Created = t.At
	}
	if last := event.Observations[len(event.Observations)-1].At; last.After(merged.Created) && last.After(merged.Updated) {
		merged.Updated = last
	}
	return merged, true
}

// promote returns a lesson that is told by a more trusted source than before. The dates, tags
// and other fields of the former one are dropped. What the team says of it stays, and so do
// outcomes that were counted here, marks, and a withdrawal by a caller that is newer than an
// imported line.
func promote(old, one memory.Record, live bool) memory.Record {
	event, told := *one.Event, one.Event.Observations[0]
	if old.Event.Rate != nil && (event.Rate == nil || told.At.Before(old.Event.RateAt)) {
		event.Rate, event.RateAt = old.Event.Rate, old.Event.RateAt
	}
	if a := old.Event.Withdrawn; a != nil && !a.Followed && !live && !told.At.After(a.At) {
		event.Withdrawn = a
	}
	event.Team = old.Event.Team
	event.Private, event.Pinned = event.Private || old.Event.Private, event.Pinned || old.Event.Pinned
	one.Event, one.Verdicts = &event, old.Verdicts
	return one
}

// observations returns the observations of a lesson. One that was stored before they were
// kept has one, of when it was made.
func observations(r memory.Record) []memory.Observation {
	if len(r.Event.Observations) > 0 {
		return r.Event.Observations
	}
	return []memory.Observation{{At: r.Created, AgentID: r.Event.AgentID, Session: r.Session, Rate: r.Event.Rate}}
}

// isKnown says that an observation from a file is known: by its line, or, for a line that
// was exported again, by time and agent. Its rate does not count, for outcomes may have
// changed it on one side. A list at its bound lacks its middle: an observation that falls
// into it is taken to be known, unless its rate is newer.
func isKnown(e *memory.Event, known []memory.Observation, t memory.Observation) bool {
	for _, x := range known {
		if !t.Line.IsZero() && x.Line == t.Line || x.At.Equal(t.At) && x.AgentID == t.AgentID {
			return true
		}
	}
	if len(known) < memory.MaxObservations || t.At.Before(known[0].At) || t.At.After(known[1].At) {
		return false
	}
	return t.Rate == nil || e.Rate != nil && !t.At.After(e.RateAt)
}

// adoptRate returns a lesson with the rate that a file has counted (LogLine.Counted), and
// whether that changed it. This is no observation unless the lesson is new. An older rate
// changes nothing.
func adoptRate(old, one memory.Record) (memory.Record, bool) {
	switch {
	case old.Event == nil:
		return one, true
	case one.Provenance.Followed():
		return old, false
	case old.Provenance.Followed() || old.Provenance.Origin == memory.OriginTeam:
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

func sameRate(a, b *memory.Rate) bool { return a == b || a != nil && b != nil && *a == *b }

// insertObservation adds an observation by time and keeps the first and the latest ones.
func insertObservation(list []memory.Observation, t memory.Observation) []memory.Observation {
	i := len(list)
	for i > 0 && list[i-1].At.After(t.At) {
		i--
	}
	list = slices.Insert(slices.Clone(list), i, t)
	if len(list) > memory.MaxObservations {
		list = slices.Delete(list, 1, 2)
	}
	return list
}

// The reasons of a withdrawal.
const (
	superseded = "superseded"
	retracted  = "retracted"
)

// withdrawn returns a lesson of a project that is no longer recalled, and whether that
// changed it. A withdrawal from a file does not affect a lesson that was told since.
func withdrawn(r memory.Record, project string, w memory.Withdrawal, live bool) (memory.Record, bool) {
	if r.Event == nil || r.Project != project || r.ID == w.By {
		return r, false
	}
	known := observations(r)
	if !live && known[len(known)-1].At.After(w.At) {
		return r, false
	}
	if w.Followed && !r.Provenance.Followed() {
		return r, false
	}
	if old := r.Event.Withdrawn; old != nil && (w.Followed && !old.Followed || w.Followed == old.Followed && !w.At.After(old.At)) {
		return r, false
	}
	event := *r.Event
	event.Withdrawn = &w
	r.Event, r.Updated = &event, w.At
	return r, true
}

// restored returns a lesson that is recalled again, and whether it was withdrawn. This is an
// observation: the line of a file that withdrew it is read again.
func restored(r memory.Record, at time.Time) (memory.Record, bool) {
	if r.Event == nil || r.Event.Withdrawn == nil {
		return r, false
	}
	event := *r.Event
	event.Withdrawn = nil
	event.Observations = insertObservation(observations(r), memory.Observation{At: at})
	r.Event, r.Updated = &event, at
	return r, true
}

// marked returns a lesson with other marks, and whether that changed it. A nil mark stays.
func marked(r memory.Record, pinned, private *bool) (memory.Record, bool) {
	if r.Event == nil {
		return r, false
	}
	event := *r.Event
	if pinned != nil {
		event.Pinned = *pinned
	}
	if private != nil {
		event.Private = *private
	}
	if event.Pinned == r.Event.Pinned && event.Private == r.Event.Private {
		return r, false
	}
	r.Event = &event
	return r, true
}

// withOutcome returns a lesson with one more outcome, and whether that changed it. A newer
// rate replaces it; an older one, which a file may still contain, does not.
func withOutcome(r memory.Record, succeeded bool, now time.Time) (memory.Record, bool) {
	if r.Event == nil {
		return r, false
	}
	event := *r.Event
	rate := memory.Rate{}
	if event.Rate != nil {
		rate = *event.Rate
	}
	if rate.Attempts >= memory.MaxAttempts {
		return r, false
	}
	rate.Attempts++
	if succeeded {
		rate.Successes++
	}
	event.Rate, event.RateAt = &rate, now
	r.Event, r.Updated = &event, now
	return r, true
}

// union adds what is new to a copy of a list, up to most items.
func union(list, more []string, most int) []string {
	list = slices.Clip(list)
	for _, x := range more {
		if len(list) < most && !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}
