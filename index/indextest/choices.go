package indextest

import "math/rand/v2"

// Choices are random choices that a fuzz test takes from its input, a byte each, so that
// the fuzzer finds out which matter. After the input they are those of a fixed seed.
type Choices struct {
	*rand.Rand
	source *bytesThenSeed
}

// NewChoices returns the choices of an input.
func NewChoices(input []byte) Choices {
	s := &bytesThenSeed{left: input, then: rand.NewPCG(1, 2)}
	return Choices{rand.New(s), s}
}

// More reports whether the input has choices left.
func (c Choices) More() bool { return len(c.source.left) > 0 }

type bytesThenSeed struct {
	left []byte
	then rand.Source
}

// Uint64 repeats a byte eight times, because a choice is made by the highest bits.
func (s *bytesThenSeed) Uint64() uint64 {
	if len(s.left) == 0 {
		return s.then.Uint64()
	}
	b := s.left[0]
	s.left = s.left[1:]
	return uint64(b) * 0x0101010101010101
}
