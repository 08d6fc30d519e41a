package store

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// View reads one consistent state of the store. Methods that return one value return
// CodeNotFound if it does not exist, and CodeCorrupt if its checksum does not match.
type View struct{ txn *badger.Txn }

// View calls fn with the last committed state.
func (s *Store) View(fn func(View) error) error {
	db, done := s.use()
	defer done()
	if db.IsClosed() {
		return ErrClosed
	}
	return db.View(func(txn *badger.Txn) error { return fn(View{txn}) })
}

// Record returns a record.
func (v View) Record(id string) (memory.Record, error) {
	return lookup[memory.Record](v, "record", key(prefixRecord, id))
}

// Project returns a project.
func (v View) Project(id string) (memory.Project, error) {
	return lookup[memory.Project](v, "project", key(prefixProject, id))
}

// Sandbox returns a sandbox.
func (v View) Sandbox(id string) (memory.Sandbox, error) {
	return lookup[memory.Sandbox](v, "sandbox", key(prefixSandbox, id))
}

// Receipt returns a receipt of the ledger.
func (v View) Receipt(id string) (memory.Receipt, error) {
	return lookup[memory.Receipt](v, "receipt", key(prefixReceipt, id))
}

// Answer reads the stored response to a write, by the id that its client made.
func (v View) Answer(request string, answer any) error {
	k := key(prefixRequest, request)
	err := get(v.txn, k, func(b []byte) error { return codec().dec.Unmarshal(b, answer) })
	return notFound(err, "request", k)
}

// File returns an indexed file. Its chunks must not be written to.
func (v View) File(sandbox, path string) (memory.File, error) {
	f, _, err := v.file(sandbox, path)
	return f, err
}

// file is File with the id of the file's chunk set, even if that set cannot be read.
func (v View) file(sandbox, path string) (f memory.File, id chunkSetID, err error) {
	k := keyFile(sandbox, path)
	err = get(v.txn, k, func(b []byte) (err error) {
		f, id, err = decodeFile(sandbox, path, b, v.chunkSet)
		return err
	})
	return f, id, notFound(err, "file", k)
}

// Terms returns a document's encoded terms.
func (v View) Terms(doc memory.DocID) ([]byte, error) {
	k := keyTerms(doc)
	terms, err := v.getBytes(k)
	return terms, notFound(err, "document", k)
}

// Records walks all records.
func (v View) Records() iter.Seq2[memory.Record, error] {
	return scan(v, prefixRecord, decodeValue[memory.Record])
}

// Projects walks all projects.
func (v View) Projects() iter.Seq2[memory.Project, error] {
	return scan(v, prefixProject, decodeValue[memory.Project])
}

// Sandboxes walks all sandboxes.
func (v View) Sandboxes() iter.Seq2[memory.Sandbox, error] {
	return scan(v, prefixSandbox, decodeValue[memory.Sandbox])
}

// Receipts walks the ledger, oldest first.
func (v View) Receipts() iter.Seq2[memory.Receipt, error] {
	return scan(v, prefixReceipt, decodeValue[memory.Receipt])
}

// Files walks the files of a sandbox by path, or the files of all sandboxes if sandbox is
// empty.
func (v View) Files(sandbox string) iter.Seq2[memory.File, error] {
	return func(yield func(memory.File, error) bool) {
		for f, err := range v.files(sandbox, v.chunkSet) {
			if !yield(f.File, err) {
				return
			}
		}
	}
}

// fileWithID is a file with the id of its chunk set.
type fileWithID struct {
	memory.File
	chunkSet chunkSetID
}

// files is Files with the ids of the chunk sets, even if a chunk set cannot be read.
func (v View) files(sandbox string, find findChunkSet) iter.Seq2[fileWithID, error] {
	prefix := prefixFile
	if sandbox != "" {
		prefix = keyFile(sandbox, "")
	}
	return scan(v, prefix, func(k, b []byte) (fileWithID, error) {
		at := fileKeyOf(k[len(prefixFile):])
		f, id, err := decodeFile(at.Sandbox, at.Path, b, find)
		return fileWithID{f, id}, err
	})
}

func lookup[T any](v View, what string, key []byte) (T, error) {
	out, err := getValue[T](v, key)
	return out, notFound(err, what, key)
}

// getValue reads and decodes the value of a key.
func getValue[T any](v View, key []byte) (out T, err error) {
	err = get(v.txn, key, func(b []byte) (err error) {
		out, err = decode[T](b)
		return err
	})
	return out, err
}

// getBytes returns a copy of the payload of a key.
func (v View) getBytes(key []byte) (payload []byte, err error) {
	err = get(v.txn, key, func(b []byte) error {
		payload = slices.Clone(b)
		return nil
	})
	return payload, err
}

func notFound(err error, what string, key []byte) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, badger.ErrKeyNotFound):
		return memory.Errorf(memory.CodeNotFound, "there is no %s %q", what, key[2:])
	default:
		return fmt.Errorf("read %s: %w", what, err)
	}
}

// scan walks the values under a prefix. A damaged value is yielded as an error with its
// key, and the walk continues.
func scan[T any](v View, prefix []byte, read func(key, payload []byte) (T, error)) iter.Seq2[T, error] {
	return scanFrom(v, prefix, prefix, read)
}

// scanFrom is scan beginning at a key.
func scanFrom[T any](v View, prefix, from []byte, read func(key, payload []byte) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for item := range v.items(prefix, from, 0) {
			if !yield(readItem(item, read)) {
				return
			}
		}
	}
}

// sound yields the values of a walk without the damaged ones, which it logs.
func sound[T any](s *Store, all iter.Seq2[T, error]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for value, err := range all {
			if !s.damaged(err) && !yield(value) {
				return
			}
		}
	}
}

// damagedValues yields the keys of all values that fail their checksum, with the error.
func (v View) damagedValues() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		it := v.txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			item := it.Item()
			err := item.Value(func(value []byte) error {
				_, err := unseal(item.Key(), value)
				return err
			})
			if err != nil && !yield(item.KeyCopy(nil), err) {
				return
			}
		}
	}
}

// items walks the items under a prefix, beginning at a key, that were written after a version
// of the database.
func (v View) items(prefix, from []byte, since uint64) iter.Seq[*badger.Item] {
	return func(yield func(*badger.Item) bool) {
		it := v.txn.NewIterator(badger.IteratorOptions{Prefix: prefix, SinceTs: since})
		defer it.Close()
		for it.Seek(from); it.Valid() && yield(it.Item()); it.Next() {
		}
	}
}

// keys yields the keys under a prefix, each a copy.
func (v View) keys(prefix []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for item := range v.items(prefix, prefix, 0) {
			if !yield(item.KeyCopy(nil)) {
				return
			}
		}
	}
}

// readItem reads the value of an item.
func readItem[T any](item *badger.Item, read func(key, payload []byte) (T, error)) (out T, err error) {
	err = item.Value(func(value []byte) error {
		payload, err := unseal(item.Key(), value)
		if err != nil {
			return err
		}
		out, err = read(item.Key(), payload)
		return err
	})
	return out, err
}
