package recall

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// catalogued adds one record of each kind that has a name.
func (s *shelf) catalogued() {
	for _, r := range []memory.Record{
		{ID: "u-1", Kind: memory.Rule, Entry: &memory.Entry{Name: "Error Handling", Content: "Wrap errors.\nNever swallow them."}, Verdicts: &memory.VerdictCounts{Worked: 2, Outdated: 1}},
		{ID: "f-1", Kind: memory.Reference, Entry: &memory.Entry{Name: "Schema", Description: "The tables", Content: "users, orders"}},
		{ID: "o-1", Kind: memory.Tool, Entry: &memory.Entry{Name: "read_file", Server: "filesystem", Description: "Reads a file"}},
		{ID: "t-1", Kind: memory.Task, Task: &memory.TaskContent{TaskID: "task-42", RequiresContext: true, Intent: "Add login", Summary: "done with tests", Report: json.RawMessage(`{"valid":true}`)}},
		{ID: "t-2", Kind: memory.Task, Task: &memory.TaskContent{TaskID: "task-43", Report: json.RawMessage(`{"valid":"no"}`)}},
	} {
		r.Project, r.Created = "p-own", now
		s.add(r)
	}
}

var namedKinds = []memory.Kind{memory.Task, memory.Rule, memory.Reference, memory.Tool}

func TestEntriesAndTasksInAnswers(t *testing.T) {
	s := newShelf()
	s.catalogued()
	s.docs[0][0].Rate = &memory.Rate{Successes: 2, Attempts: 3}
	a := s.ask(t, memory.RecallRequest{Kinds: namedKinds, Explain: true, MaxTokens: 8000, Limit: 10})
	for _, want := range []string{
		"**Relevant Records (5):**",
		`1. [2026-02-03] task task-42 "Add login", ✓ success: done with tests` + "\n",
		"2. [2026-02-03] task task-43, ✗ failed\n",
		"3. [2026-02-03] rule Error Handling: Wrap errors. Never swallow them. (2/3 success)\n",
		"4. [2026-02-03] reference Schema: The tables — users, orders\n",
		"5. [2026-02-03] tool filesystem:read_file: Reads a file\n",
		", verdicts 2 worked, 1 outdated\n",
	} {
		if !strings.Contains(a.Text, want) {
			t.Errorf("the answer lacks %q:\n%s", want, a.Text)
		}
	}
}

// TestReceiptsNameEntriesAndTasks, those that were withheld too.
func TestReceiptsNameEntriesAndTasks(t *testing.T) {
	s := newShelf()
	s.lesson("l-1")
	s.catalogued()
	type named struct{ ID, Name, Server string }
	_, r := s.asked(t, memory.RecallRequest{Kinds: append(namedKinds, memory.Lesson), Limit: 3, MinRelevance: new(0.0)}, AskOptions{})
	var items, withheld []named
	for _, x := range r.Items {
		items = append(items, named{x.ID, x.Name, x.Server})
	}
	for _, x := range r.Withheld {
		withheld = append(withheld, named{x.ID, x.Name, x.Server})
	}
	if diff := cmp.Diff([]named{{"l-1", "", ""}, {"u-1", "Error Handling", ""}, {"f-1", "Schema", ""}}, items); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]named{{"o-1", "read_file", "filesystem"}, {"t-1", "task-42", ""}, {"t-2", "task-43", ""}}, withheld); diff != "" {
		t.Errorf("withheld (-want +got):\n%s", diff)
	}
	if len(r.Items) < 2 {
		t.Fatalf("the receipt holds %+v", r.Items)
	}
	if v := r.Items[1].RankFactors.Verdicts; v == nil || v.Worked != 2 {
		t.Errorf("the receipt tells the verdicts %+v, want those on the rule", v)
	}
	a := s.ask(t, memory.RecallRequest{Kinds: namedKinds, Limit: 1, Explain: true, MaxTokens: 8000})
	if !strings.Contains(a.Text, "not shown: tool o-1, filesystem:read_file, relevance 1.00, over limit\n") {
		t.Errorf("the explanation does not name what was withheld:\n%s", a.Text)
	}
}

// TestLongEntriesAreShortened to their share of a written answer, so that each has its
// place, and are whole as JSON.
func TestLongEntriesAreShortened(t *testing.T) {
	s := newShelf()
	for i, first := range []string{"alpha", "beta", "gamma", "delta", "epsilon"} {
		s.add(memory.Record{
			ID: "u-" + first, Kind: memory.Rule, Project: "p-own", Created: now,
			Entry: &memory.Entry{Name: first, Content: strings.Repeat(strings.Repeat(first[:i+1], 3)+" ", 2000)},
		})
	}
	a := s.ask(t, memory.RecallRequest{Kinds: namedKinds})
	if len(a.Items) != 5 || a.Tokens > memory.DefaultTokens {
		t.Errorf("the answer has %d items of %d tokens, want all 5 within %d", len(a.Items), a.Tokens, memory.DefaultTokens)
	}
	for _, item := range a.Items {
		if !strings.HasSuffix(item.Text, "… (recall ids: "+item.ID[:min(len(item.ID), 8)]+")") || !item.Cut || len(item.Text) < leastText {
			t.Errorf("%s is shown as %q, want it shortened and marked", item.ID, item.Text)
		}
	}
	one := s.ask(t, memory.RecallRequest{Kinds: namedKinds, Format: memory.FormatJSON, Limit: 1, MaxTokens: 8000})
	if len(one.Items) != 1 || strings.HasSuffix(one.Items[0].Text, render.Ellipsis) {
		t.Errorf("as JSON it is %d items, want one, whole", len(one.Items))
	}
}
