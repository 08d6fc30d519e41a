package vector

import (
	"errors"
	"fmt"

	"github.com/recalld/recalld/index"
)

// Save writes the collection. number gives each document the number that it is restored
// with; every document must have one.
func (s *Collection) Save(to *index.Saver, number func(doc uint32) (uint32, bool)) {
	s.mu.RLock() // searches go on, changes wait
	defer s.mu.RUnlock()
	to.Uint(uint64(s.options.Dim))
	to.Uint(uint64(len(s.docs)))
	for _, x := range s.sum {
		to.Float(x)
	}
	coded := s.codes != nil
	if !coded {
		to.Uint(0)
	} else {
		to.Uint(1)
		to.Uint(uint64(s.changes))
		for _, x := range s.codedMean {
			to.Float(float64(x))
		}
	}
	for slot, doc := range s.docs {
		if to.Err() != nil {
			return
		}
		n, known := number(doc)
		if !known {
			to.Fail(errors.New("a vector has no document"))
			return
		}
		to.Uint(uint64(n))
		to.Small(s.rows.row(uint32(slot)))
		if coded {
			for _, word := range s.code(uint32(slot)) {
				to.Word(word)
			}
		}
	}
}

// Take gives the collection the vectors of another one of its model, which must not be used
// any more.
func (s *Collection) Take(other *Collection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.small, s.held, s.slots, s.docs, s.rows, s.sum = other.small, other.held, other.slots, other.docs, other.rows, other.sum
	s.coder.centre, s.codes, s.codedMean, s.changes = other.coder.centre, other.codes, other.codedMean, other.changes
}

// Restore returns a collection with what Save wrote. Documents must have numbers below docs.
// Errors are those of the restorer.
func Restore(options Options, from *index.Restorer, docs int) (*Collection, error) {
	s, err := NewCollection(options)
	if err != nil {
		return nil, err
	}
	if from.Uint() != uint64(s.options.Dim) {
		from.Fail("the width of vectors is another")
	}
	count := from.Count(1 + s.options.Dim)
	for i := range s.sum {
		s.sum[i] = from.Float()
	}
	coded := from.Below(2) == 1
	if coded {
		s.changes = int(from.Below(1 << 40))
		s.codedMean = make([]float32, s.options.Dim)
		for i := range s.codedMean {
			s.codedMean[i] = float32(from.Float())
		}
		s.coder.setCentre(s.codedMean)
		s.codes = make([]uint64, 0, count*s.coder.words)
	}
	few := count <= s.options.CollectionUpTo && !coded
	switch {
	case few:
		clear(s.sum)
	case !coded && count > s.options.ExactUpTo:
		from.Fail("vectors have no codes")
	default:
		s.small = nil
	}
	row, vec := make([]int8, s.options.Dim), make([]float32, s.options.Dim)
	for range count {
		doc := uint32(from.Below(uint64(docs)))
		from.Small(row)
		if _, twice := s.slots.Get(doc); twice || from.Err() == nil && norm(row) == 0 {
			from.Fail("a vector is there twice, or is zero")
		}
		if from.Err() != nil {
			break
		}
		if few { // chromem-go has it, too
			for i, c := range row {
				vec[i] = float32(c)
			}
			if err = s.Upsert(doc, vec); err != nil {
				break
			}
		} else {
			s.rows.setRow(s.grow(doc), row)
		}
		if coded {
			for range s.coder.words {
				s.codes = append(s.codes, from.Word())
			}
		}
	}
	if err = errors.Join(err, from.Err()); err != nil {
		return nil, fmt.Errorf("restore vectors: %w", err)
	}
	return s, nil
}
