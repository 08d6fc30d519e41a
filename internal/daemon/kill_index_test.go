package daemon

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/embedder/ollama/ollamatest"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testlong"
)

// The repository of the kills: some thousand chunks, of which each round changes some.
const (
	killRounds  = 20
	killFiles   = 400
	killChanged = 200
	// embedBatch is how many texts the indexer hands to a model at once; what one
	// process had in flight when it was killed is embedded again at most.
	embedBatch = 64
)

// TestKilledWhileIndexing kills a daemon in the middle of indexing, at random moments.
// Each one that follows goes on by itself, without cutting what was committed; after
// the last the store holds exactly what one that was never killed holds; and no text
// was embedded again but those that were in flight.
func TestKilledWhileIndexing(t *testing.T) {
	testlong.Only(t)
	ollama := startFake(t)
	// Of a text that is too long for a model the vector depends on what was learnt
	// about its window before: here none is.
	ollama.SetModel(ollamatest.Model, ollamatest.FakeModel{Arch: "bert", Dim: ollamatest.Dim, Context: 8192})
	cfg := ollamaConfig(t, "http://"+ollama.addr)
	must(t, cfg.Paths().Prepare())
	seed := rand.Uint64()
	t.Logf("the seed is %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	dir := large(t, 0)
	for i := range killFiles {
		placeLong(t, dir, i, 0)
	}
	var box string
	var stored map[string]memory.File
	midst := 0
	for round := range killRounds {
		if round > 0 {
			for range killChanged { // so that there is work to do
				placeLong(t, dir, random.IntN(killFiles), round)
			}
		}
		child := startChild(t, cfg)
		began, err := service.Status.Do(t.Context(), child, service.None{})
		must(t, err)
		if round == 0 { // later it knows the repository by itself
			box = child.index(dir).Sandbox
		}
		// By turns while it reads files and while it has them embedded: a file is a batch
		// or two, and some six texts.
		enough := began.Seq + 1 + random.Uint64N(killChanged)
		texts := 1 + random.IntN(killChanged)
		sent := len(ollama.Embeds())
		child.until("far enough", func(st *memory.Status) bool {
			over := len(st.Projects) == 1 && st.Projects[0].Progress == nil && st.Projects[0].IndexedAt.After(st.StartedAt) && filled(st)
			if round%2 == 0 {
				return st.Seq >= enough || over
			}
			return len(ollama.Embeds())-sent >= 1+texts/embedBatch || over
		})
		must(t, child.cmd.Process.Kill())
		_ = child.cmd.Wait() // it was killed
		found, err := CheckStore(t.Context(), cfg, "test")
		must(t, err)
		if found != nil {
			t.Fatalf("after kill %d the store is not sound: %v", round, found)
		}
		if stored = killedFiles(t, cfg, box); round%2 == 0 && staleFiles(t, dir, stored) > 0 {
			midst++
		}
	}
	if midst < killRounds/4 {
		t.Errorf("only %d of %d kills were in the middle of a run", midst, killRounds)
	}
	s := serve(t, cfg, impatient)
	s.settled(box)
	if cut, stale := cutBy(t, s), staleFiles(t, dir, stored); cut > stale {
		t.Errorf("the last run cut %d files, and %d were not stored as they are on disk", cut, stale)
	}
	s.close()
	got := dumpStore(t, cfg)

	texts := embeddedTexts(ollama)
	clean := ollamaConfig(t, "http://"+ollama.addr)
	c := serve(t, clean, impatient)
	c.settled(c.index(dir).Sandbox)
	c.close()
	if diff := got.compare(dumpStore(t, clean)); diff != "" {
		t.Errorf("after %d kills the store differs from that of a clean run:\n%s", killRounds, diff)
	}
	again := 0
	for _, n := range texts {
		again += n - 1
	}
	if most := killRounds * embedBatch; again > most {
		t.Errorf("%d of %d texts were embedded again after %d kills, want at most %d", again, len(texts), killRounds, most)
	}
	t.Logf("%d of %d kills were in the middle of a run, the others mostly later; %d files, %d documents; %d texts embedded, %d again",
		midst, killRounds, len(got.files), len(got.terms), len(texts), again)
}

// placeLong writes a file of some chunks, another text each round.
func placeLong(t *testing.T, dir string, file, round int) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "package p%d\n\n", file%20)
	for f := range 6 {
		fmt.Fprintf(&b, "// Handle%dOf%d answers request %d of round %d.\nfunc Handle%dOf%d(values []int) (total int) {\n", f, file, f, round, f, file)
		for line := range 24 {
			fmt.Fprintf(&b, "\ttotal += values[%d] * %d // of file %d\n", line, line+f, file)
		}
		b.WriteString("\treturn total\n}\n\n")
	}
	place(t, dir, fmt.Sprintf("p%d/f%d.go", file%20, file), b.String())
}

// settled waits until a sandbox has been indexed since the daemon was started, nothing
// waits, and every document has a vector of the model.
func (s *served) settled(sandbox string) {
	s.t.Helper()
	began := time.Now()
	s.until("settled", func(st *memory.Status) bool {
		if time.Since(began) > 4*patience { // until itself gives up earlier than a slow machine is done
			return false
		}
		i := slices.IndexFunc(st.Projects, func(b memory.SandboxState) bool { return b.ID == sandbox })
		return i >= 0 && st.Projects[i].Progress == nil && st.Projects[i].IndexedAt.After(st.StartedAt) && filled(st) &&
			st.Queue.Waiting+st.Queue.Running == 0
	})
}

