package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/access"
	"github.com/recalld/recalld/internal/mcp"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testkit/golden"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// face is one way by which a client of a policy calls.
type face struct {
	name string
	// tools says that only tools can be called, without the fields that tools do not have.
	tools bool
	// call returns the answer, or the refusal, as a text.
	call func(t *testing.T, op *service.Spec, body map[string]any) string
	// agent is the client of a face over MCP.
	agent *mcpclient.Client
}

// facesOf are all ways to call under a policy; dir is the folder that a client over MCP says
// it works in.
func facesOf(t *testing.T, s *served, address, name, token, dir string) []face {
	t.Helper()
	overHTTP := func(do func(*http.Request) (*http.Response, error), url string, headers map[string]string) func(*testing.T, *service.Spec, map[string]any) string {
		return func(t *testing.T, op *service.Spec, body map[string]any) string {
			t.Helper()
			path := op.Path
			for _, field := range op.PathFields() {
				id, _ := body[field].(string)
				path = strings.ReplaceAll(path, "{"+field+"}", id)
			}
			text, err := json.Marshal(body)
			must(t, err)
			if !op.TakesRequest() || op.InPath() {
				text = nil
			}
			request, err := http.NewRequestWithContext(t.Context(), op.Method, url+path, bytes.NewReader(text))
			must(t, err)
			for name, value := range headers {
				request.Header.Set(name, value)
			}
			answer, err := do(request)
			must(t, err)
			defer answer.Body.Close()
			told, err := io.ReadAll(answer.Body)
			must(t, err)
			if answer.StatusCode >= 500 && answer.StatusCode != http.StatusServiceUnavailable {
				t.Errorf("%s is answered with status %d: %s", op.Name, answer.StatusCode, told)
			}
			return string(told)
		}
	}
	faces := []face{
		{name: "API over TCP", call: overHTTP(http.DefaultClient.Do, "http://"+address, map[string]string{"Authorization": "Bearer " + token})},
		{name: "API on the socket", call: overHTTP(s.HTTP().Do, "http://recalld", map[string]string{access.Header: name})},
	}
	overTCP, err := transport.NewStreamableHTTP("http://"+address+"/mcp", transport.WithHTTPHeaders(map[string]string{
		"Authorization": "Bearer " + token, mcp.HeaderDir: dir, mcp.HeaderToolsets: "all"}))
	must(t, err)
	for where, agent := range map[string]*mcpclient.Client{
		"MCP over TCP": mcpclient.NewClient(overTCP), "MCP over stdio": bridged(t, s, name, dir),
	} {
		must(t, agent.Start(context.Background()))
		t.Cleanup(func() { _ = agent.Close() })
		_, err := agent.Initialize(t.Context(), mcpgo.InitializeRequest{Params: mcpgo.InitializeParams{
			ProtocolVersion: "2025-06-18", ClientInfo: mcpgo.Implementation{Name: "test", Version: "1"},
		}})
		must(t, err)
		faces = append(faces, face{name: where, tools: true, agent: agent, call: func(t *testing.T, op *service.Spec, body map[string]any) string {
			t.Helper()
			tool := toolOf(op)
			direct := calledText(t, agent, tool, body)
			through := calledText(t, agent, mcp.CallTool, map[string]any{"name": tool, "arguments": body})
			if byPolicy(direct, name) != byPolicy(through, name) {
				t.Errorf("%s: %s answers %q, and through %s %q", where, tool, direct, mcp.CallTool, through)
			}
			return direct + through
		}})
	}
	return faces
}

// bridged is a client of a bridge that was started for a client of the list.
func bridged(t *testing.T, s *served, name, dir string) *mcpclient.Client {
	t.Helper()
	in, toBridge := io.Pipe()
	fromBridge, out := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = mcp.RunBridge(ctx, mcp.BridgeOptions{In: in, Out: out, Dir: dir, Client: name, Toolsets: []string{"all"},
			Connect: func(context.Context) (*http.Client, error) { return s.HTTP(), nil }})
	}()
	t.Cleanup(func() { cancel(); _ = in.Close(); _ = out.Close(); <-ended })
	return mcpclient.NewClient(transport.NewIO(fromBridge, toBridge, io.NopCloser(strings.NewReader(""))))
}

