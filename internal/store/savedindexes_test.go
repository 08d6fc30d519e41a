package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

func saveIndexes(t *testing.T, s *Store, content string) {
	t.Helper()
	half := len(content) / 2
	x, err := s.SaveIndexes(t.Context(), writeParts(content[:half], "", content[half:]))
	if err != nil {
		t.Fatalf("save indexes: %v", err)
	}
	if x == nil {
		if fsx.Maps {
			t.Error("nothing is mapped of what was saved")
		}
		return
	}
	if got, err := allParts(x); err != nil || got != content {
		t.Errorf("%.40q was saved and %.40q is mapped, %v", content, got, err)
	}
}

// writeParts is an argument of SaveIndexes that writes parts.
func writeParts(parts ...string) func(begin func() io.Writer) error {
	return func(begin func() io.Writer) error {
		for _, part := range parts {
			if _, err := io.WriteString(begin(), part); err != nil {
				return err
			}
		}
		return nil
	}
}

// allParts joins the three parts that saveIndexes saves.
func allParts(x *memory.SavedIndexes) (content string, err error) {
	for n := range 3 {
		part, err := x.Part(n)
		if err != nil {
			return "", err
		}
		content += string(part)
	}
	if _, err := x.Part(3); memory.CodeOf(err) != memory.CodeCorrupt {
		return "", fmt.Errorf("a part that is not there: %w", err)
	}
	runtime.KeepAlive(x)
	return content, nil
}

// savedIndexes returns what is saved, or an empty string, and the version that it holds.
func savedIndexes(t *testing.T, s *Store) (content string, since uint64, err error) {
	t.Helper()
	x, err := s.SavedIndexes()
	if err != nil || x == nil {
		return "", 0, err
	}
	content, err = allParts(x)
	return content, x.Since, err
}

func wantSaved(t *testing.T, s *Store, want string) {
	t.Helper()
	if got, _, err := savedIndexes(t, s); err != nil || got != want {
		t.Errorf("saved is %.40q, %v, want %.40q", got, err, want)
	}
}

func putLesson(t *testing.T, s *Store, id, text string) memory.DocID {
	t.Helper()
	r, d := lesson(id, text)
	put(t, s, r, d)
	return d.ID
}

func putReference(t *testing.T, s *Store, id string) {
	t.Helper()
	r, d := lesson(id, "reference "+id)
	r.Kind, r.Event, r.Reference = memory.Reference, nil, &memory.RefContent{Name: id}
	put(t, s, r, d)
}

func TestSavedIndexes(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	wantSaved(t, s, "")
	large := strings.Repeat("many pages ", 20_000)
	for _, content := range []string{"", "first", large} {
		saveIndexes(t, s, content)
		wantSaved(t, s, content)
	}
	if s.DiskSize() < int64(len(large)) {
		t.Errorf("the store takes %d bytes, want the saved indexes counted", s.DiskSize())
	}
	must(t, s.Close())
	wantSaved(t, open(t, Options{Dir: dir}), large)
}

// TestSavedIndexesOfAnotherPast: a copy of the store that went its own way has another past.
func TestSavedIndexesOfAnotherPast(t *testing.T) {
	ours, theirs := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "store")
	s := open(t, Options{Dir: ours})
	saveIndexes(t, s, "in common")
	must(t, s.Close())
	must(t, os.CopyFS(theirs, os.DirFS(ours)))
	other := open(t, Options{Dir: theirs})
	saveIndexes(t, other, "their own")
	s = open(t, Options{Dir: ours})
	b, err := os.ReadFile(other.savedPath())
	if err == nil {
		err = os.WriteFile(s.savedPath(), b, 0o600)
	}
	must(t, err)
	if got, _, err := savedIndexes(t, s); memory.CodeOf(err) != memory.CodeCorrupt {
		t.Errorf("indexes of a copy are used: %q, %v", got, err)
	}
}

