package recall

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// searchThreshold is the share of a search's content, weighted by word, from which a
// step matches even if it is below Recall's threshold. Someone who searches steps types
// a word or two, expects all steps that contain them, and sets a limit. A quarter
// accepts a rare word of several and rejects words that half of all steps contain.
const searchThreshold = 0.25

// SearchSteps finds steps by words and meaning, ranked as in Recall.
func (s *Service) SearchSteps(ctx context.Context, req memory.SearchStepsRequest) (*memory.StepMatches, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	p, err := s.scopeFor(ctx, req.Project, req.Caller, req.Scope, req.Filters)
	if err != nil {
		return nil, err
	}
	r := s.newSearch(ctx, s.settings, req.Query, memory.Selection{
		Kinds: []memory.Kind{memory.Step}, Project: p.project, Session: p.session, Steps: p.filter, Followed: p.inside,
	})
	if r.find(); r.err != nil {
		return nil, r.err
	}
	r.exactErrors()
	matches := slices.DeleteFunc(r.candidates, func(c *candidate) bool {
		return c.coverage < searchThreshold && c.relevance < s.settings.MinRelevance[memory.Step]
	})
	ranked := rank(matches, s.settings.HalfLife, rankContext{now: s.opts.Clock(), project: p.project, session: req.Caller.Session})
	steps, err := s.views(ctx, p, spread(ranked, req.Limit), s.opts.Content(s.opts.Analyze(req.Query)))
	if err != nil {
		return nil, err
	}
	why := cmp.Or(s.whyLost(), r.noWords)
	return &memory.StepMatches{Query: req.Query, Matches: steps, Incomplete: why != "", Why: why}, nil
}

// spread chooses n steps: the newest step of each text first, then the next newest, and so
// on. Texts keep their order.
func spread(ranked []*candidate, n int) []string {
	places := make([][]memory.Candidate, len(ranked))
	taken := make([]int, len(ranked))
	for i, c := range ranked {
		places[i] = append([]memory.Candidate{c.Candidate}, c.others...)
		slices.SortStableFunc(places[i], func(a, b memory.Candidate) int { return b.Created.Compare(a.Created) })
	}
	for round, more := 0, true; more && n > 0; round++ {
		more = false
		for i := 0; i < len(places) && n > 0; i++ {
			if round < len(places[i]) {
				taken[i]++
				n--
				more = true
			}
		}
	}
	var ids []string
	for i, n := range taken {
		for _, place := range places[i][:n] {
			ids = append(ids, place.ID)
		}
	}
	return ids
}

// LastSteps lists the newest steps.
func (s *Service) LastSteps(ctx context.Context, req memory.LastStepsRequest) (*memory.StepList, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	p, err := s.scopeFor(ctx, req.Project, req.Caller, req.Scope, req.Filters)
	if err != nil {
		return nil, err
	}
	ids := s.opts.Sessions.LastSteps(p.project, s.sessions(p), p.filter.Screen, req.Skip+req.N)
	ids = ids[min(req.Skip, len(ids)):]
	steps, err := s.views(ctx, p, ids, nil)
	if err != nil {
		return nil, err
	}
	return &memory.StepList{Steps: steps}, nil
}

// Sessions lists the sessions of a project, newest first.
func (s *Service) Sessions(ctx context.Context, req memory.SessionsRequest) (*memory.SessionList, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	p, err := s.scopeFor(ctx, req.Project, req.Caller, nil, req.Filters)
	if err != nil {
		return nil, err
	}
	all := s.listed(p)
	list := &memory.SessionList{Total: len(all)}
	all = all[min(req.Skip, len(all)):]
	list.Sessions = make([]memory.SessionView, 0, min(req.Limit, len(all)))
	for _, session := range all[:min(req.Limit, len(all))] {
		list.Sessions = append(list.Sessions, s.sessionView(session))
	}
	return list, nil
}

func (s *Service) sessionView(session memory.Session) memory.SessionView {
	v := memory.SessionView{
		SessionID: session.ID, CreatedAt: session.CreatedAt, Goal: s.clean(session.Goal),
		FlowTags: s.cleanAll(session.FlowTags), Tags: s.cleanAll(session.Tags), Provenance: shownProvenance(session.Provenance),
	}
	if session.Git != nil {
		v.Git = *session.Git
		v.Git.Branch, v.Git.Commit = s.clean(v.Git.Branch), s.clean(v.Git.Commit)
	}
	return v
}

// SummarizeSession summarises one session.
func (s *Service) SummarizeSession(ctx context.Context, req memory.SummarizeRequest) (*memory.Summary, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	p, err := s.scopeFor(ctx, req.Project, req.Caller, req.Scope, nil)
	if err != nil {
		return nil, err
	}
	session, _, known := s.opts.Sessions.Session(p.project, p.session)
	if !known { // opened since, or forgotten
		session = memory.Session{ID: p.session}
	}
	sum := summarizer{labels: map[string]int{}, seen: map[string]bool{}}
	followed := 0
	for r, err := range s.records(ctx, s.opts.Sessions.SessionSteps(p.project, p.session)) {
		if err != nil {
			return nil, err
		}
		if r.Provenance.Followed() {
			if !p.inside {
				continue
			}
			followed++
		}
		sum.add(r)
	}
	out := sum.summary(session, s.clean)
	out.Followed = followed
	return out, nil
}

// records yields the records with some ids, without those that were forgotten since. The end
// of ctx, or a record that cannot be read, is the last.
func (s *Service) records(ctx context.Context, ids []string) iter.Seq2[memory.Record, error] {
	return func(yield func(memory.Record, error) bool) {
		for _, id := range ids {
			r, err := s.opts.Corpus.Record(id)
			switch {
			case ctx.Err() != nil:
				err = ctx.Err()
			case memory.CodeOf(err) == memory.CodeNotFound:
				continue
			case err != nil:
				err = fmt.Errorf("read record: %w", err)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// shownProvenance returns the provenance of a step or session that was followed from a
// file, otherwise nil.
func shownProvenance(p memory.Provenance) *memory.Provenance {
	if !p.Followed() {
		return nil
	}
	return &p
}

func (s *Service) clean(text string) string {
	clean, _ := s.opts.Redact(text)
	return clean
}

// cleanAll redacts a list of texts. The result is never nil, so that JSON writes [].
func (s *Service) cleanAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = s.clean(text)
	}
	return out
}
