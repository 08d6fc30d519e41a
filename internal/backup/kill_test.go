package backup

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store"
	"github.com/recalld/recalld/internal/testlong"
)

// childEnv has what the child does, the folder of its store and that of the backups.
const childEnv = "RECALLD_TEST_BACKUP_CHILD"

// TestChild is no test: run as a process of its own, it backs up or restores until it is
// killed, and prints a line for every block or entry, and "made" for every backup.
func TestChild(t *testing.T) {
	task := strings.Split(os.Getenv(childEnv), "\n")
	if len(task) != 3 {
		t.Skip("runs as the child of other tests only")
	}
	if task[0] == "restore" {
		b, err := Find(task[2], "", "")
		if err != nil {
			t.Fatal(err)
		}
		for {
			r, err := store.PrepareRestore(t.Context(), store.Options{Dir: task[1]}, store.Restoring{Size: b.Size, Schema: b.Schema, Walk: func(fn func(store.Entry) error) error {
				return Walk(t.Context(), b, func(e store.Entry) error { fmt.Println("entry"); return fn(e) })
			}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Finish(); err != nil {
				t.Fatal(err)
			}
			fmt.Println("made")
		}
	}
	r := newRig(t, rand.Uint64())
	r.dir, r.to = task[1], task[2]
	r.s = openStore(t, r.dir)
	for {
		r.add(50)
		if r.rand.IntN(10) == 0 { // the next backup writes all older ones anew
			r.forget(r.ids[r.rand.IntN(len(r.ids))])
		}
		x, err := r.s.Snapshot()
		r.must(err)
		opts := r.options()
		opts.Clock = nil
		_, err = Create(t.Context(), x, opts, func(int64) { fmt.Println("block") })
		x.Close()
		r.must(err)
		fmt.Println("made")
	}
}

// runAndKill runs the child and kills it after some lines that it prints; it returns how
// often it printed "made".
func runAndKill(t *testing.T, task, dir, to string, after int) (made int) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestChild$")
	c.Env = append(os.Environ(), childEnv+"="+task+"\n"+dir+"\n"+to, "TMPDIR="+t.TempDir()) // the killed child leaves its folders
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 0; n < after && lines.Scan(); n++ {
		if lines.Text() == "FAIL" || strings.Contains(lines.Text(), "--- FAIL") {
			t.Errorf("the child fails: %s", lines.Text())
		}
		if lines.Text() == "made" {
			made++
		}
	}
	_ = c.Process.Kill() // it may have ended, which the next lines show
	_, _ = io.Copy(io.Discard, out)
	_ = c.Wait()
	return made
}

// TestKilled kills backups and restores: every backup with a manifest is whole, those that
// were made are there, and the store opens and is sound after every kill.
func TestKilled(t *testing.T) {
	testlong.Only(t)
	const kills = 50
	dir, to := filepath.Join(t.TempDir(), "store"), t.TempDir()
	made := 0
	for i := range kills {
		made += runAndKill(t, "backup", dir, to, 1+rand.IntN(100))
		all, err := List(to)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) < made {
			t.Fatalf("after kill %d there are %d backups, and %d were made", i, len(all), made)
		}
		for _, b := range all[max(0, len(all)-3):] {
			if err := Verify(t.Context(), &b, func(int64) {}); b.Damage != "" || err != nil {
				t.Fatalf("after kill %d backup %s: %q, %v", i, b.Name, b.Damage, err)
			}
		}
	}
	b, err := Find(to, "", "")
	if err != nil {
		t.Fatal(err)
	}
	for i := range kills {
		runAndKill(t, "restore", dir, to, 1+rand.IntN(2*b.Entries))
		s := openStore(t, dir)
		if err := s.Check(); err != nil {
			t.Fatalf("after kill %d of a restore: %v", i, err)
		}
		n := 0
		for kind, count := range s.Counts() {
			if kind == memory.Lesson || kind == memory.Step {
				n += count
			}
		}
		if n < b.Records[string(memory.Lesson)] {
			t.Fatalf("after kill %d of a restore the store has %d records", i, n)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d backups and restores were killed; %d backups were made in between, all of them whole", 2*kills, made)
}