func toolOf(op *service.Spec) string {
	if op.Group == service.Knowledge {
		return mcp.DefaultKnowledgePrefix + op.Name
	}
	return op.Name
}

// calledText is all that a client reads of the answer of a tool.
func calledText(t *testing.T, agent *mcpclient.Client, tool string, arguments any) string {
	t.Helper()
	result, err := agent.CallTool(t.Context(), mcpgo.CallToolRequest{Params: mcpgo.CallToolParams{Name: tool, Arguments: arguments}})
	if err != nil {
		return err.Error()
	}
	text, err := json.Marshal(result)
	must(t, err)
	return string(text)
}

// byPolicy says that an answer is the refusal by a client's policy.
func byPolicy(answer, name string) bool {
	return strings.Contains(answer, "of the client") && strings.Contains(answer, name)
}

// fits keeps the fields of a body that a request has, of a tool those that are not hidden.
func fits(op *service.Spec, tool bool, body map[string]any) map[string]any {
	has := map[string]any{}
	if op.Form().Kind() != reflect.Struct {
		return has
	}
	for _, f := range reflect.VisibleFields(op.Form()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if value, given := body[name]; given && (!tool || !memory.HiddenFromTools(f)) {
			has[name] = value
		}
	}
	return has
}

// addClient adds a client to the list and returns its token.
func addClient(t *testing.T, s *served, p access.Policy) string {
	t.Helper()
	token, err := access.OpenList(s.cfg.Paths().Clients).Add(p, time.Now())
	must(t, err)
	return token
}

// TestPolicies: every operation under every policy, by every way to call. The golden file has
// what is refused; a new operation is a new line in it.
func TestPolicies(t *testing.T) {
	underrace.Skip(t, "one request after the other")
	s, address, _ := serveTCP(t)
	dir := shop(t)
	own := s.keep(dir, "The shop counts articles before the discount")
	project := []access.Project{{ID: own.Project, Name: own.ProjectName}}
	policies := []access.Policy{
		{Name: "all-tools"}, {Name: "reads", ReadOnly: true}, {Name: "shop", Projects: project},
		{Name: "shop-reads", ReadOnly: true, Projects: project}, {Name: "asks", Tools: []string{"recall", "search_tools"}},
		{Name: "forgets", Tools: []string{"forget", "remember"}, Projects: project},
	}
	may := map[string][]string{}
	for _, p := range policies {
		for _, f := range facesOf(t, s, address, p.Name, addClient(t, s, p), dir) {
			listed := map[string]bool{}
			if f.tools {
				list, err := f.agent.ListTools(t.Context(), mcpgo.ListToolsRequest{})
				must(t, err)
				for _, tool := range list.Tools {
					listed[tool.Name] = true
				}
			}
			for _, op := range service.Operations() {
				if f.tools && !op.IsTool() {
					if answer := f.call(t, op, nil); !strings.Contains(answer, "recalld has no tool") && !strings.Contains(answer, "not found") {
						t.Errorf("%s, %s: %s is called as a tool: %s", f.name, p.Name, op.Name, answer)
					}
					continue
				}
				body := fits(op, f.tools, map[string]any{"project": own.Project, "path": dir, "id": "none", "tool": map[string]any{"name": "read"},
					"outcome": map[string]any{"ok": true}})
				if op == service.Forget.Spec { // not of a whole project
					body = map[string]any{"ids": []string{"l-none"}}
				}
				refused := byPolicy(f.call(t, op, body), p.Name)
				if f.tools && listed[toolOf(op)] == refused {
					t.Errorf("%s, %s: %s is listed: %v, and refused: %v", f.name, p.Name, toolOf(op), listed[toolOf(op)], refused)
				}
				known := may[op.Name]
				if f.name == "API over TCP" {
					word := "yes"
					if refused {
						word = "-"
					}
					may[op.Name] = append(known, word)
				} else if (known[len(known)-1] == "-") != refused {
					t.Errorf("%s: %s is refused to %s over TCP: %v, by %s: %v", p.Name, op.Name, p.Name, !refused, f.name, refused)
				}
			}
		}
	}
	table := fmt.Sprintf("%-20s", "operation")
	for _, p := range policies {
		table += fmt.Sprintf(" %-11s", p.Name)
	}
	for _, op := range service.Operations() {
		table = strings.TrimRight(table, " ") + fmt.Sprintf("\n%-20s", op.Name)
		for _, word := range may[op.Name] {
			table += fmt.Sprintf(" %-11s", word)
		}
	}
	golden.Equal(t, "testdata/policies.txt", strings.TrimRight(table, " ")+"\n")
	if _, err := s.Hello(t.Context()); err != nil {
		t.Errorf("the daemon was stopped: %v", err)
	}
}

