package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

func TestMigrations(t *testing.T) {
	s := open(t, Options{})
	must(t, setMeta(s.db.DB, keySchema, 1))
	var ran []string
	broken := errors.New("power cut")
	step := func(name string, err error) migration {
		return func(*badger.DB) error {
			ran = append(ran, name)
			return err
		}
	}
	expect := func(what string, err, want error, version uint64, steps ...string) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
		if got, err := meta(s.db.DB, keySchema); got != version || err != nil {
			t.Errorf("%s: the store has version %d, %v; want %d", what, got, err, version)
		}
		if len(ran) != len(steps) || len(ran) > 0 && ran[len(ran)-1] != steps[len(steps)-1] {
			t.Errorf("%s: the steps %v ran, want %v", what, ran, steps)
		}
		ran = nil
	}
	expect("a new store", s.openSchema(nil), nil, 1)
	expect("interrupted", s.openSchema([]migration{step("one", nil), step("two", broken), step("three", nil)}), broken, 2, "one", "two")
	expect("begun again", s.openSchema([]migration{step("one", nil), step("two", nil), step("three", nil)}), nil, 4, "two", "three")
	expect("done", s.openSchema([]migration{step("one", nil), step("two", nil), step("three", nil)}), nil, 4)
	if err := s.openSchema([]migration{step("one", nil)}); memory.CodeOf(err) != memory.CodeIncompatible {
		t.Errorf("a store of a newer version: %v, want incompatible", err)
	}
	expect("refused", nil, nil, 4)
}

// TestNewerStoreIsRefused: a program that meets a store of a later version changes nothing,
// also where it is to read or repair it, and says what to do.
func TestNewerStoreIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	s := open(t, Options{Dir: dir})
	r, d := lesson("l-1", "npm needs a clean cache")
	put(t, s, r, d)
	later := slices.Concat(migrations, []migration{func(*badger.DB) error { return nil }})
	must(t, s.openSchema(later))
	must(t, s.Close())
	before := digests(t, dir)
	for name, use := range map[string]func() error{
		"open":   func() error { _, err := Open(Options{Dir: dir}); return err },
		"read":   func() error { _, err := Open(Options{Dir: dir, ReadDamaged: true}); return err },
		"repair": func() error { _, err := PrepareRepair(t.Context(), Options{Dir: dir}, nil); return err },
		"restore a backup of it": func() error {
			_, err := PrepareRestore(t.Context(), Options{Dir: dir}, Restoring{Schema: latest(later)})
			return err
		},
	} {
		e := memory.AsError(use())
		if e == nil || e.Code != memory.CodeIncompatible {
			t.Errorf("%s: %v, want %s", name, e, memory.CodeIncompatible)
			continue
		}
		for _, text := range []string{"newer recalld", fmt.Sprintf("version %d", latest(later)), fmt.Sprintf("knows %d", latest(migrations)), "nothing was changed"} {
			if !strings.Contains(e.Message, text) {
				t.Errorf("%s: %q lacks %q", name, e.Message, text)
			}
		}
		for _, text := range []string{"install the newer", "recalld backup list", "--data"} {
			if !strings.Contains(e.Hint, text) {
				t.Errorf("%s: the hint %q lacks %q", name, e.Hint, text)
			}
		}
		if diff := cmp.Diff(before, digests(t, dir)); diff != "" {
			t.Errorf("%s changed the store:\n%s", name, diff)
		}
	}
}

// digests are the sizes and digests of a folder's files, by name.
func digests(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := os.ReadDir(dir)
	must(t, err)
	found := map[string]string{}
	for _, f := range files {
		if f.Name() == "LOCK" { // as long as a process has the store
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		must(t, err)
		found[f.Name()] = fmt.Sprintf("%d bytes %x", len(text), sha256.Sum256(text))
	}
	return found
}

func TestStoreInUseIsAConflict(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	open(t, Options{Dir: dir})
	s, err := Open(Options{Dir: dir})
	if err == nil {
		s.Close()
	}
	if memory.CodeOf(err) != memory.CodeConflict || memory.AsError(err).Hint == "" {
		t.Errorf("open of a store in use: %v, want a conflict with a hint", err)
	}
}
