//go:build unix

package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/backup"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/store"
	"github.com/recalld/recalld/internal/testkit/backend"
)

// medium is a sort of disk, with the faults that can strike there.
type medium struct {
	name string
	// mount returns the folder for the data and what unmounts it; an error says what is
	// missing here.
	mount  func(t *testing.T, w *world) (dir string, unmount func(), err error)
	usage  usage
	faults []fault
}

// world is one home with what is known of it.
type world struct {
	t      *testing.T
	random *rand.Rand
	home   *home
	o      *oracle
	medium medium
	repo   string
	files  string
	close  func()
	disk   any // what the medium keeps: see mount
	rounds int
}

// newWorld makes a home on a medium, or says why that is not possible here.
func newWorld(t *testing.T, program string, m medium, random *rand.Rand) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "torture")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, random: random, o: newOracle(), medium: m, repo: filepath.Join(dir, "repo"), files: filepath.Join(dir, "files")}
	at, unmount, err := m.mount(t, w)
	if err != nil {
		t.Logf("left out: %s: %v", m.name, err)
		_ = os.RemoveAll(dir) // a temporary folder
		return nil
	}
	w.close = sync.OnceFunc(func() {
		unmount()
		_ = os.RemoveAll(dir)
	})
	t.Cleanup(w.close) // if the test ends early
	w.home = newHome(program, dir, filepath.Join(at, "d"))
	// Half of the homes write the log of lessons that a repository has, and follow it.
	if random.IntN(2) == 0 {
		w.home.env = append(w.home.env, "RECALLD_LESSONS_LOG=false", "RECALLD_SESSIONS_FILES=false")
	}
	for _, err := range []error{
		os.MkdirAll(filepath.Join(w.repo, ".git"), 0o700), os.MkdirAll(w.files, 0o700),
		os.WriteFile(filepath.Join(w.repo, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// round has one fault strike under load, compares what is left with what is known, and counts.
func (w *world) round(f fault, results map[string]*result) {
	w.t.Helper()
	r := results[f.name]
	if r == nil {
		r = &result{}
		results[f.name] = r
	}
	w.rounds++
	before, failed := w.o.writes(), w.t.Failed()
	wrong := f.strike(w)
	v := w.examine()
	r.rounds++
	r.writes += w.o.writes() - before
	r.lost += v.lost
	r.wrong += len(wrong) + v.risen + v.others
	if w.t.Failed() && !failed || v.wrong() || len(wrong) > 0 {
		kept := filepath.Join(os.TempDir(), fmt.Sprintf("torture-kept-%d", os.Getpid()))
		err := os.CopyFS(kept, os.DirFS(w.home.data))
		w.t.Errorf("round %d on %s, %s:\n%s\n%s\nthe data is kept in %s (%v)", w.rounds, w.medium.name, f.name,
			strings.Join(v.tell, "\n"), strings.Join(wrong, "\n"), kept, err)
	}
}

// start starts a daemon that must start.
func (w *world) start(limits string, env ...string) *child {
	w.t.Helper()
	c, err := w.home.start(w.t, limits, env...)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// begin starts clients, who first see that the last fault left the right answers.
func (w *world) begin(c *child) *load {
	w.t.Helper()
	l := begin(w.t, c, w.o, w.repo, w.files, usage{}, 0)
	l.ready()
	found, absent := w.o.sample(w.random, 8)
	asker := &writer{number: -1, random: w.random}
	ask := func(facts []*fact, there bool) {
		for _, f := range facts {
			err := l.ask(asker, f, there)
			if err == nil {
				continue
			}
			select { // a fault may end it already
			case <-c.ended:
			case <-time.After(5 * time.Second):
				w.t.Errorf("ask: %v\n%s", err, c.log)
			}
			return
		}
	}
	ask(found, true)
	ask(absent, false)
	wrong := l.wrong
	l = begin(w.t, c, w.o, w.repo, w.files, w.medium.usage, w.random.Uint64())
	l.mu.Lock()
	l.wrong = append(l.wrong, wrong...)
	l.mu.Unlock()
	return l
}

// ready waits until the daemon has loaded its indexes.
func (l *load) ready() {
	l.t.Helper()
	l.until("the daemon is ready", func() bool {
		st, err := service.Status.Do(context.Background(), l.c, service.None{})
		return err == nil && st.State == "ready"
	})
}

// some is how many writes there are before a fault strikes.
func (w *world) some() int { return w.medium.usage.before(w.random) }

// examine opens the store without a daemon and compares it with what is known: it is sound,
// its indexes are those that are made anew, and it holds what it must.
func (w *world) examine() *verdict {
	w.t.Helper()
	data := w.home.data
	if w.disk != nil {
		// This process serves the disk, so it must not map files of it: while it waits for a page
		// the garbage collector cannot stop it, and nobody brings the page.
		dir, err := os.MkdirTemp("", "torture")
		w.must(err)
		defer os.RemoveAll(dir)
		data = filepath.Join(dir, "d")
		w.must(os.CopyFS(data, os.DirFS(w.home.data)))
	}
	v := examine(w.t, filepath.Join(data, "store"), w.o)
	var backups []string
	for _, b := range w.o.backups {
		backups = append(backups, b.name)
	}
	if err := checkBackups(filepath.Join(data, "backups"), backups); err != nil {
		v.lost++
		v.say("%v", err)
	}
	return v
}

// examine opens a store.
func examine(t *testing.T, dir string, o *oracle) *verdict {
	t.Helper()
	p := backend.Open(t, backend.Options{Dir: dir, MemTableSize: 16 << 20})
	defer p.Close(t) // checks store and indexes
	if d := p.Store.Damage(); d != nil {
		t.Errorf("the store has lost something: %+v", d)
	}
	records, err := recordsOf(p.Store)
	if err != nil {
		t.Fatal(err)
	}
	v := o.judge(records)
	for _, receipt := range o.receipts {
		if _, err := p.Store.Receipt(receipt.name); err != nil {
			v.lost++
			v.say("the receipt of a context was acknowledged and is lost: %v", err)
		}
	}
	return v
}

// recordsOf returns the records of a store by marker. One without a marker is under its id.
func recordsOf(s *store.Store) (map[string]memory.Record, error) {
	records := map[string]memory.Record{}
	err := s.View(func(view store.View) error {
		for r, err := range view.Records() {
			if err != nil {
				return err
			}
			if r.Kind == memory.Task {
				continue
			}
			marker := markers().FindString(r.Text)
			if marker == "" || records[marker].ID != "" {
				marker = r.ID
			}
			records[marker] = r
		}
		return nil
	})
	return records, err
}

// checkBackups returns what is wrong with the backups in a folder that were acknowledged. All
// can be listed, and the newest is read whole.
func checkBackups(dir string, acknowledged []string) error {
	all, err := backup.List(dir)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, b := range all {
		there[b.Name] = b.Damage == ""
	}
	var errs []error
	for _, name := range acknowledged {
		if !there[name] {
			errs = append(errs, fmt.Errorf("the backup %s was acknowledged and cannot be used", name))
		}
	}
	if len(acknowledged) > 0 {
		b, err := backup.Find(dir, "", acknowledged[len(acknowledged)-1])
		if err == nil {
			err = backup.Verify(context.Background(), b, func(int64) {})
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
