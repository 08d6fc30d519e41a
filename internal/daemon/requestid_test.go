package daemon

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// idRequests are requests of one operation, without an id. Only the first is done under its id.
type idRequests struct {
	done any
	// other are requests that differ from it.
	other []any
	// fails fails, and leaves its id free.
	fails any
}

// TestRequestIDNamesOneRequest: every operation that takes a request id answers the same request
// again, refuses every other under that id, and leaves the id of one that failed free. A restart
// changes none of it.
func TestRequestIDNamesOneRequest(t *testing.T) {
	s, dir := serve(t, newConfig(t)), shop(t)
	caller := memory.Caller{Dir: dir, Client: "test", Window: "w"}
	in := func(session string) memory.SessionRef { return memory.SessionRef{SessionID: session, Caller: caller} }
	current := func(session string) memory.SessionRef {
		by := caller
		by.Session = session
		return memory.SessionRef{Caller: by}
	}
	call := func(op *service.Spec, request any) (any, error) {
		t.Helper()
		v := reflect.New(op.Request()).Elem()
		v.Set(reflect.ValueOf(request))
		if who := v.FieldByName("Caller").Addr().Interface().(*memory.Caller); *who == (memory.Caller{}) {
			*who = caller
		}
		return s.Call(t.Context(), op, v.Interface(), nil)
	}
	under := func(id string, op *service.Spec, request any) any {
		return op.Identified(request, func() string { return id })
	}
	do := func(op *service.Spec, request any) any {
		t.Helper()
		response, err := call(op, request)
		must(t, err)
		return response
	}
	for _, session := range []string{"host-1", "host-2", "host-3"} {
		do(service.StartSession.Spec, memory.StartSessionRequest{SessionID: session})
	}
	rule := func(name, text string) memory.CatalogueEntry {
		return memory.CatalogueEntry{Ref: memory.Ref{Type: memory.Rule, Name: name}, Content: text, Include: memory.IncludeManual}
	}
	do(service.Register.Spec, memory.RegisterRequest{Entries: []memory.CatalogueEntry{rule("a", "a"), rule("b", "b"), rule("c", "c")}})
	do(service.BlockTask.Spec, memory.BlockTaskRequest{TaskID: "stuck", Reason: "waits"})
	do(service.Remember.Spec, memory.RememberRequest{Context: "npm install EACCES", Lesson: "Use a prefix in the home folder"})
	receipt := s.ask(dir, "npm install EACCES prefix", memory.Lesson).Receipt
	a, b := memory.Ref{Type: memory.Rule, Name: "a"}, memory.Ref{Type: memory.Rule, Name: "b"}
	unknown := memory.Ref{Type: memory.Rule, Name: "unknown"}
	report := json.RawMessage(`{"valid": true}`)
	step := func(session, tool string) memory.RecordStepRequest {
		return memory.RecordStepRequest{SessionID: session, Tool: memory.StepTool{Name: tool}, Outcome: memory.Outcome{OK: true}}
	}
	tool := []memory.ToolRef{{ServerName: "fs", ToolName: "read"}}
	state := func(task string) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`[{"task_id":%q,"completed_at":"2026-01-01T00:00:00Z","validation_report":{}}]`, task))
	}
	const nowhere = "no-such-project"
	elsewhere := memory.Caller{Dir: shop(t), Client: "test"}
	requests := map[*service.Spec]idRequests{
		service.Remember.Spec: {memory.RememberRequest{Lesson: "Freeze the clock"}, []any{
			memory.RememberRequest{Lesson: "Freeze the clocks"}, memory.RememberRequest{Lesson: "Freeze the clock", Tags: []string{"time"}},
			memory.RememberRequest{Lesson: "Freeze the clock", Caller: elsewhere},
		}, memory.RememberRequest{Lesson: "x", Supersedes: []string{"l-0000000000000000"}}},
		service.Feedback.Spec: {memory.FeedbackRequest{Receipt: receipt, Verdict: memory.Worked}, []any{
			memory.FeedbackRequest{Receipt: receipt, Verdict: memory.Failed},
		}, memory.FeedbackRequest{Receipt: "rc-unknown", Verdict: memory.Worked}},
		service.SearchTools.Spec: {memory.SearchToolsRequest{Query: "read a file", SessionRef: in("host-1")}, []any{
			memory.SearchToolsRequest{Query: "write a file", SessionRef: in("host-1")},
			memory.SearchToolsRequest{Query: "read a file", SessionRef: memory.SessionRef{Caller: elsewhere}}, // where no session is
		}, memory.SearchToolsRequest{Query: "x", SessionRef: in("host-unknown")}},
		service.StartSession.Spec: {memory.StartSessionRequest{SessionID: "host-4", Goal: "one"}, []any{
			memory.StartSessionRequest{SessionID: "host-4", Goal: "two"}, memory.StartSessionRequest{SessionID: "host-5", Goal: "one"},
			memory.StartSessionRequest{SessionID: "host-4", Goal: "one", Resume: true},
		}, memory.StartSessionRequest{SessionID: "host-1"}},
		service.RecordStep.Spec: {step("host-1", "bash"), []any{step("host-1", "edit"), step("host-2", "bash")}, step("host-unknown", "bash")},
		service.EndSession.Spec: {memory.EndSessionRequest{SessionID: "host-3"}, []any{
			memory.EndSessionRequest{SessionID: "host-2"},
		}, memory.EndSessionRequest{SessionID: "host-unknown"}},
		service.CompleteTask.Spec: {memory.CompleteTaskRequest{TaskID: "t", ValidationReport: report}, []any{
			memory.CompleteTaskRequest{TaskID: "t", ValidationReport: json.RawMessage(`{"valid": false}`)}, memory.CompleteTaskRequest{TaskID: "u", ValidationReport: report},
		}, memory.CompleteTaskRequest{TaskID: "t", ValidationReport: report, Project: nowhere}},
		service.BlockTask.Spec: {memory.BlockTaskRequest{TaskID: "t", Reason: "waits"}, []any{
			memory.BlockTaskRequest{TaskID: "t", Reason: "waits longer"},
		}, memory.BlockTaskRequest{TaskID: "t", Reason: "waits", Project: nowhere}},
		service.UnblockTask.Spec: {memory.UnblockTaskRequest{TaskID: "stuck"}, []any{
			memory.UnblockTaskRequest{TaskID: "stuck", Resolution: "done"}, memory.UnblockTaskRequest{TaskID: "t"},
		}, memory.UnblockTaskRequest{TaskID: "unknown"}},
		service.LoadTasks.Spec: {memory.LoadTasksRequest{State: state("old")}, []any{
			memory.LoadTasksRequest{State: state("older")},
		}, memory.LoadTasksRequest{State: json.RawMessage(`[7]`)}},
		service.Register.Spec: {memory.RegisterRequest{Entries: []memory.CatalogueEntry{rule("d", "d")}}, []any{
			memory.RegisterRequest{Entries: []memory.CatalogueEntry{rule("d", "e")}}, memory.RegisterRequest{Entries: []memory.CatalogueEntry{rule("d", "d")}, Replace: true},
		}, memory.RegisterRequest{Entries: []memory.CatalogueEntry{rule("d", "d")}, Project: nowhere}},
		service.Unregister.Spec: {memory.UnregisterRequest{Entries: []memory.Ref{{Type: memory.Rule, Name: "c"}}}, []any{
			memory.UnregisterRequest{Entries: []memory.Ref{b}}, memory.UnregisterRequest{Source: "test"},
		}, memory.UnregisterRequest{Entries: []memory.Ref{unknown}}},
		service.ChangeContext.Spec: {memory.ChangeContextRequest{Add: []memory.ContextItem{{Ref: a}}, SessionRef: in("host-1")}, []any{
			memory.ChangeContextRequest{Add: []memory.ContextItem{{Ref: b}}, SessionRef: in("host-1")}, memory.ChangeContextRequest{Add: []memory.ContextItem{{Ref: a}}, SessionRef: in("host-2")},
			memory.ChangeContextRequest{Remove: []memory.Ref{unknown}, SessionRef: in("host-1")},
		}, memory.ChangeContextRequest{Remove: []memory.Ref{unknown}, SessionRef: in("host-1")}},
		service.Assemble.Spec: {memory.AssembleRequest{Message: "hello", SessionRef: in("host-1")}, []any{
			memory.AssembleRequest{Message: "good bye", SessionRef: in("host-1")}, memory.AssembleRequest{Message: "hello", SessionRef: in("host-2")},
		}, memory.AssembleRequest{Message: "hello", SessionRef: in("host-unknown")}},
		service.Report.Spec: {memory.ReportRequest{UsedTools: tool, SessionRef: current("host-1")}, []any{
			memory.ReportRequest{UsedTools: tool, SessionRef: current("host-2")},
			memory.ReportRequest{UsedTools: []memory.ToolRef{{ServerName: "fs", ToolName: "write"}}, SessionRef: current("host-1")}, memory.ReportRequest{ClearDiscovered: true, SessionRef: current("host-1")},
		}, memory.ReportRequest{UsedTools: tool, SessionRef: in("host-unknown")}},
		service.Compact.Spec: {memory.CompactRequest{Summary: "The order was refunded.", SessionRef: in("host-2")}, []any{
			memory.CompactRequest{Summary: "The order was sent.", SessionRef: in("host-2")}, memory.CompactRequest{Summary: "The order was refunded.", SessionRef: in("host-1")},
			memory.CompactRequest{SessionRef: in("host-2")},
		}, memory.CompactRequest{SessionRef: in("host-unknown")}},
	}
	var ops []*service.Spec
	for _, op := range service.Operations() {
		if f, ok := op.Request().FieldByName("RequestID"); !ok || f.Type.Kind() != reflect.String {
			continue
		}
		if _, ok := requests[op]; !ok {
			t.Fatalf("%s takes a request id, and this test has no requests of it", op.Name)
		}
		ops = append(ops, op)
	}
	first := map[*service.Spec]string{}
	// what tells two answers apart: by the update that did it, or by what it did.
	what := func(response any) string {
		v := reflect.ValueOf(response).Elem()
		text := ""
		for _, name := range []string{"Seq", "ID", "SessionID", "TaskID", "Turn", "Version", "Dropped", "Removed", "Summary"} {
			if f := v.FieldByName(name); f.IsValid() {
				text += fmt.Sprintf("%s %v ", name, f)
			}
		}
		return text
	}
	check := func(when string) {
		t.Helper()
		for _, op := range ops {
			r := requests[op]
			again, err := call(op, under("done "+op.Name, op, r.done))
			if err != nil {
				t.Errorf("%s again %s: %v", op.Name, when, err)
			} else if got := what(again); got != first[op] {
				t.Errorf("%s again %s: %s, want %s", op.Name, when, got, first[op])
			}
			refuse := func(how string, by *service.Spec, request any) {
				t.Helper()
				_, err := call(by, under("done "+op.Name, by, request))
				if err == nil || memory.CodeOf(err) != memory.CodeConflict || memory.AsError(err).Field != "request_id" {
					t.Errorf("%s under the id of %s %s, %s: %v, want a conflict of request_id", by.Name, op.Name, how, when, err)
				}
			}
			for i, other := range r.other {
				refuse(fmt.Sprintf("with other content %d", i), op, other)
			}
			for _, by := range ops {
				if by != op {
					refuse("itself", by, requests[by].done)
				}
			}
		}
	}
	for _, op := range ops {
		r := requests[op]
		if _, err := call(op, under("done "+op.Name, op, r.fails)); err == nil || memory.AsError(err).Field == "request_id" {
			t.Errorf("%s that must fail: %v", op.Name, err)
		}
		first[op] = what(do(op, under("done "+op.Name, op, r.done)))
	}
	for _, op := range ops { // what came later changed versions and counts
		first[op] = what(do(op, under("done "+op.Name, op, requests[op].done)))
	}
	check("at once")
	s.close()
	s = serve(t, s.cfg)
	check("after a restart")
	// A search under the id of one whose session has ended since.
	search := requests[service.SearchTools.Spec].done.(memory.SearchToolsRequest)
	search.SessionRef = memory.SessionRef{Caller: memory.Caller{Dir: dir, Client: "other", Window: "v"}}
	do(service.StartSession.Spec, memory.StartSessionRequest{Caller: search.Caller})
	do(service.SearchTools.Spec, under("ended", service.SearchTools.Spec, search))
	do(service.EndSession.Spec, memory.EndSessionRequest{Caller: search.Caller})
	do(service.SearchTools.Spec, under("ended", service.SearchTools.Spec, search))
}
