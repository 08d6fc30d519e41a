package lsm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/klauspost/compress/snappy"
	"google.golang.org/protobuf/proto"
)

// Table identifies a table.
type Table struct {
	ID   uint64 `json:"id"`
	Size int64  `json:"size"` // bytes
	// Sum is the checksum of the index, which has the first key and the position of every
	// block. The blocks have their own checksums.
	Sum uint64 `json:"sum"`
}

// span is the position of a block, and its first key.
type span struct {
	at, size int
	key      []byte
}

// ReadTable returns the identity of a table, from the end of its file.
func ReadTable(dir string, id uint64) (Table, error) {
	t := Table{ID: id}
	f, err := os.Open(tablePath(dir, id))
	if err != nil {
		return t, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return t, err
	}
	t.Size = info.Size()
	tail := make([]byte, min(t.Size, 64))
	if _, err := f.ReadAt(tail, t.Size-int64(len(tail))); err != nil {
		return t, err
	}
	sum, _, err := footer(tail)
	t.Sum = sum.value
	return t, err
}

// footer reads the end of a table: the checksum of its index, and where the index ends,
// counted from the end of the file.
func footer(b []byte) (sum checksum, tail int, err error) {
	bad := errors.New("its end does not decode")
	if len(b) < 8 {
		return sum, 0, bad
	}
	n := int(binary.BigEndian.Uint32(b[len(b)-4:]))
	if n <= 0 || n > 32 || n > len(b)-8 {
		return sum, 0, bad
	}
	sum, err = readChecksum(b[len(b)-4-n : len(b)-4])
	if err != nil {
		return sum, 0, bad
	}
	return sum, 4 + n, nil
}

// checksum is a checksum message. Badger has another algorithm than CRC-32C, which recalld
// never used.
type checksum struct {
	algorithm pb.Checksum_Algorithm
	value     uint64
}

func readChecksum(b []byte) (checksum, error) {
	var read pb.Checksum
	err := proto.Unmarshal(b, &read)
	return checksum{read.Algo, read.Sum}, err
}

// matches says that the checksum is that of b.
func (c checksum) matches(b []byte) bool {
	return c == checksum{value: uint64(crc32.Checksum(b, castagnoli))}
}

// index reads the positions of the blocks of a table.
func index(b []byte) (spans []span, err error) {
	sum, tail, err := footer(b)
	if err != nil {
		return nil, err
	}
	end := len(b) - tail - 4
	if end < 0 {
		return nil, errors.New("its end does not decode")
	}
	size := int(binary.BigEndian.Uint32(b[end:]))
	if size <= 0 || size > end {
		return nil, fmt.Errorf("its index claims %d bytes", size)
	}
	start := end - size
	data := b[start:end]
	if !sum.matches(data) {
		return nil, errors.New("the checksum of its index does not match")
	}
	// The reader of the index panics if it cannot decode it. After a valid checksum this is
	// unlikely.
	defer func() {
		if why := recover(); why != nil {
			spans, err = nil, fmt.Errorf("its index does not decode: %v", why)
		}
	}()
	root := fb.GetRootAsTableIndex(data, 0)
	spans = make([]span, root.OffsetsLength())
	var o fb.BlockOffset
	for i := range spans {
		if !root.Offsets(&o, i) {
			return nil, errors.New("its index does not decode")
		}
		spans[i] = span{int(o.Offset()), int(o.Len()), o.KeyBytes()}
		if s := spans[i]; s.at < 0 || s.size <= 0 || s.at > start || s.size > start-s.at {
			return nil, fmt.Errorf("its block %d lies outside", i)
		}
	}
	if len(spans) == 0 {
		return nil, errors.New("its index has no block")
	}
	return spans, nil
}

// tableReader reads tables, one after another, reusing its memory.
type tableReader struct {
	file, block []byte
}

// verify reads a whole table, calls fn with each readable entry, and returns the first
// damage.
func (r *tableReader) verify(dir string, id uint64, compression byte, fn func(*Entry)) error {
	if err := r.load(dir, id); err != nil {
		return err
	}
	spans, err := index(r.file)
	if err != nil {
		r.search(fn)
		return err
	}
	var first error
	for i, s := range spans {
		entries, err := r.read(s, compression)
		if err == nil {
			err = walkBlock(entries, fn)
		}
		if err != nil && first == nil {
			first = fmt.Errorf("its block %d of %d: %w", i+1, len(spans), err)
		}
	}
	return first
}

func (r *tableReader) load(dir string, id uint64) error {
	f, err := os.Open(tablePath(dir, id))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is not a file")
	}
	if size := int(info.Size()); cap(r.file) < size {
		r.file = make([]byte, size)
	} else {
		r.file = r.file[:size]
	}
	_, err = io.ReadFull(f, r.file)
	return err
}