// canary and hidden are in everything that is remembered of the other project. Questions
// have the first, so an answer that has the second tells of it.
const canary, hidden = "zebracanary", "quokkafeather"

// TestProjectsAreKeptApart: a client of one project learns nothing of another, and changes
// nothing there, whatever it asks and however it names that.
func TestProjectsAreKeptApart(t *testing.T) {
	underrace.Skip(t, "one request after the other")
	s, address, _ := serveTCP(t)
	dir, other := shop(t), large(t, 1)
	place(t, other, "secret.go", "package secret\n\n// Open opens the "+canary+" of the "+hidden+".\nfunc Open() {}\n")
	own := s.keep(dir, "The shop counts articles before the discount")
	theirs := s.keep(other, "The "+canary+" opens with a "+hidden)
	s.indexed(s.index(other))
	by := memory.Caller{Dir: other}
	session, err := service.StartSession.Do(t.Context(), s, memory.StartSessionRequest{Goal: "feed the " + canary + " with " + hidden, Caller: by})
	must(t, err)
	step, err := service.RecordStep.Do(t.Context(), s, memory.RecordStepRequest{SessionID: session.ID, Tool: memory.StepTool{Name: "read"},
		Outcome: memory.Outcome{OK: false, Error: &memory.StepError{Message: canary + " not found in " + hidden}}, Caller: by})
	must(t, err)
	_, err = service.BlockTask.Do(t.Context(), s, memory.BlockTaskRequest{TaskID: "task-" + canary, Reason: "the " + canary + " has a " + hidden, Caller: by})
	must(t, err)
	_, err = service.Register.Do(t.Context(), s, memory.RegisterRequest{Caller: by, Entries: []memory.CatalogueEntry{{
		Ref: memory.Ref{Type: memory.Reference, Name: "book-" + canary}, Description: "About the " + canary + " and its " + hidden, Content: "The " + canary + " has one " + hidden + ".",
	}}})
	must(t, err)
	receipt := s.ask(other, canary).Receipt
	before := s.count(t, other)

	project := []access.Project{{ID: own.Project, Name: own.ProjectName}}
	attack := map[string]any{
		"query": canary, "text": canary, "pattern": "*", "name": canary, "lesson": "mine", "goal": "mine", "task_id": "task-" + canary, "reason": "mine",
		"receipt": receipt, "id": receipt, "verdict": "failed", "message": canary, "n": 5, "texts": true,
		"tool": map[string]any{"name": "read"}, "outcome": map[string]any{"ok": false, "error": map[string]any{"message": canary + " not found"}}, "advise": true,
		"validation_report": map[string]any{"valid": true}, "path": other, "scope": "all", "summary": "mine", "entries": []any{},
	}
	with := func(more map[string]any) map[string]any {
		body := map[string]any{}
		for _, m := range []map[string]any{attack, more} {
			for name, value := range m {
				body[name] = value
			}
		}
		return body
	}
	bodies := map[string]map[string]any{
		"by its id":              with(map[string]any{"project": theirs.Project}),
		"by its name":            with(map[string]any{"project": theirs.ProjectName}),
		"by its folder":          with(map[string]any{"project": other}),
		"by a way to it":         with(map[string]any{"project": dir + "/../../" + strings.TrimPrefix(other, "/")}),
		"by the caller's folder": with(map[string]any{"caller": map[string]any{"dir": other}}),
		"by nothing":             with(nil),
		"from its own folder":    with(map[string]any{"caller": map[string]any{"dir": dir}}),
		"by ids":                 with(map[string]any{"project": own.Project, "ids": []string{theirs.ID}, "item": theirs.ID}),
		"by parts of ids":        with(map[string]any{"project": own.Project, "ids": []string{step.ID[:6]}}),
		"by its session":         with(map[string]any{"project": own.Project, "sessionId": session.ID, "scope": map[string]any{"sessionId": session.ID}}),
		"by withdrawing":         with(map[string]any{"project": own.Project, "supersedes": []string{theirs.ID}, "retracts": []string{theirs.ID}}),
		"within its own":         with(map[string]any{"project": own.Project, "caller": map[string]any{"dir": other, "session": session.ID}}),
	}
	policy := access.Policy{Name: "shop", Projects: project}
	token := addClient(t, s, policy)
	for _, f := range append(facesOf(t, s, address, policy.Name, token, other), facesOf(t, s, address, policy.Name, token, dir)[2:]...) {
		reached := 0
		for how, body := range bodies {
			for _, op := range service.Operations() {
				if f.tools && !op.IsTool() {
					continue
				}
				asked := fits(op, f.tools, body)
				answer := f.call(t, op, asked)
				for _, secret := range []string{hidden, step.ID} {
					if strings.Contains(answer, secret) {
						t.Errorf("%s, %s: %s tells %s of the other project: %s", f.name, how, op.Name, secret, answer)
					}
				}
				if !byPolicy(answer, policy.Name) {
					reached++
				}
			}
		}
		if reached == 0 {
			t.Errorf("%s: everything is refused: the test proves nothing", f.name)
		}
		if f.agent == nil {
			continue
		}
		for _, uri := range []string{"recalld://project", "recalld://lesson/" + theirs.ID, "recalld://session/" + session.ID, "recalld://turn/" + session.ID + "/1"} {
			r, err := f.agent.ReadResource(t.Context(), mcpgo.ReadResourceRequest{Params: mcpgo.ReadResourceParams{URI: uri}})
			if err == nil && strings.Contains(fmt.Sprint(r.Contents), hidden) {
				t.Errorf("%s: the resource %s is read: %+v", f.name, uri, r.Contents)
			}
		}
		prompts, err := f.agent.ListPrompts(t.Context(), mcpgo.ListPromptsRequest{})
		must(t, err)
		if len(prompts.Prompts) == 0 || strings.Contains(fmt.Sprint(prompts), hidden) {
			t.Errorf("%s: the prompts are %+v", f.name, prompts)
		}
	}
	// A project of which nothing is stored yet: all that could be found is elsewhere.
	fresh := t.TempDir()
	window, err := service.TaskWindow.Do(t.Context(), s, memory.TaskWindowRequest{Project: fresh})
	must(t, err)
	empty := access.Policy{Name: "fresh", Projects: []access.Project{{ID: window.Project, Name: window.ProjectName}}}
	for _, f := range facesOf(t, s, address, empty.Name, addClient(t, s, empty), fresh) {
		if answer := f.call(t, service.Recall.Spec, fits(service.Recall.Spec, f.tools, map[string]any{"query": canary, "caller": map[string]any{"dir": fresh}})); strings.Contains(answer, hidden) || byPolicy(answer, empty.Name) {
			t.Errorf("%s: in a new project recall answers %s", f.name, answer)
		}
	}
	if after := s.count(t, other); after != before {
		t.Errorf("the other project was %s and is %s", before, after)
	}
	if a := s.ask(other, canary+" key"); !slices.ContainsFunc(a.Items, func(i memory.Item) bool { return i.ID == theirs.ID }) {
		t.Errorf("its lesson is not found any more: %+v", a)
	}
}

