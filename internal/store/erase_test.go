package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store/lsm"
	"github.com/recalld/recalld/internal/testlong"
)

// secret returns a text of random letters, which no compression shortens, of n times 8 bytes.
func secret(n uint64) string {
	chance, b := rand.New(rand.NewPCG(n, 78)), make([]byte, 40)
	for i := range b {
		b[i] = byte(chance.Uint32())
	}
	return strings.ToLower(base32.StdEncoding.EncodeToString(b))
}

// holding returns which of the texts the files of a store have, and where: in their bytes, or in
// an entry of a table or log, of any version.
func holding(t *testing.T, store string, texts []string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	look := func(where string, in ...[]byte) {
		for _, text := range texts {
			if slices.ContainsFunc(in, func(b []byte) bool { return bytes.Contains(b, []byte(text)) }) {
				found[text] = append(found[text], where)
			}
		}
	}
	files, err := os.ReadDir(store)
	must(t, err)
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(store, f.Name()))
		if !errors.Is(err, os.ErrNotExist) { // Badger removed it meanwhile
			must(t, err)
		}
		look(f.Name(), b)
	}
	must(t, lsm.Salvage(store, true, func(e *lsm.Entry) { look(fmt.Sprintf("%q of version %d", e.Key, e.Version), e.Key, e.Value) }))
	return found
}

// erasable stores a secret of each kind and filler around it, and forgets the secrets: those that
// are in tables of lower levels, in level 0, in the log, and in a file of large values, and one
// that a later text replaced before.
func erasable(t *testing.T, s *Store) (secrets []string) {
	t.Helper()
	fill := newFiller(s)
	put := func(b memory.Batch) {
		t.Helper()
		_, err := s.Commit(t.Context(), b)
		must(t, err)
	}
	session := memory.Session{ID: "x-1", Project: "p-1", CreatedAt: noon, Bare: true}
	for i := range 4 {
		r, d := lesson(fmt.Sprintf("l-%d", i), secret(uint64(i)))
		secrets = append(secrets, r.Text)
		put(memory.Batch{Records: []memory.Record{r}, Docs: []memory.Doc{d}, Action: "remember", Detail: map[string]string{"text": secret(10)}, About: []string{r.ID}})
		for range 15 {
			fill.commit(t)
		}
	}
	r, d := lesson("l-0", secret(20))
	put(memory.Batch{Records: []memory.Record{r}, Docs: []memory.Doc{d}})
	put(memory.Batch{Sessions: []memory.Session{session}, States: []memory.StateEdit{setState(stateOf(session.ID), `{"a":"`+secret(11)+`"}`)}})
	large, d := lesson("l-large", strings.Repeat(secret(12), 3000)) // 192 kB
	put(memory.Batch{Records: []memory.Record{large}, Docs: []memory.Doc{d}})
	secrets = append(secrets, secret(10), secret(11), secret(12), secret(20))
	if found := holding(t, s.opts.Dir, secrets); len(found) < len(secrets) {
		t.Fatalf("before they are forgotten the files have only %d of %d texts: the test finds too little", len(found), len(secrets))
	}
	put(memory.Batch{
		DropRecords: []string{"l-0", "l-1", "l-2", "l-3", "l-large"}, Tombstones: []string{"l-0"}, DropSessions: []memory.SessionKey{session.Key()},
		EraseDetails: []string{"l-0", "l-1", "l-2", "l-3"}, Erase: true,
	})
	return secrets
}

func wantErased(t *testing.T, s *Store, secrets []string) {
	t.Helper()
	if since, trouble := s.Erasure(); !since.IsZero() || trouble != "" {
		t.Errorf("after an erasure one is due since %v, %q", since, trouble)
	}
	for text, where := range holding(t, s.opts.Dir, secrets) {
		t.Errorf("%s was forgotten and is in %v", text, where)
	}
}

