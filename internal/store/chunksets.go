package store

import (
	"bytes"
	"errors"
	"maps"
	"strconv"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/worker"
)

// A chunk set is what the chunker made of the text of a file: its chunks, and its preview.
// It is determined by the bytes of the file, their language and the version of the chunker,
// and stored once for all files that have these in common, in all worktrees. Chunk sets
// are reference-counted like documents, and swept with the last file that references them.

// chunkSetID is made of what determines a chunk set; the zero value means none.
type chunkSetID [16]byte

func chunkSetIDOf(hash memory.DocID, lang string, chunker int) chunkSetID {
	return chunkSetID(memory.DocumentID(string(hash[:]) + strconv.Itoa(chunker) + "\x00" + lang))
}

// chunkSet is a decoded chunk set. Files share its chunks, which must not be changed.
type chunkSet struct {
	head   string
	chunks []memory.FileChunk
}

// findChunkSet finds the chunk set of a file.
type findChunkSet func(chunkSetID) (chunkSet, error)

// chunkSet reads a file's chunk set. One that is missing is an error of CodeCorrupt.
func (v View) chunkSet(id chunkSetID) (chunkSet, error) {
	in, err := getValue[storedChunkSet](v, keyChunkSet(id))
	if errors.Is(err, badger.ErrKeyNotFound) {
		err = corrupt(keyChunkSet(id), "a file names it and it is not there")
	}
	if err != nil {
		return chunkSet{}, err
	}
	return in.decoded()
}

// ChunksOf returns the chunks of a text, by the hash of its bytes, if an indexed file has
// it, or CodeNotFound. The caller must not change the chunks. Their documents may be swept
// with the last such file: a commit that relies on them then returns memory.ErrDocMissing.
func (s *Store) ChunksOf(text memory.DocID, lang string, chunker int) ([]memory.FileChunk, error) {
	id := chunkSetIDOf(text, lang, chunker)
	if !s.hasChunkSet(id) {
		return nil, memory.Errorf(memory.CodeNotFound, "no indexed file has the text %s", text)
	}
	c, err := read(s, func(v View) (chunkSet, error) { return v.chunkSet(id) })
	return c.chunks, err
}

// hasChunkSet reports whether files reference a chunk set that can be read.
func (s *Store) hasChunkSet(id chunkSetID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loaded && s.chunkSets[id] > 0 && !s.unread[id]
}

// putChunks completes the stored value of a file: it references a chunk set, which is
// written if it is new, or contains the chunks itself.
func (tx *Tx) putChunks(f *memory.File, value *storedFile) error {
	chunks, err := encodeChunks(f.Chunks)
	if err != nil {
		return err
	}
	value.Chunks, value.Head = chunks, f.Head
	if len(f.Chunks) == 0 {
		return nil
	}
	id := chunkSetIDOf(f.Hash, f.Lang, f.Chunker)
	c, ok, err := tx.sharedChunkSet(id, storedChunkSet{Head: f.Head, Chunks: chunks})
	if err != nil || !ok || !bytes.Equal(c.Chunks, chunks) {
		return err
	}
	value.Chunks, value.SetChunks = noChunks, len(f.Chunks)
	if f.Head != "" && f.Head == c.Head {
		value.Head, value.SetHead = "", true
	}
	tx.chunkSets[id]++
	return nil
}

// sharedChunkSet returns the stored chunk set of an id, or stores this one. It returns
// false if files reference one that cannot be read: writing it again would give these
// files chunks whose documents are not counted.
func (tx *Tx) sharedChunkSet(id chunkSetID, wanted storedChunkSet) (storedChunkSet, bool, error) {
	if c, ok := tx.newChunkSets[id]; ok { // the view does not see it yet
		return c, true, nil
	}
	c, err := getValue[storedChunkSet](tx.View, keyChunkSet(id))
	switch {
	case err == nil:
		return c, true, nil
	case memory.CodeOf(err) == memory.CodeCorrupt:
		tx.s.damaged(err)
		return storedChunkSet{}, false, nil
	case !errors.Is(err, badger.ErrKeyNotFound):
		return storedChunkSet{}, false, err
	case !tx.s.mayWriteChunkSet(id):
		return storedChunkSet{}, false, nil
	}
	b, err := encode(wanted)
	if err != nil {
		return storedChunkSet{}, false, err
	}
	tx.prePut(keyChunkSet(id), b)
	tx.newChunkSets[id] = wanted
	return wanted, true, nil
}

// mayWriteChunkSet reports whether no file references a missing chunk set of this id.
// That is known only when Load has read all files.
func (s *Store) mayWriteChunkSet(id chunkSetID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loaded && !s.unread[id]
}

// sweepChunkSets removes the chunk sets without a reference after this update.
func (tx *Tx) sweepChunkSets() {
	for id, delta := range tx.chunkSets {
		if tx.s.chunkSetRefs(id)+tx.group.chunkSets[id]+delta <= 0 {
			tx.add(&tx.swept, write{key: keyChunkSet(id)})
		}
	}
}

func (s *Store) chunkSetRefs(id chunkSetID) int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chunkSets[id]
}

// loadChunkSets reads all chunk sets. Damaged ones are logged and left out.
func (s *Store) loadChunkSets(v View) map[chunkSetID]chunkSet {
	type named struct {
		id chunkSetID
		chunkSet
	}
	read := scan(v, prefixChunkSet, func(k, b []byte) (named, error) {
		id, err := parseChunkSet(k)
		if err != nil {
			return named{}, err
		}
		c, err := decodeChunkSet(b)
		return named{id, c}, err
	})
	all := map[chunkSetID]chunkSet{}
	for c := range sound(s, worker.Ahead(read, loadedBatch, loadedBatches)) {
		all[c.id] = c.chunkSet
	}
	return all
}

// checkChunkSets compares the stored chunk sets with those that files reference, and both
// with the counts.
func (s *Store) checkChunkSets(v View, refs map[chunkSetID]int32, bad func(string, ...any)) {
	for k := range v.keys(prefixChunkSet) {
		if id, err := parseChunkSet(k); err != nil {
			bad("%w", err)
		} else if refs[id] == 0 {
			bad("chunk set %x: no file references it", id)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded && !maps.Equal(refs, s.chunkSets) {
		bad("chunk sets: files reference %d, %d are counted, or not as often", len(refs), len(s.chunkSets))
	}
}
