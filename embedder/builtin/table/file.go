package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// A file holds one model. All numbers are little-endian; a name is a byte that
// says its length, and so many bytes:
//
//	"RCLT"   magic
//	uint16   version, 1
//	uint8    bits of a component, 8 or 4
//	uint8    how many widths
//	uint16   each of them, the widest first
//	uint32   pieces of the vocabulary
//	uint32   buckets of the vocabulary
//	uint32   bytes that the pieces take
//	float32  unit of scales
//	float32  unit of weights
//	name     name
//	name     source
//	pieces   as Vocabulary.AppendTo writes them
//	uint16   the scale of every token
//	uint16   the weight of every token
//	rows     the components of every token: a byte each, 128 standing for 0, or
//	         half a byte, the lower half first, 8 standing for 0
//	uint32   CRC-32C of all before
const (
	magic      = "RCLT"
	version    = 1
	headerSize = 8
	sumSize    = 4
)

// ErrFile is returned when a file is not a model, is damaged, or is of another
// version.
var ErrFile = errors.New("table: damaged model file")

// Write writes the model's file.
func (m *Model) Write(w io.Writer) error {
	b := []byte(magic)
	le := binary.LittleEndian
	b = le.AppendUint16(b, version)
	b = append(b, byte(m.bits), byte(len(m.widths)))
	for _, width := range m.widths {
		b = le.AppendUint16(b, uint16(width))
	}
	pieces := m.vocabulary.AppendTo(nil)
	b = le.AppendUint32(b, uint32(m.vocabulary.Pieces()))
	b = le.AppendUint32(b, uint32(m.vocabulary.Buckets()))
	b = le.AppendUint32(b, uint32(len(pieces)))
	b = le.AppendUint32(b, math.Float32bits(m.scaleUnit))
	b = le.AppendUint32(b, math.Float32bits(m.weightUnit))
	for _, s := range []string{m.name, m.source} {
		b = append(append(b, byte(len(s))), s...)
	}
	b = append(b, pieces...)
	for _, list := range [][]uint16{m.scales, m.weights} {
		for _, x := range list {
			b = le.AppendUint16(b, x)
		}
	}
	b = append(b, m.rows...)
	b = le.AppendUint32(b, checksum(b))
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("write model: %w", err)
	}
	return nil
}

// Read returns the model of a file's bytes, which must not be written to afterwards. Rows
// are not copied, so that a program's embedded file is paged in only when needed. Read
// allocates at most about ten times the length of b. It returns ErrFile.
func Read(b []byte) (*Model, error) {
	if len(b) < headerSize+sumSize || string(b[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: no header", ErrFile)
	}
	r := reader{b: b[len(magic) : len(b)-sumSize]}
	if v := r.uint16(); v != version {
		return nil, fmt.Errorf("%w: version %d, this program reads %d", ErrFile, v, version)
	}
	if sum := binary.LittleEndian.Uint32(b[len(b)-sumSize:]); sum != checksum(b[:len(b)-sumSize]) {
		return nil, fmt.Errorf("%w: wrong checksum", ErrFile)
	}
	m, err := r.model()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	return m, nil
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// reader reads numbers from the beginning of bytes. Beyond their end it returns 0, which
// the checks of a model reject.
type reader struct {
	b []byte
}

// model reads what follows the version.
func (r *reader) model() (*Model, error) {
	m := &Model{bits: int(r.uint8())}
	m.widths = make([]int, r.uint8())
	for i := range m.widths {
		m.widths[i] = int(r.uint16())
	}
	pieces, buckets, size := r.count(), r.count(), r.count()
	m.scaleUnit, m.weightUnit = r.float32(), r.float32()
	m.name, m.source = r.name(), r.name()
	if m.bits != 8 && m.bits != 4 {
		return nil, fmt.Errorf("%d bits", m.bits)
	}
	if !isUnit(m.scaleUnit) || !isUnit(m.weightUnit) {
		return nil, fmt.Errorf("units %v and %v", m.scaleUnit, m.weightUnit)
	}
	if err := checkWidths(m.widths); err != nil {
		return nil, err
	}
	if pieces > MaxTokens || buckets > MaxTokens || size > len(r.b) {
		return nil, fmt.Errorf("%d pieces in %d bytes and %d buckets in a file of %d", pieces, size, buckets, len(r.b))
	}
	tokens, row := pieces+buckets, m.widths[0]*m.bits/8
	if len(r.b) != size+tokens*(4+row) {
		return nil, fmt.Errorf("%d tokens of %d bytes in %d", tokens, row, len(r.b)-size)
	}
	var err error
	if m.vocabulary, err = ParseVocabulary(r.take(size), pieces, buckets); err != nil {
		return nil, err
	}
	m.scales, m.weights = r.uint16s(tokens), r.uint16s(tokens)
	m.rows = r.b
	return m, nil
}

// isUnit reports whether every row and weight in units of x is finite.
func isUnit(x float32) bool { return x >= 0 && x <= math.MaxFloat32/math.MaxUint16/128 }

// take returns the next n bytes.
func (r *reader) take(n int) []byte {
	if n > len(r.b) {
		r.b = nil
		return make([]byte, n)
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) uint8() uint8     { return r.take(1)[0] }
func (r *reader) uint16() uint16   { return binary.LittleEndian.Uint16(r.take(2)) }
func (r *reader) uint32() uint32   { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) float32() float32 { return math.Float32frombits(r.uint32()) }
func (r *reader) name() string     { return string(r.take(int(r.uint8()))) }

// count returns a number of things. Numbers above the limit are reduced to a value that the
// checks still reject.
func (r *reader) count() int { return int(min(r.uint32(), math.MaxInt32)) }

func (r *reader) uint16s(n int) []uint16 {
	list := make([]uint16, n)
	b := r.take(2 * n)
	for i := range list {
		list[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return list
}
