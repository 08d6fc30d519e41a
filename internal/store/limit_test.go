package store

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// openerEnv names the folder of a store that a process of its own opens.
const openerEnv = "RECALLD_TEST_STORE_OPENER"

// TestOpenerProcess is no test: run as a process of its own, it opens a store once and
// prints what came of it.
func TestOpenerProcess(t *testing.T) {
	dir := os.Getenv(openerEnv)
	if dir == "" {
		t.Skip("runs as the child of other tests only")
	}
	s, err := Open(Options{Dir: dir, MemTableSize: 1 << 20}) // the size decides how much is read
	fmt.Printf("code %s: %v\n", memory.CodeOf(err), err)
	if err == nil {
		fmt.Println("opened with damage", s.Damage() != nil)
	}
	os.Exit(0) // as a kill: closing may need files too
}

// TestFewFiles: a store that cannot be read because of the limit of open files is not
// called damaged, and loses nothing.
func TestFewFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no ulimit on Windows")
	}
	dir := t.TempDir()
	s := open(t, Options{Dir: dir, MemTableSize: 1 << 20})
	const last = 200
	for n := range last {
		if _, err := s.Commit(context.Background(), turnOfWriter(0, n)); err != nil {
			t.Fatal(err)
		}
	}
	seq := s.Seq()
	must(t, s.Close())
	refused := 0
	for files := 5; files <= 40; files += underrace.Steps(1, 5) { // each limit meets another file
		child := exec.CommandContext(t.Context(), "sh", "-c", fmt.Sprintf(`ulimit -n %d; exec "$0" -test.run='^TestOpenerProcess$'`, files), os.Args[0])
		child.Env = append(os.Environ(), openerEnv+"="+dir)
		out, _ := child.CombinedOutput() // with very few, the program itself does not start
		text := string(out)
		if strings.Contains(text, "code "+string(memory.CodeCorrupt)) || strings.Contains(text, "damage true") {
			t.Errorf("with %d files: %s", files, text)
		}
		if strings.Contains(text, "too many open files") {
			refused++
		}
	}
	if refused == 0 {
		t.Error("no limit was met: the test shows nothing")
	}
	s = open(t, Options{Dir: dir})
	if s.Damage() != nil || s.Seq() < seq {
		t.Errorf("after the limits: update %d of %d, damage %v", s.Seq(), seq, s.Damage())
	}
}
