package daemon

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/golden"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// TestGoldenTokens holds what five memories cost an agent against reading the
// log of 1,000 lessons that they come from. Tokens are estimated for both as
// answers count them: one for every 3.5 bytes.
func TestGoldenTokens(t *testing.T) {
	underrace.Skip(t, "sizes of answers")
	const lessons, every = 1000, 50
	core := openQuiet(t)
	about := t.TempDir()
	words := newLessons()
	log := 0 // bytes
	var questions []string
	for i := range lessons {
		req := words.next(about)
		line, err := json.Marshal(logLine{
			Timestamp: time.Date(2025, 10, 31, 4, 58, 1, 0, time.UTC), AgentID: "agent", Repo: "repo", Type: req.Type,
			Context: req.Context, Command: req.Command, Lesson: req.Lesson, Rate: req.SuccessRate, Tags: req.Tags,
		})
		if err != nil {
			t.Fatalf("write line: %v", err)
		}
		log += len(line) + 1
		if _, err := core.Ingest.Remember(t.Context(), req); err != nil {
			t.Fatalf("remember: %v", err)
		}
		if i%every == 0 {
			questions = append(questions, req.Context)
		}
	}
	total, most := 0, 0
	for _, q := range questions {
		a, err := core.Recall.Recall(t.Context(), memory.RecallRequest{Query: q, Kinds: []memory.Kind{memory.Lesson}, MinRelevance: new(0.0), Caller: memory.Caller{Dir: about}})
		if err != nil {
			t.Fatalf("recall: %v", err)
		}
		if len(a.Items) != memory.DefaultLimit {
			t.Errorf("%q is answered with %d lessons, want %d", q, len(a.Items), memory.DefaultLimit)
		}
		total, most = total+a.Tokens, max(most, a.Tokens)
	}
	whole, mean := (2*log+6)/7, total/len(questions)
	golden.Equal(t, "../eval/testdata/tokens.golden", fmt.Sprintf(
		"the log of %d lessons: %d tokens\nfive memories: %d tokens in the mean of %d questions, at most %d\nsaved: %.1f %%, 1 of %d tokens is read\n",
		lessons, whole, mean, len(questions), most, 100*(1-float64(mean)/float64(whole)), whole/mean))
}

// logLine is a line of a lesson log (contract 2).
type logLine struct {
	Timestamp time.Time        `json:"timestamp"`
	AgentID   string           `json:"agent_id"`
	Repo      string           `json:"repo"`
	Type      memory.EventType `json:"event_type"`
	Context   string           `json:"context"`
	Command   string           `json:"command"`
	Lesson    string           `json:"lesson"`
	Rate      string           `json:"success_rate"`
	Tags      []string         `json:"tags"`
}
