package agentctx

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// TestAlwaysJoinsAtTheNextStart: what is always included since a session started is
// not in its context, in whatever way it came to be so, but in that of the next one; by
// hand it can be added at once.
func TestAlwaysJoinsAtTheNextStart(t *testing.T) {
	r := newRig(t)
	off := false
	register := func(req memory.RegisterRequest) *memory.Registered {
		t.Helper()
		r.now = r.now.Add(time.Minute)
		req.Caller = r.caller
		out, err := r.catalogue.Register(t.Context(), req)
		must(t, err)
		return out
	}
	held := func(id string) string {
		t.Helper()
		c, err := r.SessionContext(t.Context(), memory.ContextRequest{SessionRef: r.which(id)})
		must(t, err)
		var names []string
		for _, item := range c.Items {
			names = append(names, item.Name)
		}
		return strings.Join(names, " ")
	}
	switched := entry("rule switched", "Once by hand.")
	switched.Include = memory.IncludeManual
	enabled := entry("rule enabled always", "Once disabled.")
	enabled.Enabled = &off
	register(memory.RegisterRequest{Entries: []memory.CatalogueEntry{
		entry("rule before always", "Was there."), switched, enabled, tool("db", "query", "Ask the database"),
	}, Servers: []memory.Server{{Name: "db", Include: memory.IncludeAgent}}})
	r.now = r.now.Add(time.Minute)
	running := r.start("running")
	switched.Include, enabled.Enabled = memory.IncludeAlways, nil
	out := register(memory.RegisterRequest{Entries: []memory.CatalogueEntry{
		switched, enabled, entry("rule new always", "Came later."), entry("rule before always", "Was there, and says more now."),
	}, Servers: []memory.Server{{Name: "db", Include: memory.IncludeAlways}}})
	if out.JoinLater != 4 {
		t.Errorf("the answer says that %d entries join later, want the 2 changed, the new one and the server's tool", out.JoinLater)
	}
	if got := held(running); got != "before" {
		t.Errorf("the running session holds %q, want what it held when it started", got)
	}
	assembled, err := r.Assemble(t.Context(), memory.AssembleRequest{Message: "m", SessionRef: r.which(running)})
	must(t, err)
	var waiting []string
	for _, w := range assembled.Withheld {
		if w.Reason == memory.NextStart {
			waiting = append(waiting, w.Name)
		}
	}
	slices.Sort(waiting)
	if got := strings.Join(waiting, " "); got != "enabled new query switched" {
		t.Errorf("for the next start wait %q, want enabled new query switched", got)
	}
	if _, err := r.ChangeContext(t.Context(), memory.ChangeContextRequest{SessionRef: r.which(running), Add: []memory.ContextItem{{Ref: memory.Ref{Type: memory.Rule, Name: "new"}}}}); err != nil {
		t.Fatal(err)
	}
	if got := held(running); got != "before new" {
		t.Errorf("after one was added by hand the session holds %q, want before new", got)
	}
	r.now = r.now.Add(time.Minute)
	if got := held(r.start("next")); got != "before switched enabled query new" && got != "before switched enabled new query" {
		t.Errorf("the next session holds %q, want all that are always included", got)
	}
	if out := register(memory.RegisterRequest{Entries: []memory.CatalogueEntry{switched}}); out.JoinLater != 0 {
		t.Errorf("registering what is there says that %d entries join later", out.JoinLater)
	}
}

