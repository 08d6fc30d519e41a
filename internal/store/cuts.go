package store

import (
	"bytes"
	"errors"
	"maps"
	"strconv"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// A cut is what the text of a file was cut into: its chunks, and how it begins. It
// follows from the bytes of the file, their language and the chunker, so that it is
// stored once for all files that have these in common, in however many worktrees;
// their values name it by what they hold anyhow. Cuts are counted as documents are,
// and swept with the last file that names them.

// cutID names a cut by what it follows from; the zero value names none.
type cutID [16]byte

func cutOf(hash memory.DocID, lang string, chunker int) cutID {
	return cutID(memory.DocumentID(string(hash[:]) + strconv.Itoa(chunker) + "\x00" + lang))
}

// cut is a cut as it is read. Files that share it share its chunks, which nobody may
// write to.
type cut struct {
	head   string
	chunks []memory.FileChunk
}

// cuts finds the cut that a file names.
type cuts func(cutID) (cut, error)

// cut reads a cut that a file names: one that is not there is damaged.
func (v View) cut(id cutID) (cut, error) {
	in, err := v.storedCut(id)
	if errors.Is(err, badger.ErrKeyNotFound) {
		err = corrupt(keyCut(id), "a file names it and it is not there")
	}
	if err != nil {
		return cut{}, err
	}
	return in.decoded()
}

func (v View) storedCut(id cutID) (in storedCut, err error) {
	err = get(v.txn, keyCut(id), func(b []byte) (err error) {
		in, err = decode[storedCut](b)
		return err
	})
	return in, err
}

// Cut returns what the chunker has made of a text, by the hash of its bytes, if an
// indexed file has that text, or CodeNotFound. The chunks must not be written to.
// Their documents are stored now, and are not any more once the last such file is
// gone: a commit that relies on them returns memory.ErrDocMissing then.
func (s *Store) Cut(text memory.DocID, lang string, chunker int) ([]memory.FileChunk, error) {
	id := cutOf(text, lang, chunker)
	if !s.holdsCut(id) {
		return nil, memory.Errorf(memory.CodeNotFound, "there is no cut of text %s", text)
	}
	c, err := read(s, func(v View) (cut, error) { return v.cut(id) })
	return c.chunks, err
}

// holdsCut says that files are known to name a cut, which can be read.
func (s *Store) holdsCut(id cutID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loaded && s.cuts[id] > 0 && !s.unread[id]
}

// shelve completes the value of a file that is put: it names the cut of the file,
// which is written unless it is stored, or holds the chunks itself.
func (tx *Tx) shelve(f *memory.File, value *storedFile) error {
	chunks, err := encodeChunks(f.Chunks)
	if err != nil {
		return err
	}
	value.Chunks, value.Head = chunks, f.Head
	if len(f.Chunks) == 0 {
		return nil
	}
	id := cutOf(f.Hash, f.Lang, f.Chunker)
	c, ok, err := tx.cutToShare(id, storedCut{Head: f.Head, Chunks: chunks})
	if err != nil || !ok || !bytes.Equal(c.Chunks, chunks) {
		return err
	}
	value.Chunks, value.Cut = noChunks, len(f.Chunks)
	if f.Head != "" && f.Head == c.Head {
		value.Head, value.CutHead = "", true
	}
	tx.cuts[id]++
	return nil
}

// cutToShare returns the cut that is stored under an id, or stores this one. It
// returns false where files name one that cannot be read: if that were written
// again, they would have chunks that nobody has counted.
func (tx *Tx) cutToShare(id cutID, wanted storedCut) (storedCut, bool, error) {
	if c, ok := tx.written[id]; ok { // which the view does not see
		return c, true, nil
	}
	c, err := tx.storedCut(id)
	switch {
	case err == nil:
		return c, true, nil
	case memory.CodeOf(err) == memory.CodeCorrupt:
		tx.s.damaged(err)
		return storedCut{}, false, nil
	case !errors.Is(err, badger.ErrKeyNotFound):
		return storedCut{}, false, err
	case !tx.s.mayWriteCut(id):
		return storedCut{}, false, nil
	}
	b, err := encode(wanted)
	if err != nil {
		return storedCut{}, false, err
	}
	k := keyCut(id)
	tx.add(&tx.ahead, write{key: k, value: seal(k, b)})
	tx.written[id] = wanted
	return wanted, true, nil
}

// mayWriteCut says that no file is known to name a cut that is not there. Until all
// files were read, nobody knows.
func (s *Store) mayWriteCut(id cutID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loaded && !s.unread[id]
}

// sweepCuts removes the cuts that no file names any more after this update.
func (tx *Tx) sweepCuts() {
	for id, delta := range tx.cuts {
		if tx.s.cutReferences(id)+tx.group.cuts[id]+delta <= 0 {
			tx.add(&tx.swept, write{key: keyCut(id)})
		}
	}
}

func (s *Store) cutReferences(id cutID) int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cuts[id]
}

// loadCuts reads all cuts, in the order in which they are stored. Damaged ones are
// logged and left out.
func (s *Store) loadCuts(v View) map[cutID]cut {
	type named struct {
		id cutID
		cut
	}
	all := map[cutID]cut{}
	for c, err := range scan(v, prefixCut, func(k, b []byte) (named, error) {
		if len(k) != len(prefixCut)+len(cutID{}) {
			return named{}, corrupt(k, "the key has the wrong length")
		}
		c, err := decodeCut(b)
		return named{cutID(k[len(prefixCut):]), c}, err
	}) {
		if !s.damaged(err) {
			all[c.id] = c.cut
		}
	}
	return all
}

// checkCuts holds the cuts that are stored against those that files name, and both
// against what is counted.
func (s *Store) checkCuts(v View, refs map[cutID]int32, bad func(string, ...any)) {
	for k := range v.keys(prefixCut) {
		if len(k) != len(prefixCut)+len(cutID{}) {
			bad("stored value %q: the key has the wrong length", k)
		} else if id := cutID(k[len(prefixCut):]); refs[id] == 0 {
			bad("cut %x: no file names it", id)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded && !maps.Equal(refs, s.cuts) {
		bad("cuts: files name %d, %d are counted, or not as often", len(refs), len(s.cuts))
	}
}
