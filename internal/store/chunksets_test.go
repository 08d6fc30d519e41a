package store

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// sameText is a file of a worktree that has the text of another one.
func sameText(f memory.File, sandbox, path string) memory.File {
	f.Sandbox, f.Path = sandbox, path
	return f
}

func storedCuts(t *testing.T, s *Store) (n int) {
	t.Helper()
	if err := s.View(func(v View) error {
		for range v.keys(prefixChunkSet) {
			n++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

func dropFiles(files ...memory.File) memory.Batch {
	var b memory.Batch
	for _, f := range files {
		b.DropFiles = append(b.DropFiles, memory.FileKey{Sandbox: f.Sandbox, Path: f.Path})
	}
	return b
}

// wantFile holds a file that is stored, whole and in brief, against what was put.
func wantFile(t *testing.T, s *Store, want memory.File) {
	t.Helper()
	got, err := s.File(want.Sandbox, want.Path)
	want.Generation = got.Generation
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%s of %s: %v (-put +stored):\n%s", want.Path, want.Sandbox, err, diff)
	}
	briefs, err := s.FileMetadata(want.Sandbox)
	if brief := briefs[want.Path]; err != nil || brief != got.Brief() {
		t.Errorf("%s of %s in brief: %+v, %v; want %+v", want.Path, want.Sandbox, brief, err, got.Brief())
	}
}

// TestCutIsShared: files with one text share one cut, whenever they come and in
// whatever batch, and it goes with the last of them.
func TestCutIsShared(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	first, docs := fileOf("s-1", "a.go", 3)
	renamed, again, other := sameText(first, "s-1", "b.go"), sameText(first, "s-2", "a.go"), sameText(first, "s-3", "a.go")
	commit(t, s, memory.Batch{Docs: docs, Files: []memory.File{first, renamed}})
	commit(t, s, memory.Batch{Files: []memory.File{again}}) // which brings no documents
	want := func(when string, cuts int, files ...memory.File) {
		t.Helper()
		if n := storedCuts(t, s); n != cuts {
			t.Errorf("%s %d cuts are stored, want %d", when, n, cuts)
		}
		for _, f := range files {
			wantFile(t, s, f)
		}
		chunks, err := s.ChunksOf(first.Hash, first.Lang, first.Chunker)
		if cuts == 0 {
			if memory.CodeOf(err) != memory.CodeNotFound {
				t.Errorf("%s the cut is found: %v", when, err)
			}
		} else if diff := cmp.Diff(first.Chunks, chunks); diff != "" || err != nil {
			t.Errorf("%s the cut is %v (-put +stored):\n%s", when, err, diff)
		}
	}
	want("put", 1, first, renamed, again)
	must(t, s.Close())
	s = open(t, Options{Dir: dir})
	want("opened again", 1, first, renamed, again)
	for _, unlike := range []struct {
		hash    memory.DocID
		lang    string
		chunker int
	}{
		{memory.DocumentID("another text"), first.Lang, first.Chunker}, {first.Hash, "c", first.Chunker}, {first.Hash, first.Lang, first.Chunker + 1},
	} {
		if _, err := s.ChunksOf(unlike.hash, unlike.lang, unlike.chunker); memory.CodeOf(err) != memory.CodeNotFound {
			t.Errorf("the cut of %+v is found: %v", unlike, err)
		}
	}
	b := dropFiles(first, renamed, again)
	b.Files = []memory.File{other} // moved, in one batch
	commit(t, s, b)
	want("moved", 1, other)
	commit(t, s, memory.Batch{PruneFiles: []memory.FileKey{{Sandbox: "s-3", Path: "a.go"}}})
	want("pruned", 0)
	if f, err := s.File("s-3", "a.go"); err != nil || f.Head != first.Head {
		t.Errorf("pruned it is %+v, %v; want its head", f, err)
	}
	commit(t, s, memory.Batch{Docs: docs, Files: []memory.File{other}})
	want("put again", 1, other)
	commit(t, s, dropFiles(other))
	want("dropped", 0)
}

// TestCutOfAnother: a file that is not what the cut of its text says keeps what it is,
// and leaves the others what they are.
func TestCutOfAnother(t *testing.T) {
	s := open(t, Options{})
	first, docs := fileOf("s-1", "a.go", 3)
	fewer, headless := sameText(first, "s-2", "a.go"), sameText(first, "s-3", "a.go")
	fewer.Chunks, headless.Head = first.Chunks[:2], ""
	headed := sameText(first, "s-4", "a.go")
	headed.Head = "another beginning"
	commit(t, s, memory.Batch{Docs: docs, Files: []memory.File{first, fewer, headless, headed}})
	for _, f := range []memory.File{first, fewer, headless, headed} {
		wantFile(t, s, f)
	}
	commit(t, s, dropFiles(first, headless, headed))
	wantFile(t, s, fewer)
	if n := storedCuts(t, s); n != 0 {
		t.Errorf("%d cuts are left that no file names", n)
	}
	commit(t, s, memory.Batch{Docs: docs, Files: []memory.File{fewer, first}})
	if n := storedCuts(t, s); n != 1 {
		t.Errorf("%d cuts are stored, want the one of the file that came first", n)
	}
	wantFile(t, s, fewer)
	wantFile(t, s, first)
}

// TestCutWithoutDocuments: who relies on a cut that was swept meanwhile is refused.
func TestCutWithoutDocuments(t *testing.T) {
	s := open(t, Options{})
	first, docs := fileOf("s-1", "a.go", 3)
	again := sameText(first, "s-2", "a.go")
	commit(t, s, memory.Batch{Docs: docs, Files: []memory.File{first}})
	chunks, err := s.ChunksOf(first.Hash, first.Lang, first.Chunker)
	must(t, err)
	again.Chunks = chunks
	commit(t, s, dropFiles(first))
	if _, err := s.Commit(t.Context(), memory.Batch{Files: []memory.File{again}}); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("a file without its documents: %v, want a conflict", err)
	}
	if n := storedCuts(t, s); n != 0 {
		t.Errorf("%d cuts are stored of a file that was refused", n)
	}
	commit(t, s, memory.Batch{Docs: docs, Files: []memory.File{again}})
	wantFile(t, s, again)
}

// TestOrphanCutsAreSwept: cuts that a crash left without a file go at the next start,
// more of them than a transaction holds.
func TestOrphanCutsAreSwept(t *testing.T) {
	s := open(t, Options{MemTableSize: 1 << 20})
	kept := putFile(t, s, "s-1", "a.go", 2)
	const n = 3000
	for i := range n {
		id := chunkSetIDOf(memory.DocID{byte(i), byte(i >> 8)}, "go", 1)
		b, err := encode(storedChunkSet{Chunks: noChunks})
		must(t, err)
		must(t, setRaw(s, keyChunkSet(id), seal(keyChunkSet(id), b)))
	}
	if got := storedCuts(t, s); got != n+1 {
		t.Fatalf("%d cuts are stored, want %d", got, n+1)
	}
	load(t, s)
	if got := storedCuts(t, s); got != 1 {
		t.Errorf("%d cuts are stored after Load, want 1", got)
	}
	wantFile(t, s, kept)
}

// TestLostCut: files whose cut was damaged or lost are not known any more, so that
// they are cut again, and have nothing to do with each other then.
func TestLostCut(t *testing.T) {
	first, docs := fileOf("s-1", "a.go", 3)
	again := sameText(first, "s-2", "a.go")
	id := keyChunkSet(chunkSetIDOf(first.Hash, first.Lang, first.Chunker))
	for name, spoil := range map[string]func(*Store) error{
		"damaged": func(s *Store) error { return setRaw(s, id, []byte("spoilt")) },
		"lost":    func(s *Store) error { return s.inBatches([]write{{key: id}}) },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, Options{})
			commit(t, s, memory.Batch{Docs: docs, Files: []memory.File{first, again}})
			must(t, spoil(s))
			load(t, s)
			if err := s.Check(); err == nil {
				t.Error("Check found nothing wrong")
			}
			unknown := func(f memory.File) {
				t.Helper()
				if _, err := s.File(f.Sandbox, f.Path); memory.CodeOf(err) != memory.CodeCorrupt {
					t.Errorf("%s: %v, want it damaged", f.Sandbox, err)
				}
				if briefs, err := s.FileMetadata(f.Sandbox); err != nil || len(briefs) != 0 {
					t.Errorf("%s: %v are known, %v", f.Sandbox, briefs, err)
				}
			}
			unknown(first)
			unknown(again)
			if _, err := s.ChunksOf(first.Hash, first.Lang, first.Chunker); memory.CodeOf(err) != memory.CodeNotFound {
				t.Errorf("the cut is found: %v", err)
			}
			commit(t, s, memory.Batch{Docs: docs, Files: []memory.File{first}})
			wantFile(t, s, first)
			unknown(again)
			commit(t, s, memory.Batch{Files: []memory.File{again}})
			wantFile(t, s, again)
			if n := s.Counts()[memory.Chunk]; n != 6 {
				t.Errorf("%d chunks are counted, want 6", n)
			}
		})
	}
}

