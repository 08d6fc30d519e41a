package store

import (
	"bytes"
	"fmt"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/worker"
)

// Tx is the inside of an update. Reads see what earlier updates of the same
// commit wrote, but not the update's own writes. A Tx must not be used after
// the update's function has returned.
type Tx struct {
	View
	s *Store

	// If an update does not fit one transaction, new documents and chunk sets are
	// written first (preWrites) and unreferenced ones removed last (swept). What belongs
	// to a dropped session or project, and details of the audit log, are also removed
	// first: if that is interrupted, dropping the session or project again removes the
	// rest.
	preWrites []write
	writes    []write // the rest, which makes them visible
	swept     []write
	size      batchSize // of all three

	change    memory.Change
	refs      map[memory.DocID]int32 // what this update adds to the references
	chunkSets map[chunkSetID]int32   // likewise for chunk sets
	// newChunkSets are the chunk sets that this update writes.
	newChunkSets map[chunkSetID]storedChunkSet
	group        *group
	audit        []memory.AuditEntry
	// projects is set if projects were written or removed.
	projects bool
	// refusedSaved is set by refuseSaved.
	refusedSaved bool
	sandboxes    []sandboxChange
	jobs         []func(*worker.Schedule)
}

func (tx *Tx) put(key, payload []byte) { tx.putFor(0, key, payload) }

// putFor writes a value that expires after ttl; 0 keeps it.
func (tx *Tx) putFor(ttl time.Duration, key, payload []byte) {
	tx.add(&tx.writes, write{key: key, value: seal(key, payload), ttl: ttl})
}

func (tx *Tx) del(key []byte) { tx.add(&tx.writes, write{key: key}) }

// prePut writes a value before the other writes.
func (tx *Tx) prePut(key, payload []byte) {
	tx.add(&tx.preWrites, write{key: key, value: seal(key, payload)})
}

// preDelete deletes keys together, before the other writes.
func (tx *Tx) preDelete(keys ...[]byte) {
	for i, k := range keys {
		tx.add(&tx.preWrites, write{key: k, joined: i > 0})
	}
}

func (tx *Tx) add(list *[]write, w write) {
	*list = append(*list, w)
	tx.size = tx.size.plus(w.size())
}

func (tx *Tx) putValue(key []byte, v any) error {
	b, err := encode(v)
	if err != nil {
		return err
	}
	tx.put(key, b)
	return nil
}

// putRecord writes a record in place of old. Its document must be put in the same update,
// or be referenced already.
func (tx *Tx) putRecord(old *memory.Record, r memory.Record) error {
	if err := tx.putValue(key(prefixRecord, r.ID), r); err != nil {
		return err
	}
	if old != nil {
		tx.refs[old.Doc]--
		if old.Kind.Saved() && !r.Kind.Saved() {
			tx.refuseSaved() // once it is dropped, a start would not miss the former one
		}
	}
	tx.refs[r.Doc]++
	tx.change.Records = append(tx.change.Records, memory.RecordChange{Old: old, New: &r})
	return nil
}

// DropRecord removes a record and reports whether it existed.
func (tx *Tx) DropRecord(id string) (bool, error) {
	old, there, err := tx.existingRecord(id)
	if err != nil || !there {
		return false, err
	}
	tx.del(key(prefixRecord, id))
	if old == nil || old.Kind.Saved() {
		tx.refuseSaved() // a start would not miss the record
	}
	if old != nil {
		tx.refs[old.Doc]--
		tx.change.Records = append(tx.change.Records, memory.RecordChange{Old: old})
	}
	return true, nil
}

func (tx *Tx) existingRecord(id string) (*memory.Record, bool, error) {
	r, err := tx.Record(id)
	return existing(tx.s, r, err)
}

// existing reports whether a lookup found a value to be replaced or dropped. A corrupt
// value exists but reads as nil. It is not counted (Load does the same) and may be
// overwritten or deleted.
func existing[T any](s *Store, found T, err error) (*T, bool, error) {
	switch {
	case err == nil:
		return &found, true, nil
	case memory.CodeOf(err) == memory.CodeNotFound:
		return nil, false, nil
	case memory.CodeOf(err) == memory.CodeCorrupt:
		s.damaged(err)
		return nil, true, nil
	}
	return nil, false, err
}

// PutFile writes a file and its chunks, and replaces what was there. The documents of
// its chunks must be put in the same update, or be referenced already. It sets the
// generation.
func (tx *Tx) PutFile(f memory.File) error {
	old, was, _, err := tx.existingFile(f.Sandbox, f.Path)
	if err != nil {
		return err
	}
	f.Generation = 1
	if old != nil {
		f.Generation = old.Generation + 1
	}
	tx.unrefFile(old, was)
	value := valueOf(&f)
	if err := tx.putChunks(&f, &value); err != nil {
		return err
	}
	if err := tx.putValue(keyFile(f.Sandbox, f.Path), value); err != nil {
		return err
	}
	for _, c := range f.Chunks {
		tx.refs[c.Doc]++
	}
	tx.change.Files = append(tx.change.Files, memory.FileChange{Old: old, New: &f})
	return nil
}

// DropFile removes a file with its chunks and reports whether it existed.
func (tx *Tx) DropFile(sandbox, path string) (bool, error) {
	old, was, there, err := tx.existingFile(sandbox, path)
	if err != nil || !there {
		return false, err
	}
	tx.del(keyFile(sandbox, path))
	tx.dropUsed(memory.FileKey{Sandbox: sandbox, Path: path})
	tx.unrefFile(old, was)
	if old != nil {
		tx.change.Files = append(tx.change.Files, memory.FileChange{Old: old})
	}
	return true, nil
}

