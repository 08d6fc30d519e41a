package store

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

// readChunks decodes a list of storedChunk. A question reads those of a hundred files, which by
// reflection was the largest part of its processor time. It returns false for what encodeChunks
// does not write.
func readChunks(raw []byte) (list []memory.FileChunk, ok bool) {
	r := chunkReader{rest: raw}
	n := r.head(cborArray)
	const least = 1 + 2*(1+len(memory.DocID{})) + 4 + 1 // bytes of a chunk
	if r.bad || n > uint64(len(r.rest))/uint64(least) {
		return nil, false
	}
	list = make([]memory.FileChunk, n)
	for i := range list {
		c := &list[i]
		r.bad = r.bad || r.head(cborArray) != 7
		copy(c.Doc[:], r.take(cborBytes, len(c.Doc)))
		copy(c.Hash[:], r.take(cborBytes, len(c.Hash)))
		for _, field := range []*int{&c.Start, &c.End, &c.StartLine, &c.EndLine} {
			*field = int(r.head(cborUint))
		}
		symbol := r.take(cborText, -1)
		c.Symbol = string(symbol)
		if r.bad || !utf8.Valid(symbol) {
			return nil, false
		}
	}
	return list, len(r.rest) == 0
}

// The major types of CBOR in use (RFC 8949, 3.1).
const (
	cborUint  = 0
	cborBytes = 2
	cborText  = 3
	cborArray = 4
)

// chunkReader reads items of CBOR and notes when one is not what was expected.
type chunkReader struct {
	rest []byte
	bad  bool
}

// head reads the beginning of an item of a major type, and returns its value or length, which
// fits an int.
func (r *chunkReader) head(major byte) uint64 {
	if r.bad || len(r.rest) == 0 || r.rest[0]>>5 != major {
		r.bad = true
		return 0
	}
	short := r.rest[0] & 31
	r.rest = r.rest[1:]
	if short < 24 {
		return uint64(short)
	}
	width := 1 << (short - 24) // 24 to 27: a number of 1, 2, 4 or 8 bytes follows
	if width > 8 || len(r.rest) < width {
		r.bad = true
		return 0
	}
	var number [8]byte
	copy(number[8-width:], r.rest[:width])
	r.rest = r.rest[width:]
	n := binary.BigEndian.Uint64(number[:])
	r.bad = n > math.MaxInt
	return n
}

// take reads an item of bytes of a length, -1 for any. It shares memory with the input.
func (r *chunkReader) take(major byte, length int) []byte {
	n := r.head(major)
	if r.bad || n > uint64(len(r.rest)) || length >= 0 && n != uint64(length) {
		r.bad = true
		return nil
	}
	item := r.rest[:n]
	r.rest = r.rest[n:]
	return item
}
