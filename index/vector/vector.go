// Package vector searches by meaning: it holds the unit vectors of documents and finds the
// documents with the highest cosine to a query's vector.
//
// Vocabulary. A collection is the vectors of one model; vectors of different models are
// never compared. A slot is a vector's index in a collection: slots are dense, so that a
// scan has no gaps. A row is a vector with a byte for each component. A code is a vector
// reduced to one bit per dimension, the sign of its distance from the collection's centre. A
// shortlist is the documents whose codes are nearest to a query, to be scored by their rows.
//
// Design. A chromem-go collection holds the vectors of a small collection, too, and answers
// its unfiltered searches. It cannot filter by document, passes every document through a
// channel and a lock, and takes five times the memory of a row. So the rows answer the rest:
// up to some thousand allowed documents are all scored, more than that by shortlist. A graph
// index (HNSW) was rejected: it filters late, must be built, and found a quarter of the
// neighbours where the shortlist finds nearly all.
package vector

import (
	"cmp"
	"errors"
	"fmt"
	"math"
)

// RefusedError is returned when a vector cannot be stored or used as a query. One such
// vector in a collection would spoil the order of every result. The caller that knows the
// vector's record wraps the error with it.
type RefusedError struct {
	Reason Reason
	// Width is the width of the vector and Want the width of the collection.
	Width, Want int
}

// Reason says what was wrong with a refused vector.
type Reason int

const (
	// WrongWidth is a vector whose width differs from the collection's.
	WrongWidth Reason = iota
	// NotFinite is a vector with a NaN or an infinite component.
	NotFinite
	// Zero is a vector of length 0, which has no direction.
	Zero
)

func (e *RefusedError) Error() string {
	switch e.Reason {
	case WrongWidth:
		return fmt.Sprintf("vector refused: its width is %d, the collection's is %d", e.Width, e.Want)
	case NotFinite:
		return "vector refused: it has a component that is not a finite number"
	default:
		return "vector refused: its length is zero"
	}
}

// Check returns a *RefusedError if a collection of width dim would refuse vec, so that a
// write can be refused before it is committed.
func Check(vec []float32, dim int) error {
	_, err := length(vec, dim)
	return err
}

// length is the Euclidean length of vec, or the reason to refuse it.
func length(vec []float32, dim int) (float64, error) {
	refuse := func(why Reason) error { return &RefusedError{Reason: why, Width: len(vec), Want: dim} }
	if len(vec) != dim {
		return 0, refuse(WrongWidth)
	}
	var squares float64
	for _, x := range vec {
		squares += float64(x) * float64(x)
	}
	switch {
	// Squares of float32 fit a float64: only NaN and Inf give these.
	case math.IsNaN(squares) || math.IsInf(squares, 0):
		return 0, refuse(NotFinite)
	case squares == 0:
		return 0, refuse(Zero)
	}
	return math.Sqrt(squares), nil
}

// unitTolerance is how far from 1 a length may be to count as 1.
const unitTolerance = 1e-6

// normalise scales vec to length 1 in place, unless it has that length already.
func normalise(vec []float32, length float64) {
	if math.Abs(length-1) < unitTolerance {
		return
	}
	for i, x := range vec {
		vec[i] = float32(float64(x) / length)
	}
}

// Options are the settings of a collection. The zero value of each but Name and Dim stands
// for its default.
type Options struct {
	// Name is the model's name, as in embedder.Model: "builtin/static-v1".
	Name string
	// Dim is the width of the vectors, 1 to 65,536.
	Dim int
	// CollectionUpTo is the largest collection whose unfiltered searches chromem-go
	// answers. Default 256: 0.3 ms there, where our own scan takes 0.01 ms.
	CollectionUpTo int
	// ExactUpTo is up to how many allowed documents all are scored exactly; more are
	// shortlisted, unless the shortlist were two fifths of them or more. Default 2,000.
	ExactUpTo int
	// Shortlist and ShortlistPerHit set how many documents are scored exactly after the
	// comparison of codes: Shortlist, or ShortlistPerHit for each wanted hit if that is
	// more. Defaults 1,600 and 8: see BenchmarkSearch and coder for the recall.
	Shortlist, ShortlistPerHit int
	// QueryCache is how many query vectors a retriever caches. Default 2,000: at width 256
	// some 2.5 MB.
	QueryCache int
}

func (o Options) withDefaults() Options {
	o.CollectionUpTo = cmp.Or(o.CollectionUpTo, 256)
	o.ExactUpTo = cmp.Or(o.ExactUpTo, 2_000)
	o.Shortlist = cmp.Or(o.Shortlist, 1_600)
	o.ShortlistPerHit = cmp.Or(o.ShortlistPerHit, 8)
	o.QueryCache = cmp.Or(o.QueryCache, 2_000)
	return o
}

func (o Options) validate() error {
	if o.Name == "" {
		return errors.New("name is empty")
	}
	if o.Dim < 1 || o.Dim > 65_536 {
		return fmt.Errorf("dim is %d, want 1 to 65536", o.Dim)
	}
	if o.CollectionUpTo < 0 || o.ExactUpTo < 0 || o.Shortlist < 0 || o.ShortlistPerHit < 0 || o.QueryCache < 0 {
		return errors.New("a size is negative")
	}
	return nil
}
