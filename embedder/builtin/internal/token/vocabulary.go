package token

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// ErrVocabulary is returned when a list of pieces is no vocabulary: one is
// empty, longer than MaxPiece or there twice, two have one hash (the chance of
// which is below 10⁻⁶ with a million of them), or there are too many.
var ErrVocabulary = errors.New("token: not a vocabulary")

// MaxTokens is the most that a vocabulary's Size may be.
const MaxTokens = 1 << 20

// Vocabulary is the pieces that a model knows, and how many buckets it has for
// others. It does not change, and is safe for concurrent use.
type Vocabulary struct {
	text    []byte   // the pieces end to end, ascending
	ends    []uint32 // of each piece in text
	slots   []uint64 // by hash, open addressing; a power of two, at most half full
	buckets uint32
}

// A slot of the index holds the upper bits of a piece's hash, and below them its
// token plus 1; 0 is a free place. The lower bits of the hash say where to look,
// so that what is found has some 60 bits of the hash in common with what was
// looked for, and need not be compared: a piece costs one look at memory.
const slotHash = ^uint64(2*MaxTokens - 1)

// NewVocabulary returns the vocabulary of the given pieces, in any order, and
// so many buckets, of which there is one at least. It returns ErrVocabulary.
func NewVocabulary(pieces []string, buckets int) (*Vocabulary, error) {
	if err := checkSize(len(pieces), buckets); err != nil {
		return nil, err
	}
	v := &Vocabulary{ends: make([]uint32, 0, len(pieces)), buckets: uint32(buckets)}
	for _, p := range slices.Sorted(slices.Values(pieces)) {
		if err := v.append([]byte(p)); err != nil {
			return nil, err
		}
	}
	if err := v.index(); err != nil {
		return nil, err
	}
	return v, nil
}

func checkSize(pieces, buckets int) error {
	if pieces < 0 || pieces > MaxTokens || buckets < 1 || buckets > MaxTokens-pieces {
		return fmt.Errorf("%w: %d pieces and %d buckets, of at most %d together", ErrVocabulary, pieces, buckets, MaxTokens)
	}
	return nil
}

// append adds the next piece, which comes after all before it.
func (v *Vocabulary) append(piece []byte) error {
	if len(piece) == 0 || len(piece) > MaxPiece {
		return fmt.Errorf("%w: piece of %d bytes, want 1 to %d", ErrVocabulary, len(piece), MaxPiece)
	}
	if n := len(v.ends); n > 0 && bytes.Compare(piece, v.piece(uint32(n-1))) <= 0 {
		return fmt.Errorf("%w: %q after %q", ErrVocabulary, piece, v.piece(uint32(n-1)))
	}
	v.text = append(v.text, piece...)
	v.ends = append(v.ends, uint32(len(v.text)))
	return nil
}

// index makes the pieces findable.
func (v *Vocabulary) index() error {
	v.slots = make([]uint64, 1<<bits.Len(uint(2*len(v.ends))))
	for token := range uint32(len(v.ends)) {
		h := hash(v.piece(token))
		other, known := v.find(h)
		if known {
			return fmt.Errorf("%w: %q and %q have one hash", ErrVocabulary, v.piece(other), v.piece(token))
		}
		i := h & uint64(len(v.slots)-1)
		for v.slots[i] != 0 {
			i = (i + 1) & uint64(len(v.slots)-1)
		}
		v.slots[i] = h&slotHash | uint64(token+1)
	}
	return nil
}

// find returns the token of the piece with a hash, and whether there is one.
func (v *Vocabulary) find(h uint64) (uint32, bool) {
	for i := h & uint64(len(v.slots)-1); v.slots[i] != 0; i = (i + 1) & uint64(len(v.slots)-1) {
		if (v.slots[i]^h)&slotHash == 0 {
			return uint32(v.slots[i]&^slotHash) - 1, true
		}
	}
	return 0, false
}

// ChunksByPrefix is how many pieces there are; they are the tokens below it.
func (v *Vocabulary) ChunksByPrefix() int { return len(v.ends) }

// Buckets is how many buckets there are; they are the tokens from ChunksByPrefix on.
func (v *Vocabulary) Buckets() int { return int(v.buckets) }

// Size is how many tokens there are: pieces and buckets.
func (v *Vocabulary) Size() int { return len(v.ends) + int(v.buckets) }

// Piece returns the piece of a token below ChunksByPrefix.
func (v *Vocabulary) Piece(token uint32) string { return string(v.piece(token)) }

func (v *Vocabulary) piece(token uint32) []byte {
	start := uint32(0)
	if token > 0 {
		start = v.ends[token-1]
	}
	return v.text[start:v.ends[token]]
}

// Token returns the token of a piece, and whether the vocabulary has it.
func (v *Vocabulary) Token(piece []byte) (uint32, bool) { return v.find(hash(piece)) }

// bucket returns the token of the bucket of a hash.
func (v *Vocabulary) bucket(h uint64) uint32 {
	return uint32(len(v.ends)) + uint32(h>>32*uint64(v.buckets)>>32) // as even as a remainder, without the division
}
