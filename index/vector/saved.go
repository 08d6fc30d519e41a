package vector

import (
	"errors"
	"fmt"

	"github.com/recalld/recalld/index"
)

// Save writes the collection. number gives each document the number that it is restored
// with; every document must have one. Only one Save may run at a time.
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
	for _, doc := range s.docs {
		n, known := number(doc)
		if !known {
			to.Fail(errors.New("a vector has no document"))
			return
		}
		to.Uint(uint64(n))
	}
	for _, word := range s.codes {
		to.Word(word)
	}
	s.rows.save(to)
}

// Take gives the collection the vectors of another one of its model, which must not be used
// any more.
func (s *Collection) Take(other *Collection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.small, s.held, s.slots, s.docs, s.rows, s.sum = other.small, other.held, other.slots, other.docs, other.rows, other.sum
	s.coder.centre, s.codes, s.codedMean, s.changes = other.coder.centre, other.codes, other.codedMean, other.changes
}

// Remap lets the rows that have not changed since Save lie in what it wrote, instead of
// where they are: in memory, or in what an earlier Save wrote. The bytes must not change as
// long as owner can be reached.
func (s *Collection) Remap(saved []byte, owner any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows.remap(saved, owner)
}

// Restore returns a collection with what Save wrote. Documents must have numbers below docs.
// Rows stay where the restorer reads. Errors are those of the restorer.
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
	}
	numbers := make([]uint32, 0, count)
	for range count {
		numbers = append(numbers, uint32(from.Below(uint64(docs))))
	}
	if coded {
		s.codes = make([]uint64, count*s.coder.words)
		for i := range s.codes {
			s.codes[i] = from.Word()
		}
	}
	if count <= s.options.CollectionUpTo && !coded {
		return s, errors.Join(s.restoreSmall(numbers, from), from.Err())
	}
	if !coded && count > s.options.ExactUpTo {
		from.Fail("vectors have no codes")
	}
	s.small = nil
	s.docs = numbers
	for slot, doc := range numbers {
		s.slots.Set(doc, uint32(slot))
	}
	s.held.AddMany(numbers)
	if s.rows.restore(from, count); s.slots.Len() < count {
		from.Fail("a vector is there twice")
	}
	if err := from.Err(); err != nil {
		return nil, fmt.Errorf("restore vectors: %w", err)
	}
	return s, nil
}

// restoreSmall restores vectors that chromem-go has, too.
func (s *Collection) restoreSmall(docs []uint32, from *index.Restorer) error {
	clear(s.sum)
	saved := newRows(s.options.Dim)
	saved.restore(from, len(docs))
	vec := make([]float32, s.options.Dim)
	for slot, doc := range docs {
		if _, twice := s.slots.Get(doc); twice {
			from.Fail("a vector is there twice")
		}
		if from.Err() != nil {
			return nil
		}
		saved.vector(uint32(slot), vec)
		if err := s.Upsert(doc, vec); err != nil {
			return fmt.Errorf("restore vectors: %w", err)
		}
	}
	return nil
}
