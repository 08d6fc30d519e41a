package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	mcpclient "github.com/mark3labs/mcp-go/client"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// contextCalls is a full and a short call of every tool of tasks, catalogue, contexts,
// working contexts and ledger.
var contextCalls = []struct{ tool, method, full, short string }{
	{"complete_task", service.CompleteTask.Name, `{"task_id":"task-1","validation_report":{"valid":true},"completed_at":"2026-01-15T12:00:00Z","task_type":"code","requires_context":true,"intent":"i","summary":"s","project":"demo"}`,
		`{"task_id":"t","validation_report":{}}`},
	{"block_task", service.BlockTask.Name, `{"task_id":"task-1","reason":"r","blocked_at":"2026-01-15T12:00:00Z","project":"demo"}`, `{"task_id":"t","reason":"r"}`},
	{"unblock_task", service.UnblockTask.Name, `{"task_id":"task-1","resolution":"done","project":"demo"}`, `{"task_id":"t"}`},
	{"task_window", service.TaskWindow.Name, `{"task_type":"code","limit":3,"project":"demo"}`, `{}`},
	{"task_history", service.TaskHistory.Name, `{"task_id":"task-1","limit":3,"before":9,"project":"demo"}`, `{}`},
	{"load_tasks", service.LoadTasks.Name, `{"state":[{"task_id":"a"}],"project":"demo"}`, `{"state":{}}`},
	{"register_context", service.Register.Name, `{"entries":[{"type":"tool","name":"query","serverName":"database","description":"d","guidance":"g","inputSchema":{"type":"object"},"core":true,"include":"agent","enabled":false},{"type":"rule","name":"A","content":"c"}],
		"servers":[{"name":"database","include":"manual","enabled":true}],"source":"host","replace":true,"project":"demo"}`, `{"servers":[{"name":"s"}]}`},
	{"unregister_context", service.Unregister.Name, `{"entries":[{"type":"rule","name":"A"}],"project":"demo"}`, `{"source":"host"}`},
	{"list_context", service.Entries.Name, `{"types":["rule","tool"],"server":"database","content":true,"project":"demo"}`, `{}`},
	{"search_tools", service.SearchTools.Name, `{"query":" read a table ","limit":20,"sessionId":"mm-1","project":"demo"}`, `{"query":"q"}`},
	{"session_context", service.SessionContext.Name, `{"sessionId":"mm-1","project":"demo"}`, `{}`},
	{"change_context", service.ChangeContext.Name, `{"add":[{"type":"rule","name":"B","includeMode":"always"},{"type":"tool","name":"query","serverName":"database"}],"remove":[{"type":"reference","name":"X"}],"sessionId":"mm-1","project":"demo"}`,
		`{"remove":[{"type":"rule","name":"B"}]}`},
	{"assemble_context", service.Assemble.Name, `{"message":"How do I authenticate?","task_type":"code","requires_context":false,"topK":10,"topN":3,"includeScore":0,"max_tokens":50,"no_search":true,"sessionId":"mm-1","project":"demo"}`,
		`{"message":"m"}`},
	{"context_of_turn", service.ContextOf.Name, `{"turn":2,"texts":true,"sessionId":"mm-1","project":"demo"}`, `{}`},
	{"receipts", service.Receipts.Name, `{"sessionId":"mm-1","turn":0,"since":"2026-01-15T12:00:00Z","limit":200,"project":"demo"}`, `{}`},
	{"working_context", service.WorkingContext.Name, `{"sessionId":"mm-1","project":"demo"}`, `{}`},
	{"report_context", service.Report.Name, `{"usedTools":[{"serverName":"database","toolName":"query"}],"entities":[{"id":"o-1","type":"order","name":"Order","data":{"n":1.50}},{"id":"o-2","data":null}],"clearDiscovered":true,"sessionId":"mm-1","project":"demo"}`,
		`{"entities":[{"id":"a"}]}`},
	{"compact_session", service.Compact.Name, `{"summary":"Continuing","transcript":"t","keepTurns":5,"sessionId":"mm-1","project":"demo"}`, `{}`},
	{"feedback", service.Feedback.Name, `{"receipt":"r-1","item":"l-1","verdict":"worked","note":"n"}`, `{"receipt":"r-1","verdict":"outdated"}`},
}

