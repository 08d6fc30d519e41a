package store

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/underrace"
	"github.com/recalld/recalld/internal/testlong"
)

// migratorEnv names the folder that a process of its own migrates.
const migratorEnv = "RECALLD_TEST_STORE_MIGRATOR"

// TestMigratorProcess is no test: run as a process of its own, it opens a store of a former
// version, until it is killed.
func TestMigratorProcess(t *testing.T) {
	dir := os.Getenv(migratorEnv)
	if dir == "" {
		t.Skip("runs as the child of other tests only")
	}
	fmt.Println("opening")
	s, err := Open(Options{Dir: dir, MemTableSize: 1 << 20})
	must(t, err)
	must(t, s.Close())
}

// TestMigrationKilled kills processes that migrate a store of version 5. What they leave has
// the former version with all that it had, or the latest. The next start migrates it as if
// nothing had been.
func TestMigrationKilled(t *testing.T) {
	former := filepath.Join(t.TempDir(), "former")
	makeVersion5(t, former)
	took, want := migrateCopy(t, former, -1)
	var versions [2]int // of the stores that were left behind: the former version, the latest
	for range underrace.Steps(testlong.Steps(3, 40), 2) {
		_, got := migrateCopy(t, former, time.Duration(rand.Int64N(int64(took))), &versions)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("after a kill and another start (-without a kill +with one):\n%s", diff)
		}
	}
	t.Logf("killed: %d with the former version, %d with the latest", versions[0], versions[1])
}

// What makeVersion5 stores: this many commits of this many lessons.
var version5Batches, version5Batch = underrace.Steps(20, 8), 200

// makeVersion5 makes a store as version 5 had it, of records without provenance, whose
// migration takes several transactions.
func makeVersion5(t *testing.T, dir string) {
	t.Helper()
	s, err := Open(Options{Dir: dir, MemTableSize: 1 << 20})
	must(t, err)
	load(t, s)
	for n := range version5Batches {
		b := memory.Batch{Action: "remember", Detail: map[string]string{"id": fmt.Sprintf("l-%d-0", n), "project": "p-1"}}
		for i := range version5Batch {
			r, d := lesson(fmt.Sprintf("l-%d-%d", n, i), fmt.Sprintf("Lesson %d of batch %d", i, n))
			d.Vectors = nil
			r.Event.Rate = &memory.Rate{Successes: 1, Attempts: 2}
			b.Records, b.Docs = append(b.Records, r), append(b.Docs, d)
		}
		if _, err := s.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	must(t, setMeta(s.db.DB, keySchema, 5))
	must(t, s.Close())
}

// migrateCopy migrates a copy of a store in a process of its own, which is killed after a
// while unless that is negative, opens the copy, and returns its records by id. It counts
// which version the process left behind.
func migrateCopy(t *testing.T, former string, after time.Duration, versions ...*[2]int) (took time.Duration, records map[string]memory.Record) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	must(t, os.CopyFS(dir, os.DirFS(former)))
	c := exec.Command(os.Args[0], "-test.run=^TestMigratorProcess$")
	c.Env = append(os.Environ(), migratorEnv+"="+dir)
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); line != "opening\n" {
		t.Fatalf("the process says %q, %v", line, err)
	}
	began := time.Now()
	if after >= 0 {
		kill := time.AfterFunc(after, func() { _ = c.Process.Kill() })
		defer kill.Stop()
	}
	_, _ = io.Copy(io.Discard, lines)
	if err := c.Wait(); err != nil && after < 0 {
		t.Fatal(err)
	}
	took = time.Since(began)
	for _, v := range versions {
		v[min(leftVersion(t, dir)-5, 1)]++
	}
	s := open(t, Options{Dir: dir})
	if v, err := meta(s.db.DB, keySchema); v != latest(migrations) || err != nil {
		t.Errorf("the store has version %d, %v", v, err)
	}
	records = map[string]memory.Record{}
	err = s.View(func(v View) error {
		for r, err := range v.Records() {
			if err != nil {
				return err
			}
			records[r.ID] = r
		}
		return nil
	})
	must(t, err)
	return took, records
}

// leftVersion returns the version of a store that was left behind. One of the former version
// must have each record, as it was or with its provenance.
func leftVersion(t *testing.T, dir string) uint64 {
	t.Helper()
	db, err := openForWriting(Options{Dir: dir, MemTableSize: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	defer func() {
		if err := db.DB.Close(); err != nil {
			t.Error(err)
		}
	}()
	version, err := schemaOf(db.DB)
	if err != nil || version != 5 && version != latest(migrations) {
		t.Fatalf("a kill left version %d, %v", version, err)
	}
	n := 0
	err = db.DB.View(func(txn *badger.Txn) error {
		for r, err := range (View{txn}).Records() {
			if err != nil || r.Event == nil || r.Event.Lesson != r.Text {
				t.Errorf("a kill left the record %+v, %v", r, err)
			}
			n++
		}
		return nil
	})
	if err != nil || n != version5Batches*version5Batch {
		t.Errorf("a kill left %d records, %v", n, err)
	}
	return version
}
