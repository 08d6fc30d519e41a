package agentctx

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/render"
)

// toolbox is a small catalogue of tools with guidance.
func toolbox() []memory.CatalogueEntry {
	tools := []memory.CatalogueEntry{
		tool("github", "create_issue", "Open a new issue in a repository with a title, a body and labels."),
		tool("github", "merge_pull_request", "Merge a pull request into its base branch."),
		tool("filesystem", "read_file", "Read the contents of a file from disk."),
		tool("postgres", "run_query", "Run a read-only SQL query against the database."),
		tool("slack", "post_message", "Post a message to a channel."),
		tool("weather", "forecast", "Tell the weather forecast of a city."),
	}
	for i := range tools {
		tools[i].Guidance = "How to use " + tools[i].Name + "."
	}
	tools[2].Core = true
	return tools
}

func foundNames(m *memory.ToolMatches) []string {
	names := []string{}
	for _, t := range m.Tools {
		names = append(names, t.Name)
	}
	return names
}

// one returns a tool of an answer.
func one(t *testing.T, m *memory.ToolMatches, name string) memory.FoundTool {
	t.Helper()
	i := slices.IndexFunc(m.Tools, func(f memory.FoundTool) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("%s was not found, only %q", name, foundNames(m))
	}
	return m.Tools[i]
}

// Tools found in one turn stay through turns and a restart, go with a compaction, and
// are found, and told of, again.
func TestToolsAreDiscovered(t *testing.T) {
	r := newRig(t)
	r.register(toolbox()...)
	id := r.start("triage")
	first := r.search(id, "open an issue in the repository")
	f := one(t, first, "create_issue")
	if !f.Active || !f.New || f.ServerName != "github" || string(f.InputSchema) != `{"type":"object"}` || f.Description == "" || f.Relevance < 0.5 {
		t.Errorf("found %+v", f)
	}
	if first.SessionID != id || first.Version != 1 {
		t.Errorf("the answer is of session %q, version %d; want %q, 1", first.SessionID, first.Version, id)
	}
	if !strings.HasPrefix(first.Guidance, memory.GuidanceHeading+"\n\ngithub:create_issue\nHow to use create_issue.\n") || !strings.HasSuffix(first.Text, first.Guidance) {
		t.Errorf("the guidance is\n%s\nin\n%s", first.Guidance, first.Text)
	}
	receipt, err := r.store.Receipt(first.Receipt)
	if err != nil || receipt.Purpose != memory.PurposeTools || receipt.Session != id || receipt.Items[0].Name != "create_issue" ||
		receipt.Items[0].Server != "github" || receipt.Request.Query != "open an issue in the repository" || receipt.Tokens == 0 || receipt.Settings == nil {
		t.Errorf("the receipt is %+v, %v", receipt, err)
	}

	r.reopen()
	again := r.search(id, "open an issue in the repository")
	if f := one(t, again, "create_issue"); !f.Active || f.New || again.Guidance != "" || again.Version != first.Version {
		t.Errorf("after a restart it is found as %+v at version %d with guidance %q; want it active, not new and untold", f, again.Version, again.Guidance)
	}
	if wc := r.working(id); !slices.Contains(wc.DiscoveredTools, toolRef("github", "create_issue")) {
		t.Errorf("discovered are %v", wc.DiscoveredTools)
	}

	// Cleared alone, they are new again; guidance is told once between compactions.
	if wc := r.report(id, memory.ReportRequest{ClearDiscovered: true}); len(wc.DiscoveredTools) != 0 || len(wc.Guided) == 0 || wc.Version != 2 {
		t.Errorf("after clearing it is %+v", wc)
	}
	if cleared := r.search(id, "open an issue in the repository"); !one(t, cleared, "create_issue").New || cleared.Guidance != "" {
		t.Errorf("after clearing the tool is found as %+v with guidance %q", cleared.Tools, cleared.Guidance)
	}

	c, err := r.Compact(t.Context(), memory.CompactRequest{Summary: "The bug is filed as number 12.", SessionRef: r.which(id)})
	must(t, err)
	if want := []memory.ToolRef{toolRef("filesystem", "read_file")}; !slices.Equal(c.ActiveTools, want) || c.Version != 4 {
		t.Errorf("after the compaction %v are active at version %d; want %v at 4", c.ActiveTools, c.Version, want)
	}
	after := r.search(id, "open an issue in the repository")
	if f := one(t, after, "create_issue"); !f.New || after.Guidance != first.Guidance || after.Version != 5 {
		t.Errorf("after the compaction it is found as %+v with guidance %q at version %d", f, after.Guidance, after.Version)
	}
}

