//go:build unix

package daemon

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testlong"
)

// How much is done to the repository, and by which seed. A long run takes minutes:
//
//	RECALLD_TORTURE=5000 go test -race -run '^TestTorture$' -timeout 30m ./internal/daemon
const (
	tortureEnv     = "RECALLD_TORTURE"
	tortureSeedEnv = "RECALLD_TORTURE_SEED"
	tortureSteps   = 300
	tortureAskers  = 3
)

// TestTorture changes a repository at random, in every way that once showed, or might
// show, text that is not there, while several ask all the time. Nothing may be shown
// that was not on disk, at its path and inside of the sandbox, at some moment between
// the question and the answer. When it is quiet again everything that is there is
// found, and nothing else is kept.
func TestTorture(t *testing.T) {
	if os.Getenv(tortureEnv) == "" {
		testlong.Only(t)
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is needed: install it and put it on PATH")
	}
	if runtime.GOOS == "darwin" {
		t.Skip("the file system takes names for the same that the script writes differently: run it on Linux")
	}
	steps, seed := tortureSettings(t)
	t.Logf("%d steps with the seed %d; to see them again set %s=%d", steps, seed, tortureSeedEnv, seed)
	cfg := newConfig(t)
	s := serve(t, cfg)
	v := newVandal(t, seed)
	box := s.index(v.root)

	askers := newAskers(t, s, v.root, seed)
	all, times := deeds(), map[string]int{}
	for i := range steps {
		d := v.choose(all)
		must(t, v.run(d))
		times[d.name]++
		if i%3 == 0 && !v.isAway() { // who asks for a link to be indexed gets what it leads to
			v.request(t, s)
		}
		if askers.judge(v.history); t.Failed() {
			t.Fatalf("at step %d of the seed %d: %s", i, seed, d.name)
		}
	}
	must(t, v.run(deed{"put the root back", 0, func(v *vandal) (step, error) { return step{}, v.rootBack() }}))
	askers.end()
	askers.judge(v.history)
	t.Logf("%d answers with %d pieces of code; git refused %d times; %v", askers.answers, askers.shown, v.refused, times)
	if askers.shown < askers.answers/10 {
		t.Errorf("%d answers show only %d pieces of code: hardly anything was judged", askers.answers, askers.shown)
	}
	settle(t, s, v, box.Sandbox)
}

func tortureSettings(t *testing.T) (steps int, seed uint64) {
	steps, seed = tortureSteps, rand.Uint64()
	if text := os.Getenv(tortureEnv); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("%s=%q is no number of steps", tortureEnv, text)
		}
		steps = n
	}
	if text := os.Getenv(tortureSeedEnv); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s=%q is no seed", tortureSeedEnv, text)
		}
		seed = n
	}
	return steps, seed
}

// newVandal makes a repository with some files, and something outside of it that is
// worth reading.
func newVandal(t *testing.T, seed uint64) *vandal {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	v := &vandal{
		random: rand.New(rand.NewPCG(seed, 1)), root: filepath.Join(dir, "repo"), outside: filepath.Join(dir, "outside"),
		objects: map[string]string{},
	}
	v.history = newDiskHistory(v.root)
	place(t, v.outside, "passwd", "root: "+outsideMarker+"\n")
	place(t, v.outside, "app/main.go", "package app\n\n// Ledger: "+outsideMarker+".\nfunc Ledger() {}\n")
	must(t, os.Mkdir(v.root, 0o755))
	must(t, v.run(deed{name: "begin", do: func(v *vandal) (step, error) {
		if _, err := v.git("init", "-q", "-b", "main"); err != nil {
			return step{}, err
		}
		for range 40 {
			if _, err := v.saveInPlace(); err != nil {
				return step{}, err
			}
		}
		return v.commit()
	}}))
	return v
}

// request has the repository indexed: some of the changed files, with some paths that
// a client has no business to name, or all of it.
func (v *vandal) request(t *testing.T, s *served) {
	t.Helper()
	req := memory.IndexRequest{Path: v.root}
	if v.random.IntN(4) > 0 {
		req.ChangedFiles = append(v.asked, []string{
			"../outside/passwd", "app/../../outside/passwd", filepath.Join(v.outside, "passwd"), ".git/config", "lib/passwd",
		}[v.random.IntN(5)])
	}
	v.asked = nil
	if _, err := service.IndexRepo.Do(t.Context(), s, req); err != nil {
		t.Errorf("a request to index is refused: %v", err)
	}
}

// askers ask all the time. What they are shown is judged later, by who knows the disk.
type askers struct {
	t       *testing.T
	stop    chan struct{}
	running sync.WaitGroup
	answers int
	shown   int

	mu   sync.Mutex
	seen []answered // not judged yet; guarded by mu
}

// answered is an answer with the time of its question.
type answered struct {
	asked  span
	query  string
	answer *memory.RecallResponse
}

func newAskers(t *testing.T, s *served, root string, seed uint64) *askers {
	a := &askers{t: t, stop: make(chan struct{})}
	for i := range tortureAskers {
		random := rand.New(rand.NewPCG(seed, uint64(i)+2))
		a.running.Go(func() { a.ask(s, root, random) })
	}
	t.Cleanup(a.end)
	return a
}

