package mcp

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestJournalTools: what is sent reaches the service, and what the service says
// reaches the agent within the published schema.
func TestJournalTools(t *testing.T) {
	l := newLedger()
	c := connect(t, overHTTP(t, serve(t, l, Options{StructuredContent: true})))
	schemas := outputSchemas(t, c)
	caller := memory.Caller{Client: "test-agent"}

	start := `{"goal":"Send flow","flowTags":["send"],"tags":["smoke"],"sessionId":"mm-20260115-abc","build":{"n":1.50},"launch":null,"screenshots":true,"project":"demo"}`
	r := callTool(t, c, "session_start", start)
	content := checkStructured(t, schemas["session_start"], r)
	if want := "Session mm-20260115-abc is open in project demo on branch main. Secrets were taken out of the text. Warning: no space left."; textOf(r) != want {
		t.Errorf("session_start says %q, want %q", textOf(r), want)
	}
	if content["sessionId"] != "mm-20260115-abc" {
		t.Errorf("structured content %v, want the session", content)
	}
	wantEqual(t, "session_start", memory.StartSessionRequest{
		SessionID: "mm-20260115-abc", Goal: "Send flow", FlowTags: []string{"send"}, Tags: []string{"smoke"},
		Build: json.RawMessage(`{"n":1.50}`), Screenshots: true, Project: "demo", Caller: caller,
	}, lastRequest[memory.StartSessionRequest](t, l, service.StartSession.Name))

	caller.Session = "mm-20260115-abc" // of p1, which is called demo
	r = callTool(t, c, "record_step", `{"tool":{"name":"bash","input":{"command":"npm test"},"target":"web"},
		"outcome":{"ok":false,"error":{"code":"E1","message":"boom","details":[1]}},"observation":"red","environment":{"os":"linux"},
		"durationMs":1500,"screenshot":"a.png","timestamp":"2026-01-15T12:00:00.5Z"}`)
	content = checkStructured(t, schemas["record_step"], r)
	wantText := "Recorded step s-1 in session mm-20260115-abc (execution, error-recovery). Secrets were taken out of the text. Warning: no space left.\n\nKnown about this error:\n\n1. wait for the fee"
	if textOf(r) != wantText {
		t.Errorf("record_step says %q, want %q", textOf(r), wantText)
	}
	if advice, _ := content["advice"].(map[string]any); advice == nil || advice["text"] != nil || len(advice["items"].([]any)) != 1 {
		t.Errorf("advice %v, want it without its text, which is the text content, and within its budget", content["advice"])
	}
	wantEqual(t, "record_step", memory.RecordStepRequest{
		Timestamp:   time.Date(2026, 1, 15, 12, 0, 0, 5e8, time.UTC),
		Tool:        memory.StepTool{Name: "bash", Input: json.RawMessage(`{"command":"npm test"}`), Target: json.RawMessage(`"web"`)},
		Outcome:     memory.Outcome{Error: &memory.StepError{Code: "E1", Message: "boom", Details: json.RawMessage(`[1]`)}},
		Observation: json.RawMessage(`"red"`), Environment: json.RawMessage(`{"os":"linux"}`),
		DurationMs: 1500, Screenshot: "a.png", Advise: true, Project: "p1", Caller: caller,
	}, lastRequest[memory.RecordStepRequest](t, l, service.RecordStep.Name))

	callTool(t, c, "record_step", `{"tool":{"name":"read"},"outcome":{"ok":true},"advise":false,"sessionId":"other-1"}`)
	wantEqual(t, "record_step", memory.RecordStepRequest{
		SessionID: "other-1", Tool: memory.StepTool{Name: "read"}, Outcome: memory.Outcome{OK: true}, Project: "p1", Caller: caller,
	}, lastRequest[memory.RecordStepRequest](t, l, service.RecordStep.Name))

	r = callTool(t, c, "session_end", `{}`)
	checkStructured(t, schemas["session_end"], r)
	if want := "Session mm-20260115-abc of project demo has ended, with 3 steps. Secrets were taken out of the text. Warning: no space left."; textOf(r) != want {
		t.Errorf("session_end says %q, want %q", textOf(r), want)
	}
}

// TestRememberAside: ids of lessons that are put aside reach the service.
func TestRememberAside(t *testing.T) {
	svc := &fakeService{}
	c := connect(t, overHTTP(t, serve(t, svc, Options{})))
	callTool(t, c, "remember", `{"lesson":"l","supersedes":["l-1","l-2"],"retracts":["l-3"]}`)
	got := svc.kept()[0]
	wantEqual(t, "supersedes", []string{"l-1", "l-2"}, got.Supersedes)
	wantEqual(t, "retracts", []string{"l-3"}, got.Retracts)
}

