package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/steptext"
)

// What the goals for history are stated for.
const (
	historyLessons  = 50_000
	historySessions = 4_000
	historySteps    = 50 // of each session
)

// BenchmarkHistory asks one project that remembers 50,000 lessons and 200,000
// steps in 4,000 sessions, every time something else: the knowledge tools with and
// without filters, and recall. It reports the 50th and 99th percentile, and, in
// turns with a list, how long it takes to read as many records from the store and
// do nothing with them.
func BenchmarkHistory(b *testing.B) {
	h := newHistory(b, historyLessons, historySessions)
	all := &memory.Scope{Name: memory.ScopeAll}
	search := func(filters func() *memory.StepFilters) func() (int, error) {
		return func() (int, error) {
			req := memory.SearchStepsRequest{Query: h.words.query(), Project: h.project.Name}
			if filters != nil {
				req.Filters = filters()
			}
			m, err := h.core.Recall.SearchSteps(b.Context(), req)
			if err != nil {
				return 0, err
			}
			return len(m.Matches), nil
		}
	}
	last := func(req func() memory.LastStepsRequest) func() (int, error) {
		return func() (int, error) {
			r := req()
			r.Project = h.project.Name
			l, err := h.core.Recall.LastSteps(b.Context(), r)
			if err != nil {
				return 0, err
			}
			return len(l.Steps), nil
		}
	}
	sessions := func(filters func() *memory.StepFilters) func() (int, error) {
		return func() (int, error) {
			req := memory.SessionsRequest{Project: h.project.Name}
			if filters != nil {
				req.Filters = filters()
			}
			l, err := h.core.Recall.Sessions(b.Context(), req)
			if err != nil {
				return 0, err
			}
			return len(l.Sessions), nil
		}
	}
	recall := func(kinds ...memory.Kind) func() (int, error) {
		return func() (int, error) {
			a, err := h.core.Recall.Recall(b.Context(), memory.RecallRequest{Query: h.words.query(), Kinds: kinds, Project: h.project.Name})
			if err != nil {
				return 0, err
			}
			return len(a.Items), nil
		}
	}
	for _, question := range []struct {
		name  string
		reads bool // nothing but records, so it is compared with reading them
		ask   func() (answers int, err error)
	}{
		{"search/flow-tag", false, search(func() *memory.StepFilters { return &memory.StepFilters{FlowTag: new(h.flow())} })},
		{"search/branch", false, search(func() *memory.StepFilters { return &memory.StepFilters{GitBranch: new(h.branch())} })},
		{"search/tag-screen-hours", false, search(func() *memory.StepFilters {
			return &memory.StepFilters{Tag: new(h.tag()), Screen: new(h.screen()), SinceHours: new(memory.MaxSinceHours)}
		})},
		{"search/all", false, search(nil)},
		{"last/session", true, last(func() memory.LastStepsRequest {
			return memory.LastStepsRequest{Scope: &memory.Scope{Session: h.session()}}
		})},
		{"last/all", true, last(func() memory.LastStepsRequest { return memory.LastStepsRequest{Scope: all} })},
		{"last/flow-tag-screen", true, last(func() memory.LastStepsRequest {
			return memory.LastStepsRequest{Scope: all, Filters: &memory.StepFilters{FlowTag: new(h.flow()), Screen: new(h.screen())}}
		})},
		{"sessions/all", false, sessions(nil)},
		{"sessions/screen-branch", false, sessions(func() *memory.StepFilters {
			return &memory.StepFilters{Screen: new(h.screen()), GitBranch: new(h.branch())}
		})},
		{"summarize", false, func() (int, error) {
			s, err := h.core.Recall.SummarizeSession(b.Context(), memory.SummarizeRequest{Project: h.project.Name, Scope: &memory.Scope{Session: h.session()}})
			if err != nil {
				return 0, err
			}
			return s.StepCount, nil
		}},
		{"recall/lessons", false, recall(memory.Lesson)},
		{"recall/lessons-steps", false, recall(memory.Lesson, memory.Step)},
	} {
		b.Run(question.name, func(b *testing.B) {
			var took, plain []time.Duration
			answers := 0
			for b.Loop() {
				begin := time.Now()
				n, err := question.ask()
				took = append(took, time.Since(begin))
				if err != nil {
					b.Fatal(err)
				}
				answers += n
				if !question.reads {
					continue
				}
				b.StopTimer()
				plain = append(plain, h.read(b, n))
				b.StartTimer()
			}
			b.ReportMetric(percentile(took, 50).Seconds()*1e3, "p50-ms")
			b.ReportMetric(percentile(took, 99).Seconds()*1e3, "p99-ms")
			b.ReportMetric(float64(answers)/float64(len(took)), "answers")
			if question.reads {
				b.ReportMetric(percentile(plain, 50).Seconds()*1e3, "plain-p50-ms")
				b.ReportMetric(float64(percentile(took, 50))/float64(max(percentile(plain, 50), 1)), "x_plain")
			}
		})
	}
}