func (a *askers) ask(s *served, root string, random *rand.Rand) {
	everything := 0.0
	for {
		select {
		case <-a.stop:
			return
		default:
		}
		req := memory.RecallRequest{
			Query: tortureQuestion(random), Kinds: []memory.Kind{memory.Chunk}, MinRelevance: &everything,
			Limit: 1 + random.IntN(20), MaxTokens: 4000, Caller: memory.Caller{Dir: root},
		}
		began := time.Now()
		answer, err := service.Recall.Do(a.t.Context(), s, req)
		if err != nil {
			// The folder may be away, and then it lies in no project.
			if memory.CodeOf(err) != memory.CodeNotFound && memory.CodeOf(err) != memory.CodeInvalidInput {
				a.t.Errorf("recall: %v", err)
				return
			}
			continue
		}
		a.mu.Lock()
		a.seen = append(a.seen, answered{span{began, time.Now()}, req.Query, answer})
		a.mu.Unlock()
	}
}

// judge looks at what was answered so far. Between two steps everything that was on
// disk before is known.
func (a *askers) judge(h *diskHistory) {
	a.mu.Lock()
	seen := a.seen
	a.seen = nil
	a.mu.Unlock()
	for _, s := range seen {
		a.answers++
		if strings.Contains(s.answer.Text, outsideMarker) {
			a.t.Errorf("asked %q, the answer holds text from outside of the sandbox:\n%s", s.query, s.answer.Text)
		}
		for _, item := range s.answer.Items {
			a.shown++
			if item.Source.Sandbox != h.root {
				a.t.Errorf("asked %q, the answer holds code of %s", s.query, item.Source.Sandbox)
			} else if err := h.judge(item, s.asked); err != nil {
				a.t.Errorf("asked %q: %v", s.query, err)
			}
		}
	}
}

// end waits for those who ask.
func (a *askers) end() {
	select {
	case <-a.stop:
	default:
		close(a.stop)
	}
	a.running.Wait()
}

// settle has everything indexed once more. Then the index holds what is on disk,
// every text is found by a word that only it has, and nothing is shown of what is gone.
func settle(t *testing.T, s *served, v *vandal, sandbox string) {
	t.Helper()
	if os.Getuid() == 0 { // what nobody may read is not lost either
		must(t, filepath.WalkDir(v.root, func(at string, e os.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				return os.Chmod(at, 0o644)
			}
			return err
		}))
	}
	s.index(v.root)
	s.until("quiet", func(st *memory.Status) bool { return st.Queue.Waiting+st.Queue.Running == 0 })
	texts := v.history.texts()
	everything := 0.0
	for _, name := range sortedKeys(texts) {
		mark := lastMark(texts[name])
		if mark == "" || len(texts[name]) > int(s.cfg.Index.MaxFileSize) {
			continue
		}
		answer, err := service.Recall.Do(t.Context(), s, memory.RecallRequest{
			Query: mark, Kinds: []memory.Kind{memory.Chunk}, MinRelevance: &everything, Limit: 50, MaxTokens: memory.MaxTokens,
			Caller: memory.Caller{Dir: v.root},
		})
		must(t, err)
		if !slices.ContainsFunc(answer.Items, func(i memory.Item) bool {
			// A merge may leave the same text at two paths: it is shown once.
			return strings.Contains(i.Text, mark) && strings.Contains(texts[i.Source.Path], mark)
		}) {
			t.Errorf("%q is on disk, and %s is not found in it; withheld: %+v", name, mark, answer.Withheld)
		}
	}
	s.close()
	core, err := OpenCore(t.Context(), CoreOptions{Dir: s.cfg.Paths().Store, Config: s.cfg})
	must(t, err)
	defer func() { must(t, core.Close()) }()
	kept, err := core.Store.Files(sandbox)
	must(t, err)
	for _, name := range sortedKeys(texts) {
		large := len(texts[name]) > int(s.cfg.Index.MaxFileSize)
		switch f, ok := kept[name]; {
		case ok && large:
			t.Errorf("%q is over the limit and is kept", name)
		case !ok && !large && texts[name] != "":
			t.Errorf("%q is on disk and not in the index", name)
		case ok && f.Hash != memory.DocumentID(texts[name]):
			t.Errorf("%q is kept as it was before its last change", name)
		}
		delete(kept, name)
	}
	for _, name := range sortedKeys(kept) {
		t.Errorf("%q is kept and not on disk", name)
	}
	t.Logf("at the end %d texts are on disk", len(texts))
	if t.Failed() {
		t.Logf("what the daemon says last:\n%s", lastLines(s.log.String(), 20))
	}
}

func lastLines(text string, n int) string {
	lines := slices.Collect(strings.Lines(text))
	return strings.Join(lines[max(len(lines)-n, 0):], "")
}

// lastMark is a word of a text that no other has, empty if it has none: as a word by
// itself, for what is rewritten may spoil one and leave the other in a longer name.
func lastMark(text string) string {
	for _, word := range slices.Backward(strings.Fields(text)) {
		if word = strings.Trim(word, ".:"); len(word) == len("xyaaaaa") && strings.HasPrefix(word, "xya") {
			return word
		}
	}
	return ""
}
