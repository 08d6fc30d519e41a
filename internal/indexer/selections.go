package indexer

import (
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/internal/memory"
)

// maxSelections is how many results of Select are kept: those of a few projects, each with
// and without code.
const maxSelections = 16

// selections keep what Select returned until the attributes of a document change. Questions
// select nearly the same each time, and a bitmap has a bit for each document.
type selections struct {
	// change counts the changes of attributes, each after it was made.
	change atomic.Uint64

	mu   sync.Mutex // guards kept
	kept map[selectionKey]selected
}

// selected is what Select found at some number of changes. The bitmaps are never changed.
type selected struct {
	change          uint64
	allow, universe *roaring.Bitmap
}

// selectionKey is a selection without conditions beyond its projects and kinds.
type selectionKey struct {
	project, also        string
	followed, allLessons bool
	kinds                string
}

// selectionKeyOf returns the key of a selection, or false if it has other conditions.
func selectionKeyOf(sel memory.Selection) (selectionKey, bool) {
	rest := sel
	rest.Project, rest.Also, rest.Followed, rest.AllLessons, rest.Kinds = "", "", false, false, nil
	if !reflect.ValueOf(rest).IsZero() {
		return selectionKey{}, false
	}
	var kinds strings.Builder
	for _, k := range sel.Kinds {
		kinds.WriteString(string(k))
		kinds.WriteByte(' ')
	}
	return selectionKey{sel.Project, sel.Also, sel.Followed, sel.AllLessons, kinds.String()}, true
}

func (s *selections) changed() { s.change.Add(1) }

func (s *selections) find(key selectionKey) (selected, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, known := s.kept[key]
	return found, known && found.change == s.change.Load()
}

func (s *selections) keep(key selectionKey, found selected) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = make(map[selectionKey]selected)
	}
	if _, known := s.kept[key]; !known && len(s.kept) >= maxSelections {
		clear(s.kept)
	}
	s.kept[key] = found
}
