package store

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/recalld/recalld/internal/memory"
)

// damage spoils a stored value, as a bad disk does, and has the store loaded anew,
// as after a restart.
func damage(t *testing.T, s *Store, k []byte) {
	t.Helper()
	must(t, setRaw(s, k, []byte("spoilt")))
	load(t, s)
}

// TestDamagedValueIsReplaced: damage must not outlive the next write of the same
// thing. The store is checked at the end of each case.
func TestDamagedValueIsReplaced(t *testing.T) {
	r, d := lesson("l-1", "to be damaged")
	file := memory.File{
		Project: "p-1", Sandbox: "s-1", Path: "a.go", ModTime: time.Unix(1, 2).UTC(),
		Chunks: []memory.FileChunk{{Doc: d.ID, End: 1}},
	}
	session := memory.Session{ID: "x-1", Project: "p-1", Client: "c", CreatedAt: time.Unix(5, 0).UTC()}
	whole := memory.Batch{
		Docs: []memory.Doc{d}, Records: []memory.Record{r}, Files: []memory.File{file}, Sessions: []memory.Session{session},
		States: []memory.StateEdit{setState(stateOf("x-1"), "1")},
	}
	drop := memory.Batch{
		DropRecords: []string{"l-1"}, DropFiles: []memory.FileKey{{Sandbox: "s-1", Path: "a.go"}},
		DropSessions: []memory.SessionKey{session.Key()},
	}
	for name, k := range map[string][]byte{
		"record": key(prefixRecord, "l-1"), "file": keyFile("s-1", "a.go"), "session": keySession(session.Key()),
		"state": keyState(stateOf("x-1")),
		"cut":   keyChunkSet(chunkSetIDOf(file.Hash, file.Lang, file.Chunker)), "terms": keyTerms(d.ID), "vector": keyVector(collectionKeyOf(testSpace), d.ID),
	} {
		t.Run(name+" put again", func(t *testing.T) {
			s := open(t, Options{})
			commit(t, s, whole)
			damage(t, s, k)
			if err := s.Check(); err == nil {
				t.Fatal("Check found nothing wrong")
			}
			commit(t, s, whole)
		})
		t.Run(name+" dropped", func(t *testing.T) {
			s := open(t, Options{})
			commit(t, s, whole)
			damage(t, s, k)
			if c := commit(t, s, drop); c.Dropped != 2 {
				t.Errorf("%d records and files were dropped, want 2", c.Dropped)
			}
			if n := s.Counts(); len(n) != 0 {
				t.Errorf("counts after everything was dropped: %v", n)
			}
		})
	}
}

// TestLockWaitsForAProgramBeingStarted: for a moment it holds a copy of a file that was closed.
func TestLockWaitsForAProgramBeingStarted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the lock is a file there")
	}
	dir := t.TempDir()
	held := flock.New(dir, flock.SetFlag(os.O_RDONLY))
	if ok, err := held.TryLock(); !ok {
		t.Fatal(err)
	}
	if _, err := lockFolder(dir, 0); memory.AsError(err).Code != memory.CodeConflict {
		t.Errorf("held throughout: %v", err)
	}
	time.AfterFunc(10*lockRetry, func() { _ = held.Close() })
	release, err := lockFolder(dir, lockWait)
	must(t, err)
	release()
}
