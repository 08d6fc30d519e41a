package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// TeamID names a lesson for a team: all members give the same lesson of a team project the
// same id, whatever the id of the project is on their machines.
func TeamID(teamProject string, r *memory.Record) string {
	return lessonID(teamProject, memory.LogLine{Repo: r.Repo, Context: r.Event.Context, Lesson: r.Event.Lesson, Command: r.Event.Command})
}

// TeamLessonID is the TeamID of a lesson as it is shared, without secrets.
func TeamLessonID(teamProject string, l *memory.TeamLesson) string {
	return lessonID(teamProject, memory.LogLine{Repo: l.Repo, Context: l.Context, Lesson: l.Lesson, Command: l.Command})
}

// Shared is the share of a member: a lesson, or nil for the one with this TeamID that the
// member took back.
type Shared struct {
	Member string
	ID     string
	Lesson *memory.TeamLesson
}

// TakeShares takes over what members of a team say of lessons of a project, which the team
// knows as teamProject. A share replaces the one that the same member gave before, so the
// result depends neither on the order of members nor on repetition. A lesson that no member
// shares any more is removed, unless it was told, imported or followed here. What was
// forgotten here stays out. Problems are the shares that were skipped.
func (s *Service) TakeShares(ctx context.Context, project memory.Project, teamProject string, have Lister, shares []Shared) (Imported, error) {
	var out Imported
	here, err := takenBackHere(ctx, project, teamProject, have, shares)
	if err != nil {
		return out, fmt.Errorf("take shares: %w", err)
	}
	for taken := 0; taken < len(shares); {
		n, err := s.takeShares(ctx, project, teamProject, here, shares, taken, &out)
		if err != nil {
			return out, fmt.Errorf("take shares: %w", err)
		}
		taken += n
	}
	return out, nil
}

// sharedSize estimates the bytes of a lesson in a commit: one that many members share is large.
func sharedSize(r memory.Record) int {
	const rest = 128 // a time, a rate and keys
	n := 2*len(r.Text) + memory.ExtraSize(r.Extra)
	for _, o := range r.Event.Observations {
		n += rest + len(o.AgentID)
	}
	for _, x := range r.Event.Team {
		n += rest + len(x.Member)
	}
	return n
}

// takenBackHere returns the ids here of the lessons that members took back, by their ids for
// the team. Only a walk over the project's lessons gives them, so it is made once, and without
// a lock.
func takenBackHere(ctx context.Context, project memory.Project, teamProject string, have Lister, shares []Shared) (map[string]string, error) {
	here := map[string]string{}
	for _, x := range shares {
		if x.Lesson == nil {
			here[x.ID] = ""
		}
	}
	if len(here) == 0 {
		return nil, nil
	}
	for r, err := range have.ProjectRecords(ctx, project.ID, memory.Lesson) {
		if err != nil {
			return nil, err
		}
		if r.Event == nil {
			continue
		}
		id := TeamID(teamProject, &r)
		if _, wanted := here[id]; wanted {
			here[id] = r.ID
		}
	}
	return here, nil
}

// takeShares takes a part of the shares after those that were taken, as much as one commit
// holds, and returns how many. here is what takenBackHere returned.
func (s *Service) takeShares(ctx context.Context, project memory.Project, teamProject string, here map[string]string, shares []Shared, taken int, out *Imported) (n int, err error) {
	// A lesson must not be told between the check that no member shares it and its removal.
	s.forgetting.Lock()
	defer s.forgetting.Unlock()
	w := s.newChanges()
	var takenBack []string
	size := 0
	for i, x := range shares[taken:min(taken+maxPart, len(shares))] {
		if size > maxPartBytes {
			break
		}
		n = i + 1
		if x.Lesson == nil {
			if id := here[x.ID]; id != "" {
				takenBack = append(takenBack, id)
				changed, err := w.add(id, change{share: &memory.TeamShare{Member: x.Member}})
				if err != nil {
					return 0, err
				}
				if changed {
					size += sharedSize(w.now[id])
				}
			}
			continue
		}
		one, share, err := s.sharedRecord(x, project, teamProject)
		if err != nil {
			out.Problems = append(out.Problems, Problem{taken + i, err})
			continue
		}
		left, err := s.isForgotten(w, one.ID)
		if err != nil {
			return 0, err
		}
		if left {
			out.Forgotten++
			continue
		}
		changed, err := w.add(one.ID, change{one: &one, share: &share})
		switch {
		case err != nil:
			return 0, err
		case changed:
			out.Added++
			size += sharedSize(w.now[one.ID])
		default:
			out.Known++
		}
	}
	b := memory.Batch{Action: "take shares of the team", Detail: map[string]any{"project": project.ID, "shares": n}}
	for _, id := range unique(takenBack) { // several members may take one back
		if r := w.now[id]; r.Event != nil && r.Provenance.Origin == memory.OriginTeam && !teamTells(r.Event) {
			b.DropRecords = append(b.DropRecords, id)
			w.order = slices.DeleteFunc(w.order, func(x string) bool { return x == id })
		}
	}
	if err := s.addProject(&b, project); err != nil {
		return 0, err
	}
	if len(w.order) == 0 && len(b.DropRecords) > 0 {
		_, err = s.opts.Committer.Commit(ctx, b)
	} else {
		_, err = s.commitChanges(ctx, w, b)
	}
	return n, err
}

// isForgotten says that a record is not there because it was forgotten.
func (s *Service) isForgotten(w *changes, id string) (bool, error) {
	if r, err := w.record(id); err != nil || r.ID != "" {
		return false, err
	}
	return s.opts.Records.Tombstoned(id)
}

