package indexer

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store"
)

// crowded is a store of sessions that each have the same step, and one of their own.
type crowded struct {
	Store
	sessions int
}

func (c crowded) Collections() []string                                     { return nil }
func (c crowded) OpenCollection(context.Context, string, [][]float32) error { return nil }

func (crowded) SavedIndexes() (*memory.SavedIndexes, error) { return nil, nil }
func (crowded) DropSavedIndexes() error                     { return nil }

func (c crowded) Load(_ context.Context, l memory.Loader) (uint64, error) {
	terms := Analyze(memory.Document{Text: sharedText})
	for n := range c.sessions {
		if err := l.Record(sharedStep(n)); err != nil {
			return 0, err
		}
	}
	return 1, l.Terms(memory.DocumentID(sharedText), terms)
}

const sharedText = "Read CLAUDE.md"

// sharedStep is the step that every session has.
func sharedStep(n int) memory.Record {
	return memory.Record{
		ID: fmt.Sprintf("t-%06d", n), Kind: memory.Step, Project: "p-1", Session: fmt.Sprintf("mm-%06d", n), Text: sharedText,
		Doc: memory.DocumentID(sharedText), Created: testTime.Add(time.Duration(n) * time.Minute),
		Step: &memory.StepContent{Screen: "editor"}, Tags: []string{"read"},
	}
}

// crowdOf loads an indexer with so many sessions that share a step.
func crowdOf(tb testing.TB, sessions int) *Indexer {
	tb.Helper()
	x, err := New(Options{Builtin: builtin.New()})
	must(tb, err)
	must(tb, x.Load(tb.Context(), crowded{sessions: sessions}))
	return x
}

// writeShared writes the steps of new sessions, and takes them away again.
func writeShared(x *Indexer, first, n int) {
	for i := range n {
		step := sharedStep(first + i)
		x.Apply([]memory.Change{{Records: []memory.RecordChange{{New: &step}}}})
	}
	for i := range n {
		step := sharedStep(first + i)
		x.Apply([]memory.Change{{Records: []memory.RecordChange{{Old: &step}}}})
	}
}

const fewSessions, manySessions = 100, 10_000

// TestWriteOfSharedText: what the write of a step allocates does not grow with the
// sessions that have a step of the same text.
func TestWriteOfSharedText(t *testing.T) {
	work := func(sessions int) uint64 {
		x := crowdOf(t, sessions)
		writeShared(x, sessions, 50)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		writeShared(x, sessions, 200)
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / 400
	}
	few, many := work(fewSessions), work(manySessions)
	if many > few*3/2 {
		t.Errorf("a write among %d sessions allocates %d bytes, want about the %d of one among %d", manySessions, many, few, fewSessions)
	}
}

// TestNewestPlaces: of a text in many sessions the newest places are told, and of a
// session that is asked for its own, however old.
func TestNewestPlaces(t *testing.T) {
	x := crowdOf(t, 1_000)
	sel := memory.Selection{Project: "p-1", Kinds: []memory.Kind{memory.Step}}
	num, _ := x.numbers.Lookup(memory.DocumentID(sharedText))
	places := func(sel memory.Selection) (ids []string) {
		for _, c := range x.Candidates(num, sel) {
			ids = append(ids, c.ID)
		}
		return ids
	}
	var want []string
	for n := range maxCandidates {
		want = append(want, sharedStep(999-n).ID)
	}
	if got := places(sel); !slices.Equal(got, want) {
		t.Errorf("the places of the text are %v, want the newest %d: %v", got, maxCandidates, want)
	}
	sel.Session = "mm-000007"
	if got := places(sel); !slices.Equal(got, []string{"t-000007"}) {
		t.Errorf("the places in one session are %v, want t-000007", got)
	}
	sel.Session, sel.Since = "", sharedStep(998).Created
	if got := places(sel); !slices.Equal(got, want[:2]) {
		t.Errorf("the places since the last but one are %v, want %v", got, want[:2])
	}
	sel = memory.Selection{Project: "p-2"}
	if got := places(sel); len(got) != 0 {
		t.Errorf("another project has the places %v, want none", got)
	}
}

