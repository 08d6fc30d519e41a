package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// Commit writes a batch durably and applies it to the indexes. It returns
// CodeInvalidInput for a batch that names something twice.
func (s *Store) Commit(ctx context.Context, b memory.Batch) (memory.Committed, error) {
	var out memory.Committed
	if err := s.writable(); err != nil {
		return out, err
	}
	if err := distinct(b); err != nil {
		return out, err
	}
	erased, err := s.linesAbout(b.EraseDetails)
	if err != nil {
		return out, err
	}
	var swept *[]memory.DocID // set when the update is finished
	refused := false
	sum := subjectSum(ctx, b)
	seq, err := s.Update(ctx, func(tx *Tx) error {
		swept = &tx.change.Swept
		if b.RequestID != "" {
			var first answer
			err := tx.Answer(b.RequestID, &first)
			if err == nil {
				if sum != nil && first.Sum != nil && !bytes.HasPrefix(first.Sum, sum) {
					return memory.OtherRequest()
				}
				out = first.Committed
				out.Repeated = true
				return nil
			}
			if memory.CodeOf(err) != memory.CodeNotFound {
				return err
			}
		}
		if err := tx.putBatch(b, erased, &out); err != nil {
			return err
		}
		if forgets(b) {
			tx.refuseSaved()
		}
		refused = tx.refusedSaved
		if b.RequestID != "" && !b.Partial {
			out.Seq = tx.group.seq + 1 // the number that Update will give it
			return tx.PutAnswer(b.RequestID, answer{out, sum})
		}
		return nil
	})
	if err != nil {
		return memory.Committed{}, err
	}
	if !out.Repeated {
		out.Seq, out.Swept = seq, len(*swept)
	}
	if refused {
		s.removeRefused()
	}
	return out, nil
}

// answer is what is kept of a request.
type answer struct {
	memory.Committed
	// Sum is subjectSum's. Former versions kept none.
	Sum []byte `cbor:",omitempty"`
}

// subjectSum returns the sum of a request and its subject, nil without a request. That of a
// session begins with that of its project.
func subjectSum(ctx context.Context, b memory.Batch) []byte {
	sum := memory.RequestSum(ctx)
	if b.RequestID == "" || sum == nil {
		return nil
	}
	project, session, of := strings.Cut(b.Subject, "/")
	all := sha256.Sum256(append(slices.Clone(sum), project...))
	if !of {
		return all[:16]
	}
	id := sha256.Sum256([]byte(session))
	return append(all[:16], id[:8]...)
}

// forgets says that a batch removes what must not be found anywhere.
func forgets(b memory.Batch) bool {
	return len(b.DropRecords) > 0 && len(b.Tombstones) > 0 || len(b.EraseDetails)+len(b.DropProjects)+len(b.DropSandboxes) > 0
}

// distinct refuses a batch that puts or drops something twice. An update does not read
// its own writes, so the second would count what it replaces once more.
func distinct(b memory.Batch) error {
	seen := map[string]bool{}
	var errs []error
	add := func(key []byte) {
		if seen[string(key)] {
			errs = append(errs, memory.Errorf(memory.CodeInvalidInput, "commit batch: %q appears twice", key))
		}
		seen[string(key)] = true
	}
	for _, r := range b.Records {
		add(key(prefixRecord, r.ID))
	}
	for _, id := range b.DropRecords {
		add(key(prefixRecord, id))
	}
	for _, f := range b.Files {
		add(keyFile(f.Sandbox, f.Path))
	}
	for _, f := range b.DropFiles {
		add(keyFile(f.Sandbox, f.Path))
	}
	for _, f := range b.PruneFiles {
		add(keyFile(f.Sandbox, f.Path))
	}
	for _, x := range b.Sessions {
		add(keySession(x.Key()))
	}
	for _, k := range b.DropSessions {
		add(keySession(k))
	}
	for _, e := range b.States {
		add(keyState(e.Key))
	}
	for _, r := range b.Receipts {
		add(key(prefixReceipt, r.ID))
	}
	for _, id := range b.DropReceipts {
		add(key(prefixReceipt, id))
	}
	return errors.Join(append(errs, apart(b))...)
}