// cutBy is how many files the runs of a daemon have cut, as its log says.
func cutBy(t *testing.T, s *served) int {
	t.Helper()
	total, runs := 0, 0
	for line := range strings.Lines(s.log.String()) {
		if !strings.Contains(line, "msg=indexed ") {
			continue
		}
		runs++
		for field := range strings.FieldsSeq(line) {
			var n int
			if _, err := fmt.Sscanf(field, "changed=%d", &n); err == nil {
				total += n
			}
		}
	}
	if runs == 0 {
		t.Fatalf("the log tells of no run:\n%s", s.log)
	}
	return total
}

// killedFiles are the files that a killed daemon has stored with their chunks.
func killedFiles(t *testing.T, cfg config.Config, sandbox string) map[string]memory.File {
	t.Helper()
	core, err := OpenCore(t.Context(), CoreOptions{Dir: cfg.Paths().Store, Config: cfg})
	must(t, err)
	defer func() { must(t, core.Close()) }()
	files, err := core.Store.Files(sandbox)
	must(t, err)
	maps.DeleteFunc(files, func(_ string, f memory.File) bool { return len(f.Chunks) == 0 })
	return files
}

// staleFiles counts the files on disk that are not stored as they are.
func staleFiles(t *testing.T, dir string, stored map[string]memory.File) int {
	t.Helper()
	texts, _, err := onDisk(dir)
	must(t, err)
	n := 0
	for name, text := range texts {
		if stored[name].Hash != memory.DocumentID(text) {
			n++
		}
	}
	return n
}

// embeddedTexts counts how often each text of a chunk was sent to the server.
func embeddedTexts(ollama *fakeServer) map[string]int {
	texts := map[string]int{}
	for _, request := range ollama.Embeds() {
		list, ok := request.Input.([]any)
		if !ok {
			continue
		}
		for _, text := range list {
			if text, ok := text.(string); ok && strings.Contains(text, "answers request") {
				texts[text]++
			}
		}
	}
	return texts
}

// storeDump is all that a store holds of code, without what differs between two runs
// over the same files: generations, times, and how the folder of the data is called.
type storeDump struct {
	files   map[string]memory.File // by path
	terms   map[memory.DocID][]byte
	vectors map[string]map[memory.DocID][]float32 // by collection
}

func dumpStore(t *testing.T, cfg config.Config) storeDump {
	t.Helper()
	core, err := OpenCore(t.Context(), CoreOptions{Dir: cfg.Paths().Store, Config: cfg})
	must(t, err)
	defer func() { must(t, core.Close()) }()
	d := storeDump{map[string]memory.File{}, map[memory.DocID][]byte{}, map[string]map[memory.DocID][]float32{}}
	lock := make(chan struct{}, 1) // terms and vectors come from several goroutines
	_, err = core.Store.Load(t.Context(), memory.Loader{
		Session: func(memory.Session) error { return nil },
		Record:  func(memory.Record) error { return nil },
		File: func(f memory.File) error {
			f.Generation, f.ModTime, f.ChangeTime, f.Inode = 0, time.Time{}, time.Time{}, 0
			d.files[f.Path] = f
			return nil
		},
		Terms: func(doc memory.DocID, terms []byte) error {
			lock <- struct{}{}
			defer func() { <-lock }()
			d.terms[doc] = bytes.Clone(terms)
			return nil
		},
		Vector: func(collection string, doc memory.DocID, v []float32) error {
			lock <- struct{}{}
			defer func() { <-lock }()
			if d.vectors[collection] == nil {
				d.vectors[collection] = map[memory.DocID][]float32{}
			}
			d.vectors[collection][doc] = slices.Clone(v)
			return nil
		},
	})
	must(t, err)
	return d
}

// compare tells the first differences, nothing if there are none.
func (d storeDump) compare(want storeDump) string {
	var b strings.Builder
	for _, path := range sortedKeys(want.files) {
		if got, ok := d.files[path]; !ok {
			fmt.Fprintf(&b, "file %s is missing\n", path)
		} else if fmt.Sprint(got) != fmt.Sprint(want.files[path]) {
			fmt.Fprintf(&b, "file %s is %+v, want %+v\n", path, got, want.files[path])
		}
	}
	tellSurplus(&b, "file", d.files, want.files)
	for doc, terms := range want.terms {
		if !bytes.Equal(d.terms[doc], terms) {
			fmt.Fprintf(&b, "document %s has other terms\n", doc)
		}
	}
	tellSurplus(&b, "document", d.terms, want.terms)
	for collection, vectors := range want.vectors {
		for doc, v := range vectors {
			if !slices.Equal(d.vectors[collection][doc], v) {
				fmt.Fprintf(&b, "document %s has another vector, or none, in %s\n", doc, collection)
			}
		}
		tellSurplus(&b, "vector in "+collection+" of", d.vectors[collection], vectors)
	}
	tellSurplus(&b, "collection", d.vectors, want.vectors)
	lines := slices.Collect(strings.Lines(b.String()))
	if len(lines) > 10 {
		lines = append(lines[:10], fmt.Sprintf("and %d more\n", len(lines)-10))
	}
	return strings.Join(lines, "")
}

func tellSurplus[K comparable, V any](b *strings.Builder, what string, got, want map[K]V) {
	for k := range got {
		if _, ok := want[k]; !ok {
			fmt.Fprintf(b, "%s %v is there and should not be\n", what, k)
		}
	}
}
