package store

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// fileOf is a file with as many chunks, and the documents of these.
func fileOf(sandbox, path string, chunks int) (memory.File, []memory.Doc) {
	f := memory.File{
		Project: "p-1", Sandbox: sandbox, Path: path, Hash: memory.DocumentID(path), Size: int64(100 * chunks),
		ModTime: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), ChangeTime: time.Date(2026, 1, 2, 3, 4, 6, 7, time.UTC), Inode: 1<<40 + 8, Lang: "go", Chunker: 3, Head: "package " + path,
		Chunks: []memory.FileChunk{},
	}
	var docs []memory.Doc
	for i := range chunks {
		d := doc(fmt.Sprintf("%s, part %d", path, i))
		docs = append(docs, d)
		f.Chunks = append(f.Chunks, memory.FileChunk{
			Doc: d.ID, Hash: d.ID, Start: 100 * i, End: 100*i + 90, StartLine: 4*i + 1, EndLine: 4*i + 4, Symbol: "F",
		})
	}
	return f, docs
}

func putFile(t *testing.T, s *Store, sandbox, path string, chunks int) memory.File {
	t.Helper()
	f, docs := fileOf(sandbox, path, chunks)
	if _, err := s.Commit(t.Context(), memory.Batch{Docs: docs, Files: []memory.File{f}}); err != nil {
		t.Fatalf("put %s: %v", path, err)
	}
	return f
}

// shelved is the value of a file, its chunks in it or in the cut that is returned.
func shelved(t testing.TB, f *memory.File, inCut bool) ([]byte, findChunkSet) {
	t.Helper()
	chunks, err := encodeChunks(f.Chunks)
	must(t, err)
	value := valueOf(f)
	value.Chunks, value.Head = chunks, f.Head
	if inCut {
		value.Chunks, value.SetChunks, value.Head, value.SetHead = noChunks, len(f.Chunks), "", f.Head != ""
	}
	b, err := encode(value)
	must(t, err)
	stored, err := encode(storedChunkSet{Head: f.Head, Chunks: chunks})
	must(t, err)
	id := chunkSetIDOf(f.Hash, f.Lang, f.Chunker)
	return b, func(asked chunkSetID) (chunkSet, error) {
		if asked != id {
			return chunkSet{}, corrupt(keyChunkSet(asked), "it is another one")
		}
		return decodeChunkSet(stored)
	}
}

// TestFileCodec: a file is read as it was written, in whole and in brief, also one
// of an earlier version.
func TestFileCodec(t *testing.T) {
	underrace.Skip(t, "a codec")
	same := func(t *testing.T, f *memory.File, b []byte, find findChunkSet) {
		t.Helper()
		got, _, err := decodeFile(f.Sandbox, f.Path, b, find)
		want := *f
		if reflect.DeepEqual(want.Chunks, got.Chunks) { // cmp takes seconds for many
			want.Chunks, got.Chunks = nil, nil
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("%d chunks: %v (-written +read):\n%.2000s", len(f.Chunks), err, diff)
		}
		brief, _, err := decodeMetadata(b)
		if diff := cmp.Diff(f.Brief(), brief); diff != "" || err != nil {
			t.Errorf("%d chunks in brief: %v (-written +read):\n%s", len(f.Chunks), err, diff)
		}
	}
	for _, chunks := range []int{0, 1, 23, 24, 255, 256, 65_536} {
		f, _ := fileOf("s-1", "a.go", chunks)
		f.Pruned = chunks == 0
		b, _ := shelved(t, &f, false)
		same(t, &f, b, nil)
		if chunks > 0 {
			b, find := shelved(t, &f, true)
			same(t, &f, b, find)
		}
	}
	f, _ := fileOf("s-1", "old.go", 2)
	now, err := encodeChunks(f.Chunks)
	must(t, err)
	second := []any{f.Project, f.Hash[:], f.Size, f.ModTime.UnixNano(), f.Lang, f.Generation, f.Chunker, now, f.Head, true}
	third := slices.Concat(second, []any{0, false})
	for version, fields := range map[int][]any{1: second[:8], 2: second, 4: third} {
		old, err := encode(fields)
		must(t, err)
		want := f
		if version == 1 {
			want.Head = ""
		}
		want.Pruned = version > 1
		want.ChangeTime, want.Inode = time.Time{}, 0
		same(t, &want, old, nil)
	}
}

