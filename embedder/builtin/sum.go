package builtin

import (
	"math"
	"math/bits"
	"sync"

	"github.com/recalld/recalld/embedder/builtin/internal/feature"
)

// sums keeps the buffers of texts embedded before.
var sums = sync.Pool{New: func() any { return newSum() }}

// kindWeight is how much a feature counts by what it was made from, found by
// trying on sets of questions and answers.
var kindWeight = [feature.Kinds]int64{feature.Word: 8, feature.Whole: 6, feature.Pair: 8, feature.Gram: 3}

// spread is the number of components that a feature adds to or takes from. One
// would make two features that share a component indistinguishable.
const spread = 8

// sum gathers the features of one text at a time.
type sum struct {
	extract feature.Extractor
	add     func(feature.Kind, uint64) // the method value, made once

	// Distinct features in order of appearance, and an open-addressed index of
	// them: places hold a feature's number plus 1.
	features []counted
	places   []uint32
	total    [Dim]int64
}

type counted struct {
	hash  uint64
	count uint32
	kind  feature.Kind
}

// minPlaces serves texts of some hundred words without growing.
const minPlaces = 1 << 12

// maxPlaces is the most that is kept after a text; what a huge text needed is
// given back.
const maxPlaces = 1 << 16

func newSum() *sum {
	s := &sum{places: make([]uint32, minPlaces), features: make([]counted, 0, minPlaces/2)}
	s.add = s.count
	return s
}

// count adds one occurrence of a feature.
func (s *sum) count(kind feature.Kind, hash uint64) {
	mask := uint64(len(s.places) - 1)
	i := hash & mask
	for ; s.places[i] != 0; i = (i + 1) & mask {
		if f := &s.features[s.places[i]-1]; f.hash == hash {
			f.count++
			return
		}
	}
	s.features = append(s.features, counted{hash, 1, kind})
	s.places[i] = uint32(len(s.features))
	if 2*len(s.features) > len(s.places) {
		s.grow()
	}
}

func (s *sum) grow() {
	s.places = make([]uint32, 2*len(s.places))
	mask := uint64(len(s.places) - 1)
	for n, f := range s.features {
		i := f.hash & mask
		for s.places[i] != 0 {
			i = (i + 1) & mask
		}
		s.places[i] = uint32(n + 1)
	}
}

// reset forgets the features.
func (s *sum) reset() {
	if len(s.places) > maxPlaces {
		fresh := newSum()
		s.places, s.features = fresh.places, fresh.features
		return
	}
	mask := uint64(len(s.places) - 1)
	if len(s.features) > len(s.places)/8 {
		clear(s.places)
	} else {
		for n, f := range s.features {
			i := f.hash & mask
			for s.places[i] != uint32(n+1) {
				i = (i + 1) & mask
			}
			s.places[i] = 0
		}
	}
	s.features = s.features[:0]
}

// embed returns the unit vector of a text that is not blank.
func (s *sum) embed(w *weights, text string) []float32 {
	defer s.reset()
	clear(s.total[:])
	s.extract.Extract(text, s.add)
	for _, f := range s.features {
		weight := w.of(f.hash) * kindWeight[f.kind] * repeats(f.count)
		s.spread(f.hash, weight)
	}
	return s.unit()
}

// spread adds a feature's weight to its components. Every byte of the mixed
// hash names a component and another bit its sign.
func (s *sum) spread(hash uint64, weight int64) {
	signs := hash * 0x9e3779b97f4a7c15 // the bits that choose components must not choose signs
	signs ^= signs >> 29
	for range spread {
		sign := int64(signs&1)*2 - 1
		s.total[hash&(Dim-1)] += sign * weight
		hash >>= 8
		signs >>= 1
	}
}

// repeats is 256·(1+ln count), in whole numbers: the logarithm of the power of
// two below is a multiple of 256·ln 2 ≈ 177, and what lies between is
// interpolated, which is at most 2 % too little.
func repeats(count uint32) int64 {
	n := bits.Len32(count) - 1
	frac := (int64(count) - 1<<n) * 177 >> n
	return 256 + int64(n)*177 + frac
}

// unit scales the sums to length 1. The sums are made small enough for their
// squares to be added exactly; a square root and a division are rounded alike
// everywhere (IEEE 754).
func (s *sum) unit() []float32 {
	var most int64
	for _, t := range s.total {
		most = max(most, t, -t)
	}
	shift := max(0, bits.Len64(uint64(most))-27)
	var squares int64
	for i := range s.total {
		s.total[i] >>= shift
		squares += s.total[i] * s.total[i]
	}
	v := make([]float32, Dim)
	if squares == 0 { // every feature cancelled another: any fixed direction will do
		v[0] = 1
		return v
	}
	length := math.Sqrt(float64(squares))
	for i, t := range s.total {
		v[i] = float32(float64(t) / length)
	}
	return v
}
