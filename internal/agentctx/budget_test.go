package agentctx

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/testkit/underrace"
	"github.com/recalld/recalld/internal/testlong"
)

// pure returns an assembly that nothing was gathered for.
func pure(req memory.AssembleRequest) *assembly {
	opts := ContextOptions{
		Ports: Ports{Clock: func() time.Time { return deskTime }, Records: loaded{}}, Recall: onlyMatches{}, Settings: defaultAssembly,
	}
	s := &Contexts{opts, defaultShares}
	return &assembly{s: s, start: deskTime, project: memory.Project{ID: "p-1", Name: "demo"}, session: memory.Session{ID: "session-1", Project: "p-1"},
		req: opts.Settings.fill(req)}
}

// loaded holds no records.
type loaded struct{ Records }

func (loaded) Loaded() bool { return true }

func (loaded) Entries(string, ...memory.Kind) []memory.Record { return nil }

// onlyMatches finds no memories; texts are alike if they are equal.
type onlyMatches struct{ Recall }

func (onlyMatches) Ask(context.Context, memory.RecallRequest, recall.AskOptions) (*memory.RecallResponse, memory.Receipt, error) {
	return &memory.RecallResponse{}, memory.Receipt{}, nil
}

func (onlyMatches) Alike(a, b string) bool { return a == b }

func stateText(e memory.CatalogueEntry) memory.EntryState {
	s := memory.EntryState{CatalogueEntry: e, ID: itemName(e.Ref, "id"), Mode: memory.IncludeAlways, On: e.Enabled == nil || *e.Enabled}
	if e.Include != "" {
		s.Mode = e.Include
	}
	return s
}

// windowOf writes tasks and blockers about as working memory does.
func windowOf(tasks []memory.CompletedTask, blockers []memory.BlockedTask) *memory.TaskWindow {
	w := &memory.TaskWindow{Tasks: tasks, Blockers: blockers}
	for _, t := range tasks {
		w.Text += "- " + t.TaskID + ": " + t.Intent + "\n"
	}
	for _, b := range blockers {
		w.Text += "- " + b.TaskID + ": " + b.Reason + "\n"
	}
	return w
}

// random fills an assembly and a working context with whatever there may be.
func random(r *rand.Rand) (*assembly, *memory.WorkingContext) {
	text := func(most int) string { return strings.Repeat("word änd ", r.IntN(most/8+1)) + "." }
	a := pure(memory.AssembleRequest{
		Message: "x", MaxTokens: memory.MinBudget + r.IntN(3000), TopN: 1 + r.IntN(10), TopK: 1 + r.IntN(30), IncludeScore: new(r.Float64()),
	})
	wc := newWorkingContext("session-1")
	modes := []memory.Include{"", memory.IncludeAlways, memory.IncludeManual, memory.IncludeAgent, memory.IncludeAgent, memory.IncludeAgent}
	for i := range r.IntN(60) {
		e := memory.CatalogueEntry{Ref: memory.Ref{Type: memory.EntryKinds[r.IntN(3)], Name: fmt.Sprintf("entry %d", i)}, Include: modes[r.IntN(len(modes))]}
		if e.Type == memory.Tool {
			e.ServerName, e.Description, e.Guidance = "server", text(300), text(400)
			e.InputSchema = json.RawMessage(`{"about":"` + text(200) + `"}`)
		} else {
			e.Content = text(1500)
		}
		if r.IntN(6) == 0 {
			e.Enabled = new(false)
		}
		switch r.IntN(8) {
		case 0:
			wc.Added = append(wc.Added, memory.ContextItem{Ref: e.Ref, IncludeMode: memory.IncludeManual})
		case 1:
			wc.Removed = append(wc.Removed, e.Ref)
		}
		s := stateText(e)
		switch r.IntN(3) {
		case 0:
			a.result.entries.Items = append(a.result.entries.Items, recall.Matched{ID: s.ID, Kind: e.Type, Relevance: .5 + r.Float64()/2})
		case 1:
			a.result.entries.Withheld = append(a.result.entries.Withheld, memory.Withheld{ID: s.ID, Kind: e.Type, Reason: memory.BelowThreshold, NearestScore: .4})
		}
		if r.IntN(10) > 0 { // else it has gone
			a.items = append(a.items, s)
		}
	}
	for i := range r.IntN(12) {
		m := memory.Item{ID: fmt.Sprintf("m-%d", i), Kind: []memory.Kind{memory.Lesson, memory.Step, memory.Chunk}[i%3], Text: text(500), Relevance: r.Float64(), CreatedAt: deskTime}
		if m.Kind == memory.Chunk {
			m.Source = memory.Source{Path: "a/b.go", Lines: &[2]int{1, 9}}
		}
		m.Tokens = render.Tokens(m.Text) + 3
		a.result.memories = append(a.result.memories, m)
	}
	var tasks []memory.CompletedTask
	var blockers []memory.BlockedTask
	for i := range r.IntN(6) {
		tasks = append(tasks, memory.CompletedTask{TaskID: fmt.Sprintf("task-%d", i), Intent: text(200)})
	}
	for i := range r.IntN(4) {
		blockers = append(blockers, memory.BlockedTask{TaskID: fmt.Sprintf("task-%d", i), Reason: text(200)})
	}
	a.tasks = windowOf(tasks, blockers)
	a.fewerTasks = func(n int) *memory.TaskWindow { return windowOf(tasks[len(tasks)-n:], blockers) }
	return a, wc
}