// A core tool is active from the start, so it is neither new nor told of.
func TestCoreTools(t *testing.T) {
	r := newRig(t)
	r.register(toolbox()...)
	id := r.start("x")
	m := r.search(id, "read the contents of a file")
	if f := one(t, m, "read_file"); !f.Active || f.New || strings.Contains(m.Guidance, "read_file") {
		t.Errorf("a core tool is found as %+v with guidance %q", f, m.Guidance)
	}
	if wc := r.working(id); slices.Contains(wc.DiscoveredTools, toolRef("filesystem", "read_file")) {
		t.Errorf("a core tool was discovered: %v", wc.DiscoveredTools)
	}
}

// Disabled tools are neither found nor take the place of others.
func TestDisabledTools(t *testing.T) {
	r := newRig(t)
	entries := toolbox()
	for i := range 300 { // more than a search looks through
		off := tool("off", fmt.Sprintf("create_issue_%d", i), "Open an issue in the repository.")
		off.Enabled = new(false)
		entries = append(entries, off)
	}
	r.register(entries...)
	id := r.start("x")
	m := r.search(id, "open an issue in the repository")
	if f := one(t, m, "create_issue"); f.ServerName != "github" {
		t.Errorf("found %+v", f)
	}
	receipt, err := r.store.Receipt(m.Receipt)
	must(t, err)
	for _, f := range m.Tools {
		if f.ServerName == "off" {
			t.Errorf("the disabled %s was found", f.Name)
		}
	}
	for _, w := range receipt.Withheld {
		if w.Server == "off" {
			t.Errorf("the disabled %s is among what was withheld", w.Name)
		}
	}
}

// Without a session nothing is made active, and the answer says how.
func TestSearchWithoutSession(t *testing.T) {
	r := newRig(t, func(_ *rig, o *ContextOptions) { o.Writer = busyWriter{o.Writer, t} })
	r.register(toolbox()...)
	must(t, r.catalogue.RegisterOwn(t.Context(), []memory.CatalogueEntry{tool("recalld", "session_start", "Start a session for this run of the agent.")}))
	ask := func(query string, own bool) *memory.ToolMatches {
		t.Helper()
		m, err := r.SearchTools(t.Context(), memory.SearchToolsRequest{Query: query, Own: own, SessionRef: memory.SessionRef{Caller: r.caller}})
		must(t, err)
		return m
	}
	m := ask("open an issue in the repository", false)
	if f := one(t, m, "create_issue"); f.Active || f.New || m.SessionID != "" || m.Guidance != "" || !strings.Contains(m.Text, "session_start") {
		t.Errorf("found %+v without a session, told\n%s", f, m.Text)
	}
	if m := ask("read the contents of a file", false); !one(t, m, "read_file").Active {
		t.Error("a core tool is not active")
	}
	if m := ask("start a session", false); slices.Contains(foundNames(m), "session_start") {
		t.Error("recalld's own tools were found without being asked for")
	}
	if m := ask("start a session", true); !one(t, m, "session_start").Active {
		t.Error("recalld's own tool is not active")
	}
	if m := ask("who painted the ceiling of the chapel", true); len(m.Tools) != 0 || m.Tools == nil || m.Text == "" {
		t.Errorf("for something unrelated %q was found, told %q", foundNames(m), m.Text)
	}
	if _, err := r.store.Receipt(m.Receipt); err != nil {
		t.Errorf("the receipt: %v", err)
	}
	for _, which := range []memory.SessionRef{{SessionID: "unknown", Caller: r.caller}, {Project: "nowhere", Caller: r.caller}} {
		if _, err := r.SearchTools(t.Context(), memory.SearchToolsRequest{Query: "x", SessionRef: which}); memory.CodeOf(err) != memory.CodeNotFound {
			t.Errorf("for %+v: %v, want %s", which, err, memory.CodeNotFound)
		}
	}
	if _, err := r.SearchTools(t.Context(), memory.SearchToolsRequest{Query: " ", SessionRef: memory.SessionRef{Caller: r.caller}}); memory.CodeOf(err) != memory.CodeInvalidInput {
		t.Errorf("an empty query: %v", err)
	}
}

