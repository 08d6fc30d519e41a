package recall

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

const (
	// listDeadline bounds how long a list of lessons reads code.
	listDeadline = 10 * time.Second
	// maxListReads bounds the files that it reads.
	maxListReads = 5000
	// maxReadForWords bounds the withdrawn lessons that are searched for words.
	maxReadForWords = 5000
)

// Lessons lists the lessons of a project in an order, or those that words find, that are
// pinned, or whose code changed or is gone.
func (s *Service) Lessons(ctx context.Context, req memory.LessonsRequest) (*memory.LessonList, error) {
	return s.lessons(ctx, req, listDeadline)
}

// lessons is Lessons; it reads code no longer than the deadline.
func (s *Service) lessons(ctx context.Context, req memory.LessonsRequest, deadline time.Duration) (*memory.LessonList, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	project, sel, err := s.lessonsOf(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	chosen := sel
	chosen.Withdrawn, chosen.Pinned, chosen.Tag, chosen.Since = req.Withdrawn, req.Pinned, req.Tag, req.Since
	ids, found, err := s.orderedLessons(ctx, chosen, &req)
	if err != nil {
		return nil, err
	}
	list := &memory.LessonList{Project: project.ID, ProjectName: project.Name, Lessons: []memory.Item{}, Total: found, Found: found}
	if req.Withdrawn || req.Pinned || req.Words != "" || req.Tag != "" || !req.Since.IsZero() {
		list.Total = s.opts.Corpus.RecordCount(sel)
	}
	code, stop := context.WithTimeout(ctx, deadline)
	defer stop()
	l := s.lookAtAnchors(code, req.Caller.Dir, maxListReads)
	for rec, err := range s.records(ctx, ids) {
		if err != nil {
			return nil, err
		}
		if len(list.Lessons) == req.Limit && !req.Stale {
			break
		}
		if rec.Event == nil || req.Stale && len(rec.Event.Anchors) == 0 {
			continue
		}
		item := s.lessonItem(&rec)
		item.Anchors = l.check(rec.Project, rec.Event.Anchors)
		if req.Stale {
			state := memory.WorstAnchor(item.Anchors)
			if state == memory.AnchorUnknown {
				list.Unread++
			}
			if !state.Outdated() {
				continue
			}
			if list.Stale++; list.Stale <= req.Skip {
				continue
			}
		}
		if len(list.Lessons) < req.Limit {
			list.Lessons = append(list.Lessons, item)
		}
	}
	if req.Stale {
		list.Found = list.Stale
	}
	return list, nil
}

// lessonsOf returns the project of a request and the selection of its lessons.
func (s *Service) lessonsOf(ctx context.Context, name string, caller memory.Caller) (memory.Project, memory.Selection, error) {
	if err := s.ready(); err != nil {
		return memory.Project{}, memory.Selection{}, err
	}
	project, _, err := s.opts.Projects.Resolve(ctx, name, caller)
	return project, memory.Selection{
		Project: project.ID, Kinds: []memory.Kind{memory.Lesson},
		Followed: memory.AsksFrom(ctx, s.opts.Projects, project.ID, name, caller),
	}, err
}

// orderedLessons returns the ids of the lessons that a list is made of, in its order, without
// those that it skips, and how many there are with those. Which ones are stale shows only when
// their code is read, so none of these are skipped.
func (s *Service) orderedLessons(ctx context.Context, sel memory.Selection, req *memory.LessonsRequest) (ids []string, found int, err error) {
	skip, most := req.Skip, req.Limit
	if req.Stale {
		skip, most = 0, math.MaxInt
	}
	if req.Words == "" {
		ids, found = s.opts.Corpus.OrderedIDs(sel, req.Order, skip, most)
		return ids, found, nil
	}
	ids, err = s.lessonsWithWords(ctx, sel, req)
	return ids[min(skip, len(ids)):], len(ids), err
}

// lessonsWithWords returns the ids of the lessons that words find, the best first.
func (s *Service) lessonsWithWords(ctx context.Context, sel memory.Selection, req *memory.LessonsRequest) ([]string, error) {
	if req.Withdrawn { // the word index does not know which of them have a text that is recalled, too
		ids, _ := s.opts.Corpus.OrderedIDs(sel, req.Order, 0, maxReadForWords)
		return s.readForWords(ctx, ids, req.Words)
	}
	sources := s.opts.Corpus.Sources()
	words := slices.IndexFunc(sources, func(x index.Source) bool { return x.Collection == "" && x.Retriever != nil })
	if words < 0 {
		return nil, memory.Errorf(memory.CodeUnavailable, "the search by words is not ready")
	}
	allow, universe := s.opts.Corpus.Select(sel)
	found, err := sources[words].Retriever.Retrieve(ctx, index.Query{Text: req.Words, Allow: allow, Universe: universe, Limit: memory.MaxLessonsFound})
	if errors.Is(err, index.ErrNotReady) { // nothing is held
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find lessons: %w", err)
	}
	var all, some []string
	for _, hit := range found.Hits {
		for _, c := range s.opts.Corpus.AppendCandidates(nil, hit.Doc, &sel) {
			if hit.Held >= 1 { // the same sum as of all
				all = append(all, c.ID)
			} else {
				some = append(some, c.ID)
			}
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	return some, nil
}

// readForWords returns the lessons that hold all words.
func (s *Service) readForWords(ctx context.Context, ids []string, words string) ([]string, error) {
	var found []string
	wanted := strings.Fields(strings.ToLower(words))
	for _, id := range ids {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rec, err := s.opts.Corpus.Record(id)
		if err != nil {
			continue // forgotten since
		}
		text := strings.ToLower(rec.Text)
		if !slices.ContainsFunc(wanted, func(w string) bool { return !strings.Contains(text, w) }) {
			found = append(found, id)
		}
	}
	return found, nil
}

// Lesson shows one lesson of a project, recalled or withdrawn. receipts returns the newest
// receipts that a filter chooses, at most so many, and whether there are more. CodeNotFound
// for an id that is none of a lesson.
func (s *Service) Lesson(ctx context.Context, req memory.LessonRequest, receipts func(memory.ReceiptFilter, int) ([]memory.Receipt, bool, error)) (*memory.LessonHistory, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	project, sel, err := s.lessonsOf(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	rec, err := s.opts.Corpus.Record(req.ID)
	if err != nil && memory.CodeOf(err) != memory.CodeNotFound {
		return nil, fmt.Errorf("read lesson: %w", err)
	}
	if err == nil && rec.Event != nil {
		sel.Withdrawn = rec.Event.Withdrawn != nil
	}
	if err != nil || rec.Event == nil || !s.opts.Corpus.Selected(req.ID, sel) {
		return nil, &memory.Error{Code: memory.CodeNotFound, Field: "id", Message: "this project has no lesson " + memory.Quote(req.ID), Hint: "the list of lessons has their ids"}
	}
	h := &memory.LessonHistory{
		Lesson: s.lessonItem(&rec), Type: rec.Event.Type, Tags: s.cleanAll(rec.Tags), Seen: max(rec.Event.Seen, 1),
		Observations: []memory.LessonReport{}, Withdrawn: rec.Event.Withdrawn, Verdicts: rec.Verdicts, HandedOut: []memory.LessonHandout{},
	}
	code, stop := context.WithTimeout(ctx, listDeadline)
	defer stop()
	h.Lesson.Anchors = s.lookAtAnchors(code, req.Caller.Dir, maxListReads).check(rec.Project, rec.Event.Anchors)
	for _, o := range rec.Event.Observations {
		told := memory.LessonReport{At: o.At, Agent: s.clean(o.AgentID), Session: o.Session}
		if o.Rate != nil {
			told.SuccessRate = o.Rate.String()
		}
		h.Observations = append(h.Observations, told)
	}
	if !req.Handouts {
		return h, nil
	}
	var held []memory.Receipt
	if held, h.More, err = receipts(memory.ReceiptFilter{Project: project.ID, Item: rec.ID}, memory.MaxHandouts); err != nil {
		return nil, fmt.Errorf("find receipts: %w", err)
	}
	for _, r := range held {
		h.HandedOut = append(h.HandedOut, s.handout(&r, rec.ID))
	}
	return h, nil
}

// handout is what a receipt says about one item.
func (s *Service) handout(r *memory.Receipt, id string) memory.LessonHandout {
	out := memory.LessonHandout{Receipt: r.ID, At: r.At, Asked: s.clean(r.Request.Asked()), Purpose: r.Purpose, Session: r.Session, Turn: r.Turn}
	inFull := false // a verdict on the whole receipt is about what it showed in full
	for _, item := range r.Items {
		if item.ID == id {
			out.Relevance, out.Tokens = item.Relevance, item.Tokens
			inFull = inFull || item.Strength != memory.Maybe
		}
	}
	for _, v := range r.Judged {
		if v.Item == id || v.Item == "" && inFull {
			out.Verdict, out.VerdictAt = v.Verdict, v.At
		}
	}
	return out
}

// lessonItem shows a lesson outside of an answer.
func (s *Service) lessonItem(rec *memory.Record) memory.Item {
	item := memory.Item{
		ID: rec.ID, Kind: rec.Kind, Project: rec.Project, CreatedAt: rec.Created,
		Source:     memory.Source{Session: rec.Session, Repo: rec.Repo},
		Provenance: shownProvenance(rec.Provenance), Pinned: rec.Event.Pinned, Private: rec.Event.Private,
	}
	fillLesson(&item, rec.Event, s.clean)
	return item
}