// TestWhateverTheInputs holds every assembly to what contexts promise: the budget is
// kept, nothing is in it twice, relevance hands out nothing that it has no say in, and
// the record is exactly what was handed out.
func TestWhateverTheInputs(t *testing.T) {
	underrace.Skip(t, "one goroutine assembles")
	full, short := 0, 0
	for seed := range uint64(testlong.Steps(500, 1500)) {
		r := rand.New(rand.NewPCG(seed, 1))
		a, wc := random(r)
		guided := len(wc.Guided)
		out, receipt := a.assemble(wc)
		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("seed %d: "+format, append([]any{seed}, args...)...)
		}

		least := render.Tokens(out.Text)
		alone := 0
		for _, item := range out.Items {
			least += render.Tokens(string(item.InputSchema))
			alone += item.Tokens
		}
		for _, m := range out.Memories {
			alone += m.Tokens
		}
		if out.Tokens > out.MaxTokens || out.MaxTokens != a.req.MaxTokens {
			fail("%d tokens are over the budget of %d", out.Tokens, a.req.MaxTokens)
		}
		if least > out.Tokens || alone > out.Tokens {
			fail("%d tokens are told, it takes %d written and %d in parts", out.Tokens, least, alone)
		}

		if out.Memories == nil || out.ActiveTools == nil || out.Withheld == nil || receipt.Items == nil || receipt.Withheld == nil {
			fail("a list is missing instead of empty")
		}
		states := map[memory.Ref]memory.EntryState{}
		for _, e := range a.items {
			states[e.Ref] = e
		}
		decided := map[memory.Ref]bool{}
		for _, item := range wc.Added {
			decided[item.Ref] = true
		}
		for _, ref := range wc.Removed {
			decided[ref] = true
		}
		seen := map[string]bool{}
		var want []string
		add := func(name string) {
			if seen[name] {
				fail("%s is handed out twice", name)
			}
			seen[name] = true
			want = append(want, name)
		}
		for _, item := range out.Items {
			add(itemName(item.Ref, item.IncludeMode))
			e, there := states[item.Ref]
			if !there {
				fail("%v is handed out and not in the catalogue", item.Ref)
			}
			agent := item.IncludeMode == memory.IncludeAgent
			if agent && (!e.On || e.Mode != memory.IncludeAgent || decided[item.Ref]) {
				fail("%v is handed out by relevance: %+v", item.Ref, e)
			}
			if agent != (item.SimilarityScore != nil) {
				fail("%v in the mode %s has the score %v", item.Ref, item.IncludeMode, item.SimilarityScore)
			}
			if item.IncludeMode == memory.IncludeAlways && (e.Mode != memory.IncludeAlways || !e.On) {
				fail("%v is handed out always: %+v", item.Ref, e)
			}
		}
		for _, m := range out.Memories {
			add(string(m.Kind) + " " + m.ID + " agent")
		}
		if out.Window != nil {
			for _, x := range out.Window.Tasks {
				add("task " + x.TaskID + " always")
			}
			for _, x := range out.Window.Blockers {
				add("blocker " + x.TaskID + " always")
			}
		}
		var got []string
		for _, item := range out.Record.Items {
			got = append(got, itemName(memory.Ref{Type: item.Type, Name: item.Name, ServerName: item.ServerName}, item.IncludeMode))
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			fail("the record is %q, handed out was %q", got, want)
		}
		if receipt.Turn != 1 || wc.Turn != 1 || receipt.Tokens != out.Tokens || len(receipt.Items) != len(got) {
			fail("the receipt is of turn %d with %d tokens and %d items", receipt.Turn, receipt.Tokens, len(receipt.Items))
		}
		for _, w := range out.Withheld {
			if name := itemName(memory.Ref{Type: w.Kind, Name: w.Name, ServerName: w.Server}, ""); w.Name != "" && (seen[name+"always"] || seen[name+"manual"] || seen[name+"agent"]) {
				fail("%sis handed out and withheld as %s", name, w.Reason)
			}
			if w.Reason == memory.OverBudget {
				full++
			}
		}
		if (out.Guidance != "") != (len(wc.Guided) > guided) {
			fail("%d tools are marked as told of with the guidance %q", len(wc.Guided)-guided, out.Guidance)
		}
		if out.Window != nil && len(out.Window.Tasks) < len(a.tasks.Tasks) {
			short++
		}
	}
	if full == 0 || short == 0 {
		t.Errorf("no budget was full (%d) or no window too long (%d): the test shows nothing", full, short)
	}
}