// block is a decompressed and verified block.
type block struct {
	data    []byte // the entries
	offsets []byte // where each begins, little endian
}

// read reads the block of a span.
func (r *tableReader) read(s span, compression byte) (block, error) {
	raw := r.file[s.at : s.at+s.size]
	if compression == 1 {
		size, err := snappy.DecodedLen(raw)
		if err == nil && size > maxBlock {
			err = snappy.ErrTooLarge
		}
		if err == nil {
			r.block, err = snappy.Decode(r.block[:cap(r.block)], raw)
		}
		if err != nil {
			return block{}, errors.New("it does not decompress")
		}
		raw = r.block
	} else if compression != 0 {
		return block{}, fmt.Errorf("its compression %d is unknown", compression)
	}
	b, err := parseBlock(raw)
	if err == nil && !bytes.Equal(b.first(), s.key) {
		return b, errors.New("it is another block")
	}
	return b, err
}

// parseBlock verifies a block and splits it: entries, their offsets, their number, a
// checksum and its length.
func parseBlock(b []byte) (block, error) {
	bad := errors.New("it does not decode")
	if len(b) < 12 {
		return block{}, bad
	}
	n := int(binary.BigEndian.Uint32(b[len(b)-4:]))
	at := len(b) - 4 - n
	if n <= 0 || n > 32 || at < 4 {
		return block{}, bad
	}
	sum, err := readChecksum(b[at : at+n])
	if err != nil {
		return block{}, bad
	}
	if !sum.matches(b[:at]) {
		return block{}, errors.New("its checksum does not match")
	}
	count := int(binary.BigEndian.Uint32(b[at-4:]))
	start := at - 4 - 4*count
	if count <= 0 || start < 0 || start > at-4 {
		return block{}, bad
	}
	return block{b[:start], b[start : at-4]}, nil
}

// first returns the first key.
func (b block) first() []byte {
	if len(b.data) < 4 {
		return nil
	}
	if n := int(binary.LittleEndian.Uint16(b.data[2:])); 4+n <= len(b.data) {
		return b.data[4 : 4+n]
	}
	return nil
}

// walkBlock calls fn with each entry of a block: the length of the prefix shared with the
// first key, the rest of the key, and the value with its meta data before it.
func walkBlock(b block, fn func(*Entry)) error {
	bad := errors.New("an entry does not decode")
	base := b.first()
	var key []byte
	count := len(b.offsets) / 4
	for i := range count {
		start, end := int(binary.LittleEndian.Uint32(b.offsets[4*i:])), len(b.data)
		if i+1 < count {
			end = int(binary.LittleEndian.Uint32(b.offsets[4*i+4:]))
		}
		if start < 0 || end > len(b.data) || end-start < 4 {
			return bad
		}
		e := b.data[start:end]
		overlap, diff := int(binary.LittleEndian.Uint16(e)), int(binary.LittleEndian.Uint16(e[2:]))
		if overlap > len(base) || 4+diff > len(e) {
			return bad
		}
		key = append(append(key[:0], base[:overlap]...), e[4:4+diff]...)
		value := e[4+diff:]
		if len(value) < 3 {
			return bad
		}
		expires, n := binary.Uvarint(value[2:])
		if n <= 0 {
			return bad
		}
		plain, version, ok := splitKey(key)
		if !ok {
			return bad
		}
		fn(&Entry{Key: plain, Version: version, Meta: value[0], ExpiresAt: expires, Value: value[2+n:]})
	}
	return nil
}

// salvage calls fn with the entries of every readable block of a table. The index has the
// positions of blocks. If the index is damaged, each block contains its own end, and after
// a damaged block the next one is searched for.
func (r *tableReader) salvage(dir string, id uint64, fn func(*Entry)) {
	if r.load(dir, id) != nil {
		return
	}
	if spans, err := index(r.file); err == nil {
		for _, s := range spans {
			b, err := r.read(s, 1)
			if err != nil {
				b, err = r.read(s, 0)
			}
			if err == nil {
				_ = walkBlock(b, fn)
			}
		}
		return
	}
	r.search(fn)
}

// search finds blocks without an index.
func (r *tableReader) search(fn func(*Entry)) {
	// A damaged block can claim any size. Allocate the maximum once, so that not every try
	// allocates.
	if cap(r.block) < maxBlock {
		r.block = make([]byte, maxBlock)
	}
	for at := 0; at < len(r.file); {
		data, took, ok := unsnap(r.block[:0], r.file[at:])
		if ok {
			r.block = data
			if b, err := parseBlock(data); err == nil {
				_ = walkBlock(b, fn)
				at += took
				continue
			}
		}
		at++
	}
}
