//go:build unix

package torture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// load is clients that write and read through a daemon until it is ended.
type load struct {
	t      *testing.T
	c      *child
	o      *oracle
	repo   string // the folder that all clients work in
	files  string // a folder for imports, exports and backups
	over   atomic.Bool
	wait   sync.WaitGroup
	mu     sync.Mutex
	wrong  []string       // answers that are wrong
	errors map[string]int // refusals, by code
	// observation is what some steps have seen; nil is nothing.
	observation []string
}

// deed is one of the things that a client does.
type deed struct {
	name   string
	weight int
	do     func(l *load, w *writer) error
}

// usage is what clients do with a daemon, and how much.
type usage struct {
	clients int
	deeds   []deed // the weights are how often
	// before chooses how many writes there are before a fault strikes.
	before func(*rand.Rand) int
	// most is how many writes a home takes until another one is begun.
	most int
}

// mixed is a dozen clients that do everything; few and many writes go before a fault.
var mixed = usage{clients: 12, deeds: everything, most: 20_000,
	before: func(random *rand.Rand) int { return 1 + random.IntN(50<<random.IntN(6)) }}

// bulk is many clients that only write, much of it by imports.
var bulk = usage{clients: 64, most: 25_000,
	before: func(random *rand.Rand) int { return 2500 + random.IntN(2500) },
	deeds: []deed{
		{"remember", 200, (*load).remember},
		{"import a log", 1, func(l *load, w *writer) error { return l.importLog(w, 500+w.random.IntN(501)) }},
	}}

// with returns the usage with another number of clients.
func (u usage) with(clients int) usage {
	u.clients = clients
	return u
}

var everything = []deed{
	{"remember", 480, (*load).remember},
	{"record a step", 200, (*load).step},
	{"recall", 60, (*load).recall},
	{"forget", 30, (*load).forget},
	{"retract", 25, (*load).retract},
	{"complete a task", 20, (*load).task},
	{"register", 20, (*load).register},
	{"assemble a context", 20, (*load).assemble},
	{"change and index the repository", 6, (*load).index},
	{"import a log", 8, func(l *load, w *writer) error { return l.importLog(w, 200) }},
	{"export everything", 1, (*load).exportAll},
	{"back up", 2, (*load).backup},
}

// writer is one client. What it does follows from its seed.
type writer struct {
	number  int
	random  *rand.Rand
	session string
	steps   int
}

// begin starts clients. Those with the same seed do the same things.
func begin(t *testing.T, c *child, o *oracle, repo, files string, u usage, seed uint64, options ...func(*load)) *load {
	l := &load{t: t, c: c, o: o, repo: repo, files: files, errors: map[string]int{}}
	for _, option := range options {
		option(l)
	}
	sum := 0
	for _, d := range u.deeds {
		sum += d.weight
	}
	for n := range u.clients {
		w := &writer{number: n, random: rand.New(rand.NewPCG(seed, uint64(n)))}
		l.wait.Go(func() {
			for !l.over.Load() && !c.isOver() {
				at := w.random.IntN(sum)
				i := slices.IndexFunc(u.deeds, func(d deed) bool { at -= d.weight; return at < 0 })
				if err := u.deeds[i].do(l, w); err != nil {
					l.failed(u.deeds[i].name, err)
				}
			}
		})
	}
	return l
}

// failed notes an error: a refusal, a daemon that is gone, or a bug.
func (l *load) failed(deed string, err error) {
	code := memory.CodeOf(err)
	l.mu.Lock()
	l.errors[string(code)]++
	isNew := l.errors[string(code)] == 1
	if isNew && (code == memory.CodeInvalidInput || code == memory.CodeCorrupt || code == memory.CodeInternal && !l.c.isOver()) {
		l.wrong = append(l.wrong, fmt.Sprintf("%s: %v", deed, err))
	}
	l.mu.Unlock()
	select { // a client that is refused does not ask again at once
	case <-l.c.ended:
	case <-time.After(20 * time.Millisecond):
	}
}

func (l *load) answered(form string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = append(l.wrong, fmt.Sprintf(form, args...))
}

// more waits until so many more writes are acknowledged, or the daemon has ended.
func (l *load) more(n int) {
	l.t.Helper()
	want := l.o.writes() + n
	l.until(fmt.Sprintf("%d more writes are acknowledged", n), func() bool { return l.o.writes() >= want })
}

// until waits until something holds, or the daemon has ended.
func (l *load) until(what string, holds func() bool) {
	l.t.Helper()
	for began := time.Now(); !holds() && !l.c.isOver(); {
		select {
		case <-l.c.ended:
		case <-time.After(time.Millisecond): // acknowledgements come in hundreds a second
		}
		if time.Since(began) > patience {
			l.t.Fatalf("never: %s; refusals %v\n%s", what, l.errors, l.c.log)
		}
	}
}

// refusals is how often a client was refused with a code.
func (l *load) refusals(code memory.Code) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.errors[string(code)]
}

// end waits for all clients.
func (l *load) end() {
	l.over.Store(true)
	l.wait.Wait()
}

func (l *load) ctx() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience)
}

