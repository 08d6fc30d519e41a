package store

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// Record returns a record, or CodeNotFound.
func (s *Store) Record(id string) (memory.Record, error) {
	return read(s, func(v View) (memory.Record, error) { return v.Record(id) })
}

// Known returns, of ids, the records that are stored, and which of the others were forgotten.
// It reads one state: each view by itself waits for Badger's goroutines.
func (s *Store) Known(ids []string) (records map[string]memory.Record, forgotten map[string]bool, err error) {
	records, forgotten = map[string]memory.Record{}, map[string]bool{}
	err = s.View(func(v View) (err error) {
		for _, id := range ids {
			if _, known := records[id]; known {
				continue
			}
			var r memory.Record
			switch r, err = v.Record(id); {
			case err == nil:
				records[id] = r
			case memory.CodeOf(err) == memory.CodeNotFound:
				if err = nil; s.hasTombstones.Load() {
					forgotten[id], err = v.Tombstoned(id)
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return records, forgotten, err
}

// RecordIDs returns the ids of records that begin with a prefix, sorted, at most `most`.
// It reads keys only.
func (s *Store) RecordIDs(prefix string, most int) ([]string, error) {
	return read(s, func(v View) (ids []string, _ error) {
		for k := range v.keys(key(prefixRecord, prefix)) {
			if len(ids) >= most {
				break
			}
			ids = append(ids, string(k[len(prefixRecord):]))
		}
		return ids, nil
	})
}

// File returns an indexed file, or CodeNotFound.
func (s *Store) File(sandbox, path string) (memory.File, error) {
	return read(s, func(v View) (memory.File, error) { return v.File(sandbox, path) })
}

// Files returns the files of a sandbox by path.
func (s *Store) Files(sandbox string) (map[string]memory.File, error) {
	return read(s, func(v View) (map[string]memory.File, error) {
		files := map[string]memory.File{}
		for f := range sound(s, v.Files(sandbox)) {
			files[f.Path] = f
		}
		return files, nil
	})
}

// Terms returns a document's encoded terms, or CodeNotFound.
func (s *Store) Terms(doc memory.DocID) ([]byte, error) {
	return read(s, func(v View) ([]byte, error) { return v.Terms(doc) })
}

// Receipt returns a receipt, also one that is not yet written, or CodeNotFound. A beginning
// or end of an id stands for it, at least memory.ReceiptDigits long; CodeInvalidInput if
// several ids have it.
func (s *Store) Receipt(id string) (memory.Receipt, error) {
	r, err := s.receipt(id)
	if memory.CodeOf(err) != memory.CodeNotFound || len(id) < memory.ReceiptDigits {
		return r, err
	}
	ids, failed := s.receiptsCalled(id)
	switch {
	case failed != nil:
		return memory.Receipt{}, failed
	case len(ids) == 0:
		return memory.Receipt{}, err
	case len(ids) > 1:
		const most = 5
		more := ""
		if len(ids) > most {
			ids, more = ids[len(ids)-most:], fmt.Sprintf(" and %d older ones", len(ids)-most)
		}
		return memory.Receipt{}, memory.Invalid("receipt", strings.Join(ids, ", ")+more, "several receipts are called %s", memory.Quote(id))
	}
	return s.receipt(ids[0])
}

// receiptsCalled returns the ids with a beginning or end, in their order. It reads keys only.
func (s *Store) receiptsCalled(part string) ([]string, error) {
	is := func(id string) bool { return strings.HasPrefix(id, part) || strings.HasSuffix(id, part) }
	var ids []string
	s.mu.Lock()
	for _, r := range s.pending {
		if is(r.ID) {
			ids = append(ids, r.ID)
		}
	}
	s.mu.Unlock()
	err := s.View(func(v View) error {
		for k := range v.keys(prefixReceipt) {
			if id := string(k[len(prefixReceipt):]); is(id) {
				ids = append(ids, id)
			}
		}
		return nil
	})
	slices.Sort(ids) // one that was just written is there twice
	return slices.Compact(ids), err
}

func (s *Store) receipt(id string) (memory.Receipt, error) {
	s.mu.Lock()
	for _, r := range slices.Backward(s.pending) { // the last of two wins
		if r.ID == id {
			s.mu.Unlock()
			return r, nil
		}
	}
	s.mu.Unlock()
	return read(s, func(v View) (memory.Receipt, error) { return v.Receipt(id) })
}

// Projects returns all projects. The caller must not change their names.
func (s *Store) Projects() ([]memory.Project, error) {
	s.mu.Lock()
	kept, at := s.projects, s.projectsAt
	s.mu.Unlock()
	if kept != nil {
		return slices.Clone(kept), nil
	}
	all, err := read(s, func(v View) ([]memory.Project, error) { return slices.Collect(sound(s, v.Projects())), nil })
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.projectsAt == at { // otherwise they may have changed since
		s.projects = slices.Clone(all)
	}
	return all, nil
}

// Sandbox returns a sandbox, or CodeNotFound.
func (s *Store) Sandbox(id string) (memory.Sandbox, error) {
	return read(s, func(v View) (memory.Sandbox, error) { return v.Sandbox(id) })
}

// ProjectRecords yields the records of a project and kind, by id. A damaged record is
// yielded as an error, unless it can be read that it is another project's or kind's, and the
// iteration continues. It reads all records of the store. The error of ctx ends it.
func (s *Store) ProjectRecords(ctx context.Context, project string, kind memory.Kind) iter.Seq2[memory.Record, error] {
	return func(yield func(memory.Record, error) bool) {
		err := s.View(func(v View) error {
			for item := range v.items(prefixRecord, prefixRecord, 0) {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				r, err := readItem(item, decodeValue[memory.Record])
				of, known := r, err == nil
				if !known {
					of, known = v.damagedRecord(item)
				}
				if known && (of.Project != project || of.Kind != kind) {
					continue
				}
				if !yield(r, err) {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			yield(memory.Record{}, err)
		}
	}
}

// damagedRecord reads a record whose checksum does not match, and says whether its project
// and kind can be believed: damage that hit one of them leaves, almost surely, none that is
// known.
func (v View) damagedRecord(item *badger.Item) (r memory.Record, known bool) {
	err := item.Value(func(value []byte) error {
		known = len(value) >= valueOverhead && readRecord(value[1:len(value)-4], &r) && slices.Contains(memory.Kinds, r.Kind)
		return nil
	})
	if err != nil || !known {
		return r, false
	}
	_, err = v.Project(r.Project)
	return r, err == nil
}

func read[T any](s *Store, fn func(View) (T, error)) (T, error) {
	var out T
	err := s.View(func(v View) (err error) {
		out, err = fn(v)
		return err
	})
	return out, err
}

// ProjectHoldings returns what a project holds, without its receipts. It reads all
// records of the store: the indexer's method of that name is fast, but must be loaded.
func (s *Store) ProjectHoldings(ctx context.Context, project string) (memory.Holdings, error) {
	var h memory.Holdings
	err := s.View(func(v View) error {
		for r := range sound(s, v.Records()) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if r.Project == project {
				h.Records = append(h.Records, r.ID)
			}
		}
		for x := range sound(s, v.Sessions(project)) {
			h.Sessions = append(h.Sessions, x.ID)
		}
		for b := range sound(s, v.Sandboxes()) {
			if b.Project != project {
				continue
			}
			h.Sandboxes = append(h.Sandboxes, b.ID)
			for f := range sound(s, v.Files(b.ID)) {
				h.Files = append(h.Files, memory.FileKey{Sandbox: f.Sandbox, Path: f.Path})
			}
		}
		return nil
	})
	return h, err
}

// ProjectReceipts returns the ids of a project's receipts, sorted, also of those not yet
// written. It reads all receipts of the store.
func (s *Store) ProjectReceipts(ctx context.Context, project string) ([]string, error) {
	var ids []string
	s.mu.Lock() // waiting receipts first: one that is written meanwhile is found twice, not missed
	for _, r := range s.pending {
		if r.Project == project {
			ids = append(ids, r.ID)
		}
	}
	s.mu.Unlock()
	err := s.View(func(v View) error {
		for r := range sound(s, v.Receipts()) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if r.Project == project {
				ids = append(ids, r.ID)
			}
		}
		return nil
	})
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// SessionHoldings returns the sessions with an id, of all projects, and the ids of their
// steps. It reads all records of the store, as ProjectHoldings.
func (s *Store) SessionHoldings(ctx context.Context, id string) ([]memory.SessionHoldings, error) {
	return read(s, func(v View) (found []memory.SessionHoldings, _ error) {
		index := map[memory.SessionKey]int{}
		for x := range sound(s, v.Sessions("")) {
			if x.ID == id {
				index[x.Key()] = len(found)
				found = append(found, memory.SessionHoldings{Session: x})
			}
		}
		if len(found) == 0 { // do not read all records
			return nil, nil
		}
		for r := range sound(s, v.Records()) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if i, ok := index[memory.SessionKey{Project: r.Project, ID: r.Session}]; ok && r.Step != nil {
				found[i].Steps = append(found[i].Steps, r.ID)
			}
		}
		return found, nil
	})
}
