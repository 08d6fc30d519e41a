package contrast

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// errBags is returned for bytes that are not bags.
var errBags = errors.New("contrast: damaged bags")

// MarshalBinary returns the bags as bytes: the number of bags, the number of all their
// tokens, the ends of the bags, the tokens and the counts, little-endian.
func (b *Bags) MarshalBinary() ([]byte, error) {
	data := make([]byte, 0, bagsHeader+8*len(b.ends)+5*len(b.tokens))
	data = binary.LittleEndian.AppendUint64(data, uint64(len(b.ends)))
	data = binary.LittleEndian.AppendUint64(data, uint64(len(b.tokens)))
	for _, end := range b.ends {
		data = binary.LittleEndian.AppendUint64(data, end)
	}
	for _, t := range b.tokens {
		data = binary.LittleEndian.AppendUint32(data, t)
	}
	return append(data, b.counts...), nil
}

const bagsHeader = 16

// UnmarshalBinary sets the bags to those written by MarshalBinary. Its allocations are
// bounded by the length of data.
func (b *Bags) UnmarshalBinary(data []byte) error {
	if len(data) < bagsHeader {
		return errBags
	}
	bags, tokens := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
	data = data[bagsHeader:]
	size := uint64(len(data))
	if bags > size/8 || tokens > size/5 || 8*bags+5*tokens != size {
		return errBags
	}
	*b = Bags{tokens: make([]uint32, tokens), ends: make([]uint64, bags)}
	last := uint64(0)
	for i := range b.ends {
		b.ends[i] = binary.LittleEndian.Uint64(data[8*i:])
		if b.ends[i] < last || b.ends[i] > tokens {
			return errBags
		}
		last = b.ends[i]
	}
	if last != tokens {
		return errBags
	}
	data = data[8*bags:]
	for i := range b.tokens {
		b.tokens[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	b.counts = bytes.Clone(data[4*tokens:])
	return nil
}
