package table

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// ErrVocabulary is returned when a list of pieces is not a valid vocabulary: a piece is
// empty, longer than MaxPiece or repeated, two pieces have the same hash (with a million
// pieces the chance is below 10⁻⁶), or there are too many.
var ErrVocabulary = errors.New("table: not a vocabulary")

// MaxTokens is the largest Size of a vocabulary.
const MaxTokens = 1 << 20

// Vocabulary is the set of pieces that a model knows, and the number of buckets for other
// pieces. It is immutable, and safe for concurrent use.
type Vocabulary struct {
	text    []byte   // the pieces end to end, ascending
	ends    []uint32 // of each piece in text
	slots   []uint64 // by hash, open addressing; a power of two, at most half full
	buckets uint32
}

// A slot of the index holds the upper bits of a piece's hash, and below them its token plus
// 1; 0 is an empty slot. The lower bits of the hash give the slot, so a match agrees in
// some 60 bits of the hash and the texts need not be compared: a look-up costs one memory
// access.
const slotHash = ^uint64(2*MaxTokens - 1)

// NewVocabulary returns the vocabulary of the given pieces, in any order, with the given
// number of buckets, at least one. It returns ErrVocabulary.
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

// append adds the next piece, which must sort after all pieces before it.
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

// index builds the hash index.
func (v *Vocabulary) index() error {
	v.slots = make([]uint64, 1<<bits.Len(uint(2*len(v.ends))))
	for token := range uint32(len(v.ends)) {
		h := hash(v.piece(token))
		other, known := v.find(h)
		if known {
			return fmt.Errorf("%w: %q and %q have the same hash", ErrVocabulary, v.piece(other), v.piece(token))
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

// Pieces is the number of pieces. The tokens below it are pieces.
func (v *Vocabulary) Pieces() int { return len(v.ends) }

// Buckets is the number of buckets. The tokens from Pieces on are buckets.
func (v *Vocabulary) Buckets() int { return int(v.buckets) }

// Size is the number of tokens: pieces and buckets.
func (v *Vocabulary) Size() int { return len(v.ends) + int(v.buckets) }

// piece returns the piece of a token below Pieces.
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
	return uint32(len(v.ends)) + uint32(h>>32*uint64(v.buckets)>>32) // as uniform as a remainder, without the division
}

// AppendTo appends the vocabulary's pieces to b. They are sorted, so each is written as the
// length of the prefix that it shares with the piece before (one byte), the length of the
// rest (one byte), and the rest. The numbers of pieces and buckets are not written.
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

// ParseVocabulary is the inverse of AppendTo: all of b must be the given number of pieces.
// Its allocations are bounded by MaxPiece and the length of b. It returns ErrVocabulary.
func ParseVocabulary(b []byte, pieces, buckets int) (*Vocabulary, error) {
	if err := checkSize(pieces, buckets); err != nil {
		return nil, err
	}
	if pieces > len(b)/3 { // a piece takes at least 3 bytes
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

// mix improves the distribution of the upper bits, which FNV leaves poor for short input:
// the finaliser of MurmurHash3 (https://github.com/aappleby/smhasher), public domain.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