func TestJournalRefusals(t *testing.T) {
	l := newLedger()
	c := connect(t, overHTTP(t, serve(t, l, Options{})))
	for _, tt := range []struct{ tool, arguments, field, limit string }{
		{"session_start", `{"gaol":"x"}`, "gaol", "known fields"},
		{"session_start", `{"sessionId":""}`, "sessionId", "4–200 characters"},
		{"session_end", `{"sessionId":"abc"}`, "sessionId", "4–200 characters"},
		{"session_end", `{}`, "sessionId", ""},
		{"record_step", `{}`, "tool", "an object with name"},
		{"record_step", `{"tool":{"name":"x"}}`, "outcome.ok", "true or false"},
		{"record_step", `{"tool":{"name":"x"},"outcome":{}}`, "outcome.ok", "true or false"},
		{"record_step", `{"tool":{"name":"x"},"outcome":{"ok":"yes"}}`, "outcome.ok", "a boolean"},
		{"record_step", `{"tool":{"name":"x"},"outcome":{"ok":true,"error":{"message":"m"}}}`, "outcome.error", "only with ok false"},
		{"record_step", `{"tool":{"name":"x","args":1},"outcome":{"ok":true}}`, "tool.args", "known fields"},
		{"record_step", `{"tool":{"name":"x"},"outcome":{"ok":false,"error":{"text":"m"}}}`, "outcome.error.text", "known fields"},
		{"record_step", `{"tool":{"name":"x"},"outcome":{"ok":true},"labels":["a"]}`, "labels", "known fields"},
	} {
		wantRefusal(t, tt.tool+" "+tt.arguments, callTool(t, c, tt.tool, tt.arguments), "invalid_input", tt.field, tt.limit)
	}
}

// TestCallersSession: each connection's calls belong to the session that it has
// started, until it ends, whoever ends it.
func TestCallersSession(t *testing.T) {
	l := newLedger()
	url := serve(t, l, Options{})
	a, b := connect(t, overHTTP(t, url)), connect(t, overHTTP(t, url))
	session := func() string {
		t.Helper()
		return lastRequest[memory.RecallRequest](t, l, service.Recall.Name).Caller.Session
	}
	for _, step := range []struct {
		what         string
		do           func()
		wantA, wantB string
	}{
		{"at first", func() {}, "", ""},
		{"a starts", func() { callTool(t, a, "session_start", `{"sessionId":"session-a"}`) }, "session-a", ""},
		{"b starts", func() { callTool(t, b, "session_start", `{"sessionId":"session-b"}`) }, "session-a", "session-b"},
		{"a start that is refused", func() { callTool(t, a, "session_start", `{"sessionId":"x"}`) }, "session-a", "session-b"},
		{"a starts another", func() { callTool(t, a, "session_start", `{"sessionId":"session-c"}`) }, "session-c", "session-b"},
		{"b ends one that is nobody's", func() { callTool(t, b, "session_end", `{"sessionId":"session-a"}`) }, "session-c", "session-b"},
		{"b ends its own", func() { callTool(t, b, "session_end", `{}`) }, "session-c", ""},
		{"b ends that of a", func() { callTool(t, b, "session_end", `{"sessionId":"session-c"}`) }, "", ""},
	} {
		step.do()
		callTool(t, a, "recall", `{"query":"q"}`)
		if got := session(); got != step.wantA {
			t.Errorf("%s: a's session is %q, want %q", step.what, got, step.wantA)
		}
		callTool(t, b, "recall", `{"query":"q"}`)
		if got := session(); got != step.wantB {
			t.Errorf("%s: b's session is %q, want %q", step.what, got, step.wantB)
		}
	}
}