func TestASessionContextComesBeforeWhatIsRelevant(t *testing.T) {
	a := pure(memory.AssembleRequest{MaxTokens: 70})
	big := strings.Repeat("long ", 50)   // 72 tokens
	small := strings.Repeat("short ", 5) // 9 tokens
	a.items = []memory.EntryState{
		stateText(entry("tool fs:big always", big)), stateText(entry("rule first always", small)), stateText(entry("rule big always", big)),
		stateText(entry("rule last always", small)), stateText(entry("rule found agent", big+"other")),
	}
	a.result.entries.Items = []recall.Matched{{ID: a.items[4].ID, Kind: memory.Rule, Relevance: .9}}
	out, _ := a.assemble(newWorkingContext("session-1"))
	// The tool comes after the rules, and what comes after a large one is still tried.
	if got, want := handedOut(out), "rule first always, rule last always"; got != want {
		t.Errorf("handed out %q, want %q", got, want)
	}
	if got, want := withheldFor(out, memory.OverBudget), "rule big, rule found, tool fs:big"; got != want {
		t.Errorf("over the budget are %q, want %q", got, want)
	}
	for _, w := range out.Withheld {
		if w.Name == "found" && w.NearestScore != .9 {
			t.Errorf("what does not fit is withheld with the score %v, want .9", w.NearestScore)
		}
	}
}

func TestWhatIsHandedOutHasTheOrderOfTheSession(t *testing.T) {
	a := pure(memory.AssembleRequest{})
	a.items = []memory.EntryState{stateText(entry("tool fs:read always", "Reads.")), stateText(entry("rule A always", "Be brief."))}
	a.items = append(a.items, stateText(entry("tool fs:find agent", "Finds.")), stateText(entry("rule C agent", "Be kind.")))
	for _, e := range a.items[2:] {
		a.result.entries.Items = append(a.result.entries.Items, recall.Matched{ID: e.ID, Kind: e.Type, Relevance: .9})
	}
	out, _ := a.assemble(newWorkingContext("session-1"))
	if got, want := handedOut(out), "tool fs:read always, rule A always, rule C agent, tool fs:find agent"; got != want {
		t.Errorf("handed out %q, want %q", got, want)
	}
}

func TestAKindKeepsToItsShareAndLeavesTheRestToTheNext(t *testing.T) {
	lesson := func(id string, tokens int) memory.Item {
		return memory.Item{ID: id, Kind: memory.Lesson, Text: strings.Repeat("x", tokens*3), Tokens: tokens, Relevance: .9}
	}
	step := func(id string, tokens int) memory.Item {
		m := lesson(id, tokens)
		m.Kind = memory.Step
		return m
	}
	for _, c := range []struct {
		what     string
		shares   map[memory.Kind]float64
		memories []memory.Item
		want     string
	}{
		{"a share is kept to", map[memory.Kind]float64{memory.Lesson: .3, memory.Step: .3},
			[]memory.Item{lesson("a", 200), lesson("b", 200), step("c", 200)}, "a c"},
		{"what is left is for the next kind", map[memory.Kind]float64{memory.Lesson: .3, memory.Step: .3},
			[]memory.Item{step("c", 250), step("d", 250)}, "c d"},
		{"all of the shares are no more than the budget", map[memory.Kind]float64{memory.Lesson: 1, memory.Step: 1},
			[]memory.Item{lesson("a", 600), step("c", 600)}, "a"},
		{"a kind without a share has what others left", map[memory.Kind]float64{memory.Lesson: .3},
			[]memory.Item{lesson("a", 100), step("c", 100), step("d", 150)}, "a c"},
		{"nothing is left to a kind without a share", map[memory.Kind]float64{memory.Lesson: .2},
			[]memory.Item{lesson("a", 180), step("c", 100)}, "a"},
	} {
		a := pure(memory.AssembleRequest{MaxTokens: 1000})
		a.s.shares = c.shares
		a.result.memories = c.memories
		out, _ := a.assemble(newWorkingContext("session-1"))
		var got []string
		for _, m := range out.Memories {
			got = append(got, m.ID)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: handed out %q, want %q", c.what, got, c.want)
		}
	}
}

