// Package lsm reads the files of a Badger folder without Badger, and without changing them.
// Badger does not check its files safely: with a damaged file it panics, ends the process,
// drops a table, truncates a log, or deletes the tables that a damaged MANIFEST does not
// name. Package store therefore examines the files before Badger may open them, and
// salvages the readable entries of damaged ones.
//
// Vocabulary, following Badger. A table (.sst) contains sorted entries in blocks, which are
// compressed and have a checksum each, and an index of the blocks; it never changes. The
// MANIFEST lists the tables in use: changes are appended to it. A log (.mem) contains the
// transactions that are not in a table yet; a value log (.vlog) contains large values, to
// which entries point. Every entry has the version of its transaction; versions increase.
package lsm

import (
	"bytes"
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

// The bits of Entry.Meta in use here.
const (
	bitDelete       = 1 << 0
	bitValuePointer = 1 << 1
	bitTxn          = 1 << 6
	bitFinTxn       = 1 << 7
)

// internalPrefix begins Badger's internal keys.
var internalPrefix = []byte("!badger!")

// The extensions of the files, and the name of the MANIFEST.
const (
	tableExt     = ".sst"
	logExt       = ".mem"
	valueExt     = ".vlog"
	manifestName = "MANIFEST"
)

// Entry is one version of a key. Key and Value are valid only during the call: copy them to
// keep them.
type Entry struct {
	Key       []byte
	Version   uint64
	Meta      byte
	ExpiresAt uint64 // seconds since 1970; 0 is never
	// Value is the value, or in a table or log a pointer to it; see Points.
	Value []byte
}

// Deleted says that the entry deletes the key.
func (e *Entry) Deleted() bool { return e.Meta&bitDelete != 0 }

// Points says that the value is in a value log.
func (e *Entry) Points() bool { return e.Meta&bitValuePointer != 0 }

// internal says that the entry is Badger's own.
func (e *Entry) internal() bool { return bytes.HasPrefix(e.Key, internalPrefix) }

// Fault is damage to a file.
type Fault struct {
	File string // its name in the folder
	What string
	// Hides says that the file exists and that some of its entries cannot be read.
	Hides bool
}

func faultf(file, format string, args ...any) Fault {
	return Fault{File: filepath.Base(file), What: fmt.Sprintf(format, args...)}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// splitKey splits a stored key into key and version.
func splitKey(stored []byte) (key []byte, version uint64, ok bool) {
	if len(stored) < 8 {
		return nil, 0, false
	}
	at := len(stored) - 8
	return stored[:at], math.MaxUint64 - binary.BigEndian.Uint64(stored[at:]), true
}

// numbered returns the numbers of the files of a kind, without files that have other names.
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