// TestSessionOfAnotherProject: a session that was opened with a project takes the
// calls of its connection there, also through a restart, until it ends.
func TestSessionOfAnotherProject(t *testing.T) {
	l := newLedger()
	l.Answers[service.Remember.Name] = &memory.Remembered{ID: "l-1", Project: "p1"}
	d := newDaemon(t, l)
	c := stdioClient(t, d, "/src")
	project := func(tool, arguments string) string {
		t.Helper()
		callTool(t, c, tool, arguments)
		calls := l.Calls()
		switch r := calls[len(calls)-1].Request.(type) {
		case memory.RecallRequest:
			return r.Project
		case memory.RememberRequest:
			return r.Project
		case memory.RecordStepRequest:
			return r.Project
		case memory.EndSessionRequest:
			return r.Project
		case memory.SearchStepsRequest:
			return r.Project
		case memory.LastStepsRequest:
			return r.Project
		case memory.SummarizeRequest:
			return r.Project
		case memory.SessionsRequest:
			return r.Project
		}
		t.Fatalf("%s reached %s with %+v", tool, calls[len(calls)-1].Operation, calls[len(calls)-1].Request)
		return ""
	}
	calls := []struct{ tool, arguments string }{
		{"recall", `{"query":"q"}`}, {"remember", `{"lesson":"l"}`}, {"record_step", `{"tool":{"name":"x"},"outcome":{"ok":true}}`},
		{"mm_knowledge_search", `{"query":"q"}`}, {"mm_knowledge_last", `{}`}, {"mm_knowledge_summarize", `{}`}, {"mm_knowledge_sessions", `{}`},
	}
	check := func(when, want string) {
		t.Helper()
		for _, call := range calls {
			if got := project(call.tool, call.arguments); got != want {
				t.Errorf("%s: %s is about the project %q, want %q", when, call.tool, got, want)
			}
		}
	}
	check("without a session", "")
	callTool(t, c, "session_start", `{"sessionId":"session-a"}`)
	check("with a session of the caller's own project", "")
	callTool(t, c, "session_start", `{"sessionId":"session-b","project":"demo"}`)
	check("with one of another", "p1")
	d.stop()
	check("after a restart", "p1")
	if got := project("recall", `{"query":"q","project":"third"}`); got != "third" {
		t.Errorf("a call that names a project is about %q", got)
	}
	if got := project("session_end", `{}`); got != "p1" {
		t.Errorf("session_end is about the project %q, want that of the session", got)
	}
	check("once it has ended", "")
}

// TestCallersSessionIsForgotten: a connection that ends leaves nothing behind.
func TestCallersSessionIsForgotten(t *testing.T) {
	d := newDaemon(t, newLedger())
	c := stdioClient(t, d, "/src")
	callTool(t, c, "session_start", `{"sessionId":"session-a"}`)
	held := func() int {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.server.mu.Lock()
		defer d.server.mu.Unlock()
		return len(d.server.agents)
	}
	if n := held(); n != 1 {
		t.Fatalf("%d sessions are held, want 1", n)
	}
	d.mu.Lock()
	d.server.http.CloseSessions(t.Context())
	d.mu.Unlock()
	if n := held(); n != 0 {
		t.Errorf("%d sessions are held after the connection ended, want none", n)
	}
}

// TestBridgeKeepsTheSession: the bridge hands the agent's session to a daemon
// that has been started anew, or has forgotten the connection; an ended one is
// not handed over.
func TestBridgeKeepsTheSession(t *testing.T) {
	l := newLedger()
	d := newDaemon(t, l)
	c := stdioClient(t, d, "/src")
	forgotten := func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.server.http.CloseSessions(t.Context())
	}
	for _, tt := range []struct {
		what            string
		tool, arguments string
		lose            func()
		want            string
	}{
		{"before any", "recall", `{"query":"q"}`, d.stop, ""},
		{"started, then a restart", "session_start", `{"sessionId":"session-ä"}`, d.stop, ""},
		{"started, then a restart", "session_start", `{"sessionId":"session-a"}`, d.stop, "session-a"},
		{"another restart", "recall", `{"query":"q"}`, d.stop, "session-a"},
		{"a connection that is forgotten", "recall", `{"query":"q"}`, forgotten, "session-a"},
		{"two restarts without a call", "status", `{}`, func() { d.stop(); d.stop() }, "session-a"},
		{"ended, then a restart", "session_end", `{}`, d.stop, ""},
	} {
		callTool(t, c, tt.tool, tt.arguments)
		tt.lose()
		callTool(t, c, "record_step", `{"tool":{"name":"x"},"outcome":{"ok":true}}`)
		got := lastRequest[memory.RecordStepRequest](t, l, service.RecordStep.Name)
		wantEqual(t, "caller after: "+tt.what, memory.Caller{Dir: "/src", Client: "test-agent", Session: tt.want}, got.Caller)
		if len(got.RequestID) != 36 {
			t.Errorf("request id of a step = %q, want one made by the bridge", got.RequestID)
		}
	}
}

func TestParseAgent(t *testing.T) {
	for _, key := range []memory.SessionKey{{Project: "p1", ID: "abcd"}, {Project: "a/b %ä", ID: "mm-20260115-abc"}, {ID: "abcd"}, {Project: "p", ID: "named"}} {
		for _, named := range []bool{false, true} {
			if got, ok := parseAgent(formatAgent(agent{key, named})); !ok || got != (agent{key, named}) {
				t.Errorf("%+v, named %v, comes back as %+v, %v", key, named, got, ok)
			}
		}
	}
	for _, text := range []string{"", "abcd", "p/", "p/abc", "p/abcd/x", "p/abcd/named/x", "p/a%2Fbcd", "p/%zzabcd", "%zz/abcd"} {
		if got, ok := parseAgent(text); ok {
			t.Errorf("%q is taken for %+v", text, got)
		}
	}
}