func TestErase(t *testing.T) {
	for _, noSync := range []bool{true, false} {
		t.Run(fmt.Sprintf("noSync=%v", noSync), func(t *testing.T) {
			s := open(t, Options{MemTableSize: 1 << 20, NoSync: noSync})
			secrets := erasable(t, s)
			if since, _ := s.Erasure(); since.IsZero() {
				t.Error("after a forgetting no erasure is due")
			}
			must(t, s.Erase(t.Context()))
			wantErased(t, s, secrets)
			must(t, s.Close())
			s = open(t, Options{Dir: s.opts.Dir, MemTableSize: 1 << 20, NoSync: noSync})
			wantErased(t, s, secrets)
		})
	}
}

// A reader that needs a forgotten version keeps it; when it ends, the next try erases it.
func TestEraseBesideReader(t *testing.T) {
	s := open(t, Options{MemTableSize: 1 << 20, NoSync: true})
	db, done := s.use()
	defer done()
	txn := db.NewTransaction(false)
	defer txn.Discard()
	secrets := erasable(t, s)
	if err := s.Erase(t.Context()); err == nil {
		t.Error("an erasure beside a reader of what was forgotten succeeded")
	}
	if since, _ := s.Erasure(); since.IsZero() {
		t.Error("after an erasure that failed none is due")
	}
	txn.Discard()
	must(t, s.Erase(t.Context()))
	wantErased(t, s, secrets)
}

// An erasure that a full disk ends says so and stays due, also over a start.
func TestEraseOnFullDisk(t *testing.T) {
	withoutOtherGuards(t)
	s := open(t, Options{MemTableSize: 1 << 20})
	secrets := erasable(t, s)
	disk := s.guard.disk
	s.guard.disk = func(string) (diskState, error) { return diskState{free: 1 << 20}, nil }
	if err := s.Erase(t.Context()); memory.CodeOf(err) != memory.CodeReadOnly || !strings.Contains(err.Error(), "1.0 MiB free") {
		t.Errorf("an erasure on a full disk: %v", err)
	}
	s.guard.disk = disk
	must(t, s.Close())
	s = open(t, Options{Dir: s.opts.Dir, MemTableSize: 1 << 20})
	if since, _ := s.Erasure(); since.IsZero() {
		t.Error("after a start no erasure is due")
	}
	must(t, s.Erase(t.Context()))
	wantErased(t, s, secrets)
}

// A disk that becomes full at any moment of an erasure ends it, or lets it wait before its next
// compaction; with room again the next try erases.
func TestEraseOnFillingDisk(t *testing.T) {
	withoutOtherGuards(t)
	s := open(t, Options{MemTableSize: 1 << 20})
	secrets := erasable(t, s)
	disk := s.guard.disk
	var looks, fullFrom atomic.Int64
	s.guard.disk = func(dir string) (diskState, error) {
		if from := fullFrom.Load(); from > 0 && looks.Add(1) >= from {
			return diskState{free: 1 << 20}, nil
		}
		return disk(dir)
	}
	ended := 0
	for from, erased := int64(1), false; !erased; from++ {
		looks.Store(0)
		fullFrom.Store(from)
		room := time.AfterFunc(300*time.Millisecond, func() { fullFrom.Store(0) }) // for what waits
		err := s.Erase(t.Context())
		room.Stop()
		fullFrom.Store(0)
		since, _ := s.Erasure()
		switch {
		case err == nil && since.IsZero():
			erased = true
		case memory.CodeOf(err) == memory.CodeReadOnly && !since.IsZero():
			ended++
		default:
			t.Fatalf("full from look %d on: %v, due since %v", from, err, since)
		}
	}
	if ended < 3 {
		t.Errorf("the full disk ended %d erasures: the test tries too little", ended)
	}
	wantErased(t, s, secrets)
}

