package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store"
)

// rig is a store with a backup folder and a clock.
type rig struct {
	t    *testing.T
	dir  string // of the store
	to   string // of the backups
	s    *store.Store
	rand *rand.Rand
	now  time.Time
	n    int
	ids  []string
}

const collection = "test/v1"

func newRig(t *testing.T, seed uint64) *rig {
	r := &rig{t: t, dir: filepath.Join(t.TempDir(), "store"), to: t.TempDir(), rand: rand.New(rand.NewPCG(seed, 1)), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	r.s = openStore(t, r.dir)
	return r
}

func discard() memory.Loader {
	return memory.Loader{
		Session: func(memory.Session) error { return nil }, Record: func(memory.Record) error { return nil }, File: func(memory.File) error { return nil },
		Terms: func(memory.DocID, []byte) error { return nil }, Vector: func(string, memory.DocID, []float32) error { return nil },
	}
}

func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{Dir: dir, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.OpenCollection(t.Context(), collection, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context(), discard()); err != nil {
		t.Fatal(err)
	}
	return s
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// add commits n records, some of them steps with their session.
func (r *rig) add(n int) {
	r.t.Helper()
	var b memory.Batch
	for range n {
		r.n++
		text := fmt.Sprintf("text %d %x", r.n, r.rand.Uint64())
		id := memory.DocumentID(text)
		rec := memory.Record{ID: fmt.Sprintf("l-%08x", r.rand.Uint32()), Kind: memory.Lesson, Project: "p-1", Text: text, Doc: id, Created: r.now, Event: &memory.Event{Type: memory.EventError, Lesson: text}}
		if r.n%3 == 0 {
			session := memory.Session{ID: fmt.Sprintf("run-%d", r.n), Project: "p-1", CreatedAt: r.now}
			rec.ID, rec.Kind, rec.Session, rec.Event = "s-"+rec.ID[2:], memory.Step, session.ID, nil
			rec.Step = &memory.StepContent{}
			b.Sessions = append(b.Sessions, session)
		}
		r.ids = append(r.ids, rec.ID)
		b.Records = append(b.Records, rec)
		b.Docs = append(b.Docs, memory.Doc{ID: id, Terms: []byte("terms of " + text), Vectors: map[string][]float32{collection: {float32(id[0]) + 1, float32(id[1]), 1, 1}}})
	}
	_, err := r.s.Commit(context.Background(), b)
	r.must(err)
}

func (r *rig) forget(id string) {
	r.t.Helper()
	_, err := r.s.Commit(context.Background(), memory.Batch{DropRecords: []string{id}, Tombstones: []string{id}, Action: "forget"})
	r.must(err)
}

func (r *rig) options() Options {
	return Options{Dir: r.to, Version: "test", Clock: func() time.Time { return r.now }, Keep: 7 * 24 * time.Hour}
}

// backup makes a backup a day after the last one.
func (r *rig) backup(change ...func(*Options)) (*memory.Backup, error) {
	r.t.Helper()
	r.now = r.now.Add(24 * time.Hour)
	opts := r.options()
	for _, f := range change {
		f(&opts)
	}
	x, err := r.s.Snapshot()
	r.must(err)
	defer x.Close()
	return Create(r.t.Context(), x, opts, func(int64) {})
}

func (r *rig) backedUp(change ...func(*Options)) *memory.Backup {
	r.t.Helper()
	b, err := r.backup(change...)
	r.must(err)
	return b
}

// contents are all records and sessions of a store.
func contents(t *testing.T, s *store.Store) (all map[string]string) {
	t.Helper()
	all = map[string]string{}
	var mu sync.Mutex // guards all: Read has several readers
	add := func(id string, value any) error {
		mu.Lock()
		defer mu.Unlock()
		b, err := json.Marshal(value)
		all[id] = string(b)
		return err
	}
	l := discard()
	l.Record = func(r memory.Record) error { return add(r.ID, r) }
	l.Session = func(x memory.Session) error { return add("session "+x.ID, x) }
	l.Terms = func(d memory.DocID, b []byte) error { return add(fmt.Sprintf("terms %x", d), string(b)) }
	l.Vector = func(_ string, d memory.DocID, v []float32) error { return add(fmt.Sprintf("vector %x", d), v) }
	if _, err := s.Read(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	return all
}

// restore restores a backup beside dir, swaps and returns the open store.
func restore(t *testing.T, b *memory.Backup, dir string, forgotten ...string) (*store.Store, error) {
	t.Helper()
	r, err := store.PrepareRestore(t.Context(), store.Options{Dir: dir}, store.Restoring{
		Walk: func(fn func(store.Entry) error) error { return Walk(t.Context(), b, fn) },
		Size: b.Size, Schema: b.Schema, Forgotten: forgotten,
	})
	if err != nil {
		return nil, err
	}
	if _, err := r.Finish(); err != nil {
		return nil, err
	}
	return openStore(t, dir), nil
}

func equal(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%.2000s", what, diff)
	}
}

// TestRestoreIsEqual: a random store is backed up, changed, backed up again, and each
// backup gives back the state that it was made of.
func TestRestoreIsEqual(t *testing.T) {
	r := newRig(t, 1)
	var backups []*memory.Backup
	var states []map[string]string
	for range 4 {
		r.add(300)
		for range 5 {
			_, err := r.s.Commit(t.Context(), memory.Batch{DropRecords: []string{r.ids[r.rand.IntN(len(r.ids))]}})
			r.must(err)
		}
		backups, states = append(backups, r.backedUp()), append(states, contents(t, r.s))
	}
	for i, b := range backups {
		if err := Verify(t.Context(), b, func(int64) {}); err != nil {
			t.Errorf("backup %d: %v", i, err)
		}
		s, err := restore(t, b, filepath.Join(t.TempDir(), "store"))
		r.must(err)
		equal(t, fmt.Sprintf("backup %d restored", i), contents(t, s), states[i])
		if err := s.Check(); err != nil {
			t.Errorf("backup %d restored: %v", i, err)
		}
	}
	if again := r.backedUp(); again.Written*5 > backups[3].Size {
		t.Errorf("a backup of the same state wrote %d bytes of %d", again.Written, again.Size)
	}
	// In place, over a store that is newer.
	want := states[1]
	r.must(r.s.Close())
	s, err := restore(t, backups[1], r.dir)
	r.must(err)
	equal(t, "restored in place", contents(t, s), want)
}

// limited fails after some bytes, as a full disk does, or as a kill does if the caller
// looks at the folder as it is then.
type limited struct {
	packFile
	left *int
}

func (l limited) Write(b []byte) (int, error) {
	n := min(len(b), *l.left)
	*l.left -= n
	_, err := l.packFile.Write(b[:n])
	if n < len(b) {
		err = errors.Join(err, syscall.ENOSPC)
	}
	return n, err
}

// unsynced is a file on a disk that fails to sync.
type unsynced struct{ packFile }

func (unsynced) Sync() error { return syscall.EIO }

// TestInterruptedBackup: a backup that ends at any byte, on a disk that is full or fails to
// sync, leaves the ones before it, and the next one succeeds.
func TestInterruptedBackup(t *testing.T) {
	r := newRig(t, 2)
	r.add(200)
	first, state := r.backedUp(), contents(t, r.s)
	const whole = 1 << 30
	for _, at := range []int{0, 1, 100, 5000, 20000, whole} {
		r.add(200)
		left := at
		_, err := r.backup(func(o *Options) {
			o.create = func(path string) (packFile, error) {
				f, err := createPack(path)
				if at == whole {
					return unsynced{f}, err
				}
				return limited{f, &left}, err
			}
		})
		if memory.CodeOf(err) != memory.CodeReadOnly || !strings.Contains(err.Error(), r.to) {
			t.Fatalf("a backup that ends at byte %d = %v, want %s", at, err, memory.CodeReadOnly)
		}
		all, err := List(r.to)
		if err != nil || len(all) != 1 || all[0].Name != first.Name {
			t.Fatalf("after it there are %+v, %v; want the first", all, err)
		}
		// What a kill leaves is removed by the next backup.
		r.must(os.WriteFile(filepath.Join(first.Path, fmt.Sprintf("left-%d.pack", at)), []byte("half"), 0o600))
	}
	s, err := restore(t, first, filepath.Join(t.TempDir(), "store"))
	r.must(err)
	equal(t, "the first backup restored", contents(t, s), state)
	last := r.backedUp()
	if left, _ := filepath.Glob(filepath.Join(first.Path, "left-*")); len(left) > 0 {
		t.Errorf("the next backup leaves %v", left)
	}
	r.must(Verify(t.Context(), last, func(int64) {}))
}

// TestInterruptedRestore: a restore that ends at any entry leaves the store as it was.
func TestInterruptedRestore(t *testing.T) {
	r := newRig(t, 3)
	r.add(200)
	b := r.backedUp()
	r.add(50)
	want := contents(t, r.s)
	r.must(r.s.Close())
	for _, at := range []int{0, 1, 50, b.Entries - 1} {
		n := 0
		_, err := store.PrepareRestore(t.Context(), store.Options{Dir: r.dir}, store.Restoring{Size: b.Size, Schema: b.Schema, Walk: func(fn func(store.Entry) error) error {
			return Walk(t.Context(), b, func(e store.Entry) error {
				if n++; n > at {
					return errors.New("interrupted")
				}
				return fn(e)
			})
		}})
		if err == nil || !strings.Contains(err.Error(), "interrupted") {
			t.Fatalf("a restore that ends at entry %d = %v", at, err)
		}
	}
	// Prepared and not finished, as a kill before the swap leaves it.
	_, err := store.PrepareRestore(t.Context(), store.Options{Dir: r.dir}, store.Restoring{Size: b.Size, Schema: b.Schema,
		Walk: func(fn func(store.Entry) error) error { return Walk(t.Context(), b, fn) }})
	r.must(err)
	equal(t, "after interrupted restores", contents(t, openStore(t, r.dir)), want)
}

// TestDamageIsFound: one flipped byte anywhere, a missing or cut file, is found by Verify
// and refused by a restore.
func TestDamageIsFound(t *testing.T) {
	r := newRig(t, 4)
	r.add(200)
	b := r.backedUp()
	entries, err := os.ReadDir(b.Path)
	r.must(err)
	if len(entries) != 2 {
		t.Fatalf("a backup has the files %v, want a pack and a manifest", entries)
	}
	for _, e := range entries {
		path := filepath.Join(b.Path, e.Name())
		whole, err := os.ReadFile(path)
		r.must(err)
		damage := map[string]func(){
			"missing": func() { r.must(os.Remove(path)) },
			"cut":     func() { r.must(os.WriteFile(path, whole[:len(whole)-1], 0o600)) },
			"longer":  func() { r.must(os.WriteFile(path, append(slices.Clone(whole), 0), 0o600)) },
			"empty":   func() { r.must(os.WriteFile(path, nil, 0o600)) },
		}
		for range 20 {
			at := r.rand.IntN(len(whole))
			damage[fmt.Sprintf("flipped at %d", at)] = func() {
				flipped := slices.Clone(whole)
				flipped[at] ^= 1 << r.rand.IntN(8)
				r.must(os.WriteFile(path, flipped, 0o600))
			}
		}
		for _, what := range slices.Sorted(maps.Keys(damage)) {
			damage[what]()
			if err := Verify(t.Context(), b, func(int64) {}); err == nil || !strings.Contains(err.Error(), b.Name) {
				t.Errorf("%s %s: verify = %v, want an error that names the backup", e.Name(), what, err)
			}
			dir := filepath.Join(t.TempDir(), "store")
			if _, err := restore(t, b, dir); err == nil {
				t.Errorf("%s %s: it is restored", e.Name(), what)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("%s %s: a refused restore leaves a store", e.Name(), what)
			}
			r.must(os.WriteFile(path, whole, 0o600))
		}
	}
	r.must(Verify(t.Context(), b, func(int64) {}))
}

// TestTwoStoresInOneFolder do not touch one another.
func TestTwoStoresInOneFolder(t *testing.T) {
	a, b := newRig(t, 5), newRig(t, 6)
	b.to = a.to
	a.add(100)
	b.add(100)
	first := a.backedUp()
	for range 10 { // more days than are kept
		b.add(1)
		b.backedUp()
	}
	if a.to != b.to || first.Path == b.backedUp().Path {
		t.Fatal("both stores have one folder")
	}
	a.must(Verify(t.Context(), first, func(int64) {}))
	if _, err := Find(a.to, "", ""); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("the newest of two stores = %v, want %s", err, memory.CodeConflict)
	}
	found, err := Find(a.to, first.Store, "")
	if err != nil || found.Name != first.Name {
		t.Errorf("the newest of the first store = %+v, %v", found, err)
	}
	all, err := List(a.to)
	a.must(err)
	if n := len(slices.DeleteFunc(all, func(x memory.Backup) bool { return x.Store == first.Store })); n != 8 {
		t.Errorf("the other store has %d backups, want those of seven days and the newest", n)
	}
}

// TestMaxSize removes the oldest backups, and never the newest.
func TestMaxSize(t *testing.T) {
	r := newRig(t, 7)
	for range 3 {
		r.add(100)
		r.backedUp()
	}
	last := r.backedUp(func(o *Options) { o.MaxSize = 1 })
	all, err := List(r.to)
	if err != nil || len(all) != 1 || all[0].Name != last.Name || last.Removed != 3 {
		t.Errorf("left are %+v, %v; want only %s", all, err, last.Name)
	}
	r.must(Verify(t.Context(), last, func(int64) {}))
}

// TestUnreadableDisk: a disk that fails to read is not said to refuse writes.
func TestUnreadableDisk(t *testing.T) {
	r := newRig(t, 7)
	r.add(10)
	_, err := r.backup(func(o *Options) {
		o.Turn = func(context.Context, func() error) error {
			return &fs.PathError{Op: "read", Path: "the-pack", Err: syscall.EIO}
		}
	})
	if memory.CodeOf(err) != memory.CodeUnavailable || !strings.Contains(err.Error(), "the disk fails: ") || !strings.Contains(err.Error(), "read the-pack") {
		t.Errorf("a disk that fails to read is called %v", err)
	}
}

// TestUnreadableBackups: a folder that may not be read is refused with the next step.
func TestUnreadableBackups(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads every folder: run it as another user")
	}
	dir := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(dir, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := List(dir); memory.CodeOf(err) != memory.CodeForbidden || !strings.Contains(err.Error(), dir) {
		t.Errorf("the list of unreadable backups is %v, want %s that names the folder", err, memory.CodeForbidden)
	}
}

// TestClockSetBack: the newest backup is the last one that was made, also if an older one has a
// time to come, and is not the one that gives way.
func TestClockSetBack(t *testing.T) {
	r := newRig(t, 7)
	r.add(100)
	r.backedUp()
	r.now = r.now.Add(-30 * 24 * time.Hour)
	left := ""
	for range 3 {
		r.add(100)
		if left != "" { // by a process that was killed
			r.must(os.WriteFile(left, []byte("half"), 0o600))
		}
		last := r.backedUp(func(o *Options) { o.MaxSize = 1 })
		at, err := time.Parse(nameLayout, last.Name)
		r.must(err)
		left = filepath.Join(last.Path, at.Add(time.Millisecond).Format(nameLayout)+"-001"+packSuffix)
		found, err := Find(r.to, last.Store, "")
		if err != nil || found.Name != last.Name || !last.CreatedAt.Equal(r.now) {
			t.Errorf("the newest is %+v, %v; want %s of %v", found, err, last.Name, r.now)
		}
		r.must(Verify(t.Context(), last, func(int64) {}))
	}
}

// TestForgottenStaysForgotten: a backup made before does not bring it back, and the next
// backup takes it out of all older ones.
func TestForgottenStaysForgotten(t *testing.T) {
	r := newRig(t, 8)
	r.add(200)
	old := r.backedUp()
	id := r.ids[0]
	gone, err := r.s.Record(id)
	r.must(err)
	r.forget(id)
	want := contents(t, r.s)
	x, err := r.s.Snapshot()
	r.must(err)
	forgotten := x.Forgotten()
	x.Close()

	s, err := restore(t, old, filepath.Join(t.TempDir(), "store"), forgotten...)
	r.must(err)
	equal(t, "restored from before the forgetting", contents(t, s), want)
	if dead, err := s.Tombstoned(id); err != nil || !dead {
		t.Errorf("an import may bring it back: %v, %v", dead, err)
	}

	r.add(1)
	r.backedUp()
	r.must(Verify(t.Context(), old, func(int64) {}))
	r.must(Walk(t.Context(), old, func(e store.Entry) error {
		if strings.Contains(string(e.Value), gone.Text) {
			t.Errorf("the older backup still has its text in %q", e.Key)
		}
		return nil
	}))
	s, err = restore(t, old, filepath.Join(t.TempDir(), "store"))
	r.must(err)
	equal(t, "the rewritten backup restored", contents(t, s), want)
	packs, err := filepath.Glob(filepath.Join(old.Path, "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Errorf("the packs are %v, %v; want only the new one", packs, err)
	}
}
