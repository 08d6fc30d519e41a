package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestTextsOfThen: what a turn was given is read back with the texts of then as long as
// they are as they were; what has changed or is gone is said to be, also in the answer to
// a repeated request.
func TestTextsOfThen(t *testing.T) {
	s := serve(t, newConfig(t))
	dir := shop(t)
	ctx, in := t.Context(), memory.Caller{Dir: dir, Client: "test"}
	long := strings.Repeat("\tshelf = append(shelf, len(shelf))\n", 40)
	code := func(name string) string {
		return "package stock\n\n// " + name + " compares the shelf with the ledger of refunds.\nfunc " + name + "(shelf []int) int {\n" + long + "\treturn len(shelf)\n}\n"
	}
	file := filepath.Join(dir, "reconcile.go")
	must(t, os.WriteFile(file, []byte(code("Reconcile")), 0o600))
	s.index(dir)
	s.until("indexed", func(st *memory.Status) bool { return len(st.Projects) == 1 && !st.Projects[0].IndexedAt.IsZero() })
	rule := func(text string) memory.CatalogueEntry {
		return memory.CatalogueEntry{Ref: memory.Ref{Type: memory.Rule, Name: "Refunds"}, Content: text}
	}
	reference := func(text string) memory.CatalogueEntry {
		return memory.CatalogueEntry{Ref: memory.Ref{Type: memory.Reference, Name: "Ledger"}, Content: text}
	}
	tool := func(schema string) memory.CatalogueEntry {
		return memory.CatalogueEntry{Ref: memory.Ref{Type: memory.Tool, Name: "query", ServerName: "database"}, Description: "Ask the ledger", InputSchema: json.RawMessage(schema)}
	}
	register := func(entries ...memory.CatalogueEntry) {
		t.Helper()
		_, err := service.Register.Do(ctx, s, memory.RegisterRequest{Source: "host", Entries: entries, Replace: true, Caller: in})
		must(t, err)
	}
	register(rule("Write every refund down.\nTwice."), reference("The ledger has a row for each refund."), tool(`{"type":"object"}`))
	lesson, err := service.Remember.Do(ctx, s, memory.RememberRequest{Type: memory.EventPattern, Context: "Reconcile compares the shelf with the ledger",
		Lesson: strings.Repeat("The shelf and the ledger of refunds must be compared in the same order. ", 50), Command: "go test ./stock", Caller: in})
	must(t, err)
	_, err = service.CompleteTask.Do(ctx, s, memory.CompleteTaskRequest{TaskID: "task-1", RequiresContext: new(true), Intent: "Compare", ValidationReport: json.RawMessage(`{"valid":true}`), Caller: in})
	must(t, err)
	_, err = service.BlockTask.Do(ctx, s, memory.BlockTaskRequest{TaskID: "task-2", Reason: "The ledger is locked", Caller: in})
	must(t, err)
	_, err = service.StartSession.Do(ctx, s, memory.StartSessionRequest{SessionID: "then-1", Caller: in})
	must(t, err)
	which := memory.SessionRef{SessionID: "then-1", Caller: in}
	ask := memory.AssembleRequest{RequestID: "then-request", Message: "Reconcile compares the shelf with the ledger of refunds", MaxTokens: 8000, SessionRef: which}
	a, err := service.Assemble.Do(ctx, s, ask)
	must(t, err)
	read := func() (map[memory.Kind]memory.RecordItem, string) {
		t.Helper()
		got, err := service.ContextOf.Do(ctx, s, memory.ContextOfRequest{Texts: true, SessionRef: which})
		must(t, err)
		items := map[memory.Kind]memory.RecordItem{}
		for _, item := range got.Record.Items {
			items[item.Type] = item
		}
		return items, got.Text
	}
	// As it was handed out.
	items, text := read()
	for kind, want := range map[memory.Kind]string{
		memory.Rule: "Write every refund down.\nTwice.", memory.Reference: "The ledger has a row for each refund.", memory.Tool: "Ask the ledger\n{\"type\":\"object\"}",
		memory.Task: "task-1", memory.Blocker: "The ledger is locked",
	} {
		if item := items[kind]; item.State != "" || !strings.Contains(item.Text, want) {
			t.Errorf("unchanged, the %s is %q in state %q, want %q", kind, item.Text, item.State, want)
		}
	}
	cut := false
	for _, m := range a.Memories {
		got := items[m.Kind]
		handed, _, _ := strings.Cut(m.Text, "… (recall ids: ")
		if got.Name != m.ID || got.State != "" || got.Text != handed {
			t.Errorf("unchanged, the %s %s is\n%q in state %q, want what was handed out:\n%q", m.Kind, got.Name, got.Text, got.State, handed)
		}
		cut = cut || m.Kind == memory.Lesson && m.Cut
	}
	if !cut || items[memory.Chunk].Name == "" {
		t.Fatalf("the context is\n%s\nwant a lesson that is cut, and code", a.Text)
	}
	if !strings.Contains(text, "  • Refunds [Always]\n      Write every refund down.\n      Twice.") || strings.Contains(text, "(changed") {
		t.Errorf("unchanged, the text is\n%s\nwant the texts below their names", text)
	}
	names, err := service.ContextOf.Do(ctx, s, memory.ContextOfRequest{SessionRef: which})
	must(t, err)
	if strings.Contains(names.Text, "Twice") || names.Record.Items[0].Text != "" {
		t.Errorf("without asking for texts the text is\n%s\nwant the names alone", names.Text)
	}
	again, err := service.Assemble.Do(ctx, s, ask)
	must(t, err)
	if again.Receipt != a.Receipt || again.Text != a.Text || strings.Contains(fmt.Sprint(again.Record), "changed") {
		t.Errorf("unchanged, the repeated answer is\n%s\nwant that of then:\n%s", again.Text, a.Text)
	}
	states := func(when string, want map[memory.Kind]memory.Reason) string {
		t.Helper()
		items, text := read()
		for kind, state := range want {
			if item := items[kind]; item.State != state || state != "" && item.Text != "" {
				t.Errorf("%s the %s is in state %q with the text %q, want %q and no text of today", when, kind, item.State, item.Text, state)
			}
		}
		return text
	}
	// Changed: before it is indexed again, and after.
	register(rule("Write refunds down."), reference("The ledger has two rows for each refund."), tool(`{"type":"object","n":1}`))
	must(t, os.WriteFile(file, []byte(strings.ReplaceAll(code("Reconcile"), "append(shelf, len(shelf))", "append(shelf, cap(shelf))")), 0o600))
	_, err = service.CompleteTask.Do(ctx, s, memory.CompleteTaskRequest{TaskID: "task-1", ValidationReport: json.RawMessage(`{"valid":false}`), Caller: in})
	must(t, err)
	_, err = service.UnblockTask.Do(ctx, s, memory.UnblockTaskRequest{TaskID: "task-2", Caller: in})
	must(t, err)
	changed := map[memory.Kind]memory.Reason{memory.Rule: memory.Changed, memory.Reference: memory.Changed, memory.Tool: memory.Changed, memory.Chunk: memory.Changed,
		memory.Task: memory.Changed, memory.Blocker: memory.Gone, memory.Lesson: ""}
	if text := states("changed,", changed); !strings.Contains(text, "  • Refunds [Always] (changed since)\n") {
		t.Errorf("the text is\n%s\nwant it to say that the rule has changed", text)
	}
	reindexed := func() {
		t.Helper()
		st, err := service.Status.Do(ctx, s, service.None{})
		must(t, err)
		s.index(dir)
		s.until("indexed again", func(now *memory.Status) bool { return now.Projects[0].IndexedAt.After(st.Projects[0].IndexedAt) })
	}
	reindexed()
	states("changed and indexed again,", changed)
	again, err = service.Assemble.Do(ctx, s, ask)
	must(t, err)
	i := 0
	for i < len(again.Items) && again.Items[i].Type != memory.Rule {
		i++
	}
	if i == len(again.Items) || again.Items[i].State != memory.Changed || again.Items[i].Text != "Write refunds down." || !strings.Contains(again.Text, "### Refunds [changed since]") {
		t.Errorf("the repeated answer is %+v\n%s\nwant the rule of today, marked", again.Items, again.Text)
	}
	// Gone.
	register(memory.CatalogueEntry{Ref: memory.Ref{Type: memory.Rule, Name: "Another"}, Content: "x"})
	_, err = service.Forget.Do(ctx, s, memory.ForgetRequest{IDs: []string{lesson.ID}})
	must(t, err)
	must(t, os.Remove(file))
	gone := map[memory.Kind]memory.Reason{memory.Rule: memory.Gone, memory.Reference: memory.Gone, memory.Tool: memory.Gone, memory.Lesson: memory.Gone, memory.Chunk: memory.Gone}
	if text := states("gone,", gone); !strings.Contains(text, "  • Refunds [Always] (gone)") {
		t.Errorf("the text is\n%s\nwant it to say that the rule is gone", text)
	}
	reindexed()
	states("gone and indexed again,", gone)
}
