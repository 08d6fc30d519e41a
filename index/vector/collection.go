package vector

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/philippgille/chromem-go"

	"github.com/recalld/recalld/index"
)

// Collection holds the vectors of one model under dense document numbers and is safe for
// concurrent use. A search blocks changes while it runs (2 ms at 100,000 documents) and
// sees all of a change or nothing of it.
type Collection struct {
	options Options
	scratch sync.Pool // of *scratch

	mu sync.RWMutex // guards all below
	// caches are the query caches of the retrievers.
	caches []*queryCache
	// small is a chromem-go collection with a document for each slot, under its decimal
	// number; nil once there are more than Options.CollectionUpTo.
	small *chromem.Collection
	held  *roaring.Bitmap
	slots index.Table[uint32] // from document to slot
	docs  []uint32            // by slot
	rows  rows                // by slot
	// sum is the sum of all vectors: the mean times their number.
	sum []float64

	coder *coder
	// codes are by slot, coder.words each; nil while the collection is small enough to
	// score all of it exactly.
	codes []uint64
	// codedMean is the mean on which the codes are centred, and changes the number of
	// vectors added or removed since it was last compared with the mean.
	codedMean []float32
	changes   int
}

// NewCollection returns an empty collection. It returns an error if an option is out of
// range.
func NewCollection(options Options) (*Collection, error) {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("open vector collection: %w", err)
	}
	small, err := chromem.NewDB().CreateCollection(options.Name, nil, refuseToEmbed)
	if err != nil {
		return nil, fmt.Errorf("open vector collection: %w", err)
	}
	s := &Collection{
		options: options,
		small:   small,
		held:    roaring.New(),
		rows:    newRows(options.Dim),
		sum:     make([]float64, options.Dim),
		coder:   newCoder(options.Dim),
	}
	s.scratch.New = func() any { return newScratch(s.coder) }
	return s, nil
}

// refuseToEmbed replaces chromem-go's default, which calls OpenAI for a document without a
// vector.
func refuseToEmbed(context.Context, string) ([]float32, error) {
	return nil, errors.New("vectors are made by the caller")
}

// Name is the model's name.
func (s *Collection) Name() string { return s.options.Name }

// Dim is the width of the vectors.
func (s *Collection) Dim() int { return s.options.Dim }

// Upsert makes vec the vector of doc. The collection keeps its direction, rounded as rows
// does, and not the slice. If Check refuses the vector, Upsert returns its error and changes
// nothing.
func (s *Collection) Upsert(doc uint32, vec []float32) error {
	if err := Check(vec, s.options.Dim); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	room := s.scratch.Get().(*scratch)
	defer s.scratch.Put(room)
	slot, replaces := s.slots.Get(doc)
	if replaces {
		s.addToSum(slot, -1, room)
	} else {
		slot = s.grow(doc)
		if s.codes != nil {
			s.codes = append(s.codes, make([]uint64, s.coder.words)...)
		}
	}
	s.rows.set(slot, vec)
	s.addToSum(slot, 1, room)
	s.changes++
	if !s.recode(room) && s.codes != nil {
		s.coder.encode(room.vector, room.rotated, s.code(slot))
	}
	if len(s.docs) > s.options.CollectionUpTo {
		s.small = nil
	}
	if s.small == nil {
		return nil
	}
	// ID and vector only: chromem-go keeps all fields in memory.
	if err := s.small.AddDocument(context.Background(), chromem.Document{ID: collectionID(doc), Embedding: s.vector(slot)}); err != nil {
		return fmt.Errorf("add vector: %w", err)
	}
	return nil
}

// grow gives a new document the next slot, whose row must be set.
func (s *Collection) grow(doc uint32) uint32 {
	slot := uint32(len(s.docs))
	s.docs = append(s.docs, doc)
	s.slots.Set(doc, slot)
	s.held.Add(doc)
	s.rows.grow()
	return slot
}

// Delete removes the vector of doc, in constant time. Deleting an unknown document is
// a no-op.
func (s *Collection) Delete(doc uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, ok := s.slots.Get(doc)
	if !ok {
		return
	}
	if s.small != nil {
		// The filter must be nil: an empty one would delete every document. Deletion by id
		// cannot fail in memory.
		_ = s.small.Delete(context.Background(), nil, nil, collectionID(doc))
	}
	room := s.scratch.Get().(*scratch)
	s.addToSum(slot, -1, room)
	s.scratch.Put(room)
	s.changes++

	// The last slot moves into the gap.
	last := uint32(len(s.docs) - 1)
	s.docs[slot] = s.docs[last]
	s.rows.dropLast(slot)
	if s.codes != nil {
		copy(s.code(slot), s.code(last))
		s.codes = s.codes[:int(last)*s.coder.words]
	}
	s.slots.Set(s.docs[slot], slot)
	s.slots.Delete(doc)
	s.held.Remove(doc)
	s.docs = s.docs[:last]
}

// Len is the number of vectors.
func (s *Collection) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.docs)
}

// Held returns the documents that have a vector. The bitmap belongs to the caller.
func (s *Collection) Held() *roaring.Bitmap {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.held.Clone()
}

// Vector returns the unit vector of doc, nil if it has none. The slice belongs to the caller.
func (s *Collection) Vector(doc uint32) []float32 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if slot, ok := s.slots.Get(doc); ok {
		return s.vector(slot)
	}
	return nil
}

// vector is Vector of a slot, with mu held.
func (s *Collection) vector(slot uint32) []float32 {
	vec := make([]float32, s.options.Dim)
	s.rows.vector(slot, vec)
	return vec
}

// driftAllowed is how far the mean may move before the codes are recomputed, squared and as
// a share of the vectors' variance: a tenth of a standard deviation.
const driftAllowed = .01

// recode recomputes all codes if there are none yet and the collection has outgrown exact
// search, or if the mean has moved away from their centre. It checks only after half as
// many changes as there are vectors, so that its cost (2 µs a vector, during which searches
// wait) is spread over them. The mean of a growing collection of similar texts soon stops
// moving.
func (s *Collection) recode(room *scratch) bool {
	n := len(s.docs)
	if n <= s.options.ExactUpTo || s.codes != nil && 2*s.changes < n {
		return false
	}
	s.changes = 0
	mean := make([]float32, s.options.Dim)
	variance, drift := 1.0, 0.0 // of unit vectors: 1 minus the mean's square
	for i, x := range s.sum {
		m := x / float64(n)
		mean[i] = float32(m)
		variance -= m * m
		if s.codes != nil {
			d := m - float64(s.codedMean[i])
			drift += d * d
		}
	}
	if s.codes != nil && drift <= driftAllowed*variance {
		return false
	}
	s.codedMean = mean
	s.coder.setCentre(mean)
	if s.codes == nil {
		s.codes = make([]uint64, n*s.coder.words)
	}
	for slot := range uint32(n) {
		s.rows.vector(slot, room.vector)
		s.coder.encode(room.vector, room.rotated, s.code(slot))
	}
	return true
}

func (s *Collection) code(slot uint32) []uint64 {
	w := s.coder.words
	return s.codes[int(slot)*w : (int(slot)+1)*w]
}

// addToSum adds a vector to the sum, or subtracts it, and leaves it in room.
func (s *Collection) addToSum(slot uint32, sign float64, room *scratch) {
	s.rows.vector(slot, room.vector)
	for i, x := range room.vector {
		s.sum[i] += sign * float64(x)
	}
}

func collectionID(doc uint32) string { return strconv.FormatUint(uint64(doc), 10) }