func (l *load) caller(w *writer) memory.Caller {
	return memory.Caller{Dir: l.repo, Client: "torture", Window: fmt.Sprint(w.number)}
}

var (
	subjects = []string{"The turbine", "A queue of letters", "The harbour crane", "Every lantern", "The old compiler", "A ferry", "The greenhouse", "This ledger"}
	verbs    = []string{"needs oil before", "stops without", "was mended by", "is slower than", "never meets", "waits for", "answers to"}
	objects  = []string{"the morning shift", "a second key", "cold water", "the northern gate", "its own shadow", "seven bolts", "an empty buffer"}
)

// sentence is a text with a place for a marker.
func sentence(random *rand.Rand) string {
	pick := func(words []string) string { return words[random.IntN(len(words))] }
	return fmt.Sprintf("%s %s %%s in %s and %s %s", pick(subjects), pick(verbs), pick(objects), pick(verbs), pick(objects))
}

func (l *load) remember(w *writer) error {
	ctx, cancel := l.ctx()
	defer cancel()
	f := l.o.send(memory.Lesson, w.random, sentence(w.random))
	kept, err := service.Remember.Do(ctx, l.c, memory.RememberRequest{Lesson: f.text, Tags: []string{"torture"}, Project: l.repo, Caller: l.caller(w)})
	if err == nil {
		l.o.acknowledge(kept.ID, f)
	}
	return err
}

func (l *load) step(w *writer) error {
	ctx, cancel := l.ctx()
	defer cancel()
	if w.session == "" || w.steps > 50 {
		s, err := service.StartSession.Do(ctx, l.c, memory.StartSessionRequest{Goal: "Turn the valves", Project: l.repo, Caller: l.caller(w)})
		if err != nil {
			return err
		}
		w.session, w.steps = s.ID, 0
	}
	f := l.o.send(memory.Step, w.random, "valve %s")
	r := memory.RecordStepRequest{SessionID: w.session, Project: l.repo, Caller: l.caller(w), Outcome: memory.Outcome{OK: true}}
	r.Tool = memory.StepTool{Name: "bash", Input: quoted("turn " + f.text)}
	if l.observation != nil {
		r.Observation, _ = json.Marshal(map[string]any{"lines": l.observation}) // strings
	}
	recorded, err := service.RecordStep.Do(ctx, l.c, r)
	if err != nil {
		w.session = "" // after a kill it may be another daemon's
		return err
	}
	w.steps++
	l.o.acknowledge(recorded.ID, f)
	return nil
}

func quoted(text string) json.RawMessage {
	b, _ := json.Marshal(map[string]string{"command": text}) // strings
	return b
}

func (l *load) task(w *writer) error {
	ctx, cancel := l.ctx()
	defer cancel()
	// A state of tasks is bounded, so an old task may be gone: it is not a fact.
	id := fmt.Sprintf("task-%d-%d", w.number, w.random.IntN(1_000_000))
	_, err := service.CompleteTask.Do(ctx, l.c, memory.CompleteTaskRequest{
		TaskID: id, ValidationReport: json.RawMessage(`{"valid":true}`), Project: l.repo, Caller: l.caller(w),
	})
	return err
}

func (l *load) register(w *writer) error {
	ctx, cancel := l.ctx()
	defer cancel()
	f := l.o.send(memory.Rule, w.random, "Check valve %s before the night")
	_, err := service.Register.Do(ctx, l.c, memory.RegisterRequest{Source: "torture", Project: l.repo, Caller: l.caller(w), Entries: []memory.CatalogueEntry{
		{Ref: memory.Ref{Type: memory.Rule, Name: "rule of " + f.marker}, Content: f.text},
	}})
	if err == nil {
		l.o.acknowledge("", f)
	}
	return err
}

func (l *load) assemble(w *writer) error {
	if w.session == "" {
		return nil
	}
	ctx, cancel := l.ctx()
	defer cancel()
	r := memory.AssembleRequest{Message: "Which valve stops the turbine?"}
	r.SessionRef = memory.SessionRef{SessionID: w.session, Project: l.repo, Caller: l.caller(w)}
	a, err := service.Assemble.Do(ctx, l.c, r)
	if err == nil {
		l.o.assembled(a.Receipt)
	}
	return err
}

func (l *load) forget(w *writer) error {
	facts := l.o.choose(w.random, 1+w.random.IntN(3))
	if len(facts) == 0 {
		return nil
	}
	ctx, cancel := l.ctx()
	defer cancel()
	var r memory.ForgetRequest
	for _, f := range facts {
		r.IDs = append(r.IDs, f.id)
	}
	l.o.forget(facts)
	_, err := service.Forget.Do(ctx, l.c, r)
	if err == nil {
		l.o.forgot(facts)
	}
	return err
}