// busyWriter is a write path on which a search that writes nothing must not wait.
type busyWriter struct {
	Writer
	t *testing.T
}

func (w busyWriter) Write(context.Context, memory.Project, memory.Batch) (memory.Committed, error) {
	w.t.Error("a search without a session and an id waits for the writer")
	return memory.Committed{}, errNoChange
}

// Of tools whose names have the same words, the one comes first that a query names exactly.
func TestSearchByName(t *testing.T) {
	r := newRig(t)
	var names []string
	for _, server := range []string{"chat", "mail"} {
		for _, name := range []string{"send_message", "sendMessage", "send-message", "SendMessage"} {
			r.register(tool(server, name, "Send a message by "+server))
			names = append(names, server+":"+name)
		}
	}
	for _, name := range names {
		found := r.search("", name)
		if got := found.Tools[0].ServerName + ":" + found.Tools[0].Name; got != name {
			t.Errorf("%s finds %s first", name, got)
		}
		_, short, _ := strings.Cut(name, ":")
		if got := r.search("", short).Tools[0].Name; got != short {
			t.Errorf("%s finds %s first", short, got)
		}
	}
}

// A client that may only read finds tools, and changes no session by that.
func TestSearchOnlyReads(t *testing.T) {
	r := newRig(t)
	r.register(toolbox()...)
	id := r.start("g")
	m, err := r.SearchTools(t.Context(), memory.SearchToolsRequest{
		Query: "open an issue in the repository", RequestID: "once", ReadOnly: true, SessionRef: memory.SessionRef{SessionID: id, Caller: r.caller},
	})
	must(t, err)
	if f := one(t, m, "create_issue"); f.Active || f.New || m.Guidance != "" || !strings.Contains(m.Text, "may only read") {
		t.Errorf("found %+v, told\n%s", f, m.Text)
	}
	if wc := r.working(id); wc.Version != 0 || len(wc.DiscoveredTools) > 0 {
		t.Errorf("the session has become %+v", wc)
	}
}

// A search that is asked again has lost its answer: it is told all of it once more, and
// changes nothing.
func TestSearchIsRepeated(t *testing.T) {
	r := newRig(t)
	r.register(toolbox()...)
	id := r.start("x")
	req := memory.SearchToolsRequest{RequestID: "r-1", Query: "open an issue in the repository", SessionRef: r.which(id)}
	first, err := r.SearchTools(t.Context(), req)
	must(t, err)
	again, err := r.SearchTools(t.Context(), req)
	must(t, err)
	want, _ := json.Marshal(first.Tools)
	got, _ := json.Marshal(again.Tools)
	if string(got) != string(want) || again.Guidance != first.Guidance || again.Version != first.Version {
		t.Errorf("the repetition is\n%s at version %d\n%s\nthe first was\n%s at version %d\n%s", got, again.Version, again.Guidance, want, first.Version, first.Guidance)
	}
	if _, err := r.store.Receipt(again.Receipt); err != nil {
		t.Errorf("the receipt of the repetition: %v", err)
	}
}

