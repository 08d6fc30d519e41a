package token

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// ErrVocabulary is returned when a list of pieces is no vocabulary: one is
// empty, longer than MaxPiece or there twice, or there are too many.
var ErrVocabulary = errors.New("token: not a vocabulary")

// MaxTokens is the most that a vocabulary's Size may be.
const MaxTokens = 1 << 20

// Vocabulary is the pieces that a model knows, and how many buckets it has for
// others. It does not change, and is safe for concurrent use.
type Vocabulary struct {
	text    []byte   // the pieces end to end, ascending
	ends    []uint32 // of each piece in text
	slots   []slot   // open addressing by hash; a power of two, at most half full
	shift   uint     // from a hash to its first slot
	buckets uint32
}

// slot is a place of the index; half of the hash spares comparing most of the
// pieces that are another.
type slot struct {
	hash  uint32
	token uint32 // plus 1; 0 is a free place
}

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
	v.index()
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
func (v *Vocabulary) index() {
	width := bits.Len(uint(2 * len(v.ends)))
	v.slots, v.shift = make([]slot, 1<<width), uint(64-width)
	for token := range uint32(len(v.ends)) {
		h := hash(v.piece(token))
		i := h >> v.shift
		for v.slots[i].token != 0 {
			i = (i + 1) & uint64(len(v.slots)-1)
		}
		v.slots[i] = slot{uint32(h), token + 1}
	}
}

// Pieces is how many pieces there are; they are the tokens below it.
func (v *Vocabulary) Pieces() int { return len(v.ends) }

// Buckets is how many buckets there are; they are the tokens from Pieces on.
func (v *Vocabulary) Buckets() int { return int(v.buckets) }

// Size is how many tokens there are: pieces and buckets.
func (v *Vocabulary) Size() int { return len(v.ends) + int(v.buckets) }

// Piece returns the piece of a token below Pieces.
func (v *Vocabulary) Piece(token uint32) string { return string(v.piece(token)) }

func (v *Vocabulary) piece(token uint32) []byte {
	start := uint32(0)
	if token > 0 {
		start = v.ends[token-1]
	}
	return v.text[start:v.ends[token]]
}

// Token returns the token of a piece, and whether the vocabulary has it.
func (v *Vocabulary) Token(piece []byte) (uint32, bool) {
	h := hash(piece)
	for i := h >> v.shift; v.slots[i].token != 0; i = (i + 1) & uint64(len(v.slots)-1) {
		if s := v.slots[i]; s.hash == uint32(h) && string(v.piece(s.token-1)) == string(piece) {
			return s.token - 1, true
		}
	}
	return 0, false
}

// bucket returns the token of the bucket of a hash.
func (v *Vocabulary) bucket(h uint64) uint32 {
	return uint32(len(v.ends)) + uint32(h>>32*uint64(v.buckets)>>32) // as even as a remainder, without the division
}
