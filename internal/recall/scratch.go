package recall

import (
	"sync"

	"github.com/recalld/recalld/internal/memory"
)

// scratch is memory that questions use one after another: hundreds of candidates, of which
// an answer shows a few. Nothing that outlives a question may point into it.
type scratch struct {
	candidates slab[candidate]
	scores     slab[score]
	places     []memory.Candidate
	byDoc      map[uint32]*candidate
}

var scratches = sync.Pool{New: func() any { return &scratch{byDoc: map[uint32]*candidate{}} }}

// maxScratch is the most places that are kept for the next question. A text that is in
// hundreds of files has hundreds.
const maxScratch = 4096

// release gives the memory to the next question. Searches within a question share that of
// the question, so only its end calls this.
func (s *scratch) release() {
	if s == nil || cap(s.places) > maxScratch {
		return
	}
	s.candidates.clear()
	s.scores.clear()
	clear(s.places)
	s.places = s.places[:0]
	clear(s.byDoc)
	scratches.Put(s)
}

// emptyByDoc returns the map of candidates by their documents, without any.
func (s *scratch) emptyByDoc() map[uint32]*candidate {
	clear(s.byDoc)
	return s.byDoc
}

// memory returns the memory of a search. A search outside of a question has its own, which
// is not used again.
func (r *run) memory() *scratch {
	if r.scratch == nil {
		r.scratch = &scratch{byDoc: map[uint32]*candidate{}}
	}
	return r.scratch
}

// placesOf returns the records and chunks of a document that may be returned.
func (r *run) placesOf(doc uint32) []memory.Candidate {
	m := r.memory()
	start := len(m.places)
	m.places = r.s.opts.Corpus.AppendCandidates(m.places, doc, &r.searched)
	return m.places[start:len(m.places):len(m.places)]
}

// slab hands out values from one slice.
type slab[T any] struct{ all []T }

// take returns n zero values.
func (s *slab[T]) take(n int) []T {
	if len(s.all)+n > cap(s.all) { // what was taken before stays where it is
		s.all = make([]T, 0, max(2*cap(s.all), n))
	}
	start := len(s.all)
	s.all = s.all[:start+n]
	return s.all[start : start+n : start+n]
}

func (s *slab[T]) clear() {
	clear(s.all)
	s.all = s.all[:0]
}
