package git

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// pack is a file of many objects with its index (gitformat-pack).
type pack struct {
	store *Objects
	name  string // without its extension

	opened, broken   bool
	idx, data        *os.File
	idxSize, dataEnd int64
	hashLen          int
	fanout           [256]uint32
}

const (
	idxMagic = "\xfftOc\x00\x00\x00\x02" // version 2
	idxHead  = 8 + 256*4
	// maxChain bounds the chain of deltas of an object.
	maxChain = 512
	// maxEntryHead is the most bytes in the head of an entry.
	maxEntryHead = 10 + 10 + 32
)

// The types of entries.
const (
	packCommit   = 1
	packOfsDelta = 6
	packRefDelta = 7
)

func (p *pack) close() {
	for _, f := range []*os.File{p.idx, p.data} {
		if f != nil {
			f.Close() // only read
		}
	}
}

// open reads the head of the index. hashLen is the length of the names looked for.
func (p *pack) open(hashLen int) error {
	if p.broken {
		return errNoObject
	}
	if p.opened {
		return nil
	}
	p.broken = true
	var err error
	if p.idx, p.idxSize, err = p.store.open(p.name + ".idx"); err != nil {
		return err
	}
	var size int64
	if p.data, size, err = p.store.open(p.name + ".pack"); err != nil {
		return err
	}
	head := make([]byte, idxHead)
	if _, err := p.idx.ReadAt(head, 0); err != nil || string(head[:8]) != idxMagic {
		return errNoObject
	}
	before := uint32(0)
	for i := range p.fanout {
		p.fanout[i] = binary.BigEndian.Uint32(head[8+4*i:])
		if p.fanout[i] < before {
			return errNoObject
		}
		before = p.fanout[i]
	}
	// Names, checksums and offsets of all objects, and two hashes at the end.
	if p.idxSize < idxHead+int64(before)*int64(hashLen+8)+2*int64(hashLen) {
		return errNoObject
	}
	p.hashLen, p.dataEnd = hashLen, size-int64(hashLen)
	p.opened, p.broken = true, false
	return nil
}

// commit reads the text of a commit.
func (p *pack) commit(name []byte) ([]byte, error) {
	if err := p.open(len(name)); err != nil {
		return nil, err
	}
	if len(name) != p.hashLen {
		return nil, errNoObject
	}
	at, err := p.find(name)
	if err != nil {
		return nil, err
	}
	return p.read(at)
}

// find returns the offset of an object in the pack.
func (p *pack) find(name []byte) (int64, error) {
	low, high := uint32(0), p.fanout[name[0]]
	if name[0] > 0 {
		low = p.fanout[name[0]-1]
	}
	buf := make([]byte, p.hashLen)
	for low < high {
		mid := low + (high-low)/2
		if _, err := p.idx.ReadAt(buf, idxHead+int64(mid)*int64(p.hashLen)); err != nil {
			return 0, err
		}
		switch c := bytes.Compare(buf, name); {
		case c < 0:
			low = mid + 1
		case c > 0:
			high = mid
		default:
			return p.offset(mid)
		}
	}
	return 0, errNoObject
}

// offset returns the offset of the i-th object: four bytes, or, if their highest bit is
// set, the index of eight bytes in a further table.
func (p *pack) offset(i uint32) (int64, error) {
	count := int64(p.fanout[255])
	table := idxHead + count*int64(p.hashLen+4)
	var buf [8]byte
	if _, err := p.idx.ReadAt(buf[:4], table+4*int64(i)); err != nil {
		return 0, err
	}
	at := binary.BigEndian.Uint32(buf[:4])
	if at&0x80000000 == 0 {
		return int64(at), nil
	}
	if _, err := p.idx.ReadAt(buf[:], table+4*count+8*int64(at&0x7fffffff)); err != nil {
		return 0, err
	}
	far := binary.BigEndian.Uint64(buf[:])
	if far > uint64(p.dataEnd) {
		return 0, errNoObject
	}
	return int64(far), nil
}

