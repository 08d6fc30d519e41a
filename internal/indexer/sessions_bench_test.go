package indexer

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/internal/memory"
)

// The size that the goals for sessions are stated for.
const (
	benchLessons     = 50_000
	benchSessions    = 4_000
	benchSteps       = 200_000
	benchPerSession  = benchSteps / benchSessions
	benchScreenCount = 12
)

var benchFlows = []string{"send", "swap", "connect", "sign", "onboarding", "settings", "tx-confirmation"}

// generated is a store that makes up what it loads: one project whose sessions
// began a quarter of an hour apart, the steps of each a second apart, their ids in
// no order of time.
type generated struct {
	Store
	lessons, sessions int
	terms             map[memory.DocID][]byte
}

func (g *generated) DropSavedIndexes() error                                   { return nil }
func (g *generated) SavedIndexes() (*memory.SavedIndexes, error)               { return nil, nil }
func (g *generated) Collections() []string                                     { return nil }
func (g *generated) OpenCollection(context.Context, string, [][]float32) error { return nil }
func (g *generated) Terms(doc memory.DocID) ([]byte, error)                    { return g.terms[doc], nil }

func (g *generated) Load(_ context.Context, l memory.Loader) (uint64, error) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := rand.NewZipf(rng, 1.1, 8, 50_000)
	g.terms = map[memory.DocID][]byte{}
	put := func(r memory.Record) error {
		var text strings.Builder
		for range 30 {
			fmt.Fprintf(&text, "w%x ", words.Uint64())
		}
		r.Project, r.Doc = "p-1", memory.DocumentID(r.ID)
		g.terms[r.Doc] = Analyze(memory.Document{Text: text.String()})
		return l.Record(r)
	}
	began := func(n int) time.Time { return testTime.Add(time.Duration(n) * 15 * time.Minute) }
	for n := range g.sessions {
		if err := l.Session(memory.Session{
			ID: fmt.Sprintf("mm-20260101-%06d", n), Project: "p-1", CreatedAt: began(n), Goal: "run the flow again",
			FlowTags: []string{benchFlows[n%len(benchFlows)]}, Tags: []string{fmt.Sprintf("tag%d", n%20)},
			Git: &memory.Git{Branch: fmt.Sprintf("feature/%d", n%50)},
		}); err != nil {
			return 0, err
		}
	}
	for n := range g.lessons {
		r := memory.Record{ID: fmt.Sprintf("l-%016x", rng.Uint64()), Kind: memory.Lesson, Repo: "repo", Created: began(n % benchSessions)}
		r.Event = &memory.Event{Fingerprints: []string{fmt.Sprintf("f-%d", n%5000)}}
		if r.Tags = []string{"npm"}; n%10 == 0 {
			r.Session = fmt.Sprintf("mm-20260101-%06d", n%benchSessions)
		}
		if err := put(r); err != nil {
			return 0, err
		}
	}
	for n := range g.sessions * benchPerSession {
		session := n / benchPerSession
		r := memory.Record{
			ID: fmt.Sprintf("s-%016x", rng.Uint64()), Kind: memory.Step, Session: fmt.Sprintf("mm-20260101-%06d", session),
			Created: began(session).Add(time.Duration(n%benchPerSession) * time.Second),
		}
		r.Step = &memory.StepContent{Screen: fmt.Sprintf("screen-%d", rng.IntN(benchScreenCount))}
		if n%10 == 0 {
			r.Step.Fingerprints = []string{fmt.Sprintf("f-%d", n%5000)}
		}
		if err := put(r); err != nil {
			return 0, err
		}
	}
	for doc, terms := range g.terms {
		if err := l.Terms(doc, terms); err != nil {
			return 0, err
		}
	}
	g.terms = nil
	return 1, nil
}

func benchShelf(b *testing.B, lessons, sessions int) *Indexer {
	b.Helper()
	x, err := New(Options{Builtin: builtin.New()})
	if err != nil {
		b.Fatal(err)
	}
	if err := x.Load(context.Background(), &generated{lessons: lessons, sessions: sessions}); err != nil {
		b.Fatal(err)
	}
	return x
}

