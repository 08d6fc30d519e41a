package store

import (
	"cmp"
	"maps"

	"github.com/recalld/recalld/internal/memory"
)

// sandboxSize counts what is stored of a sandbox. It is computed from the sandbox's files,
// so that it changes with them and needs no look at the disk.
type sandboxSize struct {
	files, chunks, pruned int
	chunked               int   // files that have chunks
	source                int64 // bytes of the files' text
	values                int64 // approximate bytes of the files' values
	chunkSets             int64 // and of their chunk sets
	covered               int64 // bytes of source in chunks
}

// The size on disk of what is stored, in bytes, compressed: measured over parts of Go's
// own tree, and compared with the database by TestIndexSizeIsAboutRight of package code.
const (
	fileBytes     = 60 // key and fields of a file
	chunkSetBytes = 30 // key and checksum of a chunk set
	chunkBytes    = 52 // two hashes, four numbers
	docBytes      = 60 // the keys and checksums of a document's terms and of a vector
	// termShare is what the terms of a text take of its length, in percent.
	termShare = 35
)

// count adds a file n times; -1 removes it.
func (b *sandboxSize) count(f *memory.File, n int) {
	if f == nil {
		return
	}
	values, chunkSet, covered := fileBytes+len(f.Path), len(f.Head), 0
	if len(f.Chunks) == 0 { // the preview is in the file's own value
		values, chunkSet = values+chunkSet, 0
	} else {
		chunkSet += chunkSetBytes
	}
	for _, c := range f.Chunks {
		chunkSet += chunkBytes + len(c.Symbol)
		covered += c.End - c.Start
	}
	b.add(sandboxSize{
		files: n, chunks: n * len(f.Chunks), pruned: n * btoi(f.Pruned), chunked: n * btoi(chunkSet > 0),
		source: int64(n) * f.Size, values: int64(n * values), chunkSets: int64(n * chunkSet), covered: int64(n * covered),
	})
}

func (b *sandboxSize) add(o sandboxSize) {
	b.files += o.files
	b.chunks += o.chunks
	b.pruned += o.pruned
	b.chunked += o.chunked
	b.source += o.source
	b.values += o.values
	b.chunkSets += o.chunkSets
	b.covered += o.covered
}

// documents estimates the size of the documents of the chunks.
func (b *sandboxSize) documents(vectors int) int64 {
	return b.covered*termShare/100 + int64(b.chunks)*int64(docBytes+vectors)
}

// sandboxSizes are sizes by sandbox.
type sandboxSizes map[string]sandboxSize

func (s sandboxSizes) change(c memory.FileChange) {
	sandbox := cmp.Or(c.New, c.Old).Sandbox
	b := s[sandbox]
	b.count(c.Old, -1)
	b.count(c.New, 1)
	s.set(sandbox, b)
}

func (s sandboxSizes) add(other sandboxSizes) {
	for sandbox, o := range other {
		b := s[sandbox]
		b.add(o)
		s.set(sandbox, b)
	}
}

func (s sandboxSizes) set(sandbox string, b sandboxSize) {
	if b == (sandboxSize{}) {
		delete(s, sandbox)
		return
	}
	s[sandbox] = b
}

// IndexSizes returns the sizes of what is indexed, by sandbox, and an estimate of the total
// on disk. Documents and chunk sets that several files share count in each of their
// sandboxes, and once in the total. Both are complete once Load has ended.
func (s *Store) IndexSizes() (map[string]memory.IndexSize, int64) {
	vectors := s.collections.vectorBytes()
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]memory.IndexSize, len(s.sandboxSizes))
	var all sandboxSize
	for sandbox, b := range s.sandboxSizes {
		out[sandbox] = b.size(vectors)
		all.add(b)
	}
	for k, at := range s.used.at {
		if b, ok := out[k.Sandbox]; ok && at.After(b.UsedAt) {
			b.UsedAt = at
			out[k.Sandbox] = b
		}
	}
	return out, all.values + share(all.chunkSets, all.chunked, len(s.chunkSets)) + share(all.documents(vectors), all.chunks, s.fileDocs)
}

// IndexSize returns the size of what is indexed of a sandbox.
func (s *Store) IndexSize(sandbox string) memory.IndexSize {
	vectors := s.collections.vectorBytes()
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.sandboxSizes[sandbox]
	size := b.size(vectors)
	for k, at := range s.used.at {
		if k.Sandbox == sandbox && at.After(size.UsedAt) {
			size.UsedAt = at
		}
	}
	return size
}

func (b *sandboxSize) size(vectors int) memory.IndexSize {
	return memory.IndexSize{
		Files: b.files, Chunks: b.chunks, Pruned: b.pruned, Bytes: b.source, Disk: b.values + b.chunkSets + b.documents(vectors),
	}
}

// share scales bytes that count once for each of n references to distinct ones. It assumes
// that all have about one size.
func share(bytes int64, n, distinct int) int64 {
	if n <= 0 {
		return 0
	}
	return bytes * int64(min(max(distinct, 1), n)) / int64(n)
}

// checkSizes compares the sizes that were counted with those that files have.
func (s *Store) checkSizes(stored sandboxSizes, bad func(string, ...any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !maps.Equal(stored, s.sandboxSizes) {
		bad("sizes of sandboxes: %+v are stored, %+v are counted", stored, s.sandboxSizes)
	}
}

// logSizes are the approximate sizes of the projects' lesson logs, in bytes.
type logSizes map[string]int64

// add adds the size of a record, or subtracts it if times is -1.
func (l logSizes) add(r *memory.Record, times int64) {
	if r != nil {
		l.change(r.Project, times*int64(r.Outline().LogBytes))
	}
}

func (l logSizes) change(project string, bytes int64) {
	if l[project] += bytes; l[project] == 0 {
		delete(l, project)
	}
}

// LessonLogSize returns the approximate size, in bytes, of a log of all lessons of a
// project: what an agent would read without recall.
func (s *Store) LessonLogSize(project string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logSizes[project]
}
