package ledger

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// TestContextsAreAskedAgain: what a context of the real assembly chose is chosen again;
// a rule that was registered since is the data's doing, what a floor takes the
// settings'; what it always holds is not compared.
func TestContextsAreAskedAgain(t *testing.T) {
	r := newReplayRig(t)
	r.docker()
	register := func(entries ...memory.CatalogueEntry) {
		t.Helper()
		if _, err := r.catalogue.Register(t.Context(), memory.RegisterRequest{Entries: entries, Caller: r.caller}); err != nil {
			t.Fatal(err)
		}
	}
	rule := func(name, content string, include memory.Include) memory.CatalogueEntry {
		return memory.CatalogueEntry{Ref: memory.Ref{Type: memory.Rule, Name: name}, Content: content, Include: include}
	}
	register(
		rule("Always", "Build docker images of pinned versions.", memory.IncludeAlways),
		rule("By hand", "Build docker images at night.", memory.IncludeManual),
		rule("Builds", "A docker build that fails is retried once with an empty cache.", memory.IncludeAgent),
		rule("Prose", "Write short sentences.", memory.IncludeAgent),
	)
	if _, err := r.ingest.StartSession(t.Context(), memory.StartSessionRequest{SessionID: "mm-one", Caller: r.caller}); err != nil {
		t.Fatal(err)
	}
	got, err := r.contexts.Assemble(t.Context(), memory.AssembleRequest{Message: "docker build fails", SessionRef: memory.SessionRef{Caller: r.caller}})
	if err != nil {
		t.Fatal(err)
	}
	chosen := 0
	for _, item := range got.Record.Items {
		if item.IncludeMode == memory.IncludeAgent {
			chosen++
		}
	}
	if chosen < 2 {
		t.Fatalf("the context is %+v, want a rule and a lesson that are relevant", got.Record)
	}
	same := r.replay(memory.ReplayRequest{})
	if len(same.Answers) != 1 || same.Answers[0].DataChanged || same.Answers[0].SettingsChanged || same.Tally.Same != chosen {
		t.Fatalf("asked again at once: %+v\n%s\nwant the %d items that were chosen", same.Tally, same.Text, chosen)
	}
	register(rule("Later", "Ask for help when a docker build fails twice.", memory.IncludeAgent))
	after := r.replay(memory.ReplayRequest{MinRelevance: map[memory.Kind]float64{memory.Lesson: 1}})
	var added []string
	for _, item := range after.Answers[0].Items {
		if item.Recorded == 0 && item.Before > 0 {
			added = append(added, item.Title)
		}
	}
	if !slices.Equal(added, []string{"Later"}) || after.Tally.SettingsRemoved == 0 || after.Tally.DataRemoved > 0 {
		t.Errorf("with another rule and a floor: added %v, %+v; want the rule by the data, lessons gone by the settings", added, after.Tally)
	}
}

// TestNothingChangesWhereNothingDid: contexts of all sorts, and recalls, asked again of
// the same store by the same settings.
func TestNothingChangesWhereNothingDid(t *testing.T) {
	r := newReplayRig(t)
	r.docker()
	for _, where := range []string{"on the first node", "behind the proxy", "in the release job", "with a full disk", "after an update", "on arm"} {
		r.lesson("docker build fails "+where, "look into the log of the builder "+where)
	}
	var entries []memory.CatalogueEntry
	for name, content := range map[string]string{
		"Retries": "A docker build that fails is retried once with an empty cache.",
		"Again":   "A docker build that fails is retried once with an empty cache.",
		"Long":    strings.Repeat("A docker build fails: a docker build that fails has a log. ", 30),
		"Tags":    "No docker build without a tag; one that fails keeps it.",
		"Caches":  "The cache of a docker build that fails is kept for a day.",
		"Owners":  "Whose docker build fails has to mend it.",
		"Held":    "A docker build fails on warnings.",
	} {
		entries = append(entries, memory.CatalogueEntry{Ref: memory.Ref{Type: memory.Rule, Name: name}, Content: content, Include: memory.IncludeAgent})
	}
	if _, err := r.catalogue.Register(t.Context(), memory.RegisterRequest{Entries: entries, Caller: r.caller}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.ingest.StartSession(t.Context(), memory.StartSessionRequest{SessionID: "mm-one", Goal: "mend the docker build", Caller: r.caller}); err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		_, err := r.ingest.RecordStep(t.Context(), memory.RecordStepRequest{
			SessionID: "mm-one", Tool: memory.StepTool{Name: "run"}, Caller: r.caller,
			Observation: json.RawMessage(fmt.Sprintf(`{"text":"docker build fails in stage %d"}`, i)),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	which := memory.SessionRef{Caller: r.caller}
	held := []memory.ContextItem{{Ref: memory.Ref{Type: memory.Rule, Name: "Held"}}}
	if _, err := r.contexts.ChangeContext(t.Context(), memory.ChangeContextRequest{Add: held, SessionRef: which}); err != nil {
		t.Fatal(err)
	}
	told := map[memory.Reason]int{}
	for i, req := range []memory.AssembleRequest{
		{},
		{TopN: 1, IncludeScore: new(1.0)},
		{TopN: 50, MaxTokens: 20_000},
		{TopK: 2},
		{MaxTokens: 400, TopN: 2, IncludeScore: new(1.0)},
		{RequiresContext: new(false)},
		{NoSearch: true},
	} {
		r.later(time.Second)
		req.Message, req.SessionRef = "docker build fails", which
		out, err := r.contexts.Assemble(t.Context(), req)
		if err != nil {
			t.Fatalf("context %d: %v", i, err)
		}
		for _, w := range out.Withheld {
			told[w.Reason]++
		}
	}
	if told[memory.OverBudget] == 0 || told[memory.Duplicate] == 0 || told[memory.OverLimit] == 0 {
		t.Fatalf("withheld were %v, want some of each of three reasons: the test shows less than it could", told)
	}
	r.ask(memory.RecallRequest{Query: "docker build fails", Limit: 12})
	out := r.replay(memory.ReplayRequest{})
	if out.Tally.Questions != 8 || out.Tally.Failed > 0 || out.Tally.Same == 0 {
		t.Errorf("tally %+v, want all 8 questions asked", out.Tally)
	}
	for i, a := range out.Answers {
		if a.DataChanged || a.SettingsChanged {
			t.Errorf("answer %d changed by data %v, by settings %v: %+v", i, a.DataChanged, a.SettingsChanged, differing(a))
		}
	}
}
