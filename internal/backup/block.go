package backup

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store"
)

// Sizes of a block in bytes, before compression. A block ends with the entry at which it
// reaches maxBlock, if no other entry ends it. Only one entry may be larger than that.
const (
	minBlock  = 4 << 10
	meanBlock = 32 << 10
	maxBlock  = 256 << 10
)

// maxRaw bounds a block that is read: an entry of the store's largest value and key.
const maxRaw = 20 << 20

// hash names a block: the SHA-256 of its bytes.
type hash [sha256.Size]byte

// cutter cuts entries into blocks. Whether an entry ends its block follows from the entry,
// in proportion to its size, so a change moves only the ends near it.
type cutter struct {
	buf     []byte
	entries int
	size    int64
	emit    func(raw []byte) error
}

func (c *cutter) add(e store.Entry) error {
	start := len(c.buf)
	c.buf = appendEntry(c.buf, e)
	size := len(c.buf) - start
	c.entries++
	c.size += int64(size)
	ends := uint64(crc32.ChecksumIEEE(c.buf[start:])) < uint64(min(size, meanBlock))<<32/meanBlock
	if len(c.buf) < minBlock || !ends && len(c.buf) < maxBlock {
		return nil
	}
	return c.flush()
}

func (c *cutter) flush() error {
	if len(c.buf) == 0 {
		return nil
	}
	err := c.emit(c.buf)
	c.buf = c.buf[:0]
	return err
}

func appendEntry(b []byte, e store.Entry) []byte {
	b = binary.AppendUvarint(b, uint64(len(e.Key)))
	b = append(b, e.Key...)
	b = binary.AppendUvarint(b, e.ExpiresAt)
	b = binary.AppendUvarint(b, uint64(len(e.Value)))
	return append(b, e.Value...)
}

// readEntries passes the entries of a block to fn.
func readEntries(raw []byte, fn func(store.Entry) error) error {
	number := func() (uint64, bool) {
		n, width := binary.Uvarint(raw)
		if width <= 0 {
			return 0, false
		}
		raw = raw[width:]
		return n, true
	}
	field := func() ([]byte, bool) {
		n, ok := number()
		if !ok || n > uint64(len(raw)) {
			return nil, false
		}
		b := raw[:n:n]
		raw = raw[n:]
		return b, true
	}
	for len(raw) > 0 {
		var e store.Entry
		var ok [3]bool
		e.Key, ok[0] = field()
		e.ExpiresAt, ok[1] = number()
		e.Value, ok[2] = field()
		if ok != [3]bool{true, true, true} {
			return memory.Errorf(memory.CodeCorrupt, "a block of the backup does not end with an entry")
		}
		if err := fn(e); err != nil {
			return err
		}
	}
	return nil
}

// compress appends the compressed form of a block to dst.
func compress(w *flate.Writer, dst *bytes.Buffer, raw []byte) error {
	w.Reset(dst)
	if _, err := w.Write(raw); err != nil {
		return err
	}
	return w.Close()
}

// decompress returns the bytes of a block, which must be those that name it.
func decompress(packed []byte, b block) ([]byte, error) {
	r := flate.NewReader(bytes.NewReader(packed))
	raw := bytes.NewBuffer(make([]byte, 0, b.raw))
	if _, err := io.Copy(raw, io.LimitReader(r, b.raw+1)); err != nil {
		return nil, fmt.Errorf("it cannot be decompressed: %w", err)
	}
	if int64(raw.Len()) != b.raw || sha256.Sum256(raw.Bytes()) != b.hash {
		return nil, fmt.Errorf("the checksum does not match")
	}
	return raw.Bytes(), nil
}
