package daemon

import (
	"fmt"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// What the goals for contexts are stated for: 100,000 records of history beside the
// catalogue.
const (
	contextLessons  = 20_000
	contextSessions = 1_600 // of historySteps steps
	contextTools    = 1_000
	contextRules    = 200
	contextTexts    = 500 // references
	contextTasks    = memory.MaxTasks
	contextBlockers = 10
)

// BenchmarkContexts builds contexts, searches for tools and shows the window of tasks
// in a project with 100,000 records, 1,000 tools, 200 rules and 500 references, every
// time for something else. Assembling and searching write a durable receipt. It
// reports the 50th and 99th percentile.
func BenchmarkContexts(b *testing.B) {
	h := newHistory(b, contextLessons, contextSessions)
	project := h.project.Name
	tools := toolCatalogue(b)[:contextTools]
	entries := append([]memory.CatalogueEntry{}, tools...)
	for i := range contextRules + contextTexts {
		e := memory.CatalogueEntry{Ref: memory.Ref{Type: memory.Rule, Name: fmt.Sprintf("Rule %d", i)}, Content: h.words.text(40), Include: memory.IncludeAgent}
		if i >= contextRules {
			e.Type, e.Name = memory.Reference, fmt.Sprintf("Reference %d", i)
		}
		if i%100 == 0 {
			e.Include = memory.IncludeAlways
		}
		entries = append(entries, e)
	}
	registered(b, h.core, project, entries)
	which := memory.SessionRef{SessionID: "bench-context", Project: project}
	if _, err := h.core.Ingest.StartSession(b.Context(), memory.StartSessionRequest{SessionID: which.SessionID, Project: project}); err != nil {
		b.Fatal(err)
	}
	for i := range contextTasks {
		_, err := h.core.Working.CompleteTask(b.Context(), memory.CompleteTaskRequest{
			TaskID: fmt.Sprintf("task-%d", i), RequiresContext: new(true), Intent: h.words.text(12), ValidationReport: []byte(`{"valid":true}`), Project: project,
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	for i := range contextBlockers {
		if _, err := h.core.Working.BlockTask(b.Context(), memory.BlockTaskRequest{TaskID: fmt.Sprintf("blocked-%d", i), Reason: h.words.text(12), Project: project}); err != nil {
			b.Fatal(err)
		}
	}
	task := func() string { return tools[h.words.random.IntN(len(tools))].Description + " " + h.words.text(4) }
	for _, part := range []struct {
		name string
		do   func() error
	}{
		{"assemble", func() error {
			_, err := h.core.Session.Assemble(b.Context(), memory.AssembleRequest{Message: task(), SessionRef: which})
			return err
		}},
		{"search-tools", func() error {
			_, err := h.core.Session.SearchTools(b.Context(), memory.SearchToolsRequest{Query: task(), SessionRef: which})
			return err
		}},
		{"session-context", func() error {
			_, err := h.core.Session.SessionContext(b.Context(), memory.ContextRequest{SessionRef: which})
			return err
		}},
		{"window", func() error {
			_, err := h.core.Working.TaskWindow(b.Context(), memory.TaskWindowRequest{Project: project})
			return err
		}},
	} {
		b.Run(part.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				begin := time.Now()
				err := part.do()
				took = append(took, time.Since(begin))
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(percentile(took, 50).Seconds()*1e3, "p50-ms")
			b.ReportMetric(percentile(took, 99).Seconds()*1e3, "p99-ms")
		})
	}
}