// TestLoadPassesWhatIsNotHeld: of what is held only what was written since is passed, and
// what nothing references is swept.
func TestLoadPassesWhatIsNotHeld(t *testing.T) {
	s := open(t, Options{})
	held, lacking := putLesson(t, s, "l-1", "held"), putLesson(t, s, "l-2", "lacking")
	orphan(t, s, 1)
	left := memory.DocumentID("orphan 0")
	saveIndexes(t, s, "")
	_, since, err := savedIndexes(t, s)
	must(t, err)
	later := putLesson(t, s, "l-3", "later")
	var dropped []memory.DocID
	load := func(since uint64, has ...memory.DocID) (terms, vectors []memory.DocID) {
		t.Helper()
		l := discardLoader()
		l.Terms = func(doc memory.DocID, _ []byte) error { terms = append(terms, doc); return nil }
		l.Vector = func(_ string, doc memory.DocID, _ []float32) error { vectors = append(vectors, doc); return nil }
		l.Held = func() *memory.Held {
			return &memory.Held{
				Since: since, Has: func(doc memory.DocID) bool { return slices.Contains(has, doc) }, All: slices.Values(has),
				Vectors: func(string) bool { return true }, DropVectors: func(doc memory.DocID) { dropped = append(dropped, doc) },
			}
		}
		if _, err := s.Load(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		return terms, vectors
	}
	sorted := func(docs ...memory.DocID) []memory.DocID {
		slices.SortFunc(docs, func(a, b memory.DocID) int { return bytes.Compare(a[:], b[:]) })
		return slices.Compact(docs)
	}
	// All but left and held were written since, or are lacking.
	terms, vectors := load(since, held, left)
	if want := sorted(lacking, later); !slices.Equal(sorted(terms...), want) || !slices.Equal(sorted(vectors...), want) {
		t.Errorf("terms of %v and vectors of %v are passed, want those of %v", terms, vectors, want)
	}
	if len(dropped) > 0 {
		t.Errorf("vectors of %v are dropped, which were not written again", dropped)
	}
	if load(since, held, later); !slices.Equal(dropped, []memory.DocID{later}) {
		t.Errorf("vectors of %v are dropped, want those of %v, whose terms were written since", dropped, later)
	}
	if terms, vectors = load(1<<40, held, lacking, later); len(terms)+len(vectors) > 0 {
		t.Errorf("nothing was written since, and %v and %v are passed", terms, vectors)
	}
	if _, err := s.Terms(left); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("a held document without a reference is left: %v", err)
	}
}

