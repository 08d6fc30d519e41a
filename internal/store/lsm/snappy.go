package lsm

import "encoding/binary"

// maxBlock bounds the decompressed size of a block: a value that is too small for a value
// log, and entries around it. It keeps a damaged length from exhausting memory.
const maxBlock = 8 << 20

// unsnap decompresses the Snappy block at the beginning of src, into dst's memory if it is
// large enough, and returns its compressed length. Libraries need to know where a block
// ends, which is unknown in a table without an index; the block itself contains it. The
// format: github.com/google/snappy, format_description.txt.
func unsnap(dst, src []byte) (out []byte, took int, ok bool) {
	size, at := binary.Uvarint(src)
	if at <= 0 || size > maxBlock || size == 0 || size > uint64(len(src))*64 {
		return nil, 0, false
	}
	if uint64(cap(dst)) < size {
		dst = make([]byte, size)
	}
	out = dst[:size]
	n := 0
	for n < len(out) {
		if at >= len(src) {
			return nil, 0, false
		}
		tag := src[at]
		at++
		var length, offset int
		switch tag & 3 {
		case 0: // a literal
			length = int(tag >> 2)
			if extra := length - 59; extra > 0 {
				if at+extra > len(src) {
					return nil, 0, false
				}
				length = 0
				for i := range extra {
					length |= int(src[at+i]) << (8 * i)
				}
				at += extra
			}
			length++
			if length <= 0 || length > len(out)-n || length > len(src)-at {
				return nil, 0, false
			}
			copy(out[n:], src[at:at+length])
			at, n = at+length, n+length
			continue
		case 1:
			if at >= len(src) {
				return nil, 0, false
			}
			length = 4 + int(tag>>2&7)
			offset = int(tag&0xe0)<<3 | int(src[at])
			at++
		case 2:
			if at+2 > len(src) {
				return nil, 0, false
			}
			length = 1 + int(tag>>2)
			offset = int(binary.LittleEndian.Uint16(src[at:]))
			at += 2
		case 3:
			if at+4 > len(src) {
				return nil, 0, false
			}
			length = 1 + int(tag>>2)
			offset = int(binary.LittleEndian.Uint32(src[at:]))
			at += 4
		}
		if offset <= 0 || offset > n || length > len(out)-n {
			return nil, 0, false
		}
		if offset >= length {
			copy(out[n:n+length], out[n-offset:])
			n += length
			continue
		}
		for range length { // the copy may overlap its own output
			out[n] = out[n-offset]
			n++
		}
	}
	return out, at, true
}
