package contrast

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
)

// A checkpoint and a model file hold, little-endian: "RCTM" or "RCTC", uint32
// tokens, uint32 width, the rows and the logarithms of the weights as float32;
// a checkpoint then uint64 steps made and the four lists of moments; both end
// with the CRC-32C of all before.
const (
	modelMagic      = "RCTM"
	checkpointMagic = "RCTC"
	maxTokens       = 1 << 24
	maxWidth        = 1 << 14
)

// ErrDamaged is returned when a file is damaged.
var ErrDamaged = errors.New("contrast: damaged file")

// Write writes the model.
func (m *Model) Write(w io.Writer) error {
	e := newEncoder(w)
	e.model(modelMagic, m)
	if err := e.close(); err != nil {
		return fmt.Errorf("write model: %w", err)
	}
	return nil
}

// ReadModel reads a model written by Model.Write. It returns ErrDamaged.
func ReadModel(r io.Reader) (*Model, error) {
	d := newDecoder(r)
	m := d.model(modelMagic)
	if err := d.close(); err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	return m, nil
}

// Checkpoint writes the state that Resume restores.
func (t *Trainer) Checkpoint(w io.Writer) error {
	e := newEncoder(w)
	e.model(checkpointMagic, t.model)
	e.number(uint64(t.step))
	for _, list := range t.moments() {
		e.floats(*list)
	}
	if err := e.close(); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	return nil
}

// Resume restores the state written by Checkpoint. The trainer must have been made with the
// model and options of the run. It returns ErrDamaged, also for a checkpoint of a model of
// another size; the trainer is then unchanged.
func (t *Trainer) Resume(r io.Reader) error {
	d := newDecoder(r)
	m := d.model(checkpointMagic)
	if d.err == nil && (m.Width != t.model.Width || m.Tokens() != t.model.Tokens()) {
		d.err = fmt.Errorf("%w: %d tokens of width %d, want %d of %d", ErrDamaged, m.Tokens(), m.Width, t.model.Tokens(), t.model.Width)
	}
	step := d.number()
	lists := make([][]float32, len(t.moments()))
	for i, list := range t.moments() {
		lists[i] = d.floats(len(*list))
	}
	if err := d.close(); err != nil {
		return fmt.Errorf("read checkpoint: %w", err)
	}
	copy(t.model.Rows, m.Rows)
	copy(t.model.LogWeights, m.LogWeights)
	t.step = int(step)
	for i, list := range t.moments() {
		*list = lists[i]
	}
	return nil
}

func (t *Trainer) moments() []*[]float32 {
	return []*[]float32{&t.rows.first, &t.rows.second, &t.weights.first, &t.weights.second}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encoder writes numbers and computes their checksum. It keeps the first error.
type encoder struct {
	w   *bufio.Writer
	sum uint32
	buf []byte
}

func newEncoder(w io.Writer) *encoder { return &encoder{w: bufio.NewWriterSize(w, 1<<16)} }

func (e *encoder) bytes(b []byte) {
	e.sum = crc32.Update(e.sum, castagnoli, b)
	e.w.Write(b) // bufio keeps the error for Flush
}

func (e *encoder) number(n uint64) { e.bytes(binary.LittleEndian.AppendUint64(nil, n)) }

func (e *encoder) floats(list []float32) {
	for part := range slices.Chunk(list, 1<<14) {
		e.buf = e.buf[:0]
		for _, x := range part {
			e.buf = binary.LittleEndian.AppendUint32(e.buf, math.Float32bits(x))
		}
		e.bytes(e.buf)
	}
}

func (e *encoder) model(magic string, m *Model) {
	b := binary.LittleEndian.AppendUint32([]byte(magic), uint32(m.Tokens()))
	e.bytes(binary.LittleEndian.AppendUint32(b, uint32(m.Width)))
	e.floats(m.Rows)
	e.floats(m.LogWeights)
}

func (e *encoder) close() error {
	e.bytes(binary.LittleEndian.AppendUint32(nil, e.sum))
	return e.w.Flush()
}

// decoder reads what encoder wrote. After an error it reads zeros.
type decoder struct {
	r   *bufio.Reader
	sum uint32
	err error
}

func newDecoder(r io.Reader) *decoder { return &decoder{r: bufio.NewReaderSize(r, 1<<16)} }

func (d *decoder) bytes(b []byte) []byte {
	if d.err != nil {
		clear(b)
		return b
	}
	if _, err := io.ReadFull(d.r, b); err != nil {
		d.err = err
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			d.err = fmt.Errorf("%w: it is truncated", ErrDamaged)
		}
		clear(b)
	}
	d.sum = crc32.Update(d.sum, castagnoli, b)
	return b
}

func (d *decoder) number() uint64 { return binary.LittleEndian.Uint64(d.bytes(make([]byte, 8))) }

// floats reads n numbers. It allocates memory as it reads, so a wrong n cannot exhaust it.
func (d *decoder) floats(n int) []float32 {
	var list []float32
	b := make([]byte, 4<<14)
	for len(list) < n && d.err == nil {
		part := b[:4*min(n-len(list), 1<<14)]
		d.bytes(part)
		for ; len(part) > 0; part = part[4:] {
			list = append(list, math.Float32frombits(binary.LittleEndian.Uint32(part)))
		}
	}
	return list
}

func (d *decoder) model(magic string) *Model {
	head := d.bytes(make([]byte, 12))
	tokens, width := int(binary.LittleEndian.Uint32(head[4:])), int(binary.LittleEndian.Uint32(head[8:]))
	if d.err == nil && (string(head[:4]) != magic || tokens < 1 || tokens > maxTokens || width < 1 || width > maxWidth) {
		d.err = fmt.Errorf("%w: it is not a %s file of a valid size", ErrDamaged, magic)
	}
	return &Model{Width: width, Rows: d.floats(tokens * width), LogWeights: d.floats(tokens)}
}

// close checks the checksum, and that nothing follows.
func (d *decoder) close() error {
	want := d.sum
	got := binary.LittleEndian.Uint32(d.bytes(make([]byte, 4)))
	if d.err == nil && got != want {
		d.err = fmt.Errorf("%w: wrong checksum", ErrDamaged)
	}
	if d.err == nil {
		if _, err := d.r.ReadByte(); !errors.Is(err, io.EOF) {
			d.err = fmt.Errorf("%w: data after the end", ErrDamaged)
		}
	}
	return d.err
}
