package ingest

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// Lister lists the records that a project has in the store.
type Lister interface {
	ProjectRecords(ctx context.Context, project string, kind memory.Kind) iter.Seq2[memory.Record, error]
}

// Contents lists what a project has in the store.
type Contents interface {
	Lister
	ProjectSessions(project string) ([]memory.Session, error)
}

// followable are the kinds of records that files of a repository can bring.
var followable = []memory.Kind{memory.Lesson, memory.Step, memory.Rule, memory.Reference, memory.Tool}

// Withdraw removes a project's followed records for which stays is false; what the team tells
// too stays the team's. Unlike Forget it leaves no tombstones: the files bring the records back
// when they are read again. It returns how many records were removed.
func (s *Service) Withdraw(ctx context.Context, project string, have Contents, stays func(memory.Provenance) bool) (removed int, err error) {
	s.forgetting.Lock()
	defer s.forgetting.Unlock()
	goes := func(p memory.Provenance) bool { return p.Followed() && !stays(p) }
	var records []string
	var team []memory.Record  // that the team tells too
	told := map[string]bool{} // sessions that have steps of their own
	for _, kind := range followable {
		for r, err := range have.ProjectRecords(ctx, project, kind) {
			switch {
			case err != nil:
				return 0, fmt.Errorf("withdraw: %w", err)
			case goes(r.Provenance):
				records = append(records, r.ID)
			case r.Provenance.Origin == memory.OriginTeam && r.Provenance.Path != "" && !stays(memory.Provenance{Origin: memory.OriginFollowed, Path: r.Provenance.Path}):
				team = append(team, r)
			case kind == memory.Step:
				told[r.Session] = true
			}
		}
	}
	sessions, err := have.ProjectSessions(project)
	if err != nil {
		return 0, fmt.Errorf("withdraw: %w", err)
	}
	var b memory.Batch
	for _, x := range sessions {
		switch {
		case !goes(x.Provenance):
		case told[x.ID]: // its metadata is removed, its own steps stay
			b.Sessions = append(b.Sessions, memory.Session{ID: x.ID, Project: x.Project, CreatedAt: x.CreatedAt, Bare: true})
		default:
			b.DropSessions = append(b.DropSessions, x.Key())
		}
	}
	for part := range slices.Chunk(records, dropBatch) {
		c, err := s.opts.Committer.Commit(ctx, memory.Batch{DropRecords: part})
		if err != nil {
			return removed, fmt.Errorf("withdraw: %w", err)
		}
		removed += c.Dropped
	}
	withoutFile := func(r, _ memory.Record) memory.Record {
		r.Provenance.Path = ""
		return r
	}
	for part := range slices.Chunk(team, dropBatch) {
		if _, err := s.opts.Committer.Commit(ctx, memory.Batch{Records: part, Merge: withoutFile}); err != nil {
			return removed, fmt.Errorf("withdraw: %w", err)
		}
	}
	b.Action, b.Detail = "withdraw followed records", map[string]any{"project": project, "records": len(records), "sessions": len(b.DropSessions)}
	if _, err := s.opts.Committer.Commit(ctx, b); err != nil {
		return removed, fmt.Errorf("withdraw: %w", err)
	}
	return removed, nil
}

// KnowsLine says that a log line brings nothing new: its lesson was recorded, imported or
// forgotten.
func (s *Service) KnowsLine(line memory.LogLine, project memory.Project) (bool, error) {
	line.Repo = cmp.Or(line.Repo, project.Name)
	id := lessonID(project.ID, line)
	r, known, err := find(s.opts.Records, id)
	if err != nil {
		return false, fmt.Errorf("find lesson: %w", err)
	}
	if known {
		return !r.Provenance.Followed(), nil
	}
	return s.opts.Records.Tombstoned(id)
}