// TestWhyAnEntryIsNotIncluded: what was taken out by hand, is disabled or is included by
// hand only is withheld with its reason, though nobody searched for it.
func TestWhyAnEntryIsNotIncluded(t *testing.T) {
	d := newDesk(t)
	off := false
	disabled := entry("rule disabled always", "No.")
	disabled.Enabled = &off
	d.register(entry("rule held always", "Yes."), entry("rule out always", "Taken out."), entry("rule by-hand manual", "Maybe."), disabled, entry("rule added manual", "Added."))
	d.alter(added("rule added"), memory.Ref{Type: memory.Rule, Name: "out"})
	got := map[string]memory.Reason{}
	for _, w := range d.assemble(memory.AssembleRequest{Message: "anything"}).Withheld {
		got[w.Name] = w.Reason
	}
	want := map[string]memory.Reason{"out": memory.Removed, "disabled": memory.Disabled, "by-hand": memory.ByHand}
	for name, reason := range want {
		if got[name] != reason {
			t.Errorf("%s is withheld for %q, want %q", name, got[name], reason)
		}
	}
	for _, name := range []string{"held", "added"} {
		if got[name] != "" {
			t.Errorf("%s is in the context, and withheld for %q", name, got[name])
		}
	}
}

// TestTheRecordHasEveryToolThatCouldBeCalled: the core's and the discovered tools are in
// the record of a turn, and come with their schemas on asking.
func TestTheRecordHasEveryToolThatCouldBeCalled(t *testing.T) {
	d := newDesk(t)
	agent := func(e memory.CatalogueEntry) memory.CatalogueEntry { e.Include = memory.IncludeAgent; return e }
	core := agent(tool("fs", "read", "Read a file from the disk"))
	core.Core = true
	d.register(core, agent(tool("git", "blame_line", "Show who changed a line of a file last")), agent(tool("mail", "send", "Send an electronic letter")))
	if found, err := d.contexts.SearchTools(t.Context(), memory.SearchToolsRequest{Query: "show who changed a line of a file last", SessionRef: d.which()}); err != nil || len(found.Tools) == 0 {
		t.Fatal("no tool was found")
	}
	out := d.assemble(memory.AssembleRequest{Message: "zzz"})
	want := "tool fs:read always, tool git:blame_line agent"
	if got := scored(out.Record); got != want {
		t.Errorf("the record is %q, want %q", got, want)
	}
	stored := d.receipt(out.Receipt)
	if got := scored(memory.RecordOf(&stored)); got != want {
		t.Errorf("the ledger has %q, want %q", got, want)
	}
	if len(out.Items) != 0 || len(out.ToolSchemas) != 0 {
		t.Errorf("unasked there are %d items and %d schemas, want names alone", len(out.Items), len(out.ToolSchemas))
	}
	out = d.assemble(memory.AssembleRequest{Message: "zzz", Schemas: true, RequestID: "one"})
	if len(out.ToolSchemas) != 2 || string(out.ToolSchemas[1].InputSchema) != `{"type":"object"}` || out.ToolSchemas[1].ToolName != "blame_line" || out.Tokens < out.ToolSchemas[1].Tokens {
		t.Errorf("the schemas are %+v within %d tokens, want those of both tools, counted", out.ToolSchemas, out.Tokens)
	}
	again := d.assemble(memory.AssembleRequest{Message: "zzz", Schemas: true, RequestID: "one"})
	if len(again.ToolSchemas) != 2 || scored(again.Record) != want || len(again.Degraded) != 0 {
		t.Errorf("repeated it has %d schemas and the record %q, degraded %v", len(again.ToolSchemas), scored(again.Record), again.Degraded)
	}
	small := d.assemble(memory.AssembleRequest{Message: "zzz", Schemas: true, MaxTokens: memory.MinBudget})
	if small.Tokens > memory.MinBudget || len(small.ActiveTools) != 2 {
		t.Errorf("%d tokens and %d active tools, want the budget kept and both active", small.Tokens, len(small.ActiveTools))
	}
}

