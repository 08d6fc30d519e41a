package agentctx

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
)

// matcher answers with the scores that a test chooses, by the names of entries, best
// first; of what is not in the catalogue it says nothing.
type matcher struct {
	Recall
	items  func() []memory.EntryState
	scores []score
	err    error
}

type score struct {
	name  string
	value float64
}

func (m *matcher) Match(_ context.Context, _ string, sel memory.Selection, limit int, _ recall.AskOptions) (recall.Matches, error) {
	var out recall.Matches
	for _, s := range m.scores {
		for _, e := range m.items() {
			switch {
			case e.Name != s.name || sel.Only != nil && !sel.Only[e.ID]:
			case s.value < .5:
				out.Withheld = append(out.Withheld, memory.Withheld{ID: e.ID, Kind: e.Type, Reason: memory.BelowThreshold, NearestScore: s.value})
			case len(out.Items) < limit:
				out.Items = append(out.Items, recall.Matched{ID: e.ID, Kind: e.Type, Relevance: s.value})
			default:
				out.Withheld = append(out.Withheld, memory.Withheld{ID: e.ID, Kind: e.Type, Reason: memory.OverLimit, NearestScore: s.value})
			}
		}
	}
	return out, m.err
}

// withMatcher opens a desk on which a test chooses what is relevant, and to whose
// contexts memories add nothing.
func withMatcher(t testing.TB) (*desk, *matcher) {
	m := &matcher{}
	d := newDesk(t, func(o *ContextOptions) { m.Recall, o.Recall = onlyMatches{o.Recall}, m })
	m.items = func() []memory.EntryState { return d.catalogue.Items(d.project.ID) }
	return d, m
}

