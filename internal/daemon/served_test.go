package daemon

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/worker"
)

// patience is when a test gives up what never comes.
const patience = 3 * time.Minute

// served is a daemon in this process, and a client of it over its socket.
type served struct {
	*client.Client
	t     *testing.T
	cfg   config.Config
	log   *lines
	end   context.CancelFunc
	ended chan error // receives what Serve returned
	over  bool       // it was received
}

// newConfig returns settings for a new data folder, without Ollama.
func newConfig(t *testing.T) config.Config {
	t.Helper()
	cfg := config.Default()
	cfg.Data = filepath.Join(t.TempDir(), "d")
	cfg.Embedding.Ollama.Enabled = config.OllamaOff
	return cfg
}

// memTable is the write buffer of the stores of tests: an eighth of the product's, because each
// opening of a store clears one.
const memTable = 2 << 20

// serve runs a daemon until the end of the test, which checks its store.
func serve(t *testing.T, cfg config.Config, change ...func(*Options)) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &served{t: t, cfg: cfg, log: newLines(), end: cancel, ended: make(chan error, 1)}
	opts := Options{Config: cfg, Version: "test", Console: s.log, memTable: memTable, free: func() {}}
	opts.pauses.retry = worker.Backoff{Min: time.Millisecond, Max: 10 * time.Millisecond}
	for _, f := range change {
		f(&opts)
	}
	go func() { s.ended <- Serve(ctx, opts) }()
	t.Cleanup(s.close)
	s.await("daemon started")
	var err error
	s.Client, err = client.Connect(t.Context(), client.Options{Socket: opts.Config.Paths().Socket})
	must(t, err)
	return s
}

// close ends the daemon, if it runs, and checks its store.
func (s *served) close() {
	s.t.Helper()
	s.end()
	if err := s.wait(); err != nil {
		s.t.Errorf("serve: %v", err)
	}
	if s.Client != nil {
		_ = s.Client.Close()
	}
	if _, err := os.Stat(s.cfg.Paths().Store); err != nil {
		return // the test took the folder away
	}
	switch found, err := checkStore(context.Background(), s.cfg, "test", memTable); {
	case err != nil:
		s.t.Errorf("check store: %v", err)
	case found != nil:
		s.t.Errorf("the store is not sound: %v", found)
	}
}

// wait returns what Serve returned, the first time.
func (s *served) wait() error {
	s.t.Helper()
	if s.over {
		return nil
	}
	select {
	case err := <-s.ended:
		s.over = true
		return err
	case <-time.After(patience):
		s.t.Fatalf("the daemon does not end:\n%s", s.log)
		return nil
	}
}

// await waits for a text in the log.
func (s *served) await(text string) {
	s.t.Helper()
	select {
	case <-s.log.await(text):
	case err := <-s.ended:
		s.over = true
		s.t.Fatalf("the daemon ended (%v) before it said %q:\n%s", err, text, s.log)
	case <-time.After(patience):
		s.t.Fatalf("the daemon never says %q:\n%s", text, s.log)
	}
}

// until asks until a condition holds; each time takes a round trip.
func (s *served) until(what string, holds func(*memory.Status) bool) *memory.Status {
	s.t.Helper()
	for start := time.Now(); ; {
		st, err := service.Status.Do(s.t.Context(), s, service.None{})
		must(s.t, err)
		if holds(st) {
			return st
		}
		if time.Since(start) > patience {
			s.t.Fatalf("never %s: %+v\n%s", what, st, s.log)
		}
		time.Sleep(time.Millisecond) // leave the processor to what is waited for
	}
}

// ask recalls from a folder.
func (s *served) ask(dir, query string, kinds ...memory.Kind) *memory.RecallResponse {
	s.t.Helper()
	a, err := service.Recall.Do(s.t.Context(), s, memory.RecallRequest{Query: query, Kinds: kinds, Caller: memory.Caller{Dir: dir}})
	if err != nil {
		s.t.Fatalf("recall %q: %v", query, err)
	}
	return a
}

// keep remembers a lesson of a folder.
func (s *served) keep(dir, lesson string) *memory.Remembered {
	s.t.Helper()
	kept, err := service.Remember.Do(s.t.Context(), s, memory.RememberRequest{Lesson: lesson, Caller: memory.Caller{Dir: dir}})
	if err != nil {
		s.t.Fatalf("remember %q: %v", lesson, err)
	}
	return kept
}

// index queues a folder.
func (s *served) index(dir string) *memory.IndexQueued {
	s.t.Helper()
	q, err := service.IndexRepo.Do(s.t.Context(), s, memory.IndexRequest{Path: dir})
	if err != nil {
		s.t.Fatalf("index %s: %v", dir, err)
	}
	return q
}

// indexed waits until a folder is indexed and nothing waits.
func (s *served) indexed(q *memory.IndexQueued) memory.SandboxState {
	s.t.Helper()
	var found memory.SandboxState
	s.until("indexed "+q.Root, func(st *memory.Status) bool {
		for _, b := range st.Projects {
			if b.ID == q.Sandbox && b.Progress == nil && !b.IndexedAt.IsZero() {
				found = b
				return true
			}
		}
		return false
	})
	return found
}

// shop is a small repository with one thing to find in each file.
func shop(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	dir = filepath.Join(dir, "shop")
	place(t, dir, "cart/cart.go", "package cart\n\n// Total adds up the prices of all articles in the shopping cart, discounts taken off.\nfunc Total(prices []int) int { return len(prices) }\n")
	place(t, dir, "mail/mail.go", "package mail\n\n// Confirm sends the customer an e-mail that confirms the order and names the day of delivery.\nfunc Confirm(customer string) string { return customer }\n")
	return dir
}

// large is a repository whose indexing takes a while.
func large(t *testing.T, files int) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	dir = filepath.Join(dir, "large")
	must(t, os.Mkdir(dir, 0o755))
	fill(t, dir, files, 0)
	return dir
}

// fill writes the files of a large repository, other ones each round.
func fill(t *testing.T, dir string, files, round int) {
	t.Helper()
	for i := range files {
		place(t, dir, fmt.Sprintf("p%d/f%d.go", i%20, i),
			fmt.Sprintf("package p%d\n\n// Handle%d answers request %d of round %d.\nfunc Handle%d() int { return %d }\n", i%20, i, i, round, i, round))
	}
}

func place(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// lines is a log that tells when a text is written to it.
type lines struct {
	mu      sync.Mutex // guards what follows
	text    bytes.Buffer
	waiters map[string]chan struct{}
}

func newLines() *lines { return &lines{waiters: map[string]chan struct{}{}} }

// await returns a channel that is closed once the text has been written.
func (l *lines) await(text string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen, ok := l.waiters[text]
	if !ok {
		seen = make(chan struct{})
		l.waiters[text] = seen
		if strings.Contains(l.text.String(), text) {
			close(seen)
		}
	}
	return seen
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for text, seen := range l.waiters {
		if strings.Contains(string(line), text) && !strings.Contains(l.text.String(), text) {
			close(seen)
		}
	}
	return l.text.Write(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// testLogger writes everything to a log of the test.
func testLogger(l *lines) *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
