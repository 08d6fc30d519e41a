package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// TestKnowledgeTools: every answer is {"ok":true,"notice":…,"result":…}, in text and in
// structured content alike, with lists where lists belong.
func TestKnowledgeTools(t *testing.T) {
	l, caller := newLedger(), memory.Caller{Client: "test-agent"}
	c := connect(t, overHTTP(t, serve(t, l, Options{StructuredContent: true})))
	schemas := outputSchemas(t, c)
	for _, tt := range []struct {
		tool, arguments, want string
		method                string
		request               any
	}{
		{"mm_knowledge_search", `{"query":" confirm "}`,
			`{"ok":true,"notice":"` + render.Notice + `","result":{"query":"confirm","matches":[{"id":"s-1","timestamp":"2026-01-15T12:00:00Z","tool":"mm_click","screen":"send","snippet":"a <b> & c","labels":["interaction"],"ok":false,"target":"confirm","error":{"code":"E1","message":"disabled"},"sessionId":"mm-20260115-abc","sessionGoal":"Send flow","matchedFields":["tool","target"]},{"id":"s-2","timestamp":"2026-01-15T12:00:00Z","tool":"bash","screen":"","snippet":"","labels":[],"ok":false,"sessionId":"mm-20260115-abc"}]}}`,
			service.SearchSteps.Name, memory.SearchStepsRequest{Caller: caller, Query: "confirm", Limit: 20, Scope: &memory.Scope{Name: "all"}}},
		{"mm_knowledge_search", `{"query":"q","limit":100,"scope":{"sessionId":"abcd"},"filters":{"flowTag":"send","tag":"smoke","screen":"home","gitBranch":"main","sinceHours":720}}`, ``,
			service.SearchSteps.Name, memory.SearchStepsRequest{Caller: caller, Query: "q", Limit: 100, Scope: &memory.Scope{Session: "abcd"},
				Filters: &memory.StepFilters{FlowTag: new("send"), Tag: new("smoke"), Screen: new("home"), GitBranch: new("main"), SinceHours: new(720)}}},
		{"mm_knowledge_last", `{}`, `{"ok":true,"notice":"` + render.Notice + `","result":{"steps":[]}}`,
			service.LastSteps.Name, memory.LastStepsRequest{Caller: caller, N: 20, Scope: &memory.Scope{Name: "current"}}},
		{"mm_knowledge_last", `{"n":200,"scope":"all","filters":{}}`, `{"ok":true,"notice":"` + render.Notice + `","result":{"steps":[]}}`,
			service.LastSteps.Name, memory.LastStepsRequest{Caller: caller, N: 200, Scope: &memory.Scope{Name: "all"}, Filters: &memory.StepFilters{}}},
		{"mm_knowledge_summarize", `null`,
			`{"ok":true,"notice":"` + render.Notice + `","result":{"sessionId":"mm-20260115-abc","stepCount":2,"recipe":[{"stepNumber":1,"tool":"bash","notes":"npm test"}],"omittedSteps":1,"goal":"Send flow","createdAt":"2026-01-15T12:00:00Z","endedAt":"2026-01-15T12:00:00Z","labels":{"execution":1},"screens":["home"],"failures":[{"stepNumber":1,"tool":"bash","error":"E1","recoveredBy":2,"recovery":"npm ci"}]}}`,
			service.SummarizeSession.Name, memory.SummarizeRequest{Caller: caller, Scope: &memory.Scope{Name: "current"}}},
		{"mm_knowledge_summarize", `{"scope":"all","sessionId":"mm-1"}`, ``,
			service.SummarizeSession.Name, memory.SummarizeRequest{Caller: caller, Scope: &memory.Scope{Session: "mm-1"}}},
		{"mm_knowledge_sessions", `{"filters":{"tag":"smoke"}}`,
			`{"ok":true,"notice":"` + render.Notice + `","result":{"sessions":[{"sessionId":"mm-20260115-abc","createdAt":"2026-01-15T12:00:00Z","goal":"Send flow","flowTags":["send"],"tags":[],"git":{"branch":"main","commit":"abc123","dirty":true}}]}}`,
			service.Sessions.Name, memory.SessionsRequest{Caller: caller, Limit: 10, Filters: &memory.StepFilters{Tag: new("smoke")}}},
	} {
		if tt.want != "" {
			wantTool(t, c, tt.tool, tt.arguments, tt.want)
		}
		r := callTool(t, c, tt.tool, tt.arguments)
		if content := checkStructured(t, schemas[tt.tool], r); content["ok"] != true || r.IsError {
			t.Errorf("%s %s: structured content %v, want ok", tt.tool, tt.arguments, content)
		}
		wantEqual(t, tt.tool+" "+tt.arguments, tt.request, lastRequest[any](t, l, tt.method))
	}
}

