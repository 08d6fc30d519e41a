package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// Holdings lists what a project holds. Listing must not wait for a write of
// lessons, sessions or steps: these wait for the forgetting to end.
type Holdings interface {
	ProjectHoldings(project string) (memory.Holdings, error)
}

// dropBatch is how many records or files are removed in one commit.
const dropBatch = 1000

// forgetNote is said after every forget: what lies outside the store is not
// ours to erase.
const forgetNote = "backups and exports made before, and the logs and session files of the repository, may still hold the text"

// Forget removes records for good: with the last record or file that holds a
// text its terms and vectors go as well. Lessons and steps leave tombstones, and
// so do the sessions of a project, so that no import brings them back.
func (s *Service) Forget(ctx context.Context, req memory.ForgetRequest, have Holdings) (*memory.Forgotten, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	s.forgetting.Lock()
	defer s.forgetting.Unlock()
	out := &memory.Forgotten{Note: forgetNote}
	if len(req.IDs) > 0 {
		there, err := s.stored(req.IDs)
		if err != nil {
			return nil, fmt.Errorf("forget records: %w", err)
		}
		c, err := s.opts.Committer.Commit(ctx, memory.Batch{
			DropRecords: unique(req.IDs), Tombstones: importable(there), Action: "forget", Detail: map[string]any{"ids": req.IDs},
		})
		if err != nil {
			return nil, err
		}
		out.Records, out.Documents = c.Dropped, c.Swept
	}
	if req.Project != "" {
		if err := s.forgetProject(ctx, req.Project, have, out); err != nil {
			return nil, fmt.Errorf("forget project: %w", err)
		}
	}
	if out.Records+out.Files == 0 && req.Project == "" {
		return nil, memory.Errorf(memory.CodeNotFound, "there is no record with such an id")
	}
	return out, nil
}

func (s *Service) forgetProject(ctx context.Context, name string, have Holdings, out *memory.Forgotten) error {
	p, known, err := s.opts.Projects.Resolve(ctx, name, memory.Caller{})
	if err != nil {
		return err
	}
	if !known {
		return memory.Errorf(memory.CodeNotFound, "project %s is not known", memory.Quote(name))
	}
	held, err := have.ProjectHoldings(p.ID)
	if err != nil {
		return err
	}
	drop := func(b memory.Batch) error {
		c, err := s.opts.Committer.Commit(ctx, b)
		out.Records += min(c.Dropped, len(b.DropRecords))
		out.Files += min(c.Dropped, len(b.DropFiles))
		out.Documents += c.Swept
		return err
	}
	for part := range slices.Chunk(held.Records, dropBatch) {
		if err := drop(memory.Batch{DropRecords: part, Tombstones: importable(part)}); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(held.Sessions, dropBatch) {
		var b memory.Batch
		for _, id := range part {
			b.DropSessions = append(b.DropSessions, memory.SessionKey{Project: p.ID, ID: id})
			b.Tombstones = append(b.Tombstones, sessionTombstone(p.ID, id))
		}
		if err := drop(b); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(held.Files, dropBatch/10) {
		if err := drop(memory.Batch{DropFiles: part}); err != nil {
			return err
		}
	}
	// Last, when those that were not written yet are.
	for part := range slices.Chunk(held.Receipts, dropBatch) {
		if err := drop(memory.Batch{DropReceipts: part}); err != nil {
			return err
		}
	}
	return drop(memory.Batch{
		DropProjects: []string{p.ID}, DropSandboxes: held.Sandboxes,
		Action: "forget", Detail: map[string]any{"project": p.ID},
	})
}

// stored returns which of the ids are those of records.
func (s *Service) stored(ids []string) ([]string, error) {
	var there []string
	for _, id := range unique(ids) {
		_, err := s.opts.Records.Record(id)
		if err == nil {
			there = append(there, id)
		} else if memory.CodeOf(err) != memory.CodeNotFound {
			return nil, err
		}
	}
	return there, nil
}

// importable returns the ids of the records that files may hold: lessons and
// steps.
func importable(ids []string) []string {
	var found []string
	for _, id := range ids {
		if strings.HasPrefix(id, "l-") || strings.HasPrefix(id, "s-") {
			found = append(found, id)
		}
	}
	return found
}

// sessionTombstone is the tombstone of a session, which is no record and has its
// id in its project only.
func sessionTombstone(project, id string) string { return identify("n", project, id) }
