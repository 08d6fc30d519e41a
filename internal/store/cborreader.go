package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"time"
	"unicode/utf8"
)

// The major types of CBOR in use (RFC 8949, 3.1).
const (
	cborUint  = 0
	cborBytes = 2
	cborText  = 3
	cborArray = 4
	cborMap   = 5
)

// The values of CBOR in use that are a byte each.
const (
	cborFalse = 0xf4
	cborTrue  = 0xf5
	cborNull  = 0xf6
)

// cborReader reads items of CBOR and notes when one is not what was expected.
type cborReader struct {
	rest []byte
	bad  bool
}

// head reads the beginning of an item of a major type, and returns its value or length, which
// fits an int.
func (r *cborReader) head(major byte) uint64 {
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
func (r *cborReader) take(major byte, length int) []byte {
	n := r.head(major)
	if r.bad || n > uint64(len(r.rest)) || length >= 0 && n != uint64(length) {
		r.bad = true
		return nil
	}
	item := r.rest[:n]
	r.rest = r.rest[n:]
	return item
}

// text reads a text.
func (r *cborReader) text() string {
	text := r.take(cborText, -1)
	r.bad = r.bad || !utf8.Valid(text)
	return string(text)
}

// bytes reads bytes into memory of their own.
func (r *cborReader) bytes() []byte { return append([]byte{}, r.take(cborBytes, -1)...) }

// bool reads true or false.
func (r *cborReader) bool() bool {
	if len(r.rest) == 0 || r.rest[0] != cborTrue && r.rest[0] != cborFalse {
		r.bad = true
		return false
	}
	value := r.rest[0] == cborTrue
	r.rest = r.rest[1:]
	return value
}

// null reads null, if that is next.
func (r *cborReader) null() bool {
	if len(r.rest) == 0 || r.rest[0] != cborNull {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

// time reads a time, which is stored as text.
func (r *cborReader) time() time.Time {
	at, err := time.Parse(time.RFC3339, r.text())
	r.bad = r.bad || err != nil
	return at
}

// readList reads a list with a function that reads an item. Null is nil.
func readList[T any](r *cborReader, item func() T) []T {
	if r.null() {
		return nil
	}
	n := r.head(cborArray)
	if r.bad || n > uint64(len(r.rest)) { // an item takes a byte at least
		r.bad = true
		return nil
	}
	items := make([]T, n)
	for i := range items {
		if items[i] = item(); r.bad {
			return nil
		}
	}
	return items
}

// fields reads a map with a function that reads the value of a key. The keys must be in
// the order in which they are written, so that none comes twice.
func (r *cborReader) fields(field func(key []byte)) {
	var before []byte
	for n := r.head(cborMap); n > 0 && !r.bad; n-- {
		key := r.take(cborText, -1)
		if cmp.Or(cmp.Compare(len(before), len(key)), bytes.Compare(before, key)) >= 0 {
			r.bad = true
			return
		}
		field(key)
		before = key
	}
}

// readObject reads a map into a new value, with a function that reads the value of a key
// into it. Null is nil.
func readObject[T any](r *cborReader, field func(*T, []byte)) *T {
	if r.null() {
		return nil
	}
	value := new(T)
	r.fields(func(key []byte) { field(value, key) })
	return value
}

// readRare reads a value by reflection.
func readRare[T any](r *cborReader) (value T) {
	if r.bad {
		return value
	}
	rest, err := codec().dec.UnmarshalFirst(r.rest, &value)
	r.rest, r.bad = rest, err != nil
	return value
}
