package agentctx

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// projectOf is the rig's project.
func (r *rig) projectOf() memory.Project {
	r.t.Helper()
	p, _, err := r.Contexts.opts.Projects.Resolve(r.t.Context(), "", r.caller)
	must(r.t, err)
	return p
}

// What a session has met is there after a restart, byte by byte, and in the answer as
// it is stored.
func TestWorkingContextAfterRestart(t *testing.T) {
	r := newRig(t)
	id := r.start("ship the order form")
	r.report(id, memory.ReportRequest{
		UsedTools: []memory.ToolRef{toolRef("fs", "read"), toolRef("", "Bash")},
		Entities:  []memory.Entity{{ID: "o-1", Type: "order", Data: json.RawMessage(`{"b": "<x>", "a":[1.50]}`)}, {ID: "o-2"}},
	})
	before := r.stored(id)
	answer, err := json.Marshal(r.working(id))
	if err != nil || string(answer) != string(before) {
		t.Errorf("the answer is\n%s, %v; stored is\n%s", answer, err, before)
	}
	r.reopen()
	if after := r.stored(id); string(after) != string(before) {
		t.Errorf("after a restart it is\n%s\nbefore it was\n%s", after, before)
	}
	wc := r.report(id, memory.ReportRequest{Entities: []memory.Entity{{ID: "o-3"}}})
	if wc.Version != 2 || len(wc.Entities) != 3 || len(wc.UsedTools) != 2 {
		t.Errorf("after a report it is %+v; want version 2 with 3 entities and 2 tools", wc)
	}
}

// A change that changes nothing writes nothing.
func TestReportOfWhatIsThere(t *testing.T) {
	r := newRig(t)
	id := r.start("x")
	if wc := r.report(id, memory.ReportRequest{ClearDiscovered: true}); wc.Version != 0 || r.stored(id) != nil {
		t.Errorf("clearing nothing made %+v, stored as %s", wc, r.stored(id))
	}
	req := memory.ReportRequest{Entities: []memory.Entity{{ID: "a", Data: json.RawMessage(`{"n": "1 < 2 & 3"}`)}}}
	first := r.report(id, req)
	seq := r.index.Seq()
	req.RequestID = "another"
	again := r.report(id, req)
	if first.Version != 1 || again.Version != 1 || r.index.Seq() != seq {
		t.Errorf("versions %d and %d, updates %d and %d; want no second change", first.Version, again.Version, seq, r.index.Seq())
	}
}

func TestReport(t *testing.T) {
	r := newRig(t)
	id := r.start("x")
	r.report(id, memory.ReportRequest{Entities: []memory.Entity{{ID: "a", Name: "first"}, {ID: "b"}, {ID: "a", Name: "second"}}})
	wc := r.report(id, memory.ReportRequest{Entities: []memory.Entity{{ID: "c", Name: "has hunter2", Data: json.RawMessage(`{"k":"hunter2"}`)}, {ID: "b", Type: "pr"}}})
	raw, _ := json.Marshal(wc.Entities)
	want := `[{"id":"a","name":"second"},{"id":"b","type":"pr"},{"id":"c","name":"has [redacted]","data":{"k":"[redacted]"}}]`
	if string(raw) != want {
		t.Errorf("the entities are\n%s, want\n%s", raw, want)
	}
	if wc.Version != 2 {
		t.Errorf("two reports made version %d", wc.Version)
	}
	again := memory.ReportRequest{RequestID: "one", Entities: []memory.Entity{{ID: "d", Name: "1"}}}
	r.report(id, again)
	r.report(id, memory.ReportRequest{Entities: []memory.Entity{{ID: "d", Name: "2"}}})
	if wc := r.report(id, again); wc.Version != 4 || wc.Entities[3].Name != "2" {
		t.Errorf("a request repeated after another made version %d and %+v; want nothing done twice", wc.Version, wc.Entities[3])
	}
}

// Over a bound a report keeps nothing and says which.
func TestReportBounds(t *testing.T) {
	r := newRig(t)
	id := r.start("x")
	full := make([]memory.Entity, memory.MaxEntities)
	tools := make([]memory.ToolRef, memory.MaxUsedTools)
	for i := range full {
		full[i].ID, tools[i].ToolName = fmt.Sprint(i), fmt.Sprint(i)
	}
	r.report(id, memory.ReportRequest{Entities: full, UsedTools: tools})
	before := string(r.stored(id))
	large := make([]memory.Entity, 40)
	for i := range large {
		large[i] = memory.Entity{ID: fmt.Sprint(i), Data: json.RawMessage(`{"x":"` + strings.Repeat("y", memory.MaxEntityData-10) + `"}`)}
	}
	for field, req := range map[string]memory.ReportRequest{
		"entities":  {Entities: []memory.Entity{{ID: "0", Name: "changed"}, {ID: "one more"}}},
		"usedTools": {UsedTools: []memory.ToolRef{{ToolName: "one more"}}, Entities: []memory.Entity{{ID: "0", Name: "changed"}}},
		"bytes":     {Entities: large},
	} {
		req.SessionRef = r.which(id)
		_, err := r.Report(t.Context(), req)
		if memory.CodeOf(err) != memory.CodeInvalidInput || !strings.Contains(err.Error(), field) {
			t.Errorf("over the bound of %s: %v", field, err)
		}
	}
	if after := string(r.stored(id)); after != before {
		t.Error("a refused report changed something")
	}
	r.report(id, memory.ReportRequest{Entities: []memory.Entity{{ID: "0", Name: "changed"}}}) // what is there has room
}

