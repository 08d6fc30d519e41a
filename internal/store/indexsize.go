package store

import (
	"maps"

	"github.com/recalld/recalld/internal/memory"
)

// boxSize counts what is stored of a sandbox. It follows from its files alone, so
// that it grows and shrinks with them and needs no look at the disk.
type boxSize struct {
	files, chunks, pruned int
	source                int64 // bytes of the files
	values                int64 // about the bytes of the files' values
	covered               int64 // bytes of source in chunks
}

// What things take on disk, in bytes, compressed: measured over parts of Go's own
// tree, and held to what the database writes by TestIndexSizeIsAboutRight of package
// code.
const (
	fileBytes  = 60 // key and fields of a file
	chunkBytes = 52 // two hashes, four numbers
	docBytes   = 60 // the keys and checksums of a document's terms and of a vector
	// termShare is what the terms of a text take of its length, in percent.
	termShare = 35
)

// count adds a file n times; -1 takes it away.
func (b *boxSize) count(f *memory.File, n int) {
	if f == nil {
		return
	}
	values, covered := fileBytes+len(f.Path)+len(f.Head), 0
	for _, c := range f.Chunks {
		values += chunkBytes + len(c.Symbol)
		covered += c.End - c.Start
	}
	b.add(boxSize{
		files: n, chunks: n * len(f.Chunks), pruned: n * btoi(f.Pruned),
		source: int64(n) * f.Size, values: int64(n * values), covered: int64(n * covered),
	})
}

func (b *boxSize) add(o boxSize) {
	b.files += o.files
	b.chunks += o.chunks
	b.pruned += o.pruned
	b.source += o.source
	b.values += o.values
	b.covered += o.covered
}

// documents is about what as many documents take as the chunks name.
func (b *boxSize) documents(vectors int) int64 {
	return b.covered*termShare/100 + int64(b.chunks)*int64(docBytes+vectors)
}

// boxSizes are sizes by sandbox.
type boxSizes map[string]boxSize

func (s boxSizes) change(c memory.FileChange) {
	f := c.New
	if f == nil {
		f = c.Old
	}
	b := s[f.Sandbox]
	b.count(c.Old, -1)
	b.count(c.New, 1)
	s.set(f.Sandbox, b)
}

func (s boxSizes) add(other boxSizes) {
	for box, o := range other {
		b := s[box]
		b.add(o)
		s.set(box, b)
	}
}

func (s boxSizes) set(box string, b boxSize) {
	if b == (boxSize{}) {
		delete(s, box)
		return
	}
	s[box] = b
}

// IndexSizes returns the sizes of what is indexed, by sandbox, and about what all
// of it takes on disk. A document that several files share counts in each of their
// sandboxes, and once in all. Both are complete once Load has ended.
func (s *Store) IndexSizes() (map[string]memory.IndexSize, int64) {
	vectors := s.spaces.vectorBytes()
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]memory.IndexSize, len(s.boxes))
	var all boxSize
	for box, b := range s.boxes {
		out[box] = b.size(vectors)
		all.add(b)
	}
	for k, at := range s.used.at {
		if b, ok := out[k.Sandbox]; ok && at.After(b.UsedAt) {
			b.UsedAt = at
			out[k.Sandbox] = b
		}
	}
	return out, all.values + s.share(all.documents(vectors), all.chunks)
}

// IndexSize returns the size of what is indexed of a sandbox.
func (s *Store) IndexSize(sandbox string) memory.IndexSize {
	vectors := s.spaces.vectorBytes()
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.boxes[sandbox]
	size := b.size(vectors)
	for k, at := range s.used.at {
		if k.Sandbox == sandbox && at.After(size.UsedAt) {
			size.UsedAt = at
		}
	}
	return size
}

func (b *boxSize) size(vectors int) memory.IndexSize {
	return memory.IndexSize{
		Files: b.files, Chunks: b.chunks, Pruned: b.pruned, Bytes: b.source, Disk: b.values + b.documents(vectors),
	}
}

// share is the part of the chunks' documents that is left when each counts once.
// All documents that no record has a text of are code's; which of them are shared
// is not looked up, for they are of about one size. It is called with mu held.
func (s *Store) share(bytes int64, chunks int) int64 {
	docs := len(s.refs)
	for kind, n := range s.counts {
		if kind != memory.Chunk {
			docs -= n
		}
	}
	if chunks <= 0 {
		return 0
	}
	return bytes * int64(min(max(docs, 1), chunks)) / int64(chunks)
}

// checkSizes compares the sizes that were counted with those that files have.
func (s *Store) checkSizes(stored boxSizes, bad func(string, ...any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !maps.Equal(stored, s.boxes) {
		bad("sizes of sandboxes: %+v are stored, %+v are counted", stored, s.boxes)
	}
}