// sharedRecord checks and cleans the lesson of a share as if it were read from a file.
func (s *Service) sharedRecord(x Shared, project memory.Project, teamProject string) (one memory.Record, share memory.TeamShare, err error) {
	l := x.Lesson
	share = memory.TeamShare{Member: x.Member, At: notAfter(l.At, s.now()), Rate: l.Rate}
	if r := l.Rate; r != nil && (r.Attempts < 1 || r.Attempts > memory.MaxAttempts || r.Successes < 0 || r.Successes > r.Attempts) {
		return one, share, memory.Invalid("rate", "0/1 to 9999999/9999999", "%s is no rate", r)
	}
	if a := l.Withdrawn; a != nil {
		share.Withdrawn = &memory.Withdrawal{At: notAfter(a.At, s.now()), Reason: retracted, Member: x.Member}
		if a.Reason == superseded {
			share.Withdrawn.Reason = superseded
		}
	}
	line := memory.LogLine{
		Timestamp: share.At, AgentID: l.Agent, Repo: l.Repo, Type: l.Type, Context: l.Context, Command: l.Command, Lesson: l.Lesson, Tags: l.Tags,
	}
	from := memory.Provenance{Origin: memory.OriginTeam, Agent: x.Member}
	if line, err = s.importedLine(line, project, from); err != nil {
		return one, share, err
	}
	one = s.lessonRecord(line, project.ID)
	one.Provenance = from
	one.Event.Rate, one.Event.RateAt = nil, time.Time{}
	if TeamID(teamProject, &one) != x.ID { // it could never be taken back
		return one, share, memory.Invalid("id", "", "it is not the id of this text")
	}
	return one, share, nil
}

// notAfter is a time that a colleague's clock may have in the future.
func notAfter(t, now time.Time) time.Time {
	if t.After(now) {
		return now
	}
	return t.UTC()
}

// shared returns a lesson with what a member of the team says of it now, and whether that
// changed it. one is the lesson as the member tells it, nil if the member takes it back.
func shared(old memory.Record, one *memory.Record, share memory.TeamShare) (memory.Record, bool) {
	switch {
	case one == nil && old.Event == nil:
		return old, false
	case old.Event == nil:
		old = *one
	case !share.At.IsZero() && old.Provenance.Followed(): // a colleague is trusted more
		file := old.Provenance.Path
		old = promote(old, *one, false)
		old.Provenance.Path = file
	}
	event := *old.Event
	event.Team = slices.Clone(event.Team)
	i, found := slices.BinarySearchFunc(event.Team, share.Member, func(x memory.TeamShare, name string) int { return strings.Compare(x.Member, name) })
	// Outcomes alone do not withdraw again what was brought back here.
	onlyCounted := one != nil && found && sameReport(event.Team[i], share)
	switch {
	case one == nil && !found, onlyCounted && sameRate(event.Team[i].Rate, share.Rate):
		return old, false
	case one == nil:
		event.Team = slices.Delete(event.Team, i, i+1)
	case found:
		event.Team[i] = share
	default:
		event.Team = slices.Insert(event.Team, i, share)
	}
	old.Event = &event
	switch {
	case old.Provenance.Origin != memory.OriginTeam:
	case old.Provenance.Path != "" && !teamTells(&event): // the file still does
		old.Provenance = memory.Provenance{Origin: memory.OriginFollowed, Path: old.Provenance.Path}
		event.AgentID, event.Observations = "", nil // the file's come when it is read again
	default:
		historyOfTeam(&old)
	}
	if !onlyCounted {
		event.Withdrawn = teamWithdrawal(&event)
	}
	return old, true
}

// teamTells says that a member tells a lesson. Outcomes alone do not keep it: two members who
// only counted some would hold it for one another when the one who told it has forgotten it.
func teamTells(e *memory.Event) bool {
	return slices.ContainsFunc(e.Team, func(x memory.TeamShare) bool { return !x.At.IsZero() })
}

// historyOfTeam makes the history of a lesson that is known from the team alone: the same for
// any order of shares.
func historyOfTeam(r *memory.Record) {
	var list []memory.Observation
	for _, x := range r.Event.Team {
		if !x.At.IsZero() {
			list = append(list, memory.Observation{At: x.At, AgentID: x.Member})
		}
	}
	if len(list) == 0 { // outcomes alone
		return
	}
	slices.SortStableFunc(list, func(a, b memory.Observation) int { return a.At.Compare(b.At) })
	r.Created, r.Provenance.Agent = list[0].At, list[0].AgentID
	if last := list[len(list)-1].At; last.After(r.Created) {
		r.Updated = last
	}
	r.Event.Observations = list[:min(len(list), memory.MaxObservations)]
}

// teamWithdrawal is the latest withdrawal, by this user or the team. A later report of the
// lesson ends it. It is the same on every machine.
func teamWithdrawal(e *memory.Event) *memory.Withdrawal {
	var latest *memory.Withdrawal
	if e.Withdrawn != nil && e.Withdrawn.Member == "" {
		latest = e.Withdrawn
	}
	var told time.Time
	for _, o := range e.Observations {
		told = later(told, o.At)
	}
	for _, x := range e.Team {
		told = later(told, x.At)
		if x.Withdrawn != nil && (latest == nil || x.Withdrawn.At.After(latest.At)) {
			latest = x.Withdrawn
		}
	}
	if latest == nil || told.After(latest.At) {
		return nil
	}
	return latest
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// sameReport says that a member reports and withdraws a lesson as before; rates may differ.
func sameReport(a, b memory.TeamShare) bool {
	same := a.At.Equal(b.At) && (a.Withdrawn == nil) == (b.Withdrawn == nil)
	return same && (a.Withdrawn == nil || a.Withdrawn.At.Equal(b.Withdrawn.At) && a.Withdrawn.Reason == b.Withdrawn.Reason)
}
