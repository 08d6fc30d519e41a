package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// ErrSaved is returned when what was saved of an index is not what Saver wrote, or is of
// another version.
var ErrSaved = errors.New("the saved index cannot be used")

// Saver writes an index, for a process that begins with it instead of building it anew.
// Numbers are little-endian. The first error ends the writing; Flush returns it.
type Saver struct {
	w    io.Writer
	room []byte
	err  error
}

// saverRoom is how many bytes are written at once.
const saverRoom = 1 << 16

// NewSaver returns a saver that writes to w.
func NewSaver(w io.Writer) *Saver { return &Saver{w: w, room: make([]byte, 0, saverRoom)} }

// Flush writes what is held back, and returns the first error.
func (s *Saver) Flush() error {
	if s.err == nil && len(s.room) > 0 {
		_, s.err = s.w.Write(s.room)
	}
	s.room = s.room[:0]
	return s.err
}

// space makes room for n bytes, at most saverRoom.
func (s *Saver) space(n int) {
	if len(s.room)+n > cap(s.room) {
		_ = s.Flush() // the error is kept
	}
}

// Uint writes a number.
func (s *Saver) Uint(n uint64) {
	s.space(binary.MaxVarintLen64)
	s.room = binary.AppendUvarint(s.room, n)
}

// Word writes a number of 64 bits.
func (s *Saver) Word(n uint64) {
	s.space(8)
	s.room = binary.LittleEndian.AppendUint64(s.room, n)
}

// Bytes writes bytes, whose number the reader must know.
func (s *Saver) Bytes(b []byte) {
	for len(b) > 0 {
		s.space(1)
		n := copy(s.room[len(s.room):cap(s.room)], b)
		s.room = s.room[:len(s.room)+n]
		b = b[n:]
	}
}

// Float writes a number.
func (s *Saver) Float(f float64) { s.Word(math.Float64bits(f)) }

// Err returns the first error, so that a loop over many things can end early.
func (s *Saver) Err() error { return s.err }

// Fail ends the writing with an error.
func (s *Saver) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// String writes a string with its length.
func (s *Saver) String(text string) {
	s.Uint(uint64(len(text)))
	s.Bytes([]byte(text))
}

// Restorer reads what a Saver wrote. It takes no more memory than a small multiple of what
// is there to be read, whatever the bytes say. The first error ends the reading: what is
// read from then on is zero; see Err.
type Restorer struct {
	left  []byte
	owner any
	err   error
}

// NewRestorer returns a restorer of b, which must not change, and can be read as long as
// owner can be reached; nil for memory of Go.
func NewRestorer(b []byte, owner any) *Restorer { return &Restorer{left: b, owner: owner} }

// Owner is what must be kept with what Bytes returns.
func (r *Restorer) Owner() any { return r.owner }

// Left is how many bytes are not read yet.
func (r *Restorer) Left() int { return len(r.left) }

// Err returns the first error, which is ErrSaved.
func (r *Restorer) Err() error { return r.err }

// Fail ends the reading with ErrSaved.
func (r *Restorer) Fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrSaved, what)
	}
	r.left = nil
}

// Uint reads a number.
func (r *Restorer) Uint() uint64 {
	if len(r.left) > 0 && r.left[0] < 0x80 {
		n := r.left[0]
		r.left = r.left[1:]
		return uint64(n)
	}
	n, width := binary.Uvarint(r.left)
	if width <= 0 {
		r.Fail("a number is cut off")
		return 0
	}
	r.left = r.left[width:]
	return n
}

// Count reads a number of things of at least so many bytes each. It fails if there are more
// of them than bytes left to read.
func (r *Restorer) Count(each int) int {
	n := r.Uint()
	if n > uint64(len(r.left)/each) {
		r.Fail("a number is too large")
		return 0
	}
	return int(n)
}

// Below reads a number below a limit.
func (r *Restorer) Below(limit uint64) uint64 {
	n := r.Uint()
	if n >= limit {
		r.Fail("a number is out of range")
		return 0
	}
	return n
}

// Word reads a number of 64 bits.
func (r *Restorer) Word() uint64 {
	if len(r.left) < 8 {
		r.Fail("it is cut off")
		return 0
	}
	n := binary.LittleEndian.Uint64(r.left)
	r.left = r.left[8:]
	return n
}

// Float reads a number, which must be finite.
func (r *Restorer) Float() float64 {
	f := math.Float64frombits(r.Word())
	if math.IsNaN(f) || math.IsInf(f, 0) {
		r.Fail("a number is not finite")
		return 0
	}
	return f
}

// Bytes reads n bytes. They are those that the restorer was made of.
func (r *Restorer) Bytes(n int) []byte {
	if n > len(r.left) {
		r.Fail("it is cut off")
		return nil
	}
	b := r.left[:n:n]
	r.left = r.left[n:]
	return b
}

// String reads a string with its length.
func (r *Restorer) String() string { return string(r.Bytes(r.Count(1))) }

// End fails unless all is read.
func (r *Restorer) End() error {
	if len(r.left) > 0 {
		r.Fail("there is more than expected")
	}
	return r.err
}
