package store

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

func TestMigrations(t *testing.T) {
	s := open(t, Options{})
	if err := setMeta(s.db.DB, keySchema, 1); err != nil {
		t.Fatal(err)
	}
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