// A store that closes at any moment of an erasure ends it, also where a compaction waits for room.
func TestEraseInClosingStore(t *testing.T) {
	withoutOtherGuards(t)
	dir := t.TempDir()
	s := open(t, Options{Dir: dir, MemTableSize: 1 << 20})
	secrets := erasable(t, s)
	for n, cut := 0, false; n < 5; n++ {
		let := func() {}
		if n%2 == 1 {
			let = theGate.hold()
		}
		ended := make(chan error)
		go func() { ended <- s.Erase(t.Context()) }()
		closing := make(chan struct{})
		time.AfterFunc(time.Duration(n*50)*time.Millisecond, func() {
			defer close(closing)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		err := <-ended
		<-closing
		let()
		s = open(t, Options{Dir: dir, MemTableSize: 1 << 20})
		since, _ := s.Erasure()
		if err != nil && !errors.Is(err, ErrClosed) || err == nil && !since.IsZero() {
			t.Fatalf("after %d ms: %v, due since %v", n*50, err, since)
		}
		if cut = cut || err != nil; n == 4 && !cut {
			t.Error("no erasure was cut short: the test tries too little")
		}
	}
	must(t, s.Erase(t.Context()))
	wantErased(t, s, secrets)
}

// An erasure goes on while requests never pause.
func TestEraseBesideRequests(t *testing.T) {
	testlong.Only(t)
	s := open(t, Options{MemTableSize: 1 << 20, Asked: func() bool { return true }})
	secrets := erasable(t, s)
	start := time.Now()
	must(t, s.Erase(t.Context()))
	wantErased(t, s, secrets)
	if took := time.Since(start); took > 2*time.Minute {
		t.Errorf("it took %v", took)
	}
}

// What is forgotten while an erasure ends stays due, and many forgettings are erased at once.
func TestEraseWhenDue(t *testing.T) {
	s := open(t, Options{MemTableSize: 1 << 20, NoSync: true})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.EraseWhenDue(ctx, time.Millisecond)
	}()
	secrets := erasable(t, s)
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		since, trouble := s.Erasure()
		if since.IsZero() {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("nothing was erased since %v: %s", since, trouble)
		}
	}
	wantErased(t, s, secrets)
	cancel()
	<-ended
}

// eraserEnv names the folder of the store that an eraser in a process of its own works on.
const eraserEnv = "RECALLD_TEST_STORE_ERASER"

// TestEraserProcess is no test: run as a process of its own, it forgets, says so, and erases.
func TestEraserProcess(t *testing.T) {
	dir := os.Getenv(eraserEnv)
	if dir == "" {
		t.Skip("runs as the child of other tests only")
	}
	s := open(t, Options{Dir: dir, MemTableSize: 1 << 20})
	erasable(t, s)
	fmt.Println("forgotten")
	must(t, s.Erase(t.Context()))
	fmt.Println("erased")
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
}

// TestKilledEraser kills a process at random moments of an erasure: it stays due, nothing else is
// lost, and the next one erases.
func TestKilledEraser(t *testing.T) {
	cut := false
	for round := range testlong.Steps(1, 30) {
		dir := t.TempDir()
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestEraserProcess$")
		cmd.Env = append(os.Environ(), eraserEnv+"="+dir)
		out, err := cmd.StdoutPipe()
		must(t, err)
		_, err = cmd.StdinPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for lines.Scan() && lines.Text() != "forgotten" {
		}
		time.AfterFunc(time.Duration(20+round*40%400)*time.Millisecond, func() { _ = cmd.Process.Kill() })
		said := lines.Scan() && lines.Text() == "erased"
		_ = cmd.Wait()                                         // it was killed
		s := open(t, Options{Dir: dir, MemTableSize: 1 << 20}) // it is checked at the end of the test
		since, _ := s.Erasure()
		if said && !since.IsZero() {
			t.Errorf("round %d: erased, and due since %v", round, since)
		}
		cut = cut || !said && !since.IsZero()
		n := s.Counts()[memory.Lesson]
		if n != 60*fillerLessons {
			t.Errorf("round %d: %d lessons are left, want %d", round, n, 60*fillerLessons)
		}
		must(t, s.Erase(t.Context()))
		var secrets []string
		for i := range uint64(21) {
			secrets = append(secrets, secret(i))
		}
		wantErased(t, s, secrets)
	}
	if !cut {
		t.Error("no erasure was cut short: the test tries too little")
	}
}
