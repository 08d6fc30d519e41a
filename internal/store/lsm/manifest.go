package lsm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
)

// Manifest is the content of a MANIFEST.
type Manifest struct {
	// Live are the tables in use; the value is the compression, 1 for Snappy.
	Live map[uint64]byte
	// Dropped are tables formerly in use, whose files may still exist.
	Dropped map[uint64]bool
}

// Mentions says that a table is or was in use.
func (m *Manifest) Mentions(id uint64) bool {
	_, live := m.Live[id]
	return live || m.Dropped[id]
}

// ReadManifest reads the MANIFEST of a folder. With an error it returns what was read up to
// the damage. A truncated last entry is not an error, because a crash leaves one.
func ReadManifest(dir string) (*Manifest, error) {
	m := &Manifest{Live: map[uint64]byte{}, Dropped: map[uint64]bool{}}
	b, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return m, err
	}
	if len(b) < 8 || string(b[:4]) != "Bdgr" || binary.BigEndian.Uint16(b[4:]) != 0 || binary.BigEndian.Uint16(b[6:]) != 8 {
		return m, errors.New("it does not begin as a MANIFEST does")
	}
	size := len(b)
	for b = b[8:]; len(b) >= 8; {
		n := int(binary.BigEndian.Uint32(b))
		sum := binary.BigEndian.Uint32(b[4:])
		if n > size { // Badger also refuses it
			return m, fmt.Errorf("the entry at byte %d claims %d bytes", size-len(b), n)
		}
		if n > len(b)-8 {
			return m, nil
		}
		set := b[8 : 8+n]
		if crc32.Checksum(set, castagnoli) != sum {
			return m, fmt.Errorf("the checksum of the entry at byte %d does not match", size-len(b))
		}
		if err := m.apply(set); err != nil {
			return m, fmt.Errorf("the entry at byte %d: %w", size-len(b), err)
		}
		b = b[8+n:]
	}
	return m, nil
}

// apply applies a set of changes: repeated messages in field 1, in which field 1 is the id,
// 2 whether it is a deletion, and 6 the compression.
func (m *Manifest) apply(set []byte) error {
	return protoFields(set, func(number int, _ uint64, change []byte) error {
		if number != 1 || change == nil {
			return nil
		}
		var id, op, compression uint64
		err := protoFields(change, func(number int, v uint64, _ []byte) error {
			switch number {
			case 1:
				id = v
			case 2:
				op = v
			case 6:
				compression = v
			}
			return nil
		})
		if err != nil {
			return err
		}
		if op == 1 {
			delete(m.Live, id)
			m.Dropped[id] = true
			return nil
		}
		if _, twice := m.Live[id]; twice {
			return fmt.Errorf("table %d is there already", id)
		}
		m.Live[id] = byte(compression)
		return nil
	})
}

// protoFields yields the fields of a protocol buffer: numbers in v, others in b.
func protoFields(msg []byte, fn func(number int, v uint64, b []byte) error) error {
	bad := errors.New("it does not decode")
	for len(msg) > 0 {
		tag, n := binary.Uvarint(msg)
		if n <= 0 {
			return bad
		}
		msg = msg[n:]
		var v uint64
		var b []byte
		switch tag & 7 {
		case 0:
			if v, n = binary.Uvarint(msg); n <= 0 {
				return bad
			}
		case 1:
			n = 8
		case 2:
			size, head := binary.Uvarint(msg)
			if head <= 0 || size > uint64(len(msg)-head) {
				return bad
			}
			b, n = msg[head:head+int(size)], head+int(size)
		case 5:
			n = 4
		default:
			return bad
		}
		if n > len(msg) {
			return bad
		}
		if err := fn(int(tag>>3), v, b); err != nil {
			return err
		}
		msg = msg[n:]
	}
	return nil
}
