package agentctx

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
)

// words make texts that differ and share words, as those of a project do.
var (
	doing   = []string{"install", "deploy", "migrate", "authenticate", "render", "index", "compile", "publish", "rotate", "restore"}
	objects = []string{"packages", "orders", "users", "certificates", "templates", "queues", "invoices", "sessions", "backups", "charts", "tokens"}
	systems = []string{"gateway", "ledger", "warehouse", "frontend", "scheduler", "cluster", "mailer"}
)

func caseOf(i int) string {
	return fmt.Sprintf("%s the %s of the %s, case %d", doing[i%len(doing)], objects[i/7%len(objects)], systems[i/3%len(systems)], i)
}

// fullDesk is a desk with commits that are synced, some lessons and as many steps, and a
// catalogue of 1,000 tools, 200 rules and 500 references of which a tenth is always
// included and the rest when it is relevant.
func fullDesk(b *testing.B, records int) *desk {
	d := &desk{t: b, dir: b.TempDir(), sync: true}
	d.begin()
	for first := 0; first < records; first += 500 {
		var batch []memory.Record
		for i := first; i < first+500; i++ {
			r := memory.Record{
				ID: fmt.Sprintf("l-%06d", i), Kind: memory.Lesson, Project: d.project.ID, Created: deskTime, Text: caseOf(i),
				Event: &memory.Event{Type: memory.EventPattern, Context: caseOf(i), Lesson: "do it twice"},
			}
			if i%2 == 0 {
				r.ID, r.Kind, r.Event, r.Session = fmt.Sprintf("s-%06d", i), memory.Step, nil, d.session
				r.Step = &memory.StepContent{Tool: memory.StepTool{Name: "run"}, Outcome: memory.Outcome{OK: true}}
			}
			batch = append(batch, r)
		}
		if _, err := d.ingest.Write(b.Context(), d.project, memory.Batch{Records: batch}); err != nil {
			b.Fatal(err)
		}
	}
	var entries []memory.CatalogueEntry
	for i := range 1700 {
		kind, name := "tool", fmt.Sprintf("server%d:tool%d", i%20, i)
		switch {
		case i%17 < 2:
			kind, name = "rule", fmt.Sprintf("rule%d", i)
		case i%17 < 7:
			kind, name = "reference", fmt.Sprintf("reference%d", i)
		}
		mode := memory.IncludeAgent
		if i%10 == 0 {
			mode = memory.IncludeAlways
		}
		entries = append(entries, entry(fmt.Sprintf("%s %s %s", kind, name, mode), "How to "+caseOf(i)))
	}
	d.register(entries...)
	for i := range 20 {
		d.done(fmt.Sprintf("task-%d", i), caseOf(i))
	}
	d.blocked("task-99", "the ledger is down")
	b.ResetTimer()
	return d
}

// p50 reports the median of what an operation took.
func p50(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkAssemble measures whole requests among 10,000 and 100,000 records, each
// durable when it returns, and their parts: without the search, which leaves the
// commit and the stages; the catalogue; what is gathered; the stages, which are pure.
//
//	go test ./internal/agentctx -run '^$' -bench Assemble/10000$ -benchtime 300x
func BenchmarkAssemble(b *testing.B) {
	for _, records := range []int{10_000, 100_000} {
		b.Run(strconv.Itoa(records), func(b *testing.B) { assembleParts(b, fullDesk(b, records)) })
	}
}

func assembleParts(b *testing.B, d *desk) {
	prepare := func(b *testing.B, i int) *assembly {
		a := &assembly{s: d.contexts, start: deskTime, project: d.project, session: memory.Session{ID: d.session, Project: d.project.ID}}
		a.req = d.contexts.opts.Settings.fill(memory.AssembleRequest{Message: "How do I " + caseOf(i) + "?", SessionRef: d.which()})
		a.items = d.catalogue.Items(d.project.ID)
		return a
	}
	run := func(name string, one func(b *testing.B, i int) func()) {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				work := one(b, i)
				start := time.Now()
				work()
				took = append(took, time.Since(start))
			}
			p50(b, took)
		})
	}
	run("whole", func(b *testing.B, i int) func() {
		return func() {
			if out := d.assemble(memory.AssembleRequest{Message: "How do I " + caseOf(i) + "?"}); len(out.Memories) == 0 || len(out.Items) == 0 {
				b.Fatalf("nothing was found for %q", caseOf(i))
			}
		}
	})
	run("without search", func(b *testing.B, i int) func() {
		return func() { d.assemble(memory.AssembleRequest{Message: "How do I " + caseOf(i) + "?", NoSearch: true}) }
	})
	run("catalogue", func(b *testing.B, i int) func() { return func() { d.catalogue.Items(d.project.ID) } })
	run("gather", func(b *testing.B, i int) func() {
		a := prepare(b, i)
		return func() {
			if err := a.gather(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	run("stages", func(b *testing.B, i int) func() {
		a := prepare(b, i)
		if err := a.gather(b.Context()); err != nil {
			b.Fatal(err)
		}
		return func() { a.assemble(newWorkingContext(d.session)) }
	})
}

// BenchmarkMemories measures the questions for memories: one of all kinds, one of each
// kind, and those that contexts ask.
//
//	go test ./internal/agentctx -run '^$' -bench Memories -benchtime 200x
func BenchmarkMemories(b *testing.B) {
	d := fullDesk(b, 10_000)
	kinds := []memory.Kind{memory.Lesson, memory.Step, memory.Chunk}
	ask := func(b *testing.B, i int, kinds ...memory.Kind) {
		req := memory.RecallRequest{Query: "How do I " + caseOf(i) + "?", Kinds: kinds, Caller: d.caller, Format: memory.FormatMarkdown}
		if _, _, err := d.recall.Ask(b.Context(), req, recall.AskOptions{Project: &d.project}); err != nil {
			b.Error(err)
		}
	}
	for _, way := range []struct {
		name      string
		questions [][]memory.Kind
	}{
		{"one", [][]memory.Kind{kinds}}, {"each", [][]memory.Kind{kinds[:1], kinds[1:2], kinds[2:]}}, {"contexts", [][]memory.Kind{kinds[:2], kinds[2:]}},
	} {
		b.Run(way.name, func(b *testing.B) {
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				var wg sync.WaitGroup
				for _, q := range way.questions {
					wg.Go(func() { ask(b, i, q...) })
				}
				wg.Wait()
				took = append(took, time.Since(start))
			}
			p50(b, took)
		})
	}
}