func (l *load) retract(w *writer) error {
	facts := l.o.choose(w.random, 1)
	if len(facts) == 0 {
		return nil
	}
	ctx, cancel := l.ctx()
	defer cancel()
	f := l.o.send(memory.Lesson, w.random, "It was wrong, says %s, and nothing of the kind happens")
	l.o.retract(facts[0], false)
	kept, err := service.Remember.Do(ctx, l.c, memory.RememberRequest{Lesson: f.text, Retracts: []string{facts[0].id}, Project: l.repo, Caller: l.caller(w)})
	if err == nil {
		l.o.retract(facts[0], true)
		l.o.acknowledge(kept.ID, f)
	}
	return err
}

// recall asks for a lesson that was acknowledged: unless it is being forgotten it is first.
func (l *load) recall(w *writer) error {
	found, absent := l.o.sample(w.random, 2)
	for _, f := range found {
		if err := l.ask(w, f, true); err != nil {
			return err
		}
	}
	for _, f := range absent {
		if err := l.ask(w, f, false); err != nil {
			return err
		}
	}
	return nil
}

// ask asks for a marker among records of its kind. By brute force one text has that word, or
// none; what is stored may change meanwhile.
func (l *load) ask(w *writer, f *fact, there bool) error {
	ctx, cancel := l.ctx()
	defer cancel()
	least := 0.0
	a, err := service.Recall.Do(ctx, l.c, memory.RecallRequest{
		Query: f.marker, Kinds: []memory.Kind{f.kind}, Project: l.repo, MinRelevance: &least, Caller: l.caller(w),
	})
	if err != nil {
		return err
	}
	at := slices.IndexFunc(a.Items, func(i memory.Item) bool { return strings.Contains(i.Text, f.marker) })
	l.o.mu.Lock()
	isKept, isGone := f.state == kept && !f.retracting, f.state == forgotten || f.state == withdrawn || f.state == never
	l.o.mu.Unlock()
	switch {
	case there && isKept && at != 0 && !a.Incomplete:
		l.answered("a question for %q has it at place %d of %d", f.text, at, len(a.Items))
	case !there && isGone && at >= 0:
		l.answered("a question for %q shows it, and it was forgotten or retracted", f.text)
	}
	return nil
}

// index changes some files of the repository and asks for them to be indexed.
func (l *load) index(w *writer) error {
	for range 1 + w.random.IntN(5) {
		name := fmt.Sprintf("part%d.go", w.random.IntN(60))
		text := fmt.Sprintf("package repo\n\n// Turn%d turns valve %d.\nfunc Turn%d(v int) int { return v + %d }\n", w.number, w.random.IntN(1000), w.number, w.random.IntN(1000))
		path := filepath.Join(l.repo, name)
		var err error
		if w.random.IntN(6) == 0 {
			err = errors.Join(os.RemoveAll(path))
		} else {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			return err
		}
	}
	ctx, cancel := l.ctx()
	defer cancel()
	_, err := service.IndexRepo.Do(ctx, l.c, memory.IndexRequest{Path: l.repo, Caller: l.caller(w)})
	return err
}

// importLog imports a log of lessons; each line is a write.
func (l *load) importLog(w *writer, lines int) error {
	var log strings.Builder
	var facts []*fact
	for i := range lines {
		f := l.o.send(memory.Lesson, w.random, sentence(w.random))
		facts = append(facts, f)
		line, _ := json.Marshal(map[string]any{ // strings
			"timestamp": time.Now().Add(-time.Duration(i) * time.Second).UTC().Format(time.RFC3339), "agent_id": "torture", "repo": "repo",
			"event_type": "pattern", "context": "", "lesson": f.text, "tags": []string{},
		})
		log.Write(append(line, '\n'))
	}
	dir := filepath.Join(l.files, "log-"+facts[0].marker)
	path := filepath.Join(dir, "repo.jsonl")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path, []byte(log.String()), 0o600)); err != nil {
		return err
	}
	ctx, cancel := l.ctx()
	defer cancel()
	in, err := service.Import.Do(ctx, l.c, memory.ImportRequest{Path: path, Project: l.repo, Caller: l.caller(w)})
	if err != nil {
		return err
	}
	if in.Lessons+in.Known != lines {
		l.answered("an import of %d lessons took %d and knew %d: %+v", lines, in.Lessons, in.Known, in.Problems)
		return nil
	}
	l.o.acknowledge("", facts...)
	return nil
}

func (l *load) exportAll(w *writer) error {
	ctx, cancel := l.ctx()
	defer cancel()
	path := filepath.Join(l.files, fmt.Sprintf("all-%d-%d.jsonl", w.number, w.random.Uint32()))
	defer os.Remove(path)
	if _, err := service.ExportAll.Do(ctx, l.c, memory.ArchiveRequest{Path: path, Caller: l.caller(w)}, nil); err != nil {
		return err
	}
	_, err := service.ImportAll.Do(ctx, l.c, memory.ArchiveRequest{Path: path, DryRun: true, Caller: l.caller(w)}, nil)
	return err
}

func (l *load) backup(*writer) error {
	ctx, cancel := l.ctx()
	defer cancel()
	b, err := service.Backup.Do(ctx, l.c, memory.BackupRequest{}, nil)
	if memory.CodeOf(err) == memory.CodeConflict { // another one is being made
		return nil
	}
	if err == nil {
		l.o.backedUp(b.Name)
	}
	return err
}