// TestKnowledgeEmpty: an answer without anything has empty lists, not null.
func TestKnowledgeEmpty(t *testing.T) {
	l := newLedger()
	l.Answers[service.SummarizeSession.Name] = &memory.Summary{SessionID: "mm-1"}
	l.Answers[service.Sessions.Name] = &memory.SessionList{}
	c := connect(t, overHTTP(t, serve(t, l, Options{})))
	wantTool(t, c, "mm_knowledge_summarize", `{}`, `{"ok":true,"notice":"`+render.Notice+`","result":{"sessionId":"mm-1","stepCount":0,"recipe":[],"labels":{},"screens":[],"failures":[]}}`)
	wantTool(t, c, "mm_knowledge_sessions", `{}`, `{"ok":true,"notice":"`+render.Notice+`","result":{"sessions":[]}}`)
}

// TestKnowledgeLimits asks on both sides of every limit of contract 1. Every
// refusal is MM_INVALID_INPUT, whatever the prefix, and names the field.
func TestKnowledgeLimits(t *testing.T) {
	c := connect(t, overHTTP(t, serve(t, newLedger(), Options{KnowledgePrefix: new("")})))
	inputs := inputSchemas(t)
	chars := func(n int) string { return strings.Repeat("ä", n) } // two bytes each
	type try struct{ tool, inside, outside, field string }
	tries := []try{
		{"search", `{"query":"x"}`, `{"query":""}`, "query"},
		{"search", `{"query":"` + chars(200) + `"}`, `{"query":"` + chars(201) + `"}`, "query"},
		{"search", `{"query":"x"}`, `{}`, "query"},
		{"search", `{"query":"x"}`, `{"query":" "}`, "query"},
		{"search", `{"query":"x","limit":1}`, `{"query":"x","limit":0}`, "limit"},
		{"search", `{"query":"x","limit":100}`, `{"query":"x","limit":101}`, "limit"},
		{"search", `{"query":"x","limit":1}`, `{"query":"x","limit":-1}`, "limit"},
		{"search", `{"query":"x","limit":1}`, `{"query":"x","limit":1.5}`, "limit"},
		{"search", `{"query":"x"}`, `{"query":"x","n":1}`, "n"},
		{"search", `{"query":"x"}`, `{"query":"x","project":"p"}`, "project"},
		{"last", `{"n":1}`, `{"n":0}`, "n"},
		{"last", `{"n":200}`, `{"n":201}`, "n"},
		{"last", `{}`, `{"limit":5}`, "limit"},
		{"summarize", `{"scope":"current"}`, `{"scope":"all"}`, "scope"},
		{"summarize", `{"sessionId":"abcd"}`, `{"sessionId":"abc"}`, "sessionId"},
		{"summarize", `{"sessionId":"abcd","scope":"all"}`, `{"sessionId":"","scope":"all"}`, "sessionId"},
		{"summarize", `{"sessionId":"abcd"}`, `{"sessionId":"abcd","filters":{}}`, "filters"},
		{"sessions", `{"limit":1}`, `{"limit":0}`, "limit"},
		{"sessions", `{"limit":50}`, `{"limit":51}`, "limit"},
		{"sessions", `{}`, `{"scope":"all"}`, "scope"},
	}
	for _, tool := range []string{"search", "last", "summarize"} {
		q := map[string]string{"search": `"query":"x",`}[tool]
		with := func(scope string) string { return fmt.Sprintf(`{%s"scope":%s}`, q, scope) }
		tries = append(tries,
			try{tool, with(`"current"`), with(`"mine"`), "scope"},
			try{tool, with(`"current"`), with(`""`), "scope"},
			try{tool, with(`"current"`), with(`7`), "scope"},
			try{tool, with(`{"sessionId":"abcd"}`), with(`{"sessionId":"abc"}`), "scope.sessionId"},
			try{tool, with(`{"sessionId":"abcd"}`), with(`{}`), "scope.sessionId"},
			try{tool, with(`{"sessionId":"abcd"}`), with(`{"session":"abcd"}`), "scope.session"},
		)
	}
	for _, tool := range []string{"search", "last", "sessions"} {
		q := map[string]string{"search": `"query":"x",`}[tool]
		with := func(filter string) string { return fmt.Sprintf(`{%s"filters":{%s}}`, q, filter) }
		for _, name := range []string{"flowTag", "tag", "screen", "gitBranch"} {
			tries = append(tries,
				try{tool, with(fmt.Sprintf(`%q:"x"`, name)), with(fmt.Sprintf(`%q:""`, name)), "filters." + name},
				try{tool, with(fmt.Sprintf(`%q:%q`, name, chars(200))), with(fmt.Sprintf(`%q:%q`, name, chars(201))), "filters." + name},
				try{tool, with(fmt.Sprintf(`%q:null`, name)), with(fmt.Sprintf(`%q:["x"]`, name)), "filters." + name},
			)
		}
		tries = append(tries,
			try{tool, with(`"sinceHours":1`), with(`"sinceHours":0`), "filters.sinceHours"},
			try{tool, with(`"sinceHours":720`), with(`"sinceHours":721`), "filters.sinceHours"},
			try{tool, with(`"sinceHours":2`), with(`"sinceHours":2.5`), "filters.sinceHours"},
			try{tool, with(``), with(`"branch":"x"`), "filters.branch"},
			try{tool, with(``), with(`"since":"2026-01-01T00:00:00Z"`), "filters.since"},
		)
	}
	for _, tt := range tries {
		name := "knowledge_" + tt.tool
		if r := callTool(t, c, name, tt.inside); r.IsError {
			t.Errorf("%s %.80s is within the limits and was refused: %s", name, tt.inside, textOf(r))
		}
		wantSchema(t, inputs[DefaultKnowledgePrefix+name], tt.inside, true)
		// What only looks blank, and what a summary's two scopes mean together,
		// a schema cannot say.
		if tt.outside != `{"query":" "}` && tt.outside != `{"scope":"all"}` {
			wantSchema(t, inputs[DefaultKnowledgePrefix+name], tt.outside, false)
		}
		r := callTool(t, c, name, tt.outside)
		want, named := `{"ok":false,"error":{"code":"MM_INVALID_INPUT","message":"`+tt.field+": ", `"field":"`+tt.field+`"`
		if text := textOf(r); !r.IsError || r.StructuredContent != nil || !strings.HasPrefix(text, want) || !strings.Contains(text, named) {
			t.Errorf("%s %.80s: isError %v, text %q; want one that begins %q and has %s", name, tt.outside, r.IsError, text, want, named)
		}
	}
}