// apart refuses a batch that drops a session and also writes something of it.
func apart(b memory.Batch) error {
	for _, k := range b.DropSessions {
		of := memory.StateKey{Project: k.Project, Kind: memory.StateSession, ID: k.ID}
		if slices.ContainsFunc(b.States, func(e memory.StateEdit) bool { return e.Key == of }) ||
			slices.ContainsFunc(b.Receipts, func(r memory.Receipt) bool { return r.Project == k.Project && r.Session == k.ID }) {
			return memory.Errorf(memory.CodeInvalidInput, "commit batch: it drops session %q and writes to it", k.ID)
		}
	}
	return nil
}

func (tx *Tx) putBatch(b memory.Batch, erased *about, out *memory.Committed) error {
	if b.Refused != nil {
		return b.Refused
	}
	if b.Import {
		tx.s.lastImport.Store(new(time.Now()))
		var err error
		if b, err = tx.withoutForgotten(b, out); err != nil {
			return err
		}
	}
	for _, d := range b.Docs {
		if err := tx.PutDoc(d); err != nil {
			return err
		}
	}
	for _, x := range b.Sessions {
		if err := tx.putSession(x, b.MergeSession); err != nil {
			return err
		}
		out.Put = append(out.Put, x.ID)
	}
	for _, r := range b.Records {
		old, _, err := tx.existingRecord(r.ID)
		if err != nil {
			return err
		}
		if old == nil && b.Existing {
			out.Left = append(out.Left, r.ID)
			continue
		}
		out.Put = append(out.Put, r.ID)
		if old != nil {
			out.Merged = append(out.Merged, r.ID)
			if b.Merge != nil {
				r = b.Merge(*old, r)
			}
		}
		if err := tx.putRecord(old, r); err != nil {
			return err
		}
	}
	for _, f := range b.Files {
		if err := tx.PutFile(f); err != nil {
			return err
		}
	}
	for _, f := range b.PruneFiles {
		had, err := tx.PruneFile(f.Sandbox, f.Path)
		if err != nil {
			return err
		}
		out.Pruned += btoi(had)
	}
	for _, p := range b.Projects {
		if err := tx.putProject(p); err != nil {
			return err
		}
	}
	for _, id := range b.Tombstones {
		tx.s.hasTombstones.Store(true)
		tx.put(key(prefixTomb, id), nil)
	}
	for _, x := range b.Sandboxes {
		if err := tx.putSandbox(x); err != nil {
			return err
		}
	}
	for _, e := range b.States {
		if err := tx.EditState(e); err != nil {
			return err
		}
	}
	for _, r := range b.Receipts {
		if err := tx.PutReceipt(r); err != nil {
			return err
		}
	}
	if err := tx.dropBatch(b, out); err != nil {
		return err
	}
	if b.Action != "" {
		tx.Audit(b.Action, b.Detail, b.About...)
	}
	return tx.eraseDetails(erased)
}

func (tx *Tx) dropBatch(b memory.Batch, out *memory.Committed) error {
	for _, id := range b.DropRecords {
		was, err := tx.DropRecord(id)
		if err != nil {
			return err
		}
		out.Dropped += btoi(was)
	}
	for _, f := range b.DropFiles {
		was, err := tx.DropFile(f.Sandbox, f.Path)
		if err != nil {
			return err
		}
		out.Dropped += btoi(was)
	}
	for _, id := range b.DropProjects {
		tx.del(key(prefixProject, id))
		tx.projects = true
		for k := range tx.keys(prefixStates(id)) {
			tx.preDelete(k)
		}
		tx.dropTurns(prefixTurns(id))
	}
	for _, id := range b.DropSandboxes {
		tx.dropSandbox(id)
	}
	for _, id := range b.DropReceipts {
		if err := tx.dropReceipt(id); err != nil {
			return err
		}
	}
	for _, k := range b.DropSessions {
		if err := tx.DropSession(k); err != nil {
			return err
		}
	}
	for _, id := range b.DropTombstones {
		tx.del(key(prefixTomb, id))
	}
	return nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// PutVectors adds vectors to a collection and returns how many of the documents were
// still referenced; the vectors of the others are dropped.
func (s *Store) PutVectors(ctx context.Context, collection string, vectors []memory.DocVector) (int, error) {
	kept := 0
	for part := range slices.Chunk(vectors, 256) {
		n := 0
		_, err := s.Update(ctx, func(tx *Tx) error {
			for _, v := range part {
				held, err := tx.PutVector(collection, v.Doc, v.Vector)
				if err != nil {
					return err
				}
				n += btoi(held)
			}
			return nil
		})
		if err != nil {
			return kept, fmt.Errorf("put vectors: %w", err)
		}
		kept += n
	}
	return kept, nil
}
