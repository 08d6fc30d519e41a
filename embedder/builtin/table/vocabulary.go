package table

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
var ErrVocabulary = errors.New("table: not a vocabulary")

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
func (v *Vocabulary) Token(piece []byte) (uint32, bool) { return v.find(hash(piece)) }

// bucket returns the token of the bucket of a hash.
func (v *Vocabulary) bucket(h uint64) uint32 {
	return uint32(len(v.ends)) + uint32(h>>32*uint64(v.buckets)>>32) // as even as a remainder, without the division
}

// AppendTo appends the vocabulary's pieces to b. They are sorted, so each is
// written as a byte that says how much of the piece before it begins with, a
// byte that says how much follows, and what follows. How many pieces and
// buckets there are is not written.
func (v *Vocabulary) AppendTo(b []byte) []byte {
	var last []byte
	for token := range uint32(len(v.ends)) {
		piece := v.piece(token)
		same := 0
		for same < min(len(last), len(piece)) && last[same] == piece[same] {
			same++
		}
		b = append(b, byte(same), byte(len(piece)-same))
		b = append(b, piece[same:]...)
		last = piece
	}
	return b
}

// ParseVocabulary returns the vocabulary that AppendTo wrote: all of b is so
// many pieces. What it allocates is bounded by MaxPiece and the length of b.
// It returns ErrVocabulary.
func ParseVocabulary(b []byte, pieces, buckets int) (*Vocabulary, error) {
	if err := checkSize(pieces, buckets); err != nil {
		return nil, err
	}
	if pieces > len(b)/3 { // the least that a piece takes
		return nil, fmt.Errorf("%w: %d pieces in %d bytes", ErrVocabulary, pieces, len(b))
	}
	v := &Vocabulary{ends: make([]uint32, 0, pieces), buckets: uint32(buckets)}
	var piece []byte
	for range pieces {
		if len(b) < 2 || int(b[0]) > len(piece) || int(b[1]) > len(b)-2 {
			return nil, fmt.Errorf("%w: piece %d is damaged", ErrVocabulary, len(v.ends))
		}
		same, more := int(b[0]), int(b[1])
		piece = append(piece[:same], b[2:2+more]...)
		b = b[2+more:]
		if err := v.append(piece); err != nil {
			return nil, err
		}
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("%w: %d bytes after the last piece", ErrVocabulary, len(b))
	}
	if err := v.index(); err != nil {
		return nil, err
	}
	return v, nil
}

// FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/), over bytes to find a
// piece and over code points for a gram. The buckets of a model depend on it:
// another hash needs another version of the file.
const (
	fnvPrime  = 0x100000001b3
	fnvOffset = 0xcbf29ce484222325
)

func hash(piece []byte) uint64 {
	h := uint64(fnvOffset)
	for _, b := range piece {
		h = (h ^ uint64(b)) * fnvPrime
	}
	return mix(h)
}

func hashRunes(gram []rune) uint64 {
	h := uint64(fnvOffset)
	for _, r := range gram {
		h = (h ^ uint64(uint32(r))) * fnvPrime
	}
	return mix(h)
}

// mix spreads the bits, of which FNV leaves the upper ones poor for short
// input: the finaliser of MurmurHash3 (https://github.com/aappleby/smhasher),
// public domain.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
