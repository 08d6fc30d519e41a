// Package table is the trained model of the built-in embedder: the tokens of a text, a row
// for every token, the file format, and the vectors of texts.
//
// Vocabulary. A run is an unbroken stretch of letters, digits and underscores; a hyphen or
// an apostrophe between two of them belongs to it. A run is split into words at these
// signs, at changes between letters and digits, and at camelCase humps: "parseHTTPRequest2"
// is parse, http, request and 2. Text is split into lower-case pieces: words, numbers,
// whole runs, flags, operators and pairs of ideographs (see Kind). A vocabulary is the
// sorted list of the pieces of a model. A token is a number below the vocabulary's Size:
// first the pieces, in their order, then the buckets. A bucket stands for all unknown
// pieces with its hash.
//
// A row is the direction of a token, quantised to 256 or 16 steps a component. The row's
// scale is the size of one step. A weight is how much a token counts. Rows and weights are
// learned together. A width is a number of leading components that can be used as a model:
// rows are trained so that a vector cut to a smaller width, and scaled to length 1 again,
// is still useful (Kusupati et al., "Matryoshka Representation Learning", 2022).
package table

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrSpec is returned for an invalid Spec.
var ErrSpec = errors.New("table: not a model")

// Limits of a model, which bound the memory and time for reading a damaged file.
const (
	// MaxWidth is the most components of a row. Widths are multiples of WidthUnit.
	MaxWidth = 1024
	// WidthUnit is how many components are summed at once, whatever their bits.
	WidthUnit = 16
	// MaxName is the most bytes of a name or a source.
	MaxName = 255
)

// Spec is the input of New: a vocabulary and the learned rows and weights.
type Spec struct {
	// Name is the model's name, such as "static-v1".
	Name string
	// Source names what the model was trained on: a hash of the list of sources.
	Source string
	// Vocabulary gives the tokens of a text.
	Vocabulary *Vocabulary
	// Widths are the widths that the rows were trained for, the widest first:
	// {256, 128}.
	Widths []int
	// Bits is how many bits a component has in the file: 8 (the default, 0) or 4.
	Bits int
	// Rows are the rows of all tokens, one after another, Widths[0] components each.
	Rows []float32
	// Weights are the weights of all tokens, none of them negative.
	Weights []float32
}

func (s *Spec) validate() error {
	if s.Bits == 0 {
		s.Bits = 8
	}
	switch {
	case s.Vocabulary == nil:
		return fmt.Errorf("%w: no vocabulary", ErrSpec)
	case s.Name == "" || len(s.Name) > MaxName || len(s.Source) > MaxName:
		return fmt.Errorf("%w: name of %d bytes and source of %d, want a name, and at most %d bytes each", ErrSpec, len(s.Name), len(s.Source), MaxName)
	case s.Bits != 8 && s.Bits != 4:
		return fmt.Errorf("%w: %d bits, want 8 or 4", ErrSpec, s.Bits)
	}
	if err := checkWidths(s.Widths); err != nil {
		return err
	}
	tokens := s.Vocabulary.Size()
	if len(s.Rows) != tokens*s.Widths[0] || len(s.Weights) != tokens {
		return fmt.Errorf("%w: %d components and %d weights for %d tokens of width %d", ErrSpec, len(s.Rows), len(s.Weights), tokens, s.Widths[0])
	}
	for _, x := range s.Rows {
		if x-x != 0 { // infinite or not a number
			return fmt.Errorf("%w: a component is %v", ErrSpec, x)
		}
	}
	for i, x := range s.Weights {
		if x-x != 0 || x < 0 {
			return fmt.Errorf("%w: token %d has weight %v", ErrSpec, i, x)
		}
	}
	return nil
}

func checkWidths(widths []int) error {
	for i, w := range widths {
		if w < WidthUnit || w > MaxWidth || w%WidthUnit != 0 || i > 0 && w >= widths[i-1] {
			return fmt.Errorf("%w: widths %v, want multiples of %d up to %d, the widest first", ErrSpec, widths, WidthUnit, MaxWidth)
		}
	}
	if len(widths) == 0 || len(widths) > MaxName {
		return fmt.Errorf("%w: %d widths", ErrSpec, len(widths))
	}
	return nil
}

// Model is a vocabulary and the quantised rows and weights of its tokens. It is immutable,
// and safe for concurrent use.
type Model struct {
	name, source string
	vocabulary   *Vocabulary
	widths       []int
	bits         int
	rows         []byte   // bits of each component, token by token; see pack
	scales       []uint16 // in scaleUnit
	weights      []uint16 // in weightUnit
	scaleUnit    float32
	weightUnit   float32
}

// New quantises the learned rows and weights and returns the model. It returns ErrSpec.
func New(s Spec) (*Model, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	m := &Model{
		name: s.Name, source: s.Source, vocabulary: s.Vocabulary, widths: slices.Clone(s.Widths), bits: s.Bits,
		rows: make([]byte, 0, len(s.Rows)*s.Bits/8), scales: make([]uint16, len(s.Weights)), weights: make([]uint16, len(s.Weights)),
	}
	m.quantiseRows(s.Rows)
	m.weightUnit = slices.Max(s.Weights) / math.MaxUint16
	for i, w := range s.Weights {
		m.weights[i] = units(w, m.weightUnit)
	}
	return m, nil
}

// Name is the model's name.
func (m *Model) Name() string { return m.name }

// Renamed returns the model under another name, which is at most MaxName bytes
// long and not empty.
func (m *Model) Renamed(name string) *Model {
	renamed := *m
	renamed.name = name
	return &renamed
}

// Source names what the model was trained on.
func (m *Model) Source() string { return m.source }

// Vocabulary gives the tokens of a text.
func (m *Model) Vocabulary() *Vocabulary { return m.vocabulary }

// Widths are the widths at which the model may be used, the widest first. They must not be
// written to.
func (m *Model) Widths() []int { return m.widths }

// Bits is how many bits a component has in the file.
func (m *Model) Bits() int { return m.bits }

// Weight returns the weight of a token, rounded by quantisation.
func (m *Model) Weight(t uint32) float32 { return float32(m.weights[t]) * m.weightUnit }

// Row writes the row of a token, rounded by quantisation, to dst, which has the widest
// width.
func (m *Model) Row(t uint32, dst []float32) {
	g, row := gridOf(m.bits), m.row(t, m.widths[0])
	scale := float32(m.scales[t]) * m.scaleUnit
	for i := range dst {
		dst[i] = float32(g.at(row, i)) * scale
	}
}

// row returns the bytes of the first components of a token's row.
func (m *Model) row(t uint32, width int) []byte {
	size := m.widths[0] * m.bits / 8
	return m.rows[int(t)*size:][:width*m.bits/8]
}