// FuzzDecodeFile: whatever bytes are stored as a file, reading it ends in a file or
// in an error, and what is read in brief is what is read in whole.
func FuzzDecodeFile(f *testing.F) {
	for _, chunks := range []int{0, 1, 30} {
		file, _ := fileOf("s-1", "a.go", chunks)
		for _, inCut := range []bool{false, chunks > 0} {
			b, _ := shelved(f, &file, inCut)
			f.Add(b)
		}
	}
	f.Add([]byte{arrayHeader + 8})
	f.Add([]byte{arrayHeader + 10})
	f.Add([]byte{arrayHeader + 12})
	f.Add([]byte{})
	shared := chunkSet{head: "package shared", chunks: make([]memory.FileChunk, 1)}
	f.Fuzz(func(t *testing.T, b []byte) {
		whole, _, err := decodeFile("s", "p", b, func(chunkSetID) (chunkSet, error) { return shared, nil })
		if err != nil {
			return
		}
		brief, _, err := decodeMetadata(b)
		if err != nil && cbor.Wellformed(b) == nil && len(whole.Chunks) > 0 {
			t.Errorf("read in whole but not in brief: %v", err)
		}
		if err == nil && brief != whole.Brief() {
			t.Errorf("in brief %+v, in whole %+v", brief, whole.Brief())
		}
	})
}

// FuzzDecodeCut: whatever bytes are stored as a cut, what is read of it can be written
// and read again.
func FuzzDecodeCut(f *testing.F) {
	for _, chunks := range []int{0, 1, 30} {
		file, _ := fileOf("s-1", "a.go", chunks)
		list, err := encodeChunks(file.Chunks)
		must(f, err)
		b, err := encode(storedChunkSet{Head: file.Head, Chunks: list})
		must(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := decodeChunkSet(b)
		if err != nil {
			return
		}
		list, err := encodeChunks(c.chunks)
		must(t, err)
		stored := storedChunkSet{Head: c.head, Chunks: list}
		again, err := stored.decoded()
		if diff := cmp.Diff(c.chunks, again.chunks); diff != "" || err != nil || again.head != c.head {
			t.Errorf("written again: %v (-first +second):\n%s", err, diff)
		}
	})
}

func TestBriefsAndPathsBelow(t *testing.T) {
	s := open(t, Options{})
	paths := []string{"a", "a.go", "a/b.go", "a/c/d.go", "ab/e.go", "z.go"}
	for i, p := range paths {
		putFile(t, s, "s-1", p, i)
	}
	putFile(t, s, "s-10", "a/other.go", 1)
	briefs, err := s.FileMetadata("s-1")
	if err != nil || len(briefs) != len(paths) {
		t.Fatalf("Briefs has %d files, %v; want %d", len(briefs), err, len(paths))
	}
	for i, p := range paths {
		f, err := s.File("s-1", p)
		if err != nil || briefs[p] != f.Brief() || briefs[p].Chunks != i {
			t.Errorf("in brief %s is %+v, %v; want %+v", p, briefs[p], err, f.Brief())
		}
	}
	for _, test := range []struct{ ask, want []string }{
		{nil, nil},
		{[]string{"a"}, []string{"a", "a/b.go", "a/c/d.go"}},
		{[]string{"a/c"}, []string{"a/c/d.go"}},
		{[]string{"a.go", "gone.go", "z.go"}, []string{"a.go", "z.go"}},
		{[]string{"a/b"}, nil},
	} {
		got, err := s.PathsBelow("s-1", test.ask)
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("below %q are %q, %v; want %q", test.ask, got, err, test.want)
		}
	}
}

// TestPruneFile: a file that is pruned keeps all but its chunks, its documents go
// unless another file has them, and nothing else is brought back or changed.
func TestPruneFile(t *testing.T) {
	s := open(t, Options{})
	f := putFile(t, s, "s-1", "a.go", 2)
	putFile(t, s, "s-2", "a.go", 2) // a worktree: the same texts
	bare := putFile(t, s, "s-1", "bare.go", 0)
	prune := func(want int, keys ...memory.FileKey) memory.Committed {
		t.Helper()
		done, err := s.Commit(t.Context(), memory.Batch{PruneFiles: keys})
		if err != nil || done.Pruned != want {
			t.Errorf("pruned %d of %v, %v; want %d", done.Pruned, keys, err, want)
		}
		return done
	}
	here, there := memory.FileKey{Sandbox: "s-1", Path: "a.go"}, memory.FileKey{Sandbox: "s-2", Path: "a.go"}
	if done := prune(1, here, memory.FileKey{Sandbox: "s-1", Path: "gone.go"}, memory.FileKey{Sandbox: "s-1", Path: "bare.go"}); done.Swept != 0 {
		t.Errorf("%d documents were swept that a worktree holds", done.Swept)
	}
	got, err := s.File("s-1", "a.go")
	want := f
	want.Chunks, want.Pruned, want.Generation = []memory.FileChunk{}, true, 2
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("pruned, %v (-want +got):\n%s", err, diff)
	}
	if kept, err := s.File("s-1", "bare.go"); err != nil || kept.Pruned || kept.Generation != 1 || kept.Head != bare.Head {
		t.Errorf("a file without chunks is %+v, %v; want it as it was", kept, err)
	}
	if _, err := s.File("s-1", "gone.go"); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("a file that was not there is there: %v", err)
	}
	prune(0, here)
	if done := prune(1, there); done.Swept != 2 {
		t.Errorf("%d documents were swept with their last file, want 2", done.Swept)
	}
}
