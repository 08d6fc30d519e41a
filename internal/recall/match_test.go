package recall_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/agentctx"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
)

// entry is the record of an entry as the catalogue keeps it.
func entry(kind memory.Kind, server, name, description, content string) memory.Record {
	e := memory.CatalogueEntry{Ref: memory.Ref{Type: kind, Name: name, ServerName: server}, Description: description, Content: content}
	return memory.Record{
		ID: fmt.Sprintf("%s %s", kind, strings.TrimPrefix(server+":"+name, ":")), Kind: kind, Text: agentctx.Text(e),
		Entry: &memory.Entry{Name: name, Server: server, Description: description, Content: content},
	}
}

// publicTools are the first n of the tools of public servers that searches are
// measured on.
func publicTools(t testing.TB, n int) []memory.Record {
	t.Helper()
	b, err := os.ReadFile("../daemon/testdata/toolsearch/catalogue.txt")
	if err != nil {
		t.Fatal(err)
	}
	var tools []memory.Record
	server := ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			server = strings.Trim(line, "[]")
		} else if name, description, ok := strings.Cut(line, ": "); ok && len(tools) < n {
			tools = append(tools, entry(memory.Tool, server, name, description, ""))
		}
	}
	if len(tools) < n {
		t.Fatalf("there are %d tools, want %d", len(tools), n)
	}
	return tools
}

// house are the rules and references of a small project.
func house() []memory.Record {
	return []memory.Record{
		entry(memory.Rule, "", "Coding Style", "", "Use tabs. Keep functions short."),
		entry(memory.Rule, "", "Error Handling", "", "Wrap errors with context and never swallow them."),
		entry(memory.Rule, "", "Authentication Rules", "", "Authenticate users with OAuth tokens. Never log credentials."),
		entry(memory.Reference, "", "API Documentation", "", "REST endpoints of the service, their parameters and status codes."),
		entry(memory.Reference, "", "Database Schema", "", "Tables users, orders and payments with columns and foreign keys."),
	}
}

// match asks for records of the rig's project.
func (r *rig) match(text string, limit int, kinds ...memory.Kind) recall.Matches {
	r.t.Helper()
	m, err := r.recall.Match(r.t.Context(), text, memory.Selection{Kinds: kinds, Project: r.project.ID}, limit, recall.AskOptions{})
	if err != nil {
		r.t.Fatalf("match %q: %v", text, err)
	}
	return m
}

// nearest is the relevance of the best record that was found, above the floor or not.
func nearest(m recall.Matches) float64 {
	var best float64
	for _, x := range m.Items {
		best = max(best, x.Relevance)
	}
	for _, w := range m.Withheld {
		best = max(best, w.NearestScore)
	}
	return best
}

// TestRelevanceOfEntries holds the scale on collections of short texts, of which the
// smallest have less to compare with than any corpus it was fitted on: a message that
// says what an entry says reaches what is always taken (.7) and more, one that says a
// part of it passes the floor, and what has nothing to do with any stays below.
func TestRelevanceOfEntries(t *testing.T) {
	const always, sure = memory.DefaultIncludeScore, .75
	floor := memory.DefaultMinRelevance(memory.Tool)
	type asked struct {
		text string
		want string // the first; empty for none
		from float64
	}
	unrelated := []asked{{text: "what's for lunch"}, {text: "who painted the ceiling of the chapel"}, {text: "hello"}, {text: "the user wants a pizza"}}
	files := []asked{
		{"read a text file", "tool filesystem:read_text_file", sure},
		{"Create a file or replace all that it holds", "tool filesystem:write_file", sure},
		{"write_file", "tool filesystem:write_file", sure},
		{"move a file to another folder", "tool filesystem:move_file", sure},
		{"rename file", "tool filesystem:move_file", always},
		{text: "fix the failing login test"}, {text: "how do I authenticate?"},
	}
	for name, test := range map[string]struct {
		records []memory.Record
		kinds   []memory.Kind
		asked   []asked
	}{
		"3 tools": {publicTools(t, 3), []memory.Kind{memory.Tool}, []asked{
			{"read a text file", "tool filesystem:read_text_file", sure},
			{"put this text into a new file on disk", "tool filesystem:read_text_file", floor},
			{text: "how do I authenticate?"}, {text: "fix the failing login test"}, {text: "deploy the payment service to production"},
		}},
		"5 rules and references": {house(), memory.EntryKinds, []asked{
			{"How do I authenticate?", "rule Authentication Rules", sure},
			{"What does the database schema look like?", "reference Database Schema", sure},
			{"please wrap this error", "rule Error Handling", sure},
			{"how do users log in", "rule Authentication Rules", always},
			{"How should I name my functions?", "rule Coding Style", floor},
			{text: "add a button to the settings page"}, {text: "write unit tests for the parser"},
		}},
		"30 tools": {publicTools(t, 30), []memory.Kind{memory.Tool}, files},
		"1,000 tools": {publicTools(t, 1000), []memory.Kind{memory.Tool}, slices.Concat(
			slices.DeleteFunc(slices.Clone(files), func(a asked) bool { // which others rename as well, and test
				return a.text == "rename file" || a.text == "fix the failing login test"
			}),
			[]asked{{"show which files of the working tree have changed", "tool git:git_status", sure}})},
	} {
		r := newRig(t)
		r.write(test.records...)
		for _, a := range append(test.asked, unrelated...) {
			m := r.match(a.text, 5, test.kinds...)
			switch {
			case a.want == "" && len(m.Items) > 0:
				t.Errorf("%s: %q finds %s with %.2f, want nothing above the floor", name, a.text, m.Items[0].ID, m.Items[0].Relevance)
			case a.want != "" && (len(m.Items) == 0 || m.Items[0].ID != a.want || m.Items[0].Relevance < a.from):
				t.Errorf("%s: %q finds %+v (nearest %.2f), want %s with %.2f or more", name, a.text, m.Items, nearest(m), a.want, a.from)
			}
		}
	}
}

