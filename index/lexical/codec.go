package lexical

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/recalld/recalld/index"
)

// ErrCorrupt is returned when bytes are not an encoding of terms.
var ErrCorrupt = errors.New("lexical: corrupt terms")

// The encoding, all of it:
//
//	version   1 byte, codecVersion
//	count     uvarint, number of terms
//	total     uvarint, bytes of all terms' texts
//	per term  1 byte: bytes shared with the term before (low half, at most 15)
//	          and bytes that follow (high half; 15 means 15 plus a uvarint)
//	          the bytes that follow
//	          uvarint, occurrences
//
// Terms are sorted, so neighbours share beginnings.
const (
	codecVersion = 1
	nibble       = 15
)

// EncodeTerms returns the terms as bytes: about six and a half for an average
// English or source code term. The terms must be sorted and distinct, as
// index.Terms are.
func EncodeTerms(terms index.Terms) []byte {
	total := 0
	for _, t := range terms {
		total += len(t.Text)
	}
	b := make([]byte, 0, 1+2*binary.MaxVarintLen32+total+3*len(terms))
	b = append(b, codecVersion)
	b = binary.AppendUvarint(b, uint64(len(terms)))
	b = binary.AppendUvarint(b, uint64(total))
	previous := ""
	for _, t := range terms {
		shared := sharedPrefix(previous, t.Text)
		suffix := t.Text[shared:]
		b = append(b, byte(shared|min(len(suffix), nibble)<<4))
		if len(suffix) >= nibble {
			b = binary.AppendUvarint(b, uint64(len(suffix)-nibble))
		}
		b = append(b, suffix...)
		b = appendUvarint(b, uint64(t.Count))
		previous = t.Text
	}
	return b
}

// sharedPrefix is the length of the common prefix of two texts, at most nibble.
func sharedPrefix(a, b string) int {
	n := min(len(a), len(b), nibble)
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// DecodeTerms reads what EncodeTerms wrote. For any other input it returns an error that
// wraps ErrCorrupt, and allocates no more than a small multiple of the input's size. The
// terms' texts share one allocation: keep all or clone.
func DecodeTerms(b []byte) (index.Terms, error) {
	if len(b) == 0 {
		return nil, fmt.Errorf("%w: no bytes", ErrCorrupt)
	}
	if b[0] != codecVersion {
		return nil, fmt.Errorf("%w: version %d, want %d", ErrCorrupt, b[0], codecVersion)
	}
	r := reader{b: b[1:]}
	count, total := r.uvarint(), r.uvarint()
	// A term takes at least two bytes and shares at most nibble bytes.
	if r.bad || count > uint64(len(r.b))/2 || total > count*nibble+uint64(len(r.b)) {
		return nil, fmt.Errorf("%w: sizes do not fit %d bytes", ErrCorrupt, len(b))
	}
	terms := make(index.Terms, 0, count)
	var texts strings.Builder
	texts.Grow(int(total))
	previous := ""
	for i := range count {
		head := r.byte()
		shared, length := int(head&nibble), uint64(head>>4)
		if length == nibble {
			length += r.uvarint()
		}
		suffix := r.take(length)
		occurrences := r.uvarint()
		if r.bad || shared > len(previous) || occurrences == 0 || occurrences > math.MaxUint32 {
			return nil, fmt.Errorf("%w: term %d", ErrCorrupt, i)
		}
		start := texts.Len()
		texts.WriteString(previous[:shared])
		texts.Write(suffix)
		// The builder never grows again unless total lied, and even then the
		// strings handed out so far stay valid.
		text := texts.String()[start:]
		if text <= previous { // the first term has no predecessor and may not be empty
			return nil, fmt.Errorf("%w: term %d is out of order", ErrCorrupt, i)
		}
		terms = append(terms, index.Term{Text: text, Count: uint32(occurrences)})
		previous = text
	}
	if len(r.b) != 0 || uint64(texts.Len()) != total {
		return nil, fmt.Errorf("%w: sizes do not add up", ErrCorrupt)
	}
	if !norm.NFC.IsNormalString(texts.String()) {
		terms = composed(terms)
	}
	return terms, nil
}

// composed returns terms as Analyze makes them now: it once left characters decomposed.
func composed(terms index.Terms) index.Terms {
	for i := range terms {
		if !strings.HasPrefix(terms[i].Text, namePrefix) { // names are kept as written
			terms[i].Text = norm.NFC.String(terms[i].Text)
		}
	}
	slices.SortFunc(terms, func(a, b index.Term) int { return strings.Compare(a.Text, b.Text) })
	distinct := terms[:0]
	for _, t := range terms {
		if last := len(distinct) - 1; last >= 0 && distinct[last].Text == t.Text {
			distinct[last].Count = uint32(min(uint64(distinct[last].Count)+uint64(t.Count), math.MaxUint32))
		} else {
			distinct = append(distinct, t)
		}
	}
	return distinct
}

// reader reads values from the front of bytes and remembers when they ran out.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *reader) uvarint() uint64 {
	if len(r.b) > 0 && r.b[0] < 0x80 {
		v := uint64(r.b[0])
		r.b = r.b[1:]
		return v
	}
	v, width := binary.Uvarint(r.b)
	if width <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[width:]
	return v
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}