// TestStatusOfAPolicyIsBounded: the sandboxes that a client may not see do not crowd out its own.
func TestStatusOfAPolicyIsBounded(t *testing.T) {
	cfg := newConfig(t)
	must(t, cfg.Paths().Prepare())
	d := newDaemon(Options{Config: cfg}, testLogger(newLines()))
	must(t, d.build(t.Context(), cfg.Paths()))
	defer func() { must(t, d.close()) }()
	var projects []access.Project
	for i := range maxProjects + 1 {
		p := memory.Project{ID: fmt.Sprintf("id-%03d", i), Name: fmt.Sprintf("name-%03d", i)}
		must(t, d.core.Ingest.PutSandbox(t.Context(), p, memory.Sandbox{ID: fmt.Sprintf("box-%03d", i), Project: p.ID, Root: "/src/" + p.Name, RequestedAt: time.Now()}))
		projects = append(projects, access.Project{ID: p.ID, Name: p.Name})
	}
	last := projects[maxProjects]
	for name, c := range map[string]struct {
		projects      []access.Project
		listed, total int
	}{"of the last project": {projects[maxProjects:], 1, 1}, "of all projects": {projects, maxProjects, maxProjects + 1}} {
		ctx := access.With(t.Context(), &access.Client{Policy: &access.Policy{Name: "ci", Projects: c.projects}})
		st, err := service.Status.Do(ctx, d.guard, service.None{})
		must(t, err)
		if len(st.Projects) != c.listed || st.ProjectsTotal != c.total || c.listed == 1 && st.Projects[0].Project != last.ID {
			t.Errorf("a client %s is told %d sandboxes of %d, want %d of %d", name, len(st.Projects), st.ProjectsTotal, c.listed, c.total)
		}
	}
}

