package lsm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"iter"
	"os"
	"strconv"
)

// logHead is the length of a log's head: the number of a key, zero without encryption, and
// a random value that only encryption uses.
const logHead = 20

// Log is the result of reading a log.
type Log struct {
	ID uint64
	// End is the end of the entries that Badger accepts, in bytes.
	End int
	// Last is the newest version among them.
	Last uint64
	// Lost says that entries after End were once synced: there are entries of at least two
	// transactions, and a crash leaves a part of at most one.
	Lost bool
}

// logEntry reads the entry at the beginning of b and returns its length: a header, key,
// value and a checksum over them; 0 if there is none.
func logEntry(b []byte, e *Entry) int {
	if len(b) < 2 {
		return 0
	}
	at := 2
	var numbers [3]uint64
	for i := range numbers {
		v, n := binary.Uvarint(b[at:])
		if n <= 0 {
			return 0
		}
		numbers[i], at = v, at+n
	}
	klen, vlen := numbers[0], numbers[1]
	if klen < 8 || klen > 1<<16 || vlen > uint64(len(b)) || int(klen+vlen)+at+4 > len(b) {
		return 0
	}
	end := at + int(klen+vlen)
	if crc32.Checksum(b[:end], castagnoli) != binary.BigEndian.Uint32(b[end:]) {
		return 0
	}
	e.Key, e.Version, _ = splitKey(b[at : at+int(klen)])
	e.Meta, e.ExpiresAt, e.Value = b[0], numbers[2], b[at+int(klen):end]
	return end + 4
}

// plausible is a cheap test of whether an entry may begin here: in a damaged log every byte
// is tried. Our entries have no user meta data, and their keys begin with a letter and a
// slash; other keys are Badger's.
func plausible(b []byte) bool {
	if len(b) < 12 || b[1] != 0 {
		return false
	}
	at := 2
	for range 3 {
		_, n := binary.Uvarint(b[at:min(len(b), at+10)])
		if n <= 0 {
			return false
		}
		at += n
	}
	return at+2 <= len(b) && (b[at+1] == '/' || bytes.HasPrefix(b[at:], internalPrefix))
}

// readLog calls fn with the entries of a log that Badger accepts: whole transactions up to
// the first damage. If more was lost than a crash can explain, fn also gets the readable
// entries after the damage.
func readLog(dir string, id uint64, fn func(*Entry)) (Log, error) {
	l := Log{ID: id}
	b, err := os.ReadFile(logPath(dir, id))
	if err != nil {
		return l, err
	}
	l.End = min(logHead, len(b))
	if len(b) < logHead {
		return l, nil // a crash while the log was created, or all its content is gone
	}
	if key := binary.BigEndian.Uint64(b); key != 0 {
		return l, fmt.Errorf("its head names the encryption key %d", key)
	}
	var waiting []Entry // of an unfinished transaction
	var e Entry
	open := uint64(0)
loop:
	for at := logHead; ; {
		n := logEntry(b[at:], &e)
		if n == 0 {
			break
		}
		at += n
		switch {
		case e.Meta&bitTxn != 0:
			if open == 0 {
				open = e.Version
			}
			if open != e.Version {
				break loop
			}
			waiting = append(waiting, e)
			continue
		case e.Meta&bitFinTxn != 0:
			if version, err := strconv.ParseUint(string(e.Value), 10, 64); err != nil || version != open {
				break loop
			}
			open = 0
		default:
			if open != 0 {
				break loop
			}
			waiting = append(waiting, e)
		}
		for i := range waiting {
			l.Last = max(l.Last, waiting[i].Version)
			fn(&waiting[i])
		}
		waiting, l.End = waiting[:0], at
	}
	torn := uint64(0)
	for e := range searchLog(b[l.End:]) {
		if e.Version <= l.Last {
			continue
		}
		if torn != 0 && e.Version != torn {
			l.Lost = true
			break
		}
		torn = e.Version
	}
	if l.Lost {
		for e := range searchLog(b[l.End:]) {
			if !e.internal() {
				fn(e)
			}
		}
	}
	return l, nil
}

// searchLog yields all readable entries, also after damage.
func searchLog(b []byte) iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		var e Entry
		for at := 0; at < len(b); {
			if b[at] == 0 && at+64 <= len(b) && [64]byte(b[at:]) == [64]byte{} { // most of a log is empty
				at += 32
				continue
			}
			n := 0
			if plausible(b[at:]) {
				n = logEntry(b[at:], &e)
			}
			if n == 0 {
				at++
				continue
			}
			if !yield(&e) {
				return
			}
			at += n
		}
	}
}

// salvageLog calls fn with all readable entries except the entries of a last transaction without
// an end, which was never acknowledged.
func salvageLog(path string, fn func(*Entry)) {
	b, err := os.ReadFile(path)
	if err != nil || len(b) < logHead {
		return
	}
	var waiting []Entry
	flush := func() {
		for i := range waiting {
			fn(&waiting[i])
		}
		waiting = waiting[:0]
	}
	for e := range searchLog(b[logHead:]) {
		if len(waiting) > 0 && waiting[0].Version != e.Version {
			flush()
		}
		switch {
		case e.internal():
			flush()
		case e.Meta&bitTxn != 0:
			waiting = append(waiting, *e)
		default:
			fn(e)
		}
	}
}

// values are the value logs of a folder.
type values struct {
	dir   string
	files map[uint32][]byte // nil for one that cannot be read
}

// get returns the value that an entry points to, or the fault of its file.
func (v *values) get(e *Entry) ([]byte, *Fault) {
	if len(e.Value) != 12 {
		return nil, &Fault{What: fmt.Sprintf("the entry of %q points nowhere", e.Key)}
	}
	file, size, at := binary.LittleEndian.Uint32(e.Value), binary.LittleEndian.Uint32(e.Value[4:]), binary.LittleEndian.Uint32(e.Value[8:])
	path := valuePath(v.dir, uint64(file))
	b, known := v.files[file]
	if !known {
		b, _ = os.ReadFile(path)
		v.files[file] = b
	}
	if b == nil {
		return nil, new(faultf(path, "it is missing, and a value is in it"))
	}
	end := uint64(at) + uint64(size)
	if end > uint64(len(b)) {
		return nil, new(faultf(path, "it ends before a value that is in it"))
	}
	var there Entry
	if n := logEntry(b[at:end], &there); n != int(size) || !bytes.Equal(there.Key, e.Key) {
		return nil, new(faultf(path, "the value at byte %d is damaged", at))
	}
	return there.Value, nil
}