// scored are the items of a record, as "rule A always", "rule C agent 0.92".
func scored(r memory.ContextRecord) string {
	var out []string
	for _, item := range r.Items {
		name := itemName(memory.Ref{Type: item.Type, Name: item.Name, ServerName: item.ServerName}, item.IncludeMode)
		if item.SimilarityScore != nil {
			name += fmt.Sprintf(" %.2f", *item.SimilarityScore)
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

// register the entries of the contract's example.
func (d *desk) registerExample() {
	d.register(
		entry("rule A always", "Answer in whole sentences."),
		entry("reference X always", "The service has a gateway, a ledger and a queue."),
		entry("rule B manual", "Every change comes with a test."),
		entry("rule C agent", "How to authenticate: users authenticate with a password, which is checked against its hash, and get a session token."),
		entry("reference Y agent", "Database schema: the table orders has the columns id, customer, total and created_at."),
	)
}

func TestTheFlowOfTheContract(t *testing.T) {
	d, m := withMatcher(t)
	d.registerExample()
	d.alter(added("rule B"))
	if got, want := d.held(), "rule A always, reference X always, rule B manual"; got != want {
		t.Fatalf("the session holds %q, want %q", got, want)
	}
	for i, turn := range []struct {
		scores []score
		want   string
	}{
		{nil, "rule A always, reference X always, rule B manual"},
		{[]score{{"C", .92}, {"A", .91}, {"B", .8}, {"Y", .3}}, "rule A always, reference X always, rule B manual, rule C agent 0.92"},
		{[]score{{"Y", .87}, {"C", .2}}, "rule A always, reference X always, rule B manual, reference Y agent 0.87"},
	} {
		m.scores = turn.scores
		out := d.assemble(memory.AssembleRequest{Message: "How do I authenticate?"})
		if got := scored(out.Record); got != turn.want {
			t.Errorf("turn %d: the record is %q, want %q", i+1, got, turn.want)
		}
		if out.Turn != i+1 {
			t.Errorf("turn %d is told as %d", i+1, out.Turn)
		}
		stored := d.receipt(out.Receipt)
		if got := scored(memory.RecordOf(&stored)); got != turn.want || stored.Turn != i+1 || stored.Session != d.session || stored.Purpose != memory.PurposeContext {
			t.Errorf("turn %d: the ledger has %q of turn %d of session %q, want %q", i+1, got, stored.Turn, stored.Session, turn.want)
		}
	}
}

func TestTheFlowOfTheContractWithRealSearch(t *testing.T) {
	d := newDesk(t)
	d.registerExample()
	d.alter(added("rule B"))
	first := d.assemble(memory.AssembleRequest{Message: "How do users authenticate with a password?"})
	if got, want := handedOut(first), "rule A always, reference X always, rule B manual, rule C agent"; got != want {
		t.Errorf("turn 1 is given %q, want %q", got, want)
	}
	second := d.assemble(memory.AssembleRequest{Message: "Which columns does the table orders have in the database schema?"})
	if got, want := handedOut(second), "rule A always, reference X always, rule B manual, reference Y agent"; got != want {
		t.Errorf("turn 2 is given %q, want %q", got, want)
	}
	receipt := d.receipt(second.Receipt)
	if len(receipt.Spaces) == 0 || receipt.Calibration == "" || receipt.Settings == nil || receipt.Settings.MinRelevance[memory.Rule] == 0 {
		t.Errorf("the receipt does not say how the search went: %+v", receipt)
	}
	d.reopen()
	if third := d.assemble(memory.AssembleRequest{Message: "hello"}); third.Turn != 3 {
		t.Errorf("after a restart turn 3 is told as %d", third.Turn)
	}
}

func TestWithoutSearchTheRequestContextIsTheSessionContext(t *testing.T) {
	d, m := withMatcher(t)
	d.registerExample()
	d.alter(added("rule B"))
	d.done("task-1", "Build the login")
	const held = "rule A always, reference X always, rule B manual"
	for _, c := range []struct {
		what string
		req  memory.AssembleRequest
		err  error
		part string
	}{
		{"switched off", memory.AssembleRequest{NoSearch: true}, nil, "search"},
		{"failing", memory.AssembleRequest{}, errors.New("the index is on fire"), "entries"},
	} {
		m.scores, m.err = []score{{"C", .99}}, c.err
		c.req.Message = "How do I authenticate?"
		out := d.assemble(c.req)
		if got := handedOut(out); got != held {
			t.Errorf("%s: handed out %q, want %q", c.what, got, held)
		}
		if !slices.ContainsFunc(out.Degraded, func(g memory.Degraded) bool { return g.Part == c.part && g.Reason != "" }) {
			t.Errorf("%s: degraded is %v, want %s named", c.what, out.Degraded, c.part)
		}
		if out.Window == nil || len(out.Window.Tasks) != 1 {
			t.Errorf("%s: the window is missing", c.what)
		}
		if got, want := scored(out.Record), held+", task task-1 always"; got != want {
			t.Errorf("%s: the record is %q, want %q", c.what, got, want)
		}
		if got := d.receipt(out.Receipt).Degraded; len(got) != len(out.Degraded) {
			t.Errorf("%s: the receipt says %v, want %v", c.what, got, out.Degraded)
		}
	}
}

func TestMemoriesTasksAndBlockersAreInTheRecord(t *testing.T) {
	d := newDesk(t)
	d.remember("npm install fails with EACCES", "change the owner of the npm cache folder")
	d.done("task-1", "Install the packages")
	d.blocked("task-2", "The registry is down")
	out := d.assemble(memory.AssembleRequest{Message: "npm install fails with EACCES"})
	if len(out.Memories) != 1 || out.Memories[0].Kind != memory.Lesson {
		t.Fatalf("memories are %+v, want the lesson", out.Memories)
	}
	lesson := out.Memories[0]
	want := fmt.Sprintf("lesson %s agent %.2f, task task-1 always, blocker task-2 always", lesson.ID, lesson.Relevance)
	if got := scored(out.Record); got != want {
		t.Errorf("the record is %q, want %q", got, want)
	}
	for _, item := range d.receipt(out.Receipt).Items {
		rec, err := d.store.Record(item.ID)
		if err != nil || rec.Kind != item.Kind {
			t.Errorf("the receipt names %s %s, which is no record of that kind: %v", item.Kind, item.ID, err)
		}
		if item.Kind == memory.Lesson && (item.RankFactors == nil || item.RankFactors.Score == 0) {
			t.Errorf("the receipt does not explain the lesson's rank: %+v", item)
		}
	}
	for _, part := range []string{"change the owner of the npm cache", "## Recent Task History", "Install the packages", "## Active Blockers", "The registry is down"} {
		if !strings.Contains(out.Text, part) {
			t.Errorf("the text lacks %q:\n%s", part, out.Text)
		}
	}
}

// leaving leaves history and code out of the contexts of chores.
type leaving struct {
	TaskReader
	leave *bool
}

func (l leaving) Settings(p memory.Project, taskType string) TaskTypeSettings {
	s := l.TaskReader.Settings(p, taskType)
	s.LeaveOut = *l.leave && p.Name == "demo" && taskType == "chore"
	return s
}

func TestATaskThatRequiresNoContextGetsNoHistory(t *testing.T) {
	leave := false
	d := newDesk(t, func(o *ContextOptions) {
		o.Tasks = leaving{o.Tasks, &leave}
	})
	d.remember("npm install fails with EACCES", "change the owner of the npm cache folder")
	if _, err := d.ingest.RecordStep(t.Context(), memory.RecordStepRequest{
		Tool: memory.StepTool{Name: "run"}, Outcome: memory.Outcome{Error: &memory.StepError{Message: "npm install fails with EACCES on the cache"}}, Caller: d.caller,
	}); err != nil {
		t.Fatal(err)
	}
	d.done("task-1", "Install the packages")
	for _, c := range []struct {
		what     string
		requires *bool
		taskType string
		leave    bool
		history  bool
	}{
		{what: "not said", history: true},
		{what: "required", requires: new(true), history: true},
		{what: "not required", requires: new(false)},
		{what: "left out by the settings", taskType: "chore", leave: true},
		{what: "left out by the settings of another type", taskType: "feature", leave: true, history: true},
		{what: "required against the settings", requires: new(true), taskType: "chore", leave: true, history: true},
	} {
		leave = c.leave
		out := d.assemble(memory.AssembleRequest{Message: "npm install fails with EACCES", RequiresContext: c.requires, TaskType: c.taskType})
		kinds := map[memory.Kind]bool{}
		for _, m := range out.Memories {
			kinds[m.Kind] = true
		}
		if !kinds[memory.Lesson] {
			t.Errorf("%s: the lesson is missing", c.what)
		}
		if kinds[memory.Step] != c.history || (out.Window != nil) != c.history {
			t.Errorf("%s: steps %v and window %v, want %v", c.what, kinds[memory.Step], out.Window != nil, c.history)
		}
	}
}

func TestGuidanceIsToldOnceAndAgainAfterACompaction(t *testing.T) {
	d, m := withMatcher(t)
	held := entry("tool fs:read always", "Reads a file.")
	held.Guidance = "Read before you edit."
	found := entry("tool db:query agent", "Asks the database.")
	found.Guidance = "Limit what you ask for."
	d.register(held, found, entry("tool db:plain agent", "Has no guidance."))
	ask := func() *memory.Assembled { return d.assemble(memory.AssembleRequest{Message: "a message"}) }

	first := ask()
	if !strings.HasPrefix(first.Guidance, memory.GuidanceHeading+"\n") || !strings.Contains(first.Guidance, held.Guidance) || strings.Contains(first.Guidance, found.Guidance) {
		t.Errorf("turn 1 is told %q", first.Guidance)
	}
	m.scores = []score{{"query", .9}, {"plain", .8}}
	second := ask()
	if !strings.Contains(second.Guidance, found.Guidance) || strings.Contains(second.Guidance, held.Guidance) {
		t.Errorf("turn 2 is told %q", second.Guidance)
	}
	if !strings.Contains(second.Text, found.Guidance) {
		t.Errorf("the text lacks the guidance:\n%s", second.Text)
	}
	d.reopen()
	if third := ask(); third.Guidance != "" {
		t.Errorf("turn 3 is told %q again", third.Guidance)
	}
	if _, err := d.contexts.Compact(t.Context(), memory.CompactRequest{Summary: "The orders were counted.", SessionRef: d.which()}); err != nil {
		t.Fatal(err)
	}
	if fourth := ask(); !strings.Contains(fourth.Guidance, held.Guidance) || !strings.Contains(fourth.Guidance, found.Guidance) {
		t.Errorf("after the compaction is told %q, want both", fourth.Guidance)
	}
}

func TestActiveToolsAreTheCoresThoseOfTheContextAndTheDiscovered(t *testing.T) {
	d, m := withMatcher(t)
	d.register(
		entry("tool fs:core manual core", "Core."), entry("tool fs:always always", "Always."), entry("tool fs:found agent", "Found."),
		entry("tool fs:relevant agent", "Relevant."), entry("tool fs:idle manual", "Idle."),
	)
	m.scores = []score{{"found", .9}}
	if _, err := d.contexts.SearchTools(t.Context(), memory.SearchToolsRequest{Query: "find", SessionRef: d.which()}); err != nil {
		t.Fatal(err)
	}
	m.scores = []score{{"relevant", .9}}
	out := d.assemble(memory.AssembleRequest{Message: "a message"})
	var names []string
	for _, ref := range out.ActiveTools {
		names = append(names, ref.ToolName)
	}
	slices.Sort(names)
	if got, want := strings.Join(names, ","), "always,core,found,relevant"; got != want {
		t.Errorf("active are %q, want %q", got, want)
	}
	if got, want := handedOut(out), "tool fs:always always, tool fs:relevant agent"; got != want {
		t.Errorf("handed out %q, want %q", got, want)
	}
}

func TestWhatIsGoneIsWithheldAndReadableInOldRecords(t *testing.T) {
	d, _ := withMatcher(t)
	d.register(entry("rule B manual", "Write tests."), entry("tool fs:read manual", "Reads a file."))
	d.alter(added("rule B", "tool fs:read"))
	before := d.assemble(memory.AssembleRequest{Message: "a message"})
	d.unregister(ref("rule B"), ref("tool fs:read"))
	after := d.assemble(memory.AssembleRequest{Message: "a message"})
	if got, want := withheldFor(after, memory.Gone), "rule B, tool fs:read"; got != want || len(after.Items) != 0 {
		t.Errorf("gone are %q and handed out %q, want %q and nothing", got, handedOut(after), want)
	}
	old := d.receipt(before.Receipt)
	if got, want := scored(memory.RecordOf(&old)), "rule B manual, tool fs:read manual"; got != want {
		t.Errorf("the old record says %q, want %q", got, want)
	}
}

func TestARepeatedRequestIsAnsweredAsTheFirst(t *testing.T) {
	d := newDesk(t)
	d.registerExample()
	tool := entry("tool fs:read always", "Reads a file.")
	tool.Guidance = "Read before you edit."
	d.register(tool)
	d.remember("authenticate users with a password", "check the hash, not the password")
	d.done("task-1", "Build the login")
	req := memory.AssembleRequest{RequestID: "request-1", Message: "How do users authenticate with a password?"}
	first := d.assemble(req)
	d.reopen()
	second := d.assemble(req)
	if second.Receipt != first.Receipt || second.Turn != first.Turn || scored(second.Record) != scored(first.Record) || !second.Record.Timestamp.Equal(first.Record.Timestamp) {
		t.Errorf("repeated: receipt %s of turn %d is %q, want %s of %d, %q", second.Receipt, second.Turn, scored(second.Record), first.Receipt, first.Turn, scored(first.Record))
	}
	if second.Text != first.Text || second.Tokens != first.Tokens || second.Guidance != first.Guidance {
		t.Errorf("repeated, the text is\n%s\nwant\n%s", second.Text, first.Text)
	}
	if next := d.assemble(memory.AssembleRequest{Message: "hello"}); next.Turn != 2 {
		t.Errorf("the next turn is %d, want 2", next.Turn)
	}
	d.unregister(ref("rule A"))
	third := d.assemble(req)
	if scored(third.Record) != scored(first.Record) || third.Receipt != first.Receipt {
		t.Errorf("with a rule gone, the record is %q, want %q", scored(third.Record), scored(first.Record))
	}
	if !slices.ContainsFunc(third.Degraded, func(g memory.Degraded) bool { return g.Part == "repeat" }) {
		t.Errorf("with a rule gone, degraded is %v", third.Degraded)
	}
	receipts, _, err := d.store.Receipts(memory.ReceiptFilter{Project: d.project.ID, Session: d.session, Purposes: []memory.Purpose{memory.PurposeContext}}, 10)
	if err != nil || len(receipts) != 2 {
		t.Errorf("there are %d receipts (%v), want 2", len(receipts), err)
	}
}

func TestTurnsOfManyRequestsAtOnceAreAllDifferent(t *testing.T) {
	d, _ := withMatcher(t)
	d.registerExample()
	const requests = 12
	turns := make(chan int, requests)
	for range requests {
		go func() {
			out, err := d.contexts.Assemble(t.Context(), memory.AssembleRequest{Message: "a message", SessionRef: d.which()})
			if err != nil {
				t.Error(err)
				turns <- 0
				return
			}
			if got := d.receipt(out.Receipt).Turn; got != out.Turn {
				t.Errorf("turn %d is recorded as %d", out.Turn, got)
			}
			turns <- out.Turn
		}()
	}
	var all []int
	for range requests {
		all = append(all, <-turns)
	}
	slices.Sort(all)
	for i, turn := range all {
		if turn != i+1 {
			t.Fatalf("the turns are %v, want 1 to %d", all, requests)
		}
	}
}

// failingParts answers no question.
type failingParts struct{ Recall }

func (failingParts) Ask(context.Context, memory.RecallRequest, recall.AskOptions) (*memory.RecallResponse, memory.Receipt, error) {
	return nil, memory.Receipt{}, errors.New("the disk is on fire")
}

func TestMemoriesThatCannotBeFoundAreMissingAndNamed(t *testing.T) {
	d := newDesk(t, func(o *ContextOptions) { o.Recall = failingParts{o.Recall} })
	d.registerExample()
	out := d.assemble(memory.AssembleRequest{Message: "How do users authenticate with a password?"})
	if got, want := handedOut(out), "rule A always, reference X always, rule C agent"; got != want {
		t.Errorf("handed out %q, want %q", got, want)
	}
	var parts []string
	for _, g := range out.Degraded {
		parts = append(parts, g.Part+": "+g.Reason)
	}
	for _, want := range []string{"memories: the disk is on fire", "code: the disk is on fire"} {
		if !slices.Contains(parts, want) {
			t.Errorf("degraded is %q, want %q among it", parts, want)
		}
	}
	if kinds := d.receipt(out.Receipt).Request.Kinds; !slices.Equal(kinds, []memory.Kind{memory.Rule, memory.Reference}) {
		t.Errorf("the receipt says that %v were searched, want rules and references", kinds)
	}
}

func TestAReceiptHasTheSettingsThatWereInForce(t *testing.T) {
	d := newDesk(t)
	d.register(entry("rule C agent", "Users authenticate with a password."))
	out := d.assemble(memory.AssembleRequest{Message: "How do I authenticate?", TopN: 2})
	got, answers := d.receipt(out.Receipt).Settings, recall.DefaultSettings()
	if got == nil || got.TopK != memory.DefaultTopK || got.TopN != 2 || got.IncludeScore != memory.DefaultIncludeScore ||
		got.Code != answers.Chunks || got.CodeBytes != answers.ChunkBytes || got.MinRelevance[memory.Rule] != answers.MinRelevance[memory.Rule] {
		t.Errorf("the receipt has the settings %+v, want those of the request, and else the defaults", got)
	}
}

func TestAnAgentsEntryThatWasAddedAndTakenOutIsTheAgentsAgain(t *testing.T) {
	d, m := withMatcher(t)
	d.registerExample()
	d.alter(added("rule C"))
	d.alter(nil, ref("rule C"))
	m.scores = []score{{"C", .92}}
	out := d.assemble(memory.AssembleRequest{Message: "How do I authenticate?"})
	if got, want := handedOut(out), "rule A always, reference X always, rule C agent"; got != want {
		t.Errorf("handed out %q, want %q", got, want)
	}
}

func TestAReceiptOfAContextHoldsNoSecret(t *testing.T) {
	d, _ := withMatcher(t)
	secret := "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
	out := d.assemble(memory.AssembleRequest{Message: "Why is the token " + secret + " refused?"})
	if asked := d.receipt(out.Receipt).Request.Query; strings.Contains(asked, secret) || !strings.Contains(asked, "Why is the token") {
		t.Errorf("the receipt says %q", asked)
	}
}

// TestAReceiptOfAContextHoldsNoWholeLog: it keeps what is searched of a pasted log, as that of an
// answer does.
func TestAReceiptOfAContextHoldsNoWholeLog(t *testing.T) {
	d, _ := withMatcher(t)
	log := strings.Repeat("ok: one more line of a log\n", 20_000)
	out := d.assemble(memory.AssembleRequest{Message: "Why does the build fail?\n" + log})
	if asked := d.receipt(out.Receipt).Request.Query; !strings.HasPrefix(asked, "Why does the build fail?") || len(asked) > len(log)/10 {
		t.Errorf("the receipt says %.40q, %d bytes of %d", asked, len(asked), len(log))
	}
}

func TestRefusedAssemblies(t *testing.T) {
	d, _ := withMatcher(t)
	for _, c := range []struct {
		what  string
		req   memory.AssembleRequest
		code  memory.Code
		field string
	}{
		{"no message", memory.AssembleRequest{}, memory.CodeInvalidInput, "message"},
		{"an unknown session", memory.AssembleRequest{Message: "x", SessionRef: memory.SessionRef{SessionID: "nobody"}}, memory.CodeNotFound, "sessionId"},
		{"no open session", memory.AssembleRequest{Message: "x", SessionRef: memory.SessionRef{Caller: memory.Caller{Client: "another"}}}, memory.CodeInvalidInput, "sessionId"},
		{"a topK too large", memory.AssembleRequest{Message: "x", TopK: memory.MaxTopK + 1}, memory.CodeInvalidInput, "topK"},
	} {
		c.req.Caller.Dir = d.caller.Dir
		_, err := d.contexts.Assemble(t.Context(), c.req)
		if e := memory.AsError(err); err == nil || e.Code != c.code || e.Field != c.field {
			t.Errorf("%s: %v, want %s at %s", c.what, err, c.code, c.field)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.contexts.Assemble(ctx, memory.AssembleRequest{Message: "x", SessionRef: d.which()}); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
	if got := d.contexts.Turn(memory.SessionKey{Project: d.project.ID, ID: d.session}); got != 0 {
		t.Errorf("refused requests are %d turns", got)
	}
}