// TestReadOnlySearchMakesNoToolActive: a search for tools is the one reading operation that
// changes a session, and a read-only client's does not.
func TestReadOnlySearchMakesNoToolActive(t *testing.T) {
	s := serve(t, newConfig(t))
	dir := shop(t)
	by := memory.Caller{Dir: dir, Client: "host"}
	addClient(t, s, access.Policy{Name: "reads", ReadOnly: true})
	_, err := service.Register.Do(t.Context(), s, memory.RegisterRequest{Caller: by, Source: "host", Entries: []memory.CatalogueEntry{{
		Ref: memory.Ref{Type: memory.Tool, ServerName: "shop", Name: "refund_order"}, Description: "Refund an order", Include: memory.IncludeAgent}}})
	must(t, err)
	session, err := service.StartSession.Do(t.Context(), s, memory.StartSessionRequest{SessionID: "host-1", Caller: by})
	must(t, err)
	for active, client := range []string{"reads", ""} { // the second may change something
		body := fmt.Sprintf(`{"query": "refund_order", "sessionId": %q, "caller": {"dir": %q}}`, session.ID, dir)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://recalld"+service.SearchTools.Path, strings.NewReader(body))
		must(t, err)
		if client != "" {
			request.Header.Set(access.Header, client)
		}
		answer, err := s.HTTP().Do(request)
		must(t, err)
		must(t, answer.Body.Close())
		wc, err := service.WorkingContext.Do(t.Context(), s, memory.WorkingContextRequest{SessionRef: memory.SessionRef{SessionID: session.ID, Caller: by}})
		must(t, err)
		if answer.StatusCode != http.StatusOK || len(wc.DiscoveredTools) != active {
			t.Errorf("after a search by the client %q, answered with %d, %v are active, want %d", client, answer.StatusCode, wc.DiscoveredTools, active)
		}
	}
}

// count says what a project holds.
func (s *served) count(t *testing.T, dir string) string {
	t.Helper()
	by := memory.Caller{Dir: dir}
	lessons, err := service.Lessons.Do(t.Context(), s, memory.LessonsRequest{Caller: by})
	must(t, err)
	sessions, err := service.Sessions.Do(t.Context(), s, memory.SessionsRequest{Caller: by})
	must(t, err)
	steps, err := service.LastSteps.Do(t.Context(), s, memory.LastStepsRequest{Scope: &memory.Scope{Name: memory.ScopeAll}, Caller: by})
	must(t, err)
	window, err := service.TaskWindow.Do(t.Context(), s, memory.TaskWindowRequest{Caller: by})
	must(t, err)
	entries, err := service.Entries.Do(t.Context(), s, memory.EntriesRequest{Caller: by})
	must(t, err)
	return fmt.Sprintf("%d lessons, %d sessions, %d steps, %q, %d entries", len(lessons.Lessons), len(sessions.Sessions), len(steps.Steps), window.Text, len(entries.Entries))
}