func TestMatchTellsWhatItWithheld(t *testing.T) {
	r := newRig(t)
	r.write(publicTools(t, 100)...)
	m := r.match("read a text file", 2, memory.Tool)
	if len(m.Items) != 2 || m.Items[0].Factors.Score < m.Items[1].Factors.Score || m.Items[0].Factors.Retrievers["lexical"].Score == 0 {
		t.Errorf("items = %+v, want the best two in order, with the scores of their retrievers", m.Items)
	}
	reasons := map[memory.Reason]int{}
	for _, w := range m.Withheld {
		reasons[w.Reason]++
		if below := w.NearestScore < memory.DefaultMinRelevance(memory.Tool); below != (w.Reason == memory.BelowThreshold) {
			t.Errorf("%s was withheld as %s with %.2f", w.ID, w.Reason, w.NearestScore)
		}
	}
	if reasons[memory.OverLimit] == 0 || reasons[memory.BelowThreshold] == 0 {
		t.Errorf("withheld = %v, want some over the limit and some below the floor", reasons)
	}
	if m.Calibration == "" || len(m.Spaces) != 1 || m.Incomplete != "" || m.Seq == 0 || m.Settings.MinRelevance[memory.Tool] != memory.DefaultMinRelevance(memory.Tool) || len(m.Degraded) > 0 {
		t.Errorf("the search says %+v of itself, want calibration, space, number and settings", m)
	}
}

// TestMatchLeavesNothingBehind: neither a receipt nor a record.
func TestMatchLeavesNothingBehind(t *testing.T) {
	r := newRig(t)
	r.write(house()...)
	before := r.store.Seq()
	r.match("how do I authenticate?", 5, memory.EntryKinds...)
	receipts, _, err := r.store.Receipts(memory.ReceiptFilter{}, 10)
	if err != nil || len(receipts) > 0 || r.store.Seq() != before {
		t.Errorf("after a match there are %d receipts, %v, and update %d after %d", len(receipts), err, r.store.Seq(), before)
	}
}

// TestMatchBesideAnotherProject: the records of a second project count as the own ones,
// and what is of neither is not found.
func TestMatchBesideAnotherProject(t *testing.T) {
	r := newRig(t)
	own := entry(memory.Tool, "recalld", "recall", "Find what was learned about an error before.", "")
	own.Project = memory.OwnProject
	foreign := entry(memory.Tool, "other", "recall_errors", "Find what was learned about an error before.", "")
	foreign.Project, foreign.ID = "p-other", "foreign"
	r.write(append(publicTools(t, 30), own, foreign)...)
	m, err := r.recall.Match(t.Context(), "what was learned about an error before", memory.Selection{
		Kinds: []memory.Kind{memory.Tool}, Project: r.project.ID, Also: memory.OwnProject,
	}, 5, recall.AskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Items) == 0 || m.Items[0].ID != own.ID || m.Items[0].Factors.Project != 1 {
		t.Errorf("found %+v, want the tool of the second project, as an own one", m.Items)
	}
	if slices.ContainsFunc(m.Items, func(x recall.Matched) bool { return x.ID == foreign.ID }) {
		t.Error("a tool of a third project is found")
	}
}