func percentile(times []time.Duration, p int) time.Duration {
	times = slices.Sorted(slices.Values(times))
	return times[min(len(times)*p/100, len(times)-1)]
}

// history is a project with the sessions of some months.
type history struct {
	dir     string
	core    *Core
	project memory.Project
	words   *vocabulary
	steps   []string // ids
}

var (
	historyFlows   = strings.Fields("send swap connect sign onboarding settings tx-confirmation")
	historyScreens = strings.Fields("home send confirm swap settings unlock accounts activity network import review done")
	historyTools   = strings.Fields("mm_click mm_type mm_navigate mm_describe_screen Bash Edit Read Grep Write pytest")
)

func (h *history) flow() string    { return h.words.one(historyFlows) }
func (h *history) screen() string  { return h.words.one(historyScreens) }
func (h *history) branch() string  { return fmt.Sprintf("feature/%d", h.words.random.IntN(40)) }
func (h *history) tag() string     { return fmt.Sprintf("tag-%d", h.words.random.IntN(12)) }
func (h *history) session() string { return sessionName(h.words.random.IntN(historySessions)) }

func sessionName(n int) string { return fmt.Sprintf("mm-20260101-%06d", n) }

func (h *history) open(b *testing.B) {
	core, err := OpenCore(b.Context(), CoreOptions{Dir: h.dir, Config: config.Default()})
	if err != nil {
		b.Fatal(err)
	}
	h.core = core
}

func (h *history) close(b *testing.B) {
	if err := h.core.Close(); err != nil {
		b.Error(err)
	}
}

