package builtin

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
)

// The table holds the weights of common features; features that are not in it
// are rare, and weigh as much as its header says. It is written by
// internal/gentable. All numbers are little-endian:
//
//	"RCWT"  magic
//	uint16  version, 1
//	uint16  weight of a feature that is not listed
//	uint32  number of entries
//	entries of uint32 (the high half of the feature's hash, ascending) and
//	        uint16 (its weight: inverse document frequency in 1/64 nats)
//	uint32  CRC-32C of all before
const (
	tableMagic   = "RCWT"
	tableVersion = 1
	tableHeader  = 12
	tableEntry   = 6
	tableMax     = 1 << 20
)

//go:embed weights.bin
var tableFile []byte

// table decodes the embedded table when it is first needed, so that a process
// that embeds nothing does not pay for it.
var table = sync.OnceValues(func() (*weights, error) { return decodeTable(tableFile) })

// weights answers look-ups by open addressing; the hashes are well mixed, so
// their own bits are the place to begin at.
type weights struct {
	keys  []uint32 // 0 is a free place
	vals  []uint16
	mask  uint32
	other uint16
}

// of returns the weight of a feature.
func (w *weights) of(feature uint64) int64 {
	key := uint32(feature >> 32)
	for i := key & w.mask; w.keys[i] != 0; i = (i + 1) & w.mask {
		if w.keys[i] == key {
			return int64(w.vals[i])
		}
	}
	return int64(w.other)
}

var errTable = errors.New("the weight table is damaged")

func decodeTable(b []byte) (*weights, error) {
	if len(b) < tableHeader+4 || string(b[:4]) != tableMagic {
		return nil, fmt.Errorf("%w: no header", errTable)
	}
	if v := binary.LittleEndian.Uint16(b[4:]); v != tableVersion {
		return nil, fmt.Errorf("%w: version %d, this program reads %d", errTable, v, tableVersion)
	}
	body, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) != sum {
		return nil, fmt.Errorf("%w: wrong checksum", errTable)
	}
	n := binary.LittleEndian.Uint32(b[8:])
	if n > tableMax || int(n)*tableEntry != len(body)-tableHeader {
		return nil, fmt.Errorf("%w: %d entries in %d bytes", errTable, n, len(b))
	}
	size := uint32(1) // a power of two, at most half full
	for size < 2*n+1 {
		size *= 2
	}
	w := &weights{
		keys: make([]uint32, size), vals: make([]uint16, size), mask: size - 1,
		other: binary.LittleEndian.Uint16(b[6:]),
	}
	last := uint32(0)
	for e := body[tableHeader:]; len(e) > 0; e = e[tableEntry:] {
		key := binary.LittleEndian.Uint32(e)
		if key <= last { // ascending, and never 0
			return nil, fmt.Errorf("%w: entry %#x after %#x", errTable, key, last)
		}
		last = key
		i := key & w.mask
		for w.keys[i] != 0 {
			i = (i + 1) & w.mask
		}
		w.keys[i], w.vals[i] = key, binary.LittleEndian.Uint16(e[4:])
	}
	return w, nil
}
