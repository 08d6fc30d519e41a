package recall

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

const (
	// provenRate is the lower bound of Wilson's interval from which a lesson counts as
	// proven: two successes of two (.34), three of four (.30), ten of twenty (.30).
	provenRate = .299
	// maxProvenReads bounds the lessons that are looked at, the newest first.
	maxProvenReads = 1000
	// briefDeadline bounds how long the code of pinned lessons is read for a brief, and that
	// of proven ones: the hook of a session that starts waits 300 ms for both.
	briefDeadline = 100 * time.Millisecond
)

// Pinned returns the newest pinned lessons of a project, at most n, with the state of their
// code.
func (s *Service) Pinned(ctx context.Context, project string, caller memory.Caller, n int) ([]memory.Item, error) {
	list, err := s.lessons(ctx, memory.LessonsRequest{Pinned: true, Limit: n, Project: project, Caller: caller}, briefDeadline)
	if err != nil {
		return nil, err
	}
	return list.Lessons, nil
}

// Proven returns the lessons of a project with the best record of outcomes, at most n; none
// that is pinned or was read from a repository's file, and none whose code has changed or is
// gone.
func (s *Service) Proven(ctx context.Context, project memory.Project, caller memory.Caller, n int) ([]memory.Item, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	type proven struct {
		rec   memory.Record
		bound float64
	}
	var all []proven
	ids, _ := s.opts.Corpus.OrderedIDs(memory.Selection{Project: project.ID, Kinds: []memory.Kind{memory.Lesson}}, memory.NewestFirst, 0, maxProvenReads)
	for _, id := range ids {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rec, err := s.opts.Corpus.Record(id)
		if err != nil || rec.Event == nil || rec.Event.Pinned || rec.Provenance.Followed() || !counted(rec.Event) {
			continue // forgotten since, told otherwise, or without outcomes
		}
		if bound := wilson(float64(rec.Event.Rate.Successes), float64(rec.Event.Rate.Attempts)); bound >= provenRate {
			all = append(all, proven{rec, bound})
		}
	}
	slices.SortStableFunc(all, func(a, b proven) int { return cmp.Compare(b.bound, a.bound) })
	code, stop := context.WithTimeout(ctx, briefDeadline)
	defer stop()
	l := s.lookAtAnchors(code, caller.Dir, 4*n)
	var items []memory.Item
	for _, p := range all {
		if len(items) == n {
			break
		}
		if memory.WorstAnchor(l.check(p.rec.Project, p.rec.Event.Anchors)).Outdated() {
			continue
		}
		items = append(items, s.lessonItem(&p.rec))
	}
	return items, nil
}

// counted says that an outcome was counted since a rate was stated: what is only stated
// proves nothing.
func counted(e *memory.Event) bool {
	var stated *memory.Observation
	for i, o := range e.Observations {
		if o.Rate != nil && (stated == nil || !o.At.Before(stated.At)) {
			stated = &e.Observations[i]
		}
	}
	return e.Rate != nil && (stated == nil || *stated.Rate != *e.Rate)
}