// BenchmarkSharedText commits the step that every session has to a store, and reads its
// places, among 100 and among 10,000 sessions by turns: ×small is how many times as
// long it takes among 10,000.
//
//	go test ./internal/indexer -run '^$' -bench SharedText
func BenchmarkSharedText(b *testing.B) {
	few, many := storedCrowd(b, fewSessions), storedCrowd(b, manySessions)
	sel := memory.Selection{Project: "p-1", Kinds: []memory.Kind{memory.Step}}
	read := func(c *storedSessions) {
		num, _ := c.index.numbers.Lookup(memory.DocumentID(sharedText))
		for range 64 {
			allow, _ := c.index.Select(sel)
			if !allow.Contains(num) || len(c.index.Candidates(num, sel)) < fewSessions {
				b.Fatal("the shared step is not found")
			}
		}
	}
	write := func(c *storedSessions) {
		for i := range 16 {
			c.commit(memory.Batch{Records: []memory.Record{sharedStep(c.sessions + i)}})
		}
		for i := range 16 {
			c.commit(memory.Batch{DropRecords: []string{sharedStep(c.sessions + i).ID}})
		}
	}
	for name, work := range map[string]func(*storedSessions){"write": write, "read": read} {
		b.Run(name, func(b *testing.B) { compareSizes(b, func(big bool) { work(pick(big, many, few)) }) })
	}
}

// BenchmarkHoldings lists what is to be forgotten with a session, as is done while
// writes wait, among 100 and among 10,000 sessions by turns. ×faster-than-scan is against
// a look at every record of the 10,000.
//
//	go test ./internal/indexer -run '^$' -bench Holdings
func BenchmarkHoldings(b *testing.B) {
	few, many := storedCrowd(b, fewSessions), storedCrowd(b, manySessions)
	for _, c := range []*storedSessions{few, many} {
		c.commit(memory.Batch{Sessions: []memory.Session{{ID: "mm-000007", Project: "p-1", CreatedAt: testTime}}})
	}
	list := func(c *storedSessions) {
		for range 100 {
			if found, ok := c.index.SessionHoldings("mm-000007"); !ok || len(found) != 1 || len(found[0].Steps) != 1 {
				b.Fatalf("%+v is held, want one session with one step", found)
			}
		}
	}
	scan := perOp(func() {
		if _, err := many.store.SessionHoldings(b.Context(), "mm-000007"); err != nil {
			b.Fatal(err)
		}
	})
	listed := perOp(func() { list(many) }) / 100
	compareSizes(b, func(big bool) { list(pick(big, many, few)) })
	b.ReportMetric(scan/listed, "×faster-than-scan")
}

// storedSessions is a store of sessions that share a step, with its indexes.
type storedSessions struct {
	tb       testing.TB
	store    *store.Store
	index    *Indexer
	sessions int
}

func storedCrowd(b *testing.B, sessions int) *storedSessions {
	b.Helper()
	s, x := benchLoad(b, b.TempDir(), nil)
	b.Cleanup(func() { s.Close() })
	c := &storedSessions{b, s, x, sessions}
	for n := 0; n < sessions; n += 100 {
		var batch memory.Batch
		for i := range 100 {
			batch.Records = append(batch.Records, sharedStep(n+i))
		}
		c.commit(batch)
	}
	return c
}

func (c *storedSessions) commit(batch memory.Batch) {
	for _, r := range batch.Records {
		if len(batch.Docs) == 0 {
			batch.Docs = []memory.Doc{{ID: r.Doc, Terms: Analyze(memory.Document{Text: r.Text})}}
		}
	}
	if _, err := c.store.Commit(c.tb.Context(), batch); err != nil {
		c.tb.Fatal(err)
	}
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// compareSizes times work on something big and on something small by turns, so that
// other load on the machine falls on both, and reports the median of their ratios.
func compareSizes(b *testing.B, work func(big bool)) {
	b.Helper()
	timed := func(big bool) float64 {
		start := time.Now()
		work(big)
		return float64(time.Since(start).Nanoseconds())
	}
	timed(false)
	timed(true)
	var ratios []float64
	for b.Loop() {
		small := timed(false)
		ratios = append(ratios, timed(true)/small)
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "×small")
}
