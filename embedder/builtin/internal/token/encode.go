package token

import (
	"fmt"
)

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