// read reads n steps, anywhere, from the store.
func (h *history) read(b *testing.B, n int) time.Duration {
	ids := make([]string, n)
	first := h.words.random.IntN(len(h.steps) - n)
	copy(ids, h.steps[first:])
	begin := time.Now()
	for _, id := range ids {
		if _, err := h.core.Store.Record(id); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(begin)
}

// newHistory writes a history of so many lessons and sessions. Analysing and embedding
// is most of the work.
func newHistory(b *testing.B, lessons, sessions int) *history {
	b.Helper()
	h := &history{dir: b.TempDir(), project: memory.Project{ID: "p-history", Name: "history"}, words: newVocabulary()}
	h.open(b)
	b.Cleanup(func() { h.close(b) })
	if err := h.core.Load(b.Context()); err != nil {
		b.Fatal(err)
	}
	w := historyWriter{core: h.core, model: builtin.New()}
	w.batch.Projects = []memory.Project{h.project}
	// The last session began an hour ago, each a quarter of an hour after the
	// one before it.
	began := func(n int) time.Time {
		return time.Now().Add(-time.Hour - time.Duration(sessions-n)*15*time.Minute).UTC().Truncate(time.Millisecond)
	}
	for n := range lessons {
		w.add(b, h.lesson(n, began(n%sessions)))
	}
	for n := range sessions {
		s := memory.Session{
			ID: sessionName(n), Project: h.project.ID, Client: "bench", CreatedAt: began(n), EndedAt: began(n).Add(10 * time.Minute),
			Goal: h.words.text(8), FlowTags: []string{h.flow()}, Tags: []string{h.tag()}, Git: &memory.Git{Branch: h.branch()},
		}
		w.batch.Sessions = append(w.batch.Sessions, s)
		for i := range historySteps {
			step := h.step(s, i)
			h.steps = append(h.steps, step.ID)
			w.add(b, step)
		}
	}
	w.commit(b)
	return h
}

func (h *history) lesson(n int, at time.Time) memory.Record {
	e := &memory.Event{Type: memory.EventError, Context: h.words.text(8), Lesson: h.words.text(25), Command: "make " + h.words.text(2)}
	return memory.Record{
		ID: fmt.Sprintf("l-%06d", n), Kind: memory.Lesson, Project: h.project.ID, Repo: h.project.Name, Created: at,
		Tags: []string{h.words.text(1)}, Text: e.Context + "\n" + e.Lesson + "\n" + e.Command, Event: e,
	}
}

func (h *history) step(s memory.Session, i int) memory.Record {
	value := func(v any) json.RawMessage {
		raw, _ := json.Marshal(v) // plain values
		return raw
	}
	screen := h.screen()
	st := &memory.StepContent{
		Tool:   memory.StepTool{Name: h.words.one(historyTools), Target: value(map[string]string{"testId": h.words.text(1) + "-button"})},
		Screen: screen, Outcome: memory.Outcome{OK: true}, Labels: []string{"interaction"},
		Observation: value(map[string]any{"state": map[string]string{"currentScreen": screen}, "testIds": strings.Fields(h.words.text(6)), "text": h.words.text(15)}),
	}
	if h.words.random.IntN(10) == 0 {
		st.Outcome = memory.Outcome{Error: &memory.StepError{Code: "E_" + strings.ToUpper(h.words.text(1)), Message: h.words.text(10)}}
	}
	r := memory.Record{
		ID: fmt.Sprintf("t-%s-%03d", s.ID, i), Kind: memory.Step, Project: h.project.ID, Session: s.ID,
		Created: s.CreatedAt.Add(time.Duration(i) * time.Second), Step: st,
	}
	r.Text = steptext.Text(r, s)
	return r
}

// historyWriter writes records as ingest does, a thousand at once.
type historyWriter struct {
	core  *Core
	model embedder.Embedder
	batch memory.Batch
}

func (w *historyWriter) add(b *testing.B, r memory.Record) {
	r.Doc = memory.DocumentID(r.Text)
	w.batch.Records = append(w.batch.Records, r)
	if len(w.batch.Records) == 1000 {
		w.commit(b)
	}
}

func (w *historyWriter) commit(b *testing.B) {
	b.Helper()
	m, err := w.model.Model(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	texts := make([]string, len(w.batch.Records))
	for i, r := range w.batch.Records {
		texts[i] = r.Text
	}
	vectors, err := w.model.Embed(context.Background(), embedder.Document, texts)
	if err != nil {
		b.Fatal(err)
	}
	seen := map[memory.DocID]bool{}
	for i, r := range w.batch.Records {
		if !seen[r.Doc] {
			seen[r.Doc] = true
			w.batch.Docs = append(w.batch.Docs, memory.Doc{
				ID: r.Doc, Terms: indexer.Analyze(memory.Document{Text: r.Text}), Vectors: map[string][]float32{m.Collection(): vectors[i]},
			})
		}
	}
	if _, err := w.core.Store.Commit(b.Context(), w.batch); err != nil {
		b.Fatal(err)
	}
	w.batch = memory.Batch{}
}

// vocabulary makes texts of made-up words, whose frequencies fall as those of a
// language do (Zipf, 1935).
type vocabulary struct {
	random *rand.Rand
	zipf   *rand.Zipf
	words  []string
}

func newVocabulary() *vocabulary {
	const size = 20_000
	random := rand.New(rand.NewPCG(3, 5))
	v := &vocabulary{random: random, zipf: rand.NewZipf(random, 1.15, 12, size-1)}
	syllables := strings.Fields("ba ce di fo gu ha ji ke lo mu na pe qui ro su ta ve wi xo yu zan bril cor dun fes glo")
	for range size {
		word := ""
		for range 2 + random.IntN(3) {
			word += v.one(syllables)
		}
		v.words = append(v.words, word)
	}
	return v
}

func (v *vocabulary) one(of []string) string { return of[v.random.IntN(len(of))] }

func (v *vocabulary) text(words int) string {
	parts := make([]string, words)
	for i := range parts {
		parts[i] = v.words[v.zipf.Uint64()]
	}
	return strings.Join(parts, " ")
}

// query is three words as texts have them.
func (v *vocabulary) query() string { return v.text(3) }