// read reads the commit at an offset. If it is a delta, its base is read in the same way.
func (p *pack) read(at int64) ([]byte, error) {
	var deltas [][]byte
	spent := int64(0)
	for range maxChain {
		e, err := p.entry(at)
		if err != nil {
			return nil, err
		}
		if e.kind != packCommit && e.kind != packOfsDelta && e.kind != packRefDelta || e.size > maxCommit {
			return nil, errNoObject
		}
		text, err := p.store.inflate(io.NewSectionReader(p.data, e.text, p.dataEnd-e.text), e.size)
		if err != nil || int64(len(text)) != e.size {
			return nil, errNoObject
		}
		if e.kind == packCommit {
			for i := len(deltas) - 1; i >= 0; i-- {
				if text, err = applyDelta(text, deltas[i]); err != nil {
					return nil, err
				}
			}
			return text, nil
		}
		if spent += e.size; spent > 4*maxCommit {
			return nil, errNoObject
		}
		deltas = append(deltas, text)
		at = e.base
	}
	return nil, errNoObject
}

// packEntry is the head of an entry: text is the offset of its compressed text, size its
// uncompressed size, base the entry that a delta changes.
type packEntry struct {
	kind       byte
	size       int64
	text, base int64
}

func (p *pack) entry(at int64) (e packEntry, err error) {
	if at < 12 || at >= p.dataEnd {
		return e, errNoObject
	}
	head := make([]byte, min(maxEntryHead, p.dataEnd-at))
	if _, err := p.data.ReadAt(head, at); err != nil {
		return e, err
	}
	e.kind, e.size = head[0]>>4&7, int64(head[0]&0xf)
	n := 1
	for shift := 4; head[n-1]&0x80 != 0; shift += 7 {
		if n >= len(head) || shift > 53 {
			return e, errNoObject
		}
		e.size |= int64(head[n]&0x7f) << shift
		n++
	}
	switch e.kind {
	case packOfsDelta:
		back, size := offsetVarint(head[n:])
		if size == 0 || back == 0 || back > uint64(at) {
			return e, errNoObject
		}
		e.base = at - int64(back)
		n += size
	case packRefDelta:
		if n+p.hashLen > len(head) {
			return e, errNoObject
		}
		if e.base, err = p.find(head[n : n+p.hashLen]); err != nil {
			return e, err
		}
		n += p.hashLen
	}
	e.text = at + int64(n)
	return e, nil
}

// applyDelta applies a delta to a text: both lengths, then instructions to copy a range of
// the text or to insert bytes.
func applyDelta(base, delta []byte) ([]byte, error) {
	broken := fmt.Errorf("%w: a delta is damaged", errNoObject)
	in := bufio.NewReader(bytes.NewReader(delta))
	from, err := binary.ReadUvarint(in)
	if err != nil || from != uint64(len(base)) {
		return nil, broken
	}
	to, err := binary.ReadUvarint(in)
	if err != nil || to > maxCommit {
		return nil, broken
	}
	out := make([]byte, 0, to)
	for {
		op, err := in.ReadByte()
		if err == io.EOF {
			break
		}
		var offset, size uint32
		for i := range 7 {
			if op&0x80 == 0 || op&(1<<i) == 0 {
				continue
			}
			b, err := in.ReadByte()
			if err != nil {
				return nil, broken
			}
			if i < 4 {
				offset |= uint32(b) << (8 * i)
			} else {
				size |= uint32(b) << (8 * (i - 4))
			}
		}
		switch {
		case op&0x80 != 0:
			if size == 0 {
				size = 0x10000
			}
			if uint64(offset)+uint64(size) > uint64(len(base)) || uint64(len(out))+uint64(size) > to {
				return nil, broken
			}
			out = append(out, base[offset:offset+size]...)
		case op == 0 || uint64(len(out))+uint64(op) > to:
			return nil, broken
		default:
			at := len(out)
			out = out[:at+int(op)]
			if _, err := io.ReadFull(in, out[at:]); err != nil {
				return nil, broken
			}
		}
	}
	if uint64(len(out)) != to {
		return nil, broken
	}
	return out, nil
}