// BenchmarkSessions asks what the tools of sessions ask. Goals: Select under 2 ms,
// LastSteps of 20 and Sessions under 1 ms. Ratios are to plain work on the same
// data: for LastSteps sorting all steps by time, for Select the same selection
// without a filter of sessions.
func BenchmarkSessions(b *testing.B) {
	x := benchShelf(b, benchLessons, benchSessions)
	newest := testTime.Add(benchSessions * 15 * time.Minute)
	all := x.Sessions("p-1", memory.SessionFilter{})
	if len(all) != benchSessions {
		b.Fatalf("%d sessions, want %d", len(all), benchSessions)
	}
	var ids []string
	for _, s := range x.Sessions("p-1", memory.SessionFilter{FlowTag: "send"}) {
		ids = append(ids, s.ID)
	}
	plain := perOp(func() {
		x.mu.RLock()
		defer x.mu.RUnlock()
		var steps []sessionItem
		for _, s := range x.sessions.listed["p-1"] {
			steps = append(steps, s.steps...)
		}
		slices.SortFunc(steps, func(a, b sessionItem) int { return cmp.Compare(b.created, a.created) })
	})
	for _, bench := range []struct {
		name     string
		sessions []string
		screen   string
	}{{"all", nil, ""}, {"screen", nil, "screen-7"}, {"sessions", ids, ""}} {
		b.Run("last/"+bench.name, func(b *testing.B) {
			for b.Loop() {
				if got := x.LastSteps("p-1", bench.sessions, bench.screen, 20); len(got) != 20 {
					b.Fatalf("%d steps, want 20", len(got))
				}
			}
			b.ReportMetric(plain/nsPerOp(b), "×faster-than-sort")
		})
	}
	for name, f := range map[string]memory.SessionFilter{
		"all": {}, "flow": {FlowTag: "send"}, "screen": {Screen: "screen-7"}, "since": {Since: newest.Add(-24 * time.Hour)},
	} {
		b.Run("sessions/"+name, func(b *testing.B) {
			for b.Loop() {
				if len(x.Sessions("p-1", f)) == 0 {
					b.Fatal("no session")
				}
			}
		})
	}
	kinds := []memory.Kind{memory.Step}
	reference := perOp(func() { x.Select(memory.Selection{Project: "p-1", Kinds: kinds}) })
	for name, sel := range map[string]memory.Selection{
		"none":              {Kinds: kinds},
		"flow":              {Kinds: kinds, Steps: memory.SessionFilter{FlowTag: "send"}},
		"flow and screen":   {Kinds: kinds, Steps: memory.SessionFilter{FlowTag: "send", Screen: "screen-7"}},
		"branch":            {Kinds: kinds, Steps: memory.SessionFilter{GitBranch: "feature/7"}},
		"since, all":        {Kinds: kinds, Steps: memory.SessionFilter{Since: testTime}},
		"tag, all kinds":    {Kinds: memory.DefaultKinds, Steps: memory.SessionFilter{Tag: "tag3"}, AllLessons: true},
		"flow, all kinds":   {Kinds: memory.DefaultKinds, Steps: memory.SessionFilter{FlowTag: "send"}, AllLessons: true},
		"since, all kinds":  {Kinds: memory.DefaultKinds, Since: newest.Add(-24 * time.Hour), Steps: memory.SessionFilter{Since: newest.Add(-24 * time.Hour)}, AllLessons: true},
		"screen, all kinds": {Kinds: memory.DefaultKinds, Steps: memory.SessionFilter{Screen: "screen-7"}, AllLessons: true},
	} {
		sel.Project = "p-1"
		b.Run("select/"+name, func(b *testing.B) {
			for b.Loop() {
				allow, _ := x.Select(sel)
				it := allow.Iterator()
				for i := 0; i < 200 && it.HasNext(); i++ {
					if len(x.Candidates(it.Next(), sel)) == 0 {
						b.Fatal("an allowed document has no candidate")
					}
				}
			}
			b.ReportMetric(nsPerOp(b)/reference, "×unfiltered")
		})
	}
	b.Run("fingerprinted", func(b *testing.B) {
		for b.Loop() {
			if len(x.Fingerprinted([]string{"f-20"}, memory.Selection{Project: "p-1"})) == 0 {
				b.Fatal("no such error")
			}
		}
	})
}

// BenchmarkStepMemory is what a step costs in the indexes: all but its vectors.
func BenchmarkStepMemory(b *testing.B) {
	for b.Loop() {
		before := heapBytes()
		x := benchShelf(b, 0, benchSessions)
		b.ReportMetric(float64(heapBytes()-before)/benchSteps, "B/step")
		runtime.KeepAlive(x)
	}
}

func nsPerOp(b *testing.B) float64 { return float64(b.Elapsed().Nanoseconds()) / float64(b.N) }

// perOp times plain work, in nanoseconds.
func perOp(work func()) float64 {
	const times = 5
	work()
	start := time.Now()
	for range times {
		work()
	}
	return float64(time.Since(start).Nanoseconds()) / times
}