// A working context that is full of reports stops neither searches nor clearing.
func TestSearchInFullContext(t *testing.T) {
	r := newRig(t)
	r.register(toolbox()...)
	id := r.start("x")
	// 15 bytes short of its bound, which the next tool takes.
	data := func(n int) json.RawMessage { return json.RawMessage(`{"x":"` + strings.Repeat("y", n) + `"}`) }
	var entities []memory.Entity
	for i := range 32 {
		entities = append(entities, memory.Entity{ID: fmt.Sprintf("%02d", i), Data: data(16_000)})
	}
	r.report(id, memory.ReportRequest{Entities: entities})
	room := memory.MaxWorkingContext - len(r.stored(id)) - len(`,{"id":"z","data":{"x":""}}`)
	r.report(id, memory.ReportRequest{Entities: []memory.Entity{{ID: "z", Data: data(room - 15)}}})
	if m := r.search(id, "open an issue in the repository"); len(m.Tools) == 0 || len(r.stored(id)) <= memory.MaxWorkingContext {
		t.Fatalf("%d tools were found, and the context has %d bytes", len(m.Tools), len(r.stored(id)))
	}
	_, err := r.Report(t.Context(), memory.ReportRequest{UsedTools: []memory.ToolRef{toolRef("fs", "read")}, SessionRef: r.which(id)})
	if memory.CodeOf(err) != memory.CodeInvalidInput {
		t.Errorf("a report over the bound: %v", err)
	}
	if wc := r.report(id, memory.ReportRequest{ClearDiscovered: true}); len(wc.DiscoveredTools) != 0 {
		t.Errorf("after clearing %v are left", wc.DiscoveredTools)
	}
}

// Fields of a newer version are kept by a change.
func TestChangeKeepsUnknownFields(t *testing.T) {
	r := newRig(t)
	id := r.start("x")
	key := stateKey(memory.SessionKey{Project: r.projectOf().ID, ID: id})
	_, err := r.store.Commit(t.Context(), memory.Batch{States: []memory.StateEdit{{Key: key, Edit: func([]byte) ([]byte, error) {
		return []byte(`{"sessionId":"` + id + `","version":7,"turn":4,"discoveredTools":[],"usedTools":[],"entities":[],"later":{"x":1}}`), nil
	}}}})
	must(t, err)
	r.report(id, memory.ReportRequest{Entities: []memory.Entity{{ID: "a"}}})
	want := `{"sessionId":"` + id + `","version":8,"turn":4,"discoveredTools":[],"usedTools":[],"entities":[{"id":"a"}],"later":{"x":1}}`
	if got := string(r.stored(id)); got != want {
		t.Errorf("stored is\n%s, want\n%s", got, want)
	}
}