// A secret in a query is in no receipt.
func TestSearchKeepsNoSecret(t *testing.T) {
	r := newRig(t)
	r.register(toolbox()...)
	for _, id := range []string{"", r.start("x")} {
		m := r.search(id, "open an issue with the password hunter2")
		receipt, err := r.store.Receipt(m.Receipt)
		if err != nil || strings.Contains(fmt.Sprint(receipt), "hunter2") || !strings.Contains(receipt.Request.Query, "open an issue") {
			t.Errorf("the receipt is %+v, %v", receipt, err)
		}
	}
}

func TestWriteTools(t *testing.T) {
	m := &memory.ToolMatches{
		Tools: []memory.FoundTool{
			{ServerName: "fs", Name: "read", Description: " Reads\ta file.\nAt most 1 MB.", Active: true},
			{ServerName: "db", Name: "query", Active: true}, {ServerName: "x", Name: "y", Description: strings.Repeat("ü", 300)},
		},
		Guidance: "[TOOL GUIDANCE] …\n",
	}
	writeTools(m, "Nothing stays active.")
	want := render.Fence("**Tools (3):**\n\n1. fs:read: Reads a file. …\n2. db:query\n3. x:y: "+strings.Repeat("ü", 200)+"…\n") + "\n" +
		"Nothing stays active.\n\n[TOOL GUIDANCE] …\n"
	if m.Text != want {
		t.Errorf("written as\n%s, want\n%s", m.Text, want)
	}
}

// While nothing can be searched, nobody is told that there is nothing.
func TestSearchIsNotReady(t *testing.T) {
	r := newRig(t, func(r *rig, o *ContextOptions) { o.Recall = loadingCatalogue{o.Recall} })
	r.register(toolbox()...)
	m := r.search(r.start("x"), "open an issue in the repository")
	if want := "Not all tools could be searched: the memory is loading. Ask again in a moment.\n"; m.Text != want || !m.Incomplete || m.Why != "the memory is loading" || len(m.Degraded) != 1 || m.Tools == nil {
		t.Errorf("the answer is %+v, want the text %q", m, want)
	}
}

// loadingCatalogue matches as the read path does before the indexes are filled.
type loadingCatalogue struct{ Recall }

func (loadingCatalogue) Match(context.Context, string, memory.Selection, int, recall.AskOptions) (recall.Matches, error) {
	return recall.Matches{
		Degraded: []memory.Degraded{{Part: "lexical", Reason: "loading"}}, Incomplete: "the memory is loading",
	}, nil
}

// What gives way is the oldest, and guidance is told of each tool once.
func TestGuide(t *testing.T) {
	wc := newWorkingContext("x")
	for i := range memory.MaxDiscovered {
		wc.Guided = append(wc.Guided, toolRef("old", fmt.Sprint(i)))
	}
	told := func(e memory.CatalogueEntry) memory.EntryState { return memory.EntryState{CatalogueEntry: e} }
	a, b, silent := tool("s", "a", ""), tool("s", "b", ""), tool("s", "silent", "")
	a.Guidance, b.Guidance = "Do a.", "Do b.\nTwice."
	block := guide(wc, []memory.EntryState{told(a), told(silent), told(b), told(a)})
	if want := memory.GuidanceHeading + "\n\ns:a\nDo a.\n\ns:b\nDo b.\nTwice.\n"; block != want {
		t.Errorf("the block is\n%s, want\n%s", block, want)
	}
	if n := len(wc.Guided); n != memory.MaxDiscovered || wc.Guided[0] != toolRef("old", "2") || wc.Guided[n-1] != toolRef("s", "b") {
		t.Errorf("%d tools are marked, from %v to %v", n, wc.Guided[0], wc.Guided[n-1])
	}
	if block := guide(wc, []memory.EntryState{told(b), told(silent)}); block != "" {
		t.Errorf("told again: %q", block)
	}
}