// TestLoadReadsRecordsThatAreNotSaved: a record that was written since is read, also one that
// is saved in an earlier state. All are counted alike.
func TestLoadReadsRecordsThatAreNotSaved(t *testing.T) {
	s := open(t, Options{})
	old := putLesson(t, s, "l-1", "old")
	putLesson(t, s, "l-2", "before")
	putReference(t, s, "r-1")
	putReference(t, s, "r-2")
	saveIndexes(t, s, "saved")
	_, since, err := savedIndexes(t, s)
	must(t, err)
	putLesson(t, s, "l-2", "after")
	putLesson(t, s, "l-3", "new")
	if _, err := s.Commit(t.Context(), memory.Batch{DropRecords: []string{"r-2"}}); err != nil {
		t.Fatal(err)
	}
	wantSaved(t, s, "saved")
	unchanged, err := s.Record("l-1")
	must(t, err)
	var read, loaded []string
	l := discardLoader()
	l.Record = func(r memory.Record) error { read = append(read, r.ID); return nil }
	l.Saved = &memory.SavedRecords{Since: since, Others: []string{"r-1", "r-2"}, Load: func(written func(string) bool, count func(memory.RecordOutline)) {
		for _, id := range []string{"l-1", "l-2"} {
			if !written(id) {
				loaded = append(loaded, id)
				count(unchanged.Outline())
			}
		}
	}}
	if _, err := s.Load(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(read, []string{"r-1", "l-2", "l-3"}) || !slices.Equal(loaded, []string{"l-1"}) {
		t.Errorf("%v are read and %v taken as saved, want r-1, l-2, l-3 and l-1", read, loaded)
	}
	if n := s.references(old); n != 1 {
		t.Errorf("the document of the saved record has %d references, want 1", n)
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

// TestDamagedRecordIsNotSaved: the next start must find it again.
func TestDamagedRecordIsNotSaved(t *testing.T) {
	s := open(t, Options{Logger: slog.New(slog.DiscardHandler)})
	putLesson(t, s, "l-1", "lost")
	must(t, setRaw(s, key(prefixRecord, "l-1"), []byte("spoilt")))
	if _, err := s.Load(t.Context(), discardLoader()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SaveIndexes(t.Context(), writeParts()); memory.CodeOf(err) != memory.CodeReadOnly {
		t.Errorf("indexes without a record that could not be read: %v, want %s", err, memory.CodeReadOnly)
	}
	if _, err := s.Commit(t.Context(), memory.Batch{DropRecords: []string{"l-1"}}); err != nil {
		t.Fatal(err)
	}
}

// TestDroppedRecordRemovesSavedIndexes: a start would not miss it. Records that are not saved
// are looked for.
func TestDroppedRecordRemovesSavedIndexes(t *testing.T) {
	s := open(t, Options{Logger: slog.New(slog.DiscardHandler)})
	putLesson(t, s, "l-1", "a lesson")
	putLesson(t, s, "l-2", "a damaged lesson")
	putReference(t, s, "r-1")
	must(t, setRaw(s, key(prefixRecord, "l-2"), []byte("spoilt")))
	for _, x := range []struct{ id, left string }{{"r-1", "saved"}, {"l-1", ""}, {"l-2", ""}, {"l-3", "saved"}} {
		saveIndexes(t, s, "saved")
		if _, err := s.Commit(t.Context(), memory.Batch{DropRecords: []string{x.id}}); err != nil {
			t.Fatal(err)
		}
		wantSaved(t, s, x.left)
	}
	if _, err := s.Load(t.Context(), discardLoader()); err != nil { // what is damaged later is still counted
		t.Fatal(err)
	}
}

// TestForgettingRemovesSavedIndexes, also those that are being written.
func TestForgettingRemovesSavedIndexes(t *testing.T) {
	s := open(t, Options{})
	putLesson(t, s, "l-1", "secret")
	putLesson(t, s, "l-2", "another")
	forget := func(id string) {
		if _, err := s.Commit(context.Background(), memory.Batch{DropRecords: []string{id}, Tombstones: []string{id}}); err != nil {
			t.Error(err)
		}
	}
	saveIndexes(t, s, "secret")
	forget("l-1")
	wantSaved(t, s, "")
	_, err := s.SaveIndexes(t.Context(), func(begin func() io.Writer) error {
		_, err := io.WriteString(begin(), "another")
		forget("l-2")
		return err
	})
	must(t, err)
	wantSaved(t, s, "")
	if s.HasSavedIndexes() {
		t.Error("saved indexes are left that know what was forgotten")
	}
}

// TestForgettingRefusesSavedIndexes that nobody removes: before all is loaded, and after a kill.
func TestForgettingRefusesSavedIndexes(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	putLesson(t, s, "l-1", "secret")
	saveIndexes(t, s, "secret")
	file, err := os.ReadFile(s.savedPath())
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	s = open(t, Options{Dir: dir}) // nothing is loaded
	if _, err := s.Commit(t.Context(), memory.Batch{DropRecords: []string{"l-1"}, Tombstones: []string{"l-1"}}); err != nil {
		t.Fatal(err)
	}
	must(t, os.WriteFile(s.savedPath(), file, 0o600))
	if got, _, err := savedIndexes(t, s); memory.CodeOf(err) != memory.CodeCorrupt || s.HasSavedIndexes() {
		t.Errorf("indexes that know what was forgotten are used or left: %q, %v", got, err)
	}
}

// TestNothingIsSavedPastAnUnsweptDocument: the next start must read everything to find it.
func TestNothingIsSavedPastAnUnsweptDocument(t *testing.T) {
	full := errors.New("the disk is full")
	for name, leave := range map[string]func(*Store){
		"a sweep failed": func(s *Store) { s.leftUnswept(full) },
		"a large update failed behind its documents": func(s *Store) {
			g := s.begin()
			tx := s.newTx(g)
			for n := range 5000 {
				tx.prePut(keyTerms(memory.DocumentID(fmt.Sprint(n))), nil)
			}
			if err := s.add(g, tx); err != nil {
				t.Error(err)
			}
			s.fail(g, full)
		},
	} {
		s := open(t, Options{MemTableSize: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
		putLesson(t, s, "l-1", "a text")
		saveIndexes(t, s, "before")
		leave(s)
		if s.HasSavedIndexes() {
			t.Errorf("%s: saved indexes are left", name)
		}
		_, err := s.SaveIndexes(t.Context(), writeParts())
		if memory.CodeOf(err) != memory.CodeReadOnly {
			t.Errorf("%s: indexes are saved: %v", name, err)
		}
		if _, err := s.Load(t.Context(), discardLoader()); err != nil { // sweeps
			t.Fatal(err)
		}
	}
}

// TestSavingThatFails at any byte leaves what was saved before. What a kill leaves is removed
// by the next start.
func TestSavingThatFails(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	saveIndexes(t, s, "before")
	stopped := errors.New("stopped")
	for n := range 64 {
		_, err := s.SaveIndexes(t.Context(), func(begin func() io.Writer) error {
			_, _ = begin().Write(make([]byte, n))
			return stopped
		})
		if !errors.Is(err, stopped) {
			t.Fatalf("a failed save returns %v", err)
		}
		wantSaved(t, s, "before")
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.SaveIndexes(ctx, func(begin func() io.Writer) error {
		cancel()
		_, err := begin().Write([]byte("too late"))
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled save returns %v", err)
	}
	wantSaved(t, s, "before")
	left := s.savedPath() + ".abc.tmp"
	must(t, os.WriteFile(left, []byte(savedMagic), 0o600))
	wantSaved(t, s, "before")
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a part of saved indexes is left: %v", err)
	}
}

// TestDroppedCollectionIsNotBroughtBack by saved indexes, if it is opened again.
func TestDroppedCollectionIsNotBroughtBack(t *testing.T) {
	s := open(t, Options{})
	putLesson(t, s, "l-1", "a text")
	saveIndexes(t, s, "with vectors")
	file, err := os.ReadFile(s.savedPath())
	if err = errors.Join(err, s.DropCollection(t.Context(), testSpace)); err != nil {
		t.Fatal(err)
	}
	if s.HasSavedIndexes() {
		t.Error("saved indexes are left after a collection was dropped")
	}
	must(t, os.WriteFile(s.savedPath(), file, 0o600))
	if got, _, err := savedIndexes(t, s); memory.CodeOf(err) != memory.CodeCorrupt {
		t.Errorf("saved indexes are used after a collection was dropped: %q, %v", got, err)
	}
}

// TestRestoredStoreHasNoSavedIndexes, even if somebody puts the file beside it.
func TestRestoredStoreHasNoSavedIndexes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, Options{Dir: dir})
	putLesson(t, s, "l-1", "a text")
	saveIndexes(t, s, "of the former store")
	file, err := os.ReadFile(s.savedPath())
	must(t, err)
	x, err := s.Snapshot()
	must(t, err)
	entries := map[string]Entry{}
	err = x.Walk(t.Context(), func(e Entry) error {
		entries[string(e.Key)] = Entry{Key: bytes.Clone(e.Key), Value: bytes.Clone(e.Value), ExpiresAt: e.ExpiresAt}
		return nil
	})
	schema := x.Schema
	x.Close()
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := PrepareRestore(t.Context(), Options{Dir: dir}, Restoring{Schema: schema, Walk: func(fn func(Entry) error) error {
		for _, k := range slices.Sorted(maps.Keys(entries)) {
			if err := fn(entries[k]); err != nil {
				return err
			}
		}
		return nil
	}})
	if err == nil {
		_, err = r.Finish()
	}
	must(t, err)
	s = open(t, Options{Dir: dir})
	wantSaved(t, s, "")
	must(t, os.WriteFile(s.savedPath(), file, 0o600))
	if got, _, err := savedIndexes(t, s); memory.CodeOf(err) != memory.CodeCorrupt {
		t.Errorf("indexes of the former store are used: %q, %v", got, err)
	}
}
