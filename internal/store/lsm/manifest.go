package lsm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4/pb"
	"google.golang.org/protobuf/proto"
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

// apply applies a set of changes.
func (m *Manifest) apply(set []byte) error {
	var read pb.ManifestChangeSet
	if proto.Unmarshal(set, &read) != nil {
		return errUndecoded
	}
	for _, c := range read.Changes {
		if c.Op == pb.ManifestChange_DELETE {
			delete(m.Live, c.Id)
			m.Dropped[c.Id] = true
			continue
		}
		if _, twice := m.Live[c.Id]; twice {
			return fmt.Errorf("table %d is there already", c.Id)
		}
		m.Live[c.Id] = byte(c.Compression)
	}
	return nil
}

var errUndecoded = errors.New("it does not decode")