// existingFile is existing for a file, with the id of its chunk set. A file with a
// corrupt chunk set counts as corrupt.
func (tx *Tx) existingFile(sandbox, path string) (*memory.File, chunkSetID, bool, error) {
	f, id, err := tx.file(sandbox, path)
	old, ok, err := existing(tx.s, f, err)
	return old, id, ok, err
}

// unrefFile removes the references of a file that existingFile found.
func (tx *Tx) unrefFile(f *memory.File, named chunkSetID) {
	if named != (chunkSetID{}) {
		tx.chunkSets[named]--
	}
	if f == nil {
		return
	}
	for _, c := range f.Chunks {
		tx.refs[c.Doc]--
	}
}

// PutDoc writes a document unless it is stored with the same content. It is swept if no
// record or file references it at the end of the update.
func (tx *Tx) PutDoc(d memory.Doc) error {
	if tx.refs[d.ID] > 0 || tx.held(d.ID) && tx.intact(d) {
		return nil
	}
	written := memory.Doc{ID: d.ID, Terms: d.Terms, Vectors: make(map[string][]float32, len(d.Vectors))}
	tx.prePut(keyTerms(d.ID), d.Terms)
	for collection, v := range d.Vectors {
		decoded, err := tx.putVector(collection, d.ID, v)
		if err != nil {
			return err
		}
		written.Vectors[collection] = decoded
	}
	tx.change.Docs = append(tx.change.Docs, written)
	return nil
}

// intact reports whether a document is stored with at least these terms, and whether its
// vectors can be read.
func (tx *Tx) intact(d memory.Doc) bool {
	same := false
	err := get(tx.txn, keyTerms(d.ID), func(terms []byte) error {
		same = bytes.Equal(terms, d.Terms)
		return nil
	})
	if err != nil || !same {
		return false
	}
	for collection := range d.Vectors {
		if get(tx.txn, keyVector(collectionKeyOf(collection), d.ID), func([]byte) error { return nil }) != nil {
			return false
		}
	}
	return true
}

// PutVector adds the vector of a document to a collection if the document is still
// referenced, and reports whether it was.
func (tx *Tx) PutVector(collection string, doc memory.DocID, v []float32) (bool, error) {
	if !tx.held(doc) {
		return false, nil
	}
	decoded, err := tx.putVector(collection, doc, v)
	if err != nil {
		return false, err
	}
	tx.change.Docs = append(tx.change.Docs, memory.Doc{ID: doc, Vectors: map[string][]float32{collection: decoded}})
	return true, nil
}

func (tx *Tx) putVector(collection string, doc memory.DocID, v []float32) ([]float32, error) {
	if !tx.s.collections.known(collection) {
		return nil, fmt.Errorf("put vector: collection %q was not opened", collection)
	}
	codes := encodeVector(v)
	decoded, err := decodeVector(codes)
	if err != nil {
		return nil, fmt.Errorf("put vector of document %s: %w", doc, err)
	}
	tx.prePut(keyVector(collectionKeyOf(collection), doc), codes)
	tx.s.collections.saw(collection, len(codes))
	return decoded, nil
}

// held reports whether a committed record or file, or one of an earlier update of this
// commit, references the document: then its terms are stored.
func (tx *Tx) held(doc memory.DocID) bool {
	return tx.s.references(doc)+tx.group.refs[doc] > 0
}

// requestTTL is how long a client that repeats a write gets the first response.
const requestTTL = 24 * time.Hour

// PutAnswer keeps the response to the write with a client-made id.
func (tx *Tx) PutAnswer(request string, answer any) error {
	b, err := encode(answer)
	if err != nil {
		return err
	}
	tx.putFor(requestTTL, key(prefixRequest, request), b)
	return nil
}

// finish numbers the update and adds what follows from it: audit lines, and the deletion
// of documents and chunk sets without a reference.
func (tx *Tx) finish(seq uint64, at time.Time) error {
	if len(tx.audit) > 0 {
		for i := range tx.audit {
			tx.audit[i].Seq, tx.audit[i].At = seq, at
		}
		if err := tx.putValue(keyAudit(seq), tx.audit); err != nil {
			return err
		}
	}
	if !tx.s.isLoaded() {
		return nil // not all references are counted yet; Load sweeps at its end
	}
	tx.sweepChunkSets()
	fresh := make(map[memory.DocID]bool, len(tx.change.Docs))
	for _, d := range tx.change.Docs {
		fresh[d.ID] = true
		if _, counted := tx.refs[d.ID]; !counted {
			tx.refs[d.ID] = 0 // written and not referenced: swept below
		}
	}
	for doc, delta := range tx.refs {
		left := tx.s.references(doc) + tx.group.refs[doc] + delta
		if left > 0 {
			if left == delta && !fresh[doc] {
				return memory.Errorf(memory.CodeConflict, "put document %s: %w", doc, memory.ErrDocMissing)
			}
			continue
		}
		tx.change.Swept = append(tx.change.Swept, doc)
		tx.add(&tx.swept, write{key: keyTerms(doc)})
		for _, c := range tx.s.collections.all() {
			tx.add(&tx.swept, write{key: keyVector(c, doc)})
		}
	}
	return nil
}

// Schedule makes fn change the queue's schedule in this commit. fn runs after the
// update's function, which must not depend on it.
func (tx *Tx) Schedule(fn func(*worker.Schedule)) { tx.jobs = append(tx.jobs, fn) }

// empty reports whether the update wrote nothing.
func (tx *Tx) empty() bool { return len(tx.preWrites)+len(tx.writes)+len(tx.swept)+len(tx.audit) == 0 }