// TestContextRequests: what is sent reaches the service, all of it and nothing else.
func TestContextRequests(t *testing.T) {
	s := fullContexts()
	c := connect(t, overHTTP(t, serve(t, s, Options{})))
	fields := func(text string) (all map[string]any) {
		t.Helper()
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber() // 1.50 stays so
		if err := d.Decode(&all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	otherwise := map[string]string{ // what reaches it in other words
		"search_tools":   `{"query":"read a table","own":true}`,
		"change_context": `{"add":[{"type":"rule","name":"B","includeMode":"always"},{"type":"tool","name":"query","serverName":"database","includeMode":"manual"}]}`,
		"report_context": `{"entities":[{"id":"o-1","type":"order","name":"Order","data":{"n":1.50}},{"id":"o-2"}]}`,
	}
	for _, call := range contextCalls {
		if r := callTool(t, c, call.tool, call.full); r.IsError {
			t.Errorf("%s %s was refused: %s", call.tool, call.full, textOf(r))
			continue
		}
		calls := s.Calls()
		last := calls[len(calls)-1]
		sent, err := json.Marshal(last.Request)
		if err != nil {
			t.Fatal(err)
		}
		got, want := fields(string(sent)), fields(call.full)
		maps.Copy(want, fields(cmp.Or(otherwise[call.tool], "{}")))
		want["caller"] = map[string]any{"client": "test-agent"}
		if caller, ok := got["caller"].(map[string]any); ok {
			delete(caller, "window")
		}
		wantEqual(t, call.tool, want, got)
		wantEqual(t, call.tool, call.method, last.Operation)
	}
}

// TestContextAnswers: what the service says reaches the agent within the published
// schema, with lists where lists belong, and as a text that says what matters.
func TestContextAnswers(t *testing.T) {
	full := connect(t, overHTTP(t, serve(t, fullContexts(), Options{StructuredContent: true})))
	empty := connect(t, overHTTP(t, serve(t, emptyContexts(), Options{StructuredContent: true})))
	schemas, inputs := outputSchemas(t, full), inputSchemas(t)
	texts := map[string][2]string{ // of the full and of the empty answer
		"complete_task":      {"Kept task task-1 in project demo: 2 completed tasks, 1 active blocker held. 1 older task gave way to the bounds; task_history still has it all. Secrets were taken out of the text. Warning: no space left."},
		"block_task":         {"Blocked task task-1 in project demo"},
		"unblock_task":       {"Unblocked task task-1 in project demo"},
		"task_window":        {"## Recent Task History\n1. task-1", "No completed tasks and no blockers."},
		"task_history":       {fence("## Task History\n- task-1 completed") + "\nThere may be older ones: before 8.", "No event of a task."},
		"load_tasks":         {"Took over 2 tasks and 1 blocker in project demo; 3 known. 4 tasks gave way to the bounds; task_history still has it all. 5 were forgotten or resolved before, and stay so. Secrets were taken out of the text. Warning: no space left."},
		"register_context":   {"The catalogue of project demo holds 6: 1 added, 2 changed, 3 unchanged, 4 removed. Secrets were taken out of the text."},
		"unregister_context": {"The catalogue of project demo holds 6"},
		"list_context": {"Listed from the catalogue of project demo: 2.\n" + fence("- rule Authentication Rules [always]: How to sign in\nUse tokens.\n- tool database:query [agent, disabled]\nAsk once."),
			"Listed from the catalogue of project p1: 0."},
		"search_tools":     {"**Tools (1):**\n\n1. database:query: Ask", "No tool has to do with this."},
		"session_context":  {"The context of session mm-1 holds 2.\n" + fence("- rule Authentication Rules [always]\n- tool database:query [agent]"), "The context of session mm-1 holds 0."},
		"change_context":   {"The context of session mm-1 holds 2.", "The context of session mm-1 holds 0."},
		"assemble_context": {"# Rules", ""},
		"context_of_turn":  {"Context Used:\nTools (1):", "No context data available"},
		"receipts": {fence("- r-1 2026-01-15T12:00Z context, session mm-1 turn 2: 1 item, 1 withheld, 20 tokens, asked \"q\"\n  - tool database:query, relevance 0.90, worked\n  - rule Old withheld: below the threshold, relevance 0.30\n- r-0 2026-01-15T12:00Z recall: 0 items, 0 withheld, 0 tokens, asked \"npm error\"") + "\nThere are older ones.",
			"No receipts."},
		"working_context": {`{"notice":"` + render.Notice + `","sessionId":"mm-1","version":4,"turn":2,`, `"sessionId":"mm-1","version":0,"turn":0,"discoveredTools":[],"usedTools":[],"entities":[]}`},
		"report_context":  {`{"notice":"` + render.Notice + `","sessionId":"mm-1","version":4,`, `"sessionId":"mm-1","version":0,`},
		"compact_session": {"Session mm-1 starts from a clean slate: 2 tools and 1 entity cleared. Keep the last 3 turns and this summary; search_tools finds tools again. Secrets were taken out of the text.\n\n" + fence("Continuing"),
			"0 tools and 0 entities cleared. Keep the last 1 turn"},
		"feedback": {"Noted: worked, on 1 item of r-1. l-1 is at 9/10. An earlier verdict no longer counts.", "Noted: failed, on 0 items of r-1."},
	}
	for _, call := range contextCalls {
		for i, of := range []struct {
			client    *mcpclient.Client
			arguments string
		}{{full, call.full}, {empty, call.short}} {
			want := texts[call.tool][i]
			if i == 1 && want == "" && call.tool != "assemble_context" {
				continue // what it answers has no lists
			}
			r := callTool(t, of.client, call.tool, of.arguments)
			if r.IsError || !strings.Contains(textOf(r), want) {
				t.Errorf("%s %s: text %q (error %v), want it to contain %q", call.tool, of.arguments, textOf(r), r.IsError, want)
			}
			content := checkStructured(t, schemas[call.tool], r)
			if slices.Contains([]string{"assemble_context", "search_tools", "context_of_turn"}, call.tool) {
				if content["text"] != nil {
					t.Errorf("%s: the structured content repeats the text", call.tool)
				}
			}
			wantSchema(t, inputs[call.tool], of.arguments, true)
		}
	}
	content := checkStructured(t, schemas["context_of_turn"], callTool(t, empty, "context_of_turn", `{}`))
	if record, ok := content["record"]; !ok || record != nil {
		t.Errorf("record of a turn without one = %v, want null", record)
	}
}

// TestAssembledText: the text of a context names its turn and receipt where the budget has
// room, and has the schemas of its tools on request.
func TestAssembledText(t *testing.T) {
	s := fullContexts()
	held := memory.Assembled{Text: "## Tools\n\n- `db:query`\n", Turn: 3, Receipt: "rc-0123456789ab", MaxTokens: 100,
		Items:       []memory.AssembledItem{{ContextItem: memory.ContextItem{Ref: memory.Ref{Type: memory.Tool, Name: "query", ServerName: "db"}}, InputSchema: json.RawMessage(`{"a":1}`)}},
		ToolSchemas: []memory.ActiveTool{{ToolRef: memory.ToolRef{ServerName: "db", ToolName: "drop"}, InputSchema: json.RawMessage(`{"b":2}`), Followed: true}}}
	s.Answers[service.Assemble.Name] = &held
	c := connect(t, overHTTP(t, serve(t, s, Options{})))
	const receipt, schemas = "\nTurn 3, receipt for feedback: 6789ab", "\n## Schemas of tools\n\n- `db:query`: {\"a\":1}\n- `db:drop` [from the repository's files]: {\"b\":2}"
	for _, tt := range []struct {
		arguments, want string
		tokens          int
	}{
		{`{"message":"m"}`, held.Text + receipt, 100},
		{`{"message":"m","schemas":true}`, held.Text + schemas + "\n" + receipt, 100},
		{`{"message":"m"}`, strings.TrimSpace(held.Text), 10},
	} {
		held.MaxTokens = tt.tokens
		if got := textOf(callTool(t, c, "assemble_context", tt.arguments)); got != tt.want {
			t.Errorf("%s in %d tokens: %q, want %q", tt.arguments, tt.tokens, got, tt.want)
		}
	}
}

// TestContextCallsOfASession: calls that name no session are about the one that the
// connection has started, and its project.
func TestContextCallsOfASession(t *testing.T) {
	s := fullContexts()
	c := connect(t, overHTTP(t, serve(t, s, Options{})))
	callTool(t, c, "session_start", `{"sessionId":"session-a","project":"demo"}`)
	for _, call := range contextCalls {
		if r := callTool(t, c, call.tool, call.short); r.IsError {
			t.Errorf("%s %s was refused: %s", call.tool, call.short, textOf(r))
		}
		calls := s.Calls()
		encoded, err := json.Marshal(calls[len(calls)-1].Request)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			SessionID string
			Project   string
			Caller    memory.Caller
		}
		if err := json.Unmarshal(encoded, &got); err != nil {
			t.Fatal(err)
		}
		// A receipt has its own project.
		if got.Caller.Session != "session-a" || got.SessionID != "" || got.Project != "p1" && call.tool != "feedback" {
			t.Errorf("%s reaches %s with %s, want the session of the connection and its project", call.tool, calls[len(calls)-1].Operation, encoded)
		}
	}
	callTool(t, c, "receipts", `{"turn":1}`)
	if got := lastRequest[memory.ReceiptsRequest](t, s, service.Receipts.Name); got.SessionID != "session-a" || got.Limit != receiptsListed {
		t.Errorf("receipts of a turn are asked of session %q, at most %d; want that of the connection, and %d", got.SessionID, got.Limit, receiptsListed)
	}
}

// TestContextRefusals: every tool refuses what only the daemon may say, fields that lists do
// not have, and requests that say nothing. The hostile requests of package daemon try unknown
// fields, wrong types and values of every tool.
func TestContextRefusals(t *testing.T) {
	c := connect(t, overHTTP(t, serve(t, fullContexts(), Options{})))
	type refusalCase struct{ tool, arguments, field, limit string }
	var cases []refusalCase
	for _, call := range contextCalls {
		cases = append(cases,
			refusalCase{call.tool, `{"request_id":"x"}`, "request_id", "known fields"},
			refusalCase{call.tool, `{"caller":{"dir":"/"}}`, "caller", "known fields"})
		if strings.Contains(call.full, `"sessionId"`) {
			cases = append(cases, refusalCase{call.tool, `{"sessionId":""}`, "sessionId", "4–200 characters"})
		}
	}
	cases = append(cases, []refusalCase{
		{"complete_task", `{"task_id":"t","validation_report":null}`, "validation_report", ""},
		{"block_task", `{"task_id":"t"}`, "reason", "characters"},
		{"unblock_task", `{}`, "task_id", "characters"},
		{"load_tasks", `{"state":null}`, "state", "object or array"},
		{"register_context", `{}`, "entries", ""},
		{"register_context", `{"entries":[{"type":"rule","name":"A","colour":1}]}`, "entries[0].colour", "known fields"},
		{"register_context", `{"entries":[{"type":"lesson","name":"A"}]}`, "entries[0].type", "rule, reference, tool"},
		{"register_context", `{"entries":[{"type":"tool","name":"A"}]}`, "entries[0].serverName", "characters"},
		{"register_context", `{"entries":[{"type":"rule","name":"A","content":"c","include":"never"}]}`, "entries[0].include", "always, manual, agent"},
		{"register_context", `{"servers":[{"name":"s","url":"x"}]}`, "servers[0].url", "known fields"},
		{"unregister_context", `{}`, "entries", ""},
		{"list_context", `{"types":["lesson"]}`, "types[0]", "rule, reference, tool"},
		{"search_tools", `{}`, "query", "1–1000 characters"},
		{"search_tools", `{"query":"q","own":false}`, "own", "known fields"},
		{"change_context", `{}`, "add", ""},
		{"change_context", `{"add":[{"type":"rule","name":"A","includeMode":"agent"}]}`, "add[0].includeMode", "always, manual"},
		{"change_context", `{"add":[{"type":"rule","name":"A","similarityScore":1}]}`, "add[0].similarityScore", "known fields"},
		{"assemble_context", `{}`, "message", "1–1000000 characters"},
		{"receipts", `{"turn":1}`, "turn", ""},
		{"report_context", `{}`, "entities", ""},
		{"report_context", `{"entities":[{"id":"a","data":[1]}]}`, "entities[0].data", "object"},
		{"report_context", `{"usedTools":[{"tool":"x"}]}`, "usedTools[0].tool", "known fields"},
		{"feedback", `{"verdict":"worked"}`, "receipt", "characters"},
	}...)
	for _, tt := range cases {
		wantRefusal(t, tt.tool+" "+tt.arguments, callTool(t, c, tt.tool, tt.arguments), "invalid_input", tt.field, tt.limit)
	}
}

// TestLimits asks on both sides of a limit of each sort, and holds the published schema
// against what is refused. Package memory tries every limit.
func TestLimits(t *testing.T) {
	c := connect(t, overHTTP(t, serve(t, fullContexts(), Options{})))
	inputs := inputSchemas(t)
	chars := func(n int) string { return fmt.Sprintf("%q", strings.Repeat("ä", n)) } // two bytes each
	list := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	data := func(n int) string { return `{"a":"` + strings.Repeat("a", n-8) + `"}` }
	path := strings.Repeat("ä", 4095)
	for _, tt := range []struct {
		tool, form      string // with %s where the value goes
		inside, outside string
		field           string
		blind           bool // the schema cannot tell: what only looks blank, sizes in bytes
	}{
		{"recall", `{"query":%s}`, chars(memory.MaxQuery), chars(memory.MaxQuery + 1), "query", false},
		{"recall", `{"query":%s}`, `"x"`, `"  "`, "query", true},
		{"recall", `{"query":"q","limit":%s}`, "null", "0", "limit", false},
		{"recall", `{"query":"q","max_tokens":%s}`, "8000", "8001", "max_tokens", false},
		{"recall", `{"query":"q","min_relevance":%s}`, "0", "-0.01", "min_relevance", false},
		{"recall", `{"query":"q","kinds":%s}`, list(7, `"lesson"`), list(8, `"lesson"`), "kinds", false},
		{"recall", `{"query":"q","scope":{"sessionId":%s}}`, `"abcd"`, `"abc"`, "scope.sessionId", false},
		{"recall", `{"query":"q","scope":%s}`, `"all"`, `""`, "scope", false},
		{"recall", `{"query":"q","filters":{"sinceHours":%s}}`, "1", "0", "filters.sinceHours", false},
		{"recall", `{"query":"q","filters":{"screen":%s}}`, chars(200), `""`, "filters.screen", false},
		{"recall", `{"query":"q","filters":{"lang":%s}}`, `"golang"`, `"pyton"`, "filters.lang", true},
		{"remember", `{"lesson":"l","tags":[%s]}`, chars(64), chars(65), "tags[0]", false},
		{"remember", `{"lesson":"l","success_rate":%s}`, `"9999999/9999999"`, `"10000000/10000000"`, "success_rate", false},
		{"index_repo", `{"path":"/%s"}`, path, path + "ä", "path", false},
		{"index_repo", `{"path":"/w","changed_files":%s}`, list(10000, `"f"`), list(10001, `"f"`), "changed_files", false},
		{"session_start", `{"sessionId":%s}`, `"a.-_"`, `"a/bc"`, "sessionId", false},
		{"session_start", `{"build":%s}`, `{}`, `[]`, "build", false},
		{"session_start", `{"launch":%s}`, data(16 << 10), data(16<<10 + 1), "launch", true},
		{"record_step", `{"tool":{"name":%s},"outcome":{"ok":true}}`, `"x"`, `""`, "tool.name", false},
		{"record_step", `{"tool":{"name":"x"},"outcome":{"ok":true},"durationMs":%s}`, "0", "-1", "durationMs", false},
		{"record_step", `{"tool":{"name":"x"},"outcome":{"ok":true},"observation":%s}`, `{"state":{}}`, `7`, "observation", false},
		{"load_tasks", `{"state":%s}`, `[]`, `"x"`, "state", false},
		{"register_context", `{"entries":[{"type":"rule","name":"A","content":%s}]}`, chars(20000), chars(20001), "entries[0].content", false},
		{"register_context", `{"entries":[{"type":"tool","name":"A","serverName":"s","inputSchema":%s}]}`, data(64 << 10), data(64<<10 + 1), "entries[0].inputSchema", true},
		{"compact_session", `{"transcript":%s}`, chars(200000), chars(200001), "transcript", false},
	} {
		inside, outside := fmt.Sprintf(tt.form, tt.inside), fmt.Sprintf(tt.form, tt.outside)
		if r := callTool(t, c, tt.tool, inside); r.IsError {
			t.Errorf("%s %.80s is within the limits and was refused: %s", tt.tool, inside, textOf(r))
		}
		r := callTool(t, c, tt.tool, outside)
		if text := textOf(r); !r.IsError || !strings.HasPrefix(text, "invalid_input: "+tt.field+": ") || !strings.Contains(text, "limit: ") {
			t.Errorf("%s %.80s is outside the limits and was answered %.200q, want %s refused with its limit", tt.tool, outside, text, tt.field)
		}
		wantSchema(t, inputs[tt.tool], inside, true)
		wantSchema(t, inputs[tt.tool], outside, tt.blind)
	}
}

// TestEveryToolIsTried: a tool that is added is held against its schemas and limits.
func TestEveryToolIsTried(t *testing.T) {
	var tried []string
	for _, call := range contextCalls {
		tried = append(tried, call.tool)
	}
	// Those of TestTools, TestJournalTools and TestKnowledgeTools.
	tried = append(tried, CallTool, "recall", "remember", "index_repo", "status", "session_start", "record_step", "session_end",
		"mm_knowledge_search", "mm_knowledge_last", "mm_knowledge_summarize", "mm_knowledge_sessions")
	slices.Sort(tried)
	c := connect(t, overHTTP(t, serve(t, fullContexts(), Options{})))
	wantEqual(t, "tools that are tried", namesOf(listTools(t, c, allTools)), tried)
}
