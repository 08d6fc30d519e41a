package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// Holdings lists the contents of a project. Writes of lessons, sessions and steps wait
// until the forgetting ends. Therefore a listing must not wait for such a write, and its
// time must not grow with other projects.
type Holdings interface {
	ProjectHoldings(ctx context.Context, project string) (memory.Holdings, error)
	// ProjectReceipts lists a project's receipts. It does not block writes.
	ProjectReceipts(ctx context.Context, project string) ([]string, error)
	// SessionHoldings lists the sessions that have an id, with their steps.
	SessionHoldings(ctx context.Context, id string) ([]memory.SessionHoldings, error)
}

// dropBatch is how many records or files are removed in one commit.
const dropBatch = 1000

// forgetNote is part of every result: what forgetting does not reach, or not at once.
const forgetNote = "backups and exports made before, the logs and session files of the repository, and for a while the files of the store may still hold the text"

// Forget removes records for good, and sessions with their steps: with the last
// record or file that holds a text its terms and vectors go as well, and what the audit
// log repeats of a task or blocker, or of all that a project ever had. Lessons, steps,
// tasks, blockers and sessions leave tombstones, so that no import brings them back.
// An id of a session is enough where only one project has it, CodeConflict else.
func (s *Service) Forget(ctx context.Context, req memory.ForgetRequest, have Holdings) (*memory.Forgotten, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	out := &memory.Forgotten{Note: forgetNote}
	if len(req.IDs) > 0 {
		if err := s.forgetIDs(ctx, req.IDs, have, out); err != nil {
			return nil, fmt.Errorf("forget records: %w", err)
		}
	}
	if req.Project != "" {
		if err := s.forgetProject(ctx, req.Project, have, out); err != nil {
			return nil, fmt.Errorf("forget project: %w", err)
		}
	}
	if out.Records+out.Files+out.Sessions == 0 && req.Project == "" {
		id := memory.Quote(req.IDs[0])
		if len(req.IDs) > 1 {
			id = fmt.Sprintf("%s, nor with another of the %d ids", id, len(req.IDs))
		}
		e := memory.Errorf(memory.CodeNotFound, "there is no record and no session with the id %s", id)
		e.Hint = "the beginning of an id needs 8 characters, and must be of one record alone"
		return nil, e
	}
	return out, nil
}

// forgetIDs removes records and sessions. Nothing is removed if one of the ids
// leaves open what is meant.
func (s *Service) forgetIDs(ctx context.Context, ids []string, have Holdings, out *memory.Forgotten) error {
	s.forgetting.Lock()
	defer s.forgetting.Unlock()
	var records, private []string
	var sessions []memory.SessionHoldings
	for _, given := range unique(ids) {
		id := given
		r, known, err := find(s.opts.Records, id)
		var found []memory.SessionHoldings
		if err == nil && !known {
			found, err = have.SessionHoldings(ctx, id)
		}
		if err == nil && !known && len(found) == 0 { // it may be the beginning of an id
			if id, err = wholeID(s.opts.Records, id); err == nil {
				r, known, err = find(s.opts.Records, id)
			}
		}
		switch {
		case err != nil:
			return err
		case known:
			records, private = append(records, id), append(private, r.PrivateSessions()...)
		case len(found) > 1:
			return ambiguous(id, found)
		case len(found) == 1:
			sessions = append(sessions, found[0])
		default:
			out.Unknown = append(out.Unknown, given)
		}
	}
	for _, x := range sessions {
		if err := s.forgetSession(ctx, x, out); err != nil {
			return err
		}
	}
	if records = unique(records); len(records) == 0 { // one by its id and by its beginning
		return nil
	}
	b := memory.Batch{
		DropRecords: records, Tombstones: slices.Concat(importable(records), ofFiles(records)),
		EraseDetails: withLetters(records, "tb"), Action: "forget", Detail: map[string]any{"ids": records},
	}
	if err := s.markPrivate(&b, private); err != nil {
		return err
	}
	return s.drop(ctx, b, out)
}

// drop commits a batch that removes records or files, and counts them.
func (s *Service) drop(ctx context.Context, b memory.Batch, out *memory.Forgotten) error {
	c, err := s.opts.Committer.Commit(ctx, b)
	out.Records += min(c.Dropped, len(b.DropRecords))
	out.Files += min(c.Dropped, len(b.DropFiles))
	out.Documents += c.Swept
	return err
}

// ambiguous is the error for an id that sessions of several projects have.
func ambiguous(id string, found []memory.SessionHoldings) error {
	var projects []string
	for _, x := range found {
		projects = append(projects, x.Session.Project)
	}
	return &memory.Error{Code: memory.CodeConflict, Field: "ids",
		Message: fmt.Sprintf("%d projects have a session %s: %s", len(found), memory.Quote(id), strings.Join(projects, ", ")),
		Hint:    "name its steps by their ids instead"}
}

