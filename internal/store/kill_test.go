package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testlong"
)

// writerEnv names the folder that a writer in a process of its own fills.
const writerEnv = "RECALLD_TEST_STORE_WRITER"

// generation is how many turns a session of the writers has before the next one
// takes its place, in one batch.
const generation = 20

// TestWriterProcess is no test: run as a process of its own, it writes until it is
// killed, and prints "writer generation turn" of what was acknowledged.
func TestWriterProcess(t *testing.T) {
	dir := os.Getenv(writerEnv)
	if dir == "" {
		t.Skip("runs as the child of other tests only")
	}
	s, err := Open(Options{Dir: dir, MemTableSize: 1 << 20})
	must(t, err)
	if _, err := s.Load(t.Context(), discardLoader()); err != nil {
		t.Fatal(err)
	}
	var writing sync.WaitGroup
	for w := range 4 {
		writing.Go(func() {
			for n := 0; ; n++ {
				if _, err := s.Commit(context.Background(), turnOfWriter(w, n)); err != nil {
					t.Error(err)
					return
				}
				fmt.Printf("acknowledged %d %d\n", w, n)
			}
		})
	}
	writing.Go(func() { dropLargeSessions(t, s) })
	writing.Wait()
}

func writerSession(w, gen int) memory.SessionKey {
	return memory.SessionKey{Project: "p-1", ID: fmt.Sprintf("x-%d-%d", w, gen)}
}

// turnOfWriter is the n-th batch of a writer: the state of its session counts the
// turn that the receipt is of. With a new session the one before goes.
func turnOfWriter(w, n int) memory.Batch {
	at, turn := writerSession(w, n/generation), n%generation
	b := memory.Batch{
		States:   []memory.StateEdit{setState(stateOf(at.ID), fmt.Sprint(turn))},
		Receipts: []memory.Receipt{{ID: fmt.Sprintf("rc-%d-%06d", w, n), Project: at.Project, Session: at.ID, Turn: turn, At: noon}},
	}
	if turn == 0 {
		b.Sessions = []memory.Session{{ID: at.ID, Project: at.Project, CreatedAt: noon}}
		if n > 0 {
			b.DropSessions = []memory.SessionKey{writerSession(w, n/generation-1)}
		}
	}
	return b
}

// dropLargeSessions writes and drops sessions that take several transactions to drop.
func dropLargeSessions(t *testing.T, s *Store) {
	x := memory.Session{ID: "large", Project: "p-1", CreatedAt: noon}
	for {
		for n := range 10 {
			b := memory.Batch{Sessions: []memory.Session{x}}
			for i := range 200 {
				b.Receipts = append(b.Receipts, memory.Receipt{ID: fmt.Sprintf("rc-large-%d-%d", n, i), Project: x.Project, Session: x.ID, Turn: n})
			}
			if _, err := s.Commit(context.Background(), b); err != nil {
				t.Error(err)
				return
			}
		}
		if _, err := s.Commit(context.Background(), memory.Batch{DropSessions: []memory.SessionKey{x.Key()}}); err != nil {
			t.Error(err)
			return
		}
		fmt.Println("acknowledged drop 0")
	}
}

// TestKilledWriter kills a process that writes states beside receipts and drops
// sessions: what was acknowledged is there, and of every batch all or nothing.
func TestKilledWriter(t *testing.T) {
	testlong.Only(t)
	for round := range 3 {
		dir := t.TempDir()
		acked, drops := killWriter(t, dir, 200+70*round)
		s := open(t, Options{Dir: dir}) // it is checked at the end of the test
		for w, last := range acked {
			checkWriter(t, s, w, last)
		}
		t.Logf("acknowledged: the last turns %v, %d large sessions dropped", acked, drops)
	}
}

// killWriter runs a writer, kills it when it has said so many things, and returns the
// last batch of each writer that was acknowledged.
func killWriter(t *testing.T, dir string, after int) (acked map[int]int, drops int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWriterProcess$")
	cmd.Env = append(os.Environ(), writerEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	acked = map[int]int{}
	lines := bufio.NewScanner(out)
	for said := 0; lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) != 3 || words[0] != "acknowledged" {
			_ = cmd.Process.Kill()
			rest, _ := io.ReadAll(out)
			t.Fatalf("the writer says %q\n%s", lines.Text(), rest)
		}
		if words[1] == "drop" {
			drops++
		} else {
			w, err1 := strconv.Atoi(words[1])
			n, err2 := strconv.Atoi(words[2])
			if err1 != nil || err2 != nil {
				t.Fatalf("the writer says %q", lines.Text())
			}
			acked[w] = n
		}
		if said++; said == after {
			must(t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait() // it was killed
	if len(acked) != 4 {
		t.Fatalf("only the writers %v were acknowledged anything: the test tries too little", acked)
	}
	return acked, drops
}

// checkWriter holds what there is of a writer against the last batch of it that was
// acknowledged: that one is there, and perhaps the next.
func checkWriter(t *testing.T, s *Store, w, last int) {
	t.Helper()
	n := last
	if _, err := s.Receipt(turnOfWriter(w, last+1).Receipts[0].ID); err == nil {
		n++ // committed and not yet acknowledged
	}
	gen, turn := n/generation, n%generation
	wantState(t, s, stateOf(writerSession(w, gen).ID), fmt.Sprint(turn))
	got, more, err := s.Receipts(memory.ReceiptFilter{Project: "p-1", Session: writerSession(w, gen).ID}, generation)
	if err != nil || more || len(got) != turn+1 {
		t.Errorf("writer %d, batch %d: %d receipts, more %v, %v; want %d", w, n, len(got), more, err, turn+1)
	}
	for _, gone := range []int{gen - 1, gen + 1} {
		x := writerSession(w, gone)
		wantState(t, s, stateOf(x.ID), "")
		wantReceipts(t, s, memory.ReceiptFilter{Project: x.Project, Session: x.ID})
		if _, err := s.Session(x.Project, x.ID); memory.CodeOf(err) != memory.CodeNotFound {
			t.Errorf("writer %d: session %s: %v, want not found", w, x.ID, err)
		}
	}
}