// wantSchema holds arguments against an input schema. A null stands for a field
// that was left out, which schemas do not know.
func wantSchema(t *testing.T, schema *jsonschema.Schema, arguments string, want bool) {
	t.Helper()
	if strings.Contains(arguments, ":null") {
		return
	}
	var value any
	if err := json.Unmarshal([]byte(arguments), &value); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); (err == nil) != want {
		t.Errorf("%.80s: the input schema says %v, want it valid: %v", arguments, err, want)
	}
}

// TestKnowledgeCodes: every failure has its code, and a panic is one.
func TestKnowledgeCodes(t *testing.T) {
	for _, tt := range []struct {
		err  error
		code string
	}{
		{&memory.Error{Code: memory.CodeInvalidInput, Field: "scope", Message: "no session is open", Hint: "session_start"}, "MM_INVALID_INPUT"},
		{&memory.Error{Code: memory.CodeNotFound, Field: "scope.sessionId", Message: "the project has no session abcd"}, "MM_INVALID_INPUT"},
		{&memory.Error{Code: memory.CodeNotFound, Field: "project", Message: "no project is called x"}, "MM_NOT_FOUND"},
		{memory.Errorf(memory.CodeConflict, "several repositories"), "MM_CONFLICT"},
		{memory.Errorf(memory.CodeUnavailable, "loading"), "MM_UNAVAILABLE"},
		{memory.Errorf(memory.CodeForbidden, "no"), "MM_FORBIDDEN"},
		{memory.Errorf(memory.CodeCorrupt, "bad block"), "MM_CORRUPT"},
		{memory.Errorf(memory.CodeIncompatible, "newer"), "MM_INCOMPATIBLE"},
		{errors.New("odd"), "MM_INTERNAL"},
	} {
		l := newLedger()
		l.broken = tt.err
		c := connect(t, overHTTP(t, serve(t, l, Options{KnowledgePrefix: new("web-")})))
		for _, call := range [][2]string{{"search", `{"query":"x"}`}, {"last", `{}`}, {"summarize", `{}`}, {"sessions", `{}`}} {
			name := "web-knowledge_" + call[0]
			r := callTool(t, c, name, call[1])
			if want := `{"ok":false,"error":{"code":"` + tt.code + `"`; !r.IsError || !strings.HasPrefix(textOf(r), want) {
				t.Errorf("%s with %v: isError %v, %s; want it to begin %s", name, tt.err, r.IsError, textOf(r), want)
			}
		}
	}
	l := newLedger()
	l.Before = func(context.Context, string) { panic("odd") }
	c := connect(t, overHTTP(t, serve(t, l, Options{})))
	if r := callTool(t, c, "mm_knowledge_sessions", `{}`); !r.IsError || !strings.HasPrefix(textOf(r), `{"ok":false,"error":{"code":"MM_INTERNAL"`) {
		t.Errorf("a panic is answered %q, want MM_INTERNAL", textOf(r))
	}
}

// TestOptions: a prefix that no client takes is refused; the vocabulary of flow
// tags is in the schema.
func TestOptions(t *testing.T) {
	for prefix, ok := range map[string]bool{
		"": true, "mm_": true, "A-9_": true, strings.Repeat("x", 40): true,
		strings.Repeat("x", 41): false, "mm.": false, "mm ": false, "ä": false,
	} {
		s, err := NewServer(newLedger(), Options{KnowledgePrefix: &prefix})
		if (err == nil) != ok {
			t.Errorf("prefix %q: error %v, want one: %v", prefix, err, !ok)
		}
		if err == nil {
			s.Close(t.Context())
		}
	}
	c := connect(t, overHTTP(t, serve(t, newLedger(), Options{FlowTags: []string{"send", "swap"}})))
	list, err := c.ListTools(t.Context(), mcpgo.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if tool.Name == "session_start" && !strings.Contains(fmt.Sprint(tool.InputSchema), "[send swap]") {
			t.Errorf("the schema of session_start is %v, want it to list the flow tags", tool.InputSchema)
		}
	}
}
