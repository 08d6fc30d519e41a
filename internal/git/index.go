package git

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// entry is a file of the index. Times and inode are the file's when git last
// compared it, truncated to 32 bits by the format.
type entry struct {
	Path  string
	Mode  uint32 // see the mode constants
	Hash  []byte
	Size  uint32
	Stat  stat
	Stage int // not 0 in a conflict
	// AssumeValid and SkipWorktree: git does not look at the file. IntentToAdd: its
	// name was added without its content.
	AssumeValid, SkipWorktree, IntentToAdd bool
}

// stat has the file's attributes in the index besides size and mode.
type stat struct{ CSec, CNano, MSec, MNano, Ino uint32 }

// The modes of entries.
const (
	modeType    = 0o170000
	modeTree    = 0o040000 // a folder that a sparse index does not list
	modeProgram = 0o100755
	modeLink    = 0o120000
	modeGitlink = 0o160000 // a submodule
)

const (
	// maxIndex bounds the index file that is read, in bytes: about 600,000 files.
	maxIndex = 64 << 20
	// maxIndexPath bounds a path in it.
	maxIndexPath = 4096
	// entryFixed is the length of an entry's fixed fields before its hash.
	entryFixed = 40
)

var (
	errIndex = errors.New("the index is damaged")
	// errSplit is returned for an index that shares entries with another file.
	errSplit = errors.New("the index is split")
)

// parseIndex reads an index of version 2, 3 or 4 (gitformat-index), whose hashes have
// hashLen bytes. Extensions are skipped.
func parseIndex(b []byte, hashLen int) ([]entry, error) {
	if len(b) < 12+hashLen || string(b[:4]) != "DIRC" {
		return nil, fmt.Errorf("%w: it has no header", errIndex)
	}
	version, count := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("%w: its version is %d", errIndex, version)
	}
	rest := b[12 : len(b)-hashLen] // the last hash covers the file
	if int64(count)*int64(entryFixed+hashLen) > int64(len(rest)) {
		return nil, fmt.Errorf("%w: it is too short for %d entries", errIndex, count)
	}
	entries := make([]entry, 0, count)
	last := ""
	for range count {
		e, n, err := parseEntry(rest, hashLen, version, last)
		if err != nil {
			return nil, err
		}
		if e.Path < last {
			return nil, fmt.Errorf("%w: its paths are not in order", errIndex)
		}
		last, rest = e.Path, rest[n:]
		entries = append(entries, e)
	}
	for len(rest) >= 8 {
		if string(rest[:4]) == "link" {
			return nil, errSplit
		}
		n := uint64(binary.BigEndian.Uint32(rest[4:])) + 8
		if n > uint64(len(rest)) {
			return nil, fmt.Errorf("%w: an extension is cut off", errIndex)
		}
		rest = rest[n:]
	}
	return entries, nil
}

// parseEntry reads the entry at the beginning of b, and returns its length. last is the
// path of the previous entry, whose prefix version 4 reuses.
func parseEntry(b []byte, hashLen int, version uint32, last string) (e entry, n int, err error) {
	short := fmt.Errorf("%w: an entry is cut off", errIndex)
	if len(b) < entryFixed+hashLen+2 {
		return e, 0, short
	}
	u32 := func(at int) uint32 { return binary.BigEndian.Uint32(b[at:]) }
	e.Stat = stat{CSec: u32(0), CNano: u32(4), MSec: u32(8), MNano: u32(12), Ino: u32(20)}
	e.Mode, e.Size = u32(24), u32(36)
	e.Hash = b[entryFixed : entryFixed+hashLen]
	n = entryFixed + hashLen
	flags := binary.BigEndian.Uint16(b[n:])
	n += 2
	e.AssumeValid, e.Stage = flags&0x8000 != 0, int(flags>>12&3)
	if flags&0x4000 != 0 {
		if version < 3 || len(b) < n+2 {
			return e, 0, short
		}
		more := binary.BigEndian.Uint16(b[n:])
		e.SkipWorktree, e.IntentToAdd = more&0x4000 != 0, more&0x2000 != 0
		n += 2
	}
	keep := 0
	if version == 4 {
		drop, size := offsetVarint(b[n:])
		if size == 0 || drop > uint64(len(last)) {
			return e, 0, short
		}
		keep = len(last) - int(drop)
		n += size
	}
	end := bytes.IndexByte(b[n:], 0)
	if end < 0 || keep+end > maxIndexPath || keep+end == 0 {
		return e, 0, short
	}
	e.Path = last[:keep] + string(b[n:n+end])
	n += end + 1
	if version < 4 {
		n = (n-1)/8*8 + 8 // one to eight zero bytes
		if n > len(b) {
			return e, 0, short
		}
	}
	return e, n, nil
}

// offsetVarint reads a number in git's offset encoding: seven bits a byte, the highest
// first, each further byte adding one. The length is 0 if it is truncated.
func offsetVarint(b []byte) (v uint64, n int) {
	for i, c := range b {
		if i > 0 {
			v++
		}
		if i == 9 {
			return 0, 0
		}
		v = v<<7 | uint64(c&0x7f)
		if c&0x80 == 0 {
			return v, i + 1
		}
	}
	return 0, 0
}

// isLocalPath reports whether a path of an index, or of anything else that a repository
// brings, names something below the worktree.
func isLocalPath(p string) bool {
	if p == "" || p[0] == '/' || strings.ContainsRune(p, '\\') && !slashesOnly {
		return false
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") {
			return false
		}
	}
	return true
}