// Writers of one session at the same time lose nothing, and every change counts.
func TestReportAtTheSameTime(t *testing.T) {
	r := newRig(t)
	id := r.start("x")
	const writers, each = 16, 5
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				_, err := r.Report(t.Context(), memory.ReportRequest{Entities: []memory.Entity{{ID: fmt.Sprintf("%d-%d", w, i)}}, SessionRef: r.which(id)})
				if err != nil {
					t.Errorf("report: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if wc := r.working(id); len(wc.Entities) != writers*each || wc.Version != writers*each {
		t.Errorf("%d entities at version %d, want %d of both", len(wc.Entities), wc.Version, writers*each)
	}
}

// A session that is forgotten while it is changed does not come back.
func TestChangeOfForgottenSession(t *testing.T) {
	r := newRig(t)
	id := r.start("x")
	r.report(id, memory.ReportRequest{Entities: []memory.Entity{{ID: "a"}}})
	p := r.projectOf()
	_, err := r.update(t.Context(), p, id, "", func(wc *memory.WorkingContext, _ *memory.Batch) (bool, error) {
		if _, err := r.store.Commit(t.Context(), memory.Batch{DropSessions: []memory.SessionKey{{Project: p.ID, ID: id}}}); err != nil {
			t.Error(err)
		}
		wc.Turn++
		return true, nil
	})
	if memory.CodeOf(err) != memory.CodeNotFound || r.stored(id) != nil {
		t.Errorf("the change ended with %v and stored %s; want %s and nothing", err, r.stored(id), memory.CodeNotFound)
	}
}

func TestChangeEndsWithErrors(t *testing.T) {
	r := newRig(t)
	id := r.start("x")
	failed := errors.New("refused")
	if _, err := r.update(t.Context(), r.projectOf(), id, "", func(*memory.WorkingContext, *memory.Batch) (bool, error) { return true, failed }); !errors.Is(err, failed) {
		t.Errorf("the change ended with %v, want %v", err, failed)
	}
	key := stateKey(memory.SessionKey{Project: r.projectOf().ID, ID: id})
	_, err := r.store.Commit(t.Context(), memory.Batch{States: []memory.StateEdit{{Key: key, Edit: func([]byte) ([]byte, error) { return []byte(`{"version":"x"}`), nil }}}})
	must(t, err)
	_, err = r.WorkingContext(t.Context(), memory.WorkingContextRequest{SessionRef: r.which(id)})
	if memory.CodeOf(err) != memory.CodeCorrupt {
		t.Errorf("a state that cannot be read: %v, want %s", err, memory.CodeCorrupt)
	}
}

func TestTurn(t *testing.T) {
	r := newRig(t)
	p := r.projectOf()
	id := "turn" // as the name of a field
	if _, err := r.ingest.StartSession(t.Context(), memory.StartSessionRequest{SessionID: id, Caller: r.caller}); err != nil {
		t.Fatal(err)
	}
	key := memory.SessionKey{Project: p.ID, ID: id}
	if got := r.Turn(key); got != 0 {
		t.Errorf("without a state the turn is %d", got)
	}
	for want := 1; want <= 2; want++ {
		_, err := r.update(t.Context(), p, id, "", func(wc *memory.WorkingContext, _ *memory.Batch) (bool, error) { wc.Turn++; return true, nil })
		if got := r.Turn(key); err != nil || got != want {
			t.Errorf("the turn is %d, %v; want %d", got, err, want)
		}
	}
}

// The turn of a session that has met some things, and of one that has met all it may.
func BenchmarkTurn(b *testing.B) {
	for _, n := range []int{20, memory.MaxEntities} {
		b.Run(fmt.Sprintf("entities=%d", n), func(b *testing.B) {
			r := newRig(b)
			id := r.start("x")
			entities := make([]memory.Entity, n)
			for i := range entities {
				entities[i] = memory.Entity{ID: fmt.Sprint(i), Name: strings.Repeat("n", 200)}
			}
			r.report(id, memory.ReportRequest{Entities: entities})
			key := memory.SessionKey{Project: r.projectOf().ID, ID: id}
			for b.Loop() {
				r.Turn(key)
			}
		})
	}
}

// TestRepeatedRequestThatWouldBeRefused: a repeated request is answered as the first one, also if
// what that one did, or what came after it, refuses another.
func TestRepeatedRequestThatWouldBeRefused(t *testing.T) {
	r := newRig(t)
	id := r.start("mend it")
	style := memory.CatalogueEntry{Ref: memory.Ref{Type: memory.Rule, Name: "style"}, Content: "Write plainly.", Include: memory.IncludeManual}
	r.register(style)
	add := memory.ChangeContextRequest{RequestID: "add", Add: []memory.ContextItem{{Ref: style.Ref}}, SessionRef: r.which(id)}
	remove := memory.ChangeContextRequest{RequestID: "remove", Remove: []memory.Ref{style.Ref}, SessionRef: r.which(id)}
	change := func(req memory.ChangeContextRequest) {
		t.Helper()
		if out, err := r.ChangeContext(t.Context(), req); err != nil || !out.Changed {
			t.Errorf("%s: %+v, %v; want it changed", req.RequestID, out, err)
		}
	}
	change(add)
	change(add)
	second := add
	second.RequestID = "second"
	for range 2 {
		if out, err := r.ChangeContext(t.Context(), second); err != nil || out.Changed {
			t.Errorf("what is there is added by another request: %+v, %v; want it unchanged", out, err)
		}
	}
	if _, err := r.catalogue.Unregister(t.Context(), memory.UnregisterRequest{Entries: []memory.Ref{style.Ref}, Caller: r.caller}); err != nil {
		t.Fatal(err)
	}
	change(add)
	change(remove)
	change(remove)
	remove.RequestID = "again"
	for range 2 {
		if _, err := r.ChangeContext(t.Context(), remove); memory.CodeOf(err) != memory.CodeNotFound {
			t.Errorf("another removal = %v, want not found", err)
		}
	}
}