// TestSchemasKeepTheBudget: the lines of the schemas fit into it as well, of the tools in the
// context and of those that are active beside it.
func TestSchemasKeepTheBudget(t *testing.T) {
	d := newDesk(t)
	for i := range 12 {
		e := tool("database", fmt.Sprintf("query_%d", i), "")
		e.Include, e.Core = memory.IncludeAgent, i%2 == 0
		d.register(e)
		if !e.Core {
			d.alter([]memory.ContextItem{{Ref: e.Ref, IncludeMode: memory.IncludeManual}})
		}
	}
	for most := memory.MinBudget; most < 400; most += 7 {
		out := d.assemble(memory.AssembleRequest{Message: "zzz", Schemas: true, MaxTokens: most})
		text := out.Text + render.ToolSchemas(out)
		if n := render.Tokens(text); n > out.Tokens || out.Tokens > most {
			t.Errorf("%d tokens of text are counted as %d within %d:\n%s", n, out.Tokens, most, text)
		}
	}
}

// TestTheSummaryComesFirst: the summary of a compaction is the first item of every
// context that follows, until the next one replaces it.
func TestTheSummaryComesFirst(t *testing.T) {
	d := newDesk(t)
	d.register(entry("rule A always", "Answer in whole sentences."))
	compact := func(summary string) {
		t.Helper()
		if _, err := d.contexts.Compact(t.Context(), memory.CompactRequest{Summary: summary, SessionRef: d.which()}); err != nil {
			t.Fatal(err)
		}
	}
	if out := d.assemble(memory.AssembleRequest{Message: "m"}); out.Items[0].Name != "A" {
		t.Errorf("before any compaction the first item is %+v", out.Items[0])
	}
	for _, summary := range []string{"We moved the shop to port 8081.", "We moved it back."} {
		compact(summary)
		for turn := range 2 {
			out := d.assemble(memory.AssembleRequest{Message: "m"})
			first := out.Items[0]
			if first.Type != memory.SummaryItem || first.Text != summary || !strings.HasPrefix(out.Text, "## Summary of the conversation so far\n\n"+summary+"\n") {
				t.Errorf("turn %d after %q begins with %+v and the text\n%s", turn, summary, first, out.Text)
			}
			if r := out.Record.Items[0]; r.Type != memory.SummaryItem || len(out.Items) != 2 {
				t.Errorf("the record begins with %+v of %d items, want the summary and the rule", r, len(out.Items))
			}
		}
	}
	if out := d.assemble(memory.AssembleRequest{Message: "m", MaxTokens: memory.MinBudget}); out.Tokens > memory.MinBudget {
		t.Errorf("%d tokens, want the summary within the budget", out.Tokens)
	}
}

// TestUseOfToolsIsCounted: each report of a tool counts, with its time; a compaction
// begins anew.
func TestUseOfToolsIsCounted(t *testing.T) {
	r := newRig(t)
	id := r.start("x")
	read, write := toolRef("fs", "read"), toolRef("fs", "write")
	for range 3 {
		r.now = r.now.Add(time.Minute)
		r.report(id, memory.ReportRequest{UsedTools: []memory.ToolRef{read}})
	}
	last := r.now
	r.now = r.now.Add(time.Minute)
	wc := r.report(id, memory.ReportRequest{UsedTools: []memory.ToolRef{write}})
	want := []memory.ToolUse{{ToolRef: read, Count: 3, LastUsed: last}, {ToolRef: write, Count: 1, LastUsed: r.now}}
	if !slices.Equal(wc.ToolUse, want) || len(wc.UsedTools) != 2 || wc.Version != 4 {
		t.Errorf("used are %+v, version %d; want %+v, version 4", wc.ToolUse, wc.Version, want)
	}
	if !slices.Equal(r.working(id).ToolUse, want) {
		t.Errorf("stored are %+v, want %+v", r.working(id).ToolUse, want)
	}
	if _, err := r.Compact(t.Context(), memory.CompactRequest{Summary: "We moved the shop.", SessionRef: r.which(id)}); err != nil {
		t.Fatal(err)
	}
	if wc := r.working(id); len(wc.ToolUse) != 0 {
		t.Errorf("after the compaction %+v are counted", wc.ToolUse)
	}
}
