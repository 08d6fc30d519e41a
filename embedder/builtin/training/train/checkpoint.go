package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/recalld/recalld/embedder/builtin/contrast"
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

// errDamaged is returned when a file is damaged.
var errDamaged = errors.New("damaged file")

// writeModel writes a model.
func writeModel(w io.Writer, m *contrast.Model) error {
	e := newEncoder(w)
	e.model(modelMagic, m)
	if err := e.close(); err != nil {
		return fmt.Errorf("write model: %w", err)
	}
	return nil
}

// readModel reads a model written by writeModel. It returns errDamaged.
func readModel(r io.Reader) (*contrast.Model, error) {
	d := newDecoder(r)
	m := d.model(modelMagic)
	if err := d.close(); err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	return m, nil
}

// writeCheckpoint writes the state that readCheckpoint restores.
func writeCheckpoint(w io.Writer, t *contrast.Trainer) error {
	e := newEncoder(w)
	e.model(checkpointMagic, t.Model())
	e.number(uint64(t.Steps))
	for _, list := range moments(&t.State) {
		e.floats(*list)
	}
	if err := e.close(); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	return nil
}

// readCheckpoint restores the state written by writeCheckpoint. The trainer must have been
// made with the model and options of the run. It returns errDamaged, also for a checkpoint of
// a model of another size; the trainer is then unchanged.
func readCheckpoint(r io.Reader, t *contrast.Trainer) error {
	d, to := newDecoder(r), t.Model()
	m := d.model(checkpointMagic)
	if d.err == nil && (m.Width != to.Width || m.Tokens() != to.Tokens()) {
		d.err = fmt.Errorf("%w: %d tokens of width %d, want %d of %d", errDamaged, m.Tokens(), m.Width, to.Tokens(), to.Width)
	}
	state := t.State
	state.Steps = int(d.number())
	for _, list := range moments(&state) {
		*list = d.floats(len(*list))
	}
	if err := d.close(); err != nil {
		return fmt.Errorf("read checkpoint: %w", err)
	}
	copy(to.Rows, m.Rows)
	copy(to.LogWeights, m.LogWeights)
	t.State = state
	return nil
}

func moments(s *contrast.State) []*[]float32 {
	return []*[]float32{&s.Rows.First, &s.Rows.Second, &s.Weights.First, &s.Weights.Second}
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

func (e *encoder) model(magic string, m *contrast.Model) {
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
			d.err = fmt.Errorf("%w: it is truncated", errDamaged)
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

func (d *decoder) model(magic string) *contrast.Model {
	head := d.bytes(make([]byte, 12))
	tokens, width := int(binary.LittleEndian.Uint32(head[4:])), int(binary.LittleEndian.Uint32(head[8:]))
	if d.err == nil && (string(head[:4]) != magic || tokens < 1 || tokens > maxTokens || width < 1 || width > maxWidth) {
		d.err = fmt.Errorf("%w: it is not a %s file of a valid size", errDamaged, magic)
	}
	return &contrast.Model{Width: width, Rows: d.floats(tokens * width), LogWeights: d.floats(tokens)}
}

// close checks the checksum, and that nothing follows.
func (d *decoder) close() error {
	want := d.sum
	got := binary.LittleEndian.Uint32(d.bytes(make([]byte, 4)))
	if d.err == nil && got != want {
		d.err = fmt.Errorf("%w: wrong checksum", errDamaged)
	}
	if d.err == nil {
		if _, err := d.r.ReadByte(); !errors.Is(err, io.EOF) {
			d.err = fmt.Errorf("%w: data after the end", errDamaged)
		}
	}
	return d.err
}
