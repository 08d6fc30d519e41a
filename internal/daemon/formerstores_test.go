package daemon

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/golden"
)

// TestStoresOfFormerVersions opens a store of each schema version, as the program of that
// version left it (make store-fixture): it is migrated, it is sound, and it has what
// testdata/stores/remembered.txt lists. A schema version without a store fails.
func TestStoresOfFormerVersions(t *testing.T) {
	var remembered strings.Builder
	for version := uint64(1); ; version++ {
		fixture := fmt.Sprintf("testdata/stores/v%d.tar.gz", version)
		dir := filepath.Join(t.TempDir(), "store")
		must(t, unpack(fixture, dir))
		log := newLines()
		open := func() *Core {
			core, err := OpenCore(t.Context(), CoreOptions{Dir: dir, Config: config.Default(), Logger: testLogger(log)})
			must(t, err)
			must(t, core.Load(t.Context()))
			return core
		}
		core := open()
		x, err := core.Store.Snapshot()
		must(t, err)
		schema := x.Schema
		x.Close()
		// Each version after that of the fixture is reached by a migration of its own.
		for v := uint64(2); v <= schema; v++ {
			if ran := strings.Contains(log.String(), fmt.Sprintf(`msg="store migrated" part=store version=%d`, v)); ran != (v > version) {
				t.Errorf("%s: the migration to version %d ran: %t, so the store in it is not of version %d\n%s", fixture, v, ran, version, log)
			}
		}
		must(t, core.Store.Check())
		path := filepath.Join(t.TempDir(), "all.jsonl")
		must(t, writeArchive(t.Context(), core, path))
		fmt.Fprintf(&remembered, "-- version %d --\n%s%s\n", version, remembers(core), strings.Join(archived(t, path), "\n"))
		answer, err := core.Recall.Recall(t.Context(), memory.RecallRequest{Query: "freeze the clock before the coupon expires", Project: "shop", Kinds: []memory.Kind{memory.Lesson}})
		must(t, err)
		if len(answer.Items) == 0 || !strings.Contains(answer.Items[0].Text, "Freeze the clock") {
			t.Errorf("%s: the lesson about the clock is not found: %+v", fixture, answer)
		}
		must(t, core.Close())
		must(t, open().Close()) // as the next start does
		if version == schema {
			golden.Equal(t, "testdata/stores/remembered.txt", remembered.String())
			return
		}
		if _, err := os.Stat(fmt.Sprintf("testdata/stores/v%d.tar.gz", version+1)); errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("there is no store of schema version %d: run make store-fixture VERSION=%d", version+1, version+1)
		}
	}
}

// remembers counts what a store has, also what is in no archive.
func remembers(core *Core) string {
	var b strings.Builder
	counts := core.Store.Counts()
	for _, kind := range []memory.Kind{memory.Lesson, memory.Step, memory.Chunk, memory.Task, memory.Rule} {
		fmt.Fprintf(&b, "%s: %d\n", kind, counts[kind])
	}
	return b.String()
}

// unpack writes the files of a compressed archive into a new folder.
func unpack(path, dir string) error {
	packed, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for files := tar.NewReader(text); ; {
		h, err := files.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case h.Typeflag != tar.TypeReg:
			continue
		}
		content, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), content, 0o600); err != nil {
			return err
		}
	}
}