// TestFilesOfVersion2: files that hold their chunks themselves are read, counted and
// dropped, and share once they are put again.
func TestFilesOfVersion2(t *testing.T) {
	s := open(t, Options{})
	f, docs := fileOf("s-1", "a.go", 2)
	commit(t, s, memory.Batch{Docs: docs, Files: []memory.File{f}})
	chunks, err := encodeChunks(f.Chunks)
	must(t, err)
	f.ChangeTime, f.Inode = time.Time{}, 0 // that version had none
	old, err := encode([]any{f.Project, f.Hash[:], f.Size, f.ModTime.UnixNano(), f.Lang, 1, f.Chunker, chunks, f.Head, false})
	must(t, err)
	k := keyFile("s-1", "a.go")
	must(t, setRaw(s, k, seal(k, old)))
	load(t, s)
	if n := storedCuts(t, s); n != 0 {
		t.Errorf("%d cuts are stored that no file names", n)
	}
	if err := s.Check(); err != nil {
		t.Errorf("a store of version 2: %v", err)
	}
	wantFile(t, s, f)
	commit(t, s, memory.Batch{Files: []memory.File{sameText(f, "s-2", "a.go"), f}})
	wantFile(t, s, f)
	if n := storedCuts(t, s); n != 1 {
		t.Errorf("%d cuts are stored, want 1", n)
	}
}

