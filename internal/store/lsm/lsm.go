// Package lsm reads the files of a Badger folder without Badger, and changes none
// of them. Badger is no judge of its own files: of a damaged one it panics, ends the
// process, leaves a table out, cuts a log off, or deletes the tables that a damaged
// MANIFEST does not name. Package store therefore has the files examined before
// Badger may open them, and has what can be read taken out of damaged ones.
//
// Vocabulary, as Badger has it. A table (.sst) holds sorted entries in blocks, which
// are compressed and have a checksum each, and an index of the blocks; it is never
// changed once it is written. The MANIFEST names the tables that count: changes are
// appended to it. A log (.mem) holds the transactions that are in no table yet; a
// value log (.vlog) holds large values, to which entries point. Every entry has the
// version of its transaction, which grows.
package lsm

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The bits of Entry.Meta that are used here.
const (
	bitDelete       = 1 << 0
	bitValuePointer = 1 << 1
	bitTxn          = 1 << 6
	bitFinTxn       = 1 << 7
)

// internalPrefix begins the keys that are Badger's own.
const internalPrefix = "!badger!"

// The kinds of files, by the ends of their names, and the name of the MANIFEST.
const (
	tableExt     = ".sst"
	logExt       = ".mem"
	valueExt     = ".vlog"
	manifestName = "MANIFEST"
)

// Entry is one version of a key. Key and Value must not be kept, but as copies.
type Entry struct {
	Key       []byte
	Version   uint64
	Meta      byte
	ExpiresAt uint64 // seconds since 1970; 0 is never
	// Value is the value, or in a table or log a pointer to it; see Points.
	Value []byte
}

// Deleted says that the entry says that the key is gone.
func (e *Entry) Deleted() bool { return e.Meta&bitDelete != 0 }

// Points says that the value is in a value log.
func (e *Entry) Points() bool { return e.Meta&bitValuePointer != 0 }

// Fault is damage to a file.
type Fault struct {
	File string // its name in the folder
	What string
	// Hides says that the file is there and that entries of it cannot be read.
	Hides bool
}

func (f Fault) String() string { return f.File + ": " + f.What }

func faultf(file, format string, args ...any) Fault {
	return Fault{File: filepath.Base(file), What: fmt.Sprintf(format, args...)}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// splitKey takes the version off a stored key.
func splitKey(stored []byte) (key []byte, version uint64, ok bool) {
	if len(stored) < 8 {
		return nil, 0, false
	}
	at := len(stored) - 8
	return stored[:at], math.MaxUint64 - binary.BigEndian.Uint64(stored[at:]), true
}

// numbered returns the files of a kind by number, those with other names left out.
func numbered(dir, ext string) ([]uint64, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var ids []uint64
	for _, f := range files {
		if base, is := strings.CutSuffix(f.Name(), ext); is {
			if id, err := strconv.ParseUint(base, 10, 32); err == nil {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return ids, nil
}

func tablePath(dir string, id uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%06d%s", id, tableExt))
}

func logPath(dir string, id uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%05d%s", id, logExt))
}

func valuePath(dir string, id uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%06d%s", id, valueExt))
}
