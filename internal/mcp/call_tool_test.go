package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCallTool: every tool answers and refuses through call_tool as it does by itself,
// also under the names that clients make of it and with arguments that are text.
func TestCallTool(t *testing.T) {
	c := connect(t, overHTTP(t, serve(t, fullContexts(), Options{})))
	calls := map[string][]string{}
	for _, call := range contextCalls {
		calls[call.tool] = []string{call.full, call.short}
	}
	for _, tool := range listTools(t, c, allTools) {
		if tool.Name == CallTool {
			continue
		}
		for _, arguments := range append(calls[tool.Name], `{}`, `{"unknown":1}`) {
			itself := callTool(t, c, tool.Name, arguments)
			quoted, err := json.Marshal(arguments)
			if err != nil {
				t.Fatal(err)
			}
			for _, request := range []string{
				fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool.Name, arguments),
				fmt.Sprintf(`{"name":"mcp__recalld__%s","arguments":%s}`, tool.Name, quoted),
			} {
				if diff := cmp.Diff(itself, callTool(t, c, CallTool, request)); diff != "" {
					t.Errorf("%s, by itself and by call_tool (-want +got):\n%s", request, diff)
				}
			}
		}
	}
}

// TestCallToolIsRefused for what is no tool, with the names that are near.
func TestCallToolIsRefused(t *testing.T) {
	c := connect(t, overHTTP(t, serve(t, fullContexts(), Options{})))
	for arguments, want := range map[string]string{
		`{}`:                                 "invalid_input: name: ",
		`{"name":"task_windw"}`:              `not_found: name: recalld has no tool "task_windw"`,
		`{"name":"call_tool"}`:               `not_found: name: recalld has no tool "call_tool"`,
		`{"name":"status","argument":{}}`:    "argument",
		`{"name":"status","arguments":[1]}`:  "arguments",
		`{"name":"status","arguments":"{"}`:  "arguments",
		`{"name":"status","arguments":"[]"}`: "arguments",
		`{"name":1}`:                         "name",
	} {
		r := callTool(t, c, CallTool, arguments)
		if !r.IsError || !strings.Contains(textOf(r), want) {
			t.Errorf("%s: error %v, %q; want a refusal with %q", arguments, r.IsError, textOf(r), want)
		}
	}
	if text := textOf(callTool(t, c, CallTool, `{"name":"task_windw"}`)); !strings.Contains(text, `"task_window"`) {
		t.Errorf("no near name: %s", text)
	}
}

// TestBriefSchemasAcceptMore than the schemas with the limits do, and nothing less.
func TestBriefSchemasAcceptMore(t *testing.T) {
	calls := map[string][]string{
		"recall":   {`{"query":"q","kinds":["chunk"],"filters":{"lang":"go"},"scope":{"sessionId":"abcd"},"limit":3}`},
		"remember": {`{"lesson":"l","event_type":"error","anchors":[{"path":"a.go","lines":[1,2]}],"tags":["t"]}`},
	}
	for _, call := range contextCalls {
		calls[call.tool] = []string{call.full, call.short}
	}
	for _, tool := range ownTools(DefaultKnowledgePrefix, nil) {
		for _, terse := range []bool{false, true} {
			brief := compiled(t, tool.name, tool.in.Brief(terse))
			for _, arguments := range calls[tool.name] {
				wantSchema(t, brief, arguments, true)
			}
		}
	}
}

// TestStaticLists: to a client that lists tools once, a search says how they are called,
// and its list stays as it is.
func TestStaticLists(t *testing.T) {
	for _, test := range []struct {
		static []string
		want   bool
	}{{[]string{"codex", "test-"}, true}, {[]string{"*"}, true}, {[]string{"codex", "qwen"}, false}} {
		c := connect(t, overHTTP(t, serve(t, newFinder(), Options{StaticLists: test.static})))
		before := namesOf(listTools(t, c))
		text := textOf(callTool(t, c, "search_tools", `{"query":"index_repo"}`))
		if got := strings.Contains(text, "Call these with call_tool {name, arguments}") && strings.Contains(text, `- index_repo: {"properties":{`); got != test.want {
			t.Errorf("static lists %v: the search says\n%s", test.static, text)
		}
		if same := cmp.Equal(before, namesOf(listTools(t, c))); same != test.want {
			t.Errorf("static lists %v: the list stays: %v, want %v", test.static, same, test.want)
		}
	}
}