func TestAWindowThatIsTooLongLosesItsOldestTasks(t *testing.T) {
	tasks := []memory.CompletedTask{{TaskID: "old", Intent: strings.Repeat("o", 150)}, {TaskID: "new", Intent: "short"}}
	for _, c := range []struct {
		what, reason, shown, withheld string
	}{
		{"both fit without the old one", "waits", "new", "task old"},
		{"not even the blocker fits", strings.Repeat("w", 400), "", "blocker held, task new, task old"},
	} {
		blockers := []memory.BlockedTask{{TaskID: "held", Reason: c.reason}}
		a := pure(memory.AssembleRequest{MaxTokens: 50})
		a.tasks = windowOf(tasks, blockers)
		a.fewerTasks = func(n int) *memory.TaskWindow { return windowOf(tasks[len(tasks)-n:], blockers) }
		out, _ := a.assemble(newWorkingContext("session-1"))
		shown := ""
		if out.Window != nil {
			shown = out.Window.Tasks[0].TaskID
		}
		if got := withheldFor(out, memory.OverBudget); shown != c.shown || got != c.withheld {
			t.Errorf("%s: shown %q and withheld %q, want %q and %q", c.what, shown, got, c.shown, c.withheld)
		}
	}
}

// TestBlockersThatTheWindowLeavesOutAreWithheld: its text shows the newest ones alone, so
// the record names no others as handed out.
func TestBlockersThatTheWindowLeavesOutAreWithheld(t *testing.T) {
	blockers := []memory.BlockedTask{{TaskID: "b-1"}, {TaskID: "b-2"}, {TaskID: "b-3"}}
	a := pure(memory.AssembleRequest{MaxTokens: 1000})
	a.tasks = windowOf(nil, blockers[2:])
	a.tasks.Blockers, a.tasks.LeftOut = blockers, 2
	out, receipt := a.assemble(newWorkingContext("session-1"))
	if got, want := withheldFor(out, memory.OverLimit), "blocker b-1, blocker b-2"; got != want {
		t.Errorf("withheld %q, want %q", got, want)
	}
	if out.Window == nil || len(out.Window.Blockers) != 1 || out.Window.Blockers[0].TaskID != "b-3" || len(a.tasks.Blockers) != 3 {
		t.Errorf("the window handed out is %+v, want b-3 alone", out.Window)
	}
	names := ""
	for _, item := range receipt.Items {
		names += item.Name + " "
	}
	if names != "b-3 " {
		t.Errorf("the receipt names %q as handed out, want b-3 alone", names)
	}
}

func TestGuidanceThatDoesNotFitIsForALaterTurn(t *testing.T) {
	e := entry("tool fs:read always", "Reads a file.")
	e.Guidance = strings.Repeat("Read before you edit. ", 40)
	wc := newWorkingContext("session-1")
	a := pure(memory.AssembleRequest{MaxTokens: 100})
	a.items = []memory.EntryState{stateText(e)}
	if out, _ := a.assemble(wc); out.Guidance != "" || len(wc.Guided) != 0 || len(out.Items) != 1 {
		t.Errorf("with little room, %d items and the guidance %q are handed out", len(out.Items), out.Guidance)
	}
	a = pure(memory.AssembleRequest{MaxTokens: 4000})
	a.items = []memory.EntryState{stateText(e)}
	if out, _ := a.assemble(wc); !strings.Contains(out.Guidance, strings.TrimSpace(e.Guidance)) || len(wc.Guided) != 1 {
		t.Errorf("with much room, the guidance is %q", out.Guidance)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for _, c := range []struct {
		field  string
		change func(*AssemblySettings)
	}{
		{"max_tokens", func(s *AssemblySettings) { s.MaxTokens = memory.MinBudget - 1 }},
		{"max_tokens", func(s *AssemblySettings) { s.MaxTokens = memory.MaxBudget + 1 }},
		{"top_k", func(s *AssemblySettings) { s.TopK = 0 }},
		{"top_n", func(s *AssemblySettings) { s.TopN = memory.MaxTopN + 1 }},
		{"include_score", func(s *AssemblySettings) { s.IncludeScore = 1.1 }},
	} {
		settings := defaultAssembly
		c.change(&settings)
		if err := memory.Check(&settings); err == nil || memory.AsError(err).Field != c.field {
			t.Errorf("%s: %v", c.field, err)
		}
	}
	settings := defaultAssembly
	if err := memory.Check(&settings); err != nil {
		t.Errorf("the defaults: %v", err)
	}
}