// TestPutWhileLoading: a file that comes while Load reads is counted with the cut that
// it shares, and one that goes takes the cut with it.
func TestPutWhileLoading(t *testing.T) {
	s := open(t, Options{})
	first, docs := fileOf("s-1", "a.go", 3)
	gone, goneDocs := fileOf("s-1", "gone.go", 2)
	late, lateDocs := fileOf("s-1", "late.go", 2)
	commit(t, s, memory.Batch{Docs: append(docs, goneDocs...), Files: []memory.File{first, gone}})
	l := discardLoader()
	once := false
	l.File = func(memory.File) error {
		if !once {
			once = true
			commit(t, s, memory.Batch{Files: []memory.File{sameText(first, "s-2", "a.go")}})
			commit(t, s, memory.Batch{Docs: lateDocs, Files: []memory.File{late}})
			commit(t, s, dropFiles(first, gone))
		}
		return nil
	}
	if _, err := s.Load(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	wantFile(t, s, sameText(first, "s-2", "a.go"))
	wantFile(t, s, late)
	if n := storedCuts(t, s); n != 1 {
		t.Errorf("%d cuts are stored, want that of the file that is shared", n)
	}
}

// TestCutsBesideEachOther: files with few texts are put, pruned and dropped by many at
// once, so that they share commits; the store is checked at the end.
func TestCutsBesideEachOther(t *testing.T) {
	s := open(t, Options{NoSync: true})
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			sandbox := fmt.Sprintf("s-%d", w)
			for i := range 100 {
				f, docs := fileOf(sandbox, fmt.Sprintf("f%d.go", i%3), 1+i%3)
				var err error
				switch (w + i) % 4 {
				case 0:
					_, err = s.Commit(t.Context(), dropFiles(f))
				case 1:
					_, err = s.Commit(t.Context(), memory.Batch{PruneFiles: []memory.FileKey{{Sandbox: sandbox, Path: f.Path}}})
				default:
					_, err = s.Commit(t.Context(), memory.Batch{Docs: docs, Files: []memory.File{f}})
				}
				if err != nil {
					t.Errorf("%s: %v", sandbox, err)
				}
			}
		})
	}
	writers.Wait()
	if n := storedCuts(t, s); n > 3 {
		t.Errorf("%d cuts are stored of 3 texts", n)
	}
}