// TestVerdictsMoveAMatch: of two that say the same, the one that worked comes first;
// that it was judged is told.
func TestVerdictsMoveAMatch(t *testing.T) {
	r := newRig(t)
	good := entry(memory.Tool, "a", "convert", "Convert an amount of money between currencies", "")
	bad := entry(memory.Tool, "b", "convert", "Convert an amount of money between currencies", "")
	bad.Verdicts, good.Verdicts = &memory.VerdictCounts{Failed: 6}, &memory.VerdictCounts{Worked: 6, Irrelevant: 1}
	r.write(append(publicTools(t, 30), bad, good)...)
	m := r.match("convert money between currencies", 5, memory.Tool)
	if len(m.Items) < 2 || m.Items[0].ID != good.ID || m.Items[1].ID != bad.ID {
		t.Fatalf("found %+v, want what worked first", m.Items)
	}
	first, second := m.Items[0].Factors, m.Items[1].Factors
	if first.Success <= 1 || second.Success >= 1 || first.Success > 1.2 || second.Success < .8 {
		t.Errorf("success counts %.3f and %.3f, want more and less than 1 and within 0.8–1.2", first.Success, second.Success)
	}
	if v := first.Verdicts; v == nil || *v != *good.Verdicts {
		t.Errorf("the verdicts are told as %+v, want %+v", v, good.Verdicts)
	}
}

func TestMatchRefuses(t *testing.T) {
	r := newRig(t)
	tool := memory.Selection{Kinds: []memory.Kind{memory.Tool}, Project: r.project.ID}
	for name, test := range map[string]struct {
		text     string
		sel      memory.Selection
		limit    int
		settings *memory.AnswerSettings
		code     memory.Code
		field    string
	}{
		"no text":          {"", tool, 5, nil, memory.CodeInvalidInput, "query"},
		"a long text":      {strings.Repeat("ü", memory.MaxQuery+1), tool, 5, nil, memory.CodeInvalidInput, "query"},
		"no kinds":         {"q", memory.Selection{Project: "p"}, 5, nil, memory.CodeInvalidInput, "kinds"},
		"code":             {"q", memory.Selection{Kinds: memory.DefaultKinds}, 5, nil, memory.CodeInvalidInput, "kinds"},
		"no limit":         {"q", tool, 0, nil, memory.CodeInvalidInput, "limit"},
		"a high limit":     {"q", tool, recall.MaxMatched + 1, nil, memory.CodeInvalidInput, "limit"},
		"a floor above 1":  {"q", tool, 5, &memory.AnswerSettings{MinRelevance: map[memory.Kind]float64{memory.Tool: 1.1}}, memory.CodeInvalidInput, "min_relevance.tool"},
		"a weight below 0": {"q", tool, 5, &memory.AnswerSettings{VectorWeight: -1}, memory.CodeInvalidInput, "vector_weight"},
		"an embedder":      {"q", tool, 5, &memory.AnswerSettings{Embedder: "built"}, memory.CodeNotFound, "embedder"},
	} {
		_, err := r.recall.Match(t.Context(), test.text, test.sel, test.limit, recall.AskOptions{Settings: test.settings})
		if e := memory.AsError(err); memory.CodeOf(err) != test.code || e.Field != test.field {
			t.Errorf("%s: %v (code %s, field %q), want %s of %q", name, err, e.Code, e.Field, test.code, test.field)
		}
	}
}

// BenchmarkMatch searches the tools of public servers, 1,300 of them, for the first 20.
//
//	go test ./internal/recall -run '^$' -bench Match -benchmem
func BenchmarkMatch(b *testing.B) {
	const n = 1300
	r := newRig(b)
	tools := publicTools(b, n)
	r.write(tools...)
	sel := memory.Selection{Kinds: []memory.Kind{memory.Tool}, Project: r.project.ID}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		m, err := r.recall.Match(b.Context(), tools[i*7%n].Entry.Description, sel, 20, recall.AskOptions{})
		if err != nil || len(m.Items) == 0 {
			b.Fatalf("match: %+v, %v", m, err)
		}
		i++
	}
}
