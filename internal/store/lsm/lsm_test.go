package lsm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// folder is a Badger folder with several tables, a value log and, unless it was closed,
// a log. It returns what is in it, by key.
func folder(t *testing.T, closed bool) (dir string, want map[string]string) {
	t.Helper()
	from := t.TempDir()
	want = map[string]string{}
	opts := badger.DefaultOptions(from).WithLogger(nil).WithMemTableSize(1 << 20).WithValueThreshold(100_000).
		WithNumVersionsToKeep(1).WithCompression(options.Snappy).WithValueLogFileSize(1 << 20)
	put := func(db *badger.DB, round int) {
		for n := range 300 {
			k, v := fmt.Sprintf("r/%d-%d", round, n), strings.Repeat(fmt.Sprintf("%d of %d ", n, round), 20)
			if n == 7 {
				v = strings.Repeat("large ", 20_000)
			}
			want[k] = v
			gone := fmt.Sprintf("r/%d-%d", round-1, n)
			if err := db.Update(func(txn *badger.Txn) error {
				if n%10 == 0 && round > 0 {
					delete(want, gone)
					if err := txn.Delete([]byte(gone)); err != nil {
						return err
					}
				}
				return txn.Set([]byte(k), []byte(v))
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for round := range 3 {
		db, err := badger.Open(opts)
		if err != nil {
			t.Fatal(err)
		}
		put(db, round)
		if round == 2 && !closed {
			dir = t.TempDir() // as a killed process leaves it
			for name := range sizes(t, from) {
				b, err := os.ReadFile(filepath.Join(from, name))
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if closed {
		dir = from
	}
	return dir, want
}

func sizes(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = info.Size()
	}
	return out
}

// salvaged is what Salvage finds, the newest version of each key.
func salvaged(t *testing.T, dir string) map[string]string {
	t.Helper()
	found, versions := map[string]string{}, map[string]uint64{}
	if err := Salvage(dir, true, func(e *Entry) {
		k := string(e.Key)
		if e.Version < versions[k] {
			return
		}
		versions[k] = e.Version
		if delete(found, k); !e.Deleted() {
			found[k] = string(e.Value)
		}
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

// TestFolderIsRead: what Badger has written is read as it was, and nothing is wrong.
func TestFolderIsRead(t *testing.T) {
	for _, closed := range []bool{true, false} {
		dir, want := folder(t, closed)
		keys := 0
		r, err := Examine(dir, func(*Entry) {}, func(*Entry) { keys++ })
		if err != nil || len(r.Faults) > 0 || r.Empty || len(r.Tables) < 2 || closed != (keys == 0) {
			t.Errorf("closed %v: %+v, %d entries in logs, %v; want tables and nothing wrong", closed, r, keys, err)
		}
		got := salvaged(t, dir)
		for k, v := range want {
			if got[k] != v {
				t.Errorf("closed %v: %s is %.20q, want %.20q", closed, k, got[k], v)
			}
		}
		if len(got) != len(want) {
			t.Errorf("closed %v: %d keys were read, want %d", closed, len(got), len(want))
		}
	}
}

// TestTableWithoutIndex: without an index, all blocks are found by themselves; a block
// that is damaged costs no other.
func TestTableWithoutIndex(t *testing.T) {
	dir, want := folder(t, true)
	for id := range must(ReadManifest(dir)).Live {
		path := tablePath(dir, id)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b[:len(b)-40], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := salvaged(t, dir); len(got) != len(want) {
		t.Errorf("without indexes %d keys are read, want all %d", len(got), len(want))
	}
	tables, err := numbered(dir, tableExt)
	if err != nil {
		t.Fatal(err)
	}
	path := tablePath(dir, tables[0])
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/3] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	// A block has some 4 KiB, and these entries about 200 bytes.
	if got := salvaged(t, dir); len(got) < len(want)-60 || len(got) == len(want) {
		t.Errorf("with a damaged block and no index %d keys are read, want nearly all of %d", len(got), len(want))
	}
}

func must(m *Manifest, err error) *Manifest {
	if err != nil {
		panic(err)
	}
	return m
}

// TestLogAfterDamage: a log is read up to the damage, what lies behind is said to be
// lost, and salvage finds it.
func TestLogAfterDamage(t *testing.T) {
	dir, want := folder(t, false)
	logs, err := numbered(dir, logExt)
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	last := logs[len(logs)-1]
	path := logPath(dir, last)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := readLog(dir, last, func(*Entry) {})
	if err != nil || whole.Lost {
		t.Fatalf("the log as it was: %+v, %v", whole, err)
	}
	b[whole.End/2] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := readLog(dir, last, func(*Entry) {})
	if err != nil || !l.Lost || l.End > whole.End/2 {
		t.Errorf("the damaged log: %+v, %v; want it lost from before byte %d on", l, err, whole.End/2)
	}
	if got := salvaged(t, dir); len(got) < len(want)-3 {
		t.Errorf("%d keys are read of a log with one damaged entry, want nearly all of %d", len(got), len(want))
	}
	// A transaction that is cut off is what a crash leaves, and no damage.
	if err := os.WriteFile(path, append(bytes.Clone(b[:whole.End/2-1]), make([]byte, 100)...), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := readLog(dir, last, func(*Entry) {}); err != nil || l.Lost {
		t.Errorf("the log that was cut off: %+v, %v; want nothing lost by what it shows", l, err)
	}
}

func FuzzUnsnap(f *testing.F) {
	f.Add([]byte{5, 4 << 2, 'h', 'e', 'l', 'l', 'o'})
	f.Add([]byte{8, 0, 'a', 3<<2 | 1, 1, 2 << 2, 'x', 'y', 'z'})
	f.Fuzz(func(t *testing.T, b []byte) {
		if out, took, ok := unsnap(nil, b); ok && (took > len(b) || len(out) == 0) {
			t.Errorf("%d bytes of %d gave %d", took, len(b), len(out))
		}
	})
}

func FuzzTable(f *testing.F) {
	f.Add([]byte("something"), true)
	f.Fuzz(func(t *testing.T, b []byte, sums bool) {
		if sums { // an index of these bytes with the checksum that it should have
			sum := crc32.Checksum(b, castagnoli)
			message := append([]byte{2 << 3}, binary.AppendUvarint(nil, uint64(sum))...)
			b = binary.BigEndian.AppendUint32(bytes.Clone(b), uint32(len(b)))
			b = binary.BigEndian.AppendUint32(append(b, message...), uint32(len(message)))
		}
		spans, err := index(b)
		if err != nil {
			return
		}
		r := tableReader{file: b}
		for _, s := range spans {
			if s.at+s.size > len(b) {
				t.Fatalf("the block at %d has %d bytes, and the file %d", s.at, s.size, len(b))
			}
			if block, err := r.read(s, 1); err == nil {
				_ = walkBlock(block, func(*Entry) {})
			}
		}
	})
}

func FuzzBlock(f *testing.F) {
	f.Add([]byte("something"))
	f.Fuzz(func(t *testing.T, b []byte) {
		sum := crc32.Checksum(b, castagnoli)
		message := append([]byte{2 << 3}, binary.AppendUvarint(nil, uint64(sum))...)
		b = binary.BigEndian.AppendUint32(append(bytes.Clone(b), message...), uint32(len(message)))
		if block, err := parseBlock(b); err == nil {
			_ = walkBlock(block, func(*Entry) {})
		}
	})
}

func FuzzLog(f *testing.F) {
	entry := []byte{0, 0, 11, 1, 0}
	entry = binary.BigEndian.AppendUint64(append(entry, "r/x"...), math.MaxUint64-1)
	entry = append(entry, 'v')
	entry = binary.BigEndian.AppendUint32(entry, crc32.Checksum(entry, castagnoli))
	f.Add(append(make([]byte, logHead), entry...))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(dir, "00001.mem")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := readLog(dir, 1, func(*Entry) {})
		if err == nil && l.End > len(b) {
			t.Errorf("a log of %d bytes ends at %d", len(b), l.End)
		}
		salvageLog(path, func(*Entry) {})
	})
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte("Bdgr\x00\x00\x00\x08"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, manifestName), b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = ReadManifest(dir)
		_ = (&Manifest{Live: map[uint64]byte{}, Dropped: map[uint64]bool{}}).apply(b)
	})
}