// forgetSession removes a session with its last steps, after its other steps: while the
// session is there, the rest can be forgotten by its id.
func (s *Service) forgetSession(ctx context.Context, x memory.SessionHoldings, out *memory.Forgotten) error {
	steps := x.Steps
	for len(steps) > dropBatch {
		if err := s.drop(ctx, memory.Batch{DropRecords: steps[:dropBatch], Tombstones: importable(steps[:dropBatch])}, out); err != nil {
			return err
		}
		steps = steps[dropBatch:]
	}
	key := x.Session.Key()
	err := s.drop(ctx, memory.Batch{
		DropRecords: steps, DropSessions: []memory.SessionKey{key},
		Tombstones: append(importable(steps), sessionTombstone(key.Project, key.ID)),
		Action:     "forget", Detail: map[string]string{"session": key.ID, "project": key.Project},
	}, out)
	if err == nil {
		out.Sessions++
	}
	return err
}

func (s *Service) forgetProject(ctx context.Context, name string, have Holdings, out *memory.Forgotten) error {
	p, known, err := s.opts.Projects.Resolve(ctx, name, memory.Caller{})
	if err != nil {
		return err
	}
	if !known {
		return &memory.Error{Code: memory.CodeNotFound, Field: "project", Message: "nothing is remembered of project " + p.Name}
	}
	// Receipts are listed while new ones may be written. Therefore most are removed first,
	// and receipts of questions asked meanwhile at the end.
	if err := s.forgetReceipts(ctx, p.ID, have); err != nil {
		return err
	}
	if err := s.forgetHoldings(ctx, p.ID, have, out); err != nil {
		return err
	}
	return s.forgetReceipts(ctx, p.ID, have)
}

// forgetReceipts removes the receipts that a project has.
func (s *Service) forgetReceipts(ctx context.Context, project string, have Holdings) error {
	ids, err := have.ProjectReceipts(ctx, project)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(ids, dropBatch) {
		if _, err := s.opts.Committer.Commit(ctx, memory.Batch{DropReceipts: part}); err != nil {
			return err
		}
	}
	return nil
}

// forgetHoldings removes a project with all that it holds but for its receipts.
func (s *Service) forgetHoldings(ctx context.Context, project string, have Holdings, out *memory.Forgotten) error {
	s.forgetting.Lock()
	defer s.forgetting.Unlock()
	held, err := have.ProjectHoldings(ctx, project)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(held.Records, dropBatch) {
		b := memory.Batch{DropRecords: part, Tombstones: importable(part)}
		var private []string // sessions, perhaps of other projects
		for _, id := range withLetters(part, "l") {
			r, _, err := find(s.opts.Records, id)
			if err != nil && memory.CodeOf(err) != memory.CodeCorrupt { // a damaged one is removed, too
				return err
			}
			private = append(private, r.PrivateSessions()...)
		}
		if err := s.markPrivate(&b, private); err != nil {
			return err
		}
		if err := s.drop(ctx, b, out); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(held.Sessions, dropBatch) {
		var b memory.Batch
		for _, id := range part {
			b.DropSessions = append(b.DropSessions, memory.SessionKey{Project: project, ID: id})
			b.Tombstones = append(b.Tombstones, sessionTombstone(project, id))
		}
		if err := s.drop(ctx, b, out); err != nil {
			return err
		}
		out.Sessions += len(part)
	}
	for part := range slices.Chunk(held.Files, dropBatch/10) {
		if err := s.drop(ctx, memory.Batch{DropFiles: part}, out); err != nil {
			return err
		}
	}
	return s.drop(ctx, memory.Batch{
		DropProjects: []string{project}, DropSandboxes: held.Sandboxes, EraseDetails: []string{project},
		Action: "forget", Detail: map[string]any{"project": project},
	}, out)
}

// importable returns the ids of the records that may come from elsewhere again:
// lessons and steps from files, tasks and blockers from old states, session summaries from the
// team.
func importable(ids []string) []string {
	return withLetters(ids, "lstby")
}

// ofFiles returns the ids of the rules, references and tools, which a repository's files
// may define. Forgetting one by its id keeps it out. After its project is forgotten, it
// returns with the project's code when work there resumes.
func ofFiles(ids []string) []string { return withLetters(ids, "ufo") }

func withLetters(ids []string, letters string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		letter, _, _ := strings.Cut(id, "-")
		return len(letter) != 1 || !strings.Contains(letters, letter)
	})
}

// sessionTombstone is the tombstone of a session, which is no record and has its
// id in its project only.
func sessionTombstone(project, id string) string { return memory.RecordID("n", project, id) }
