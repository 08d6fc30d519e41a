package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
)

// finder finds the tools that a query names: "status database:query"; with a ? behind its
// name, one that little speaks for.
type finder struct{ *ledger }

func newFinder() finder { return finder{fullContexts()} }

// Call implements service.Service.
func (f finder) Call(ctx context.Context, op *service.Spec, request any, progress func(any)) (any, error) {
	return servicetest.With(f.ledger, service.Bind(service.SearchTools, f.SearchTools)).Call(ctx, op, request, progress)
}

func (f finder) SearchTools(_ context.Context, req memory.SearchToolsRequest) (*memory.ToolMatches, error) {
	found := &memory.ToolMatches{Project: "p1", Receipt: "r-1", Text: fmt.Sprintf("found, only reading: %v\n", req.ReadOnly)}
	for name := range strings.FieldsSeq(req.Query) {
		server, tool, other := strings.Cut(name, ":")
		if !other {
			server, tool = OwnServer, name
		}
		if slices.Contains(req.Hidden, name) {
			continue
		}
		relevance := listThreshold
		if weak, ok := strings.CutSuffix(tool, "?"); ok {
			tool, relevance = weak, listThreshold-.001
		}
		found.Tools = append(found.Tools, memory.FoundTool{ID: "o-" + name, ServerName: server, Name: tool, Active: true, Relevance: relevance,
			InputSchema: json.RawMessage(`{"type":"object"}`)})
	}
	return found, nil
}

// changes counts the notifications that the list of tools has changed.
type changes struct {
	mu sync.Mutex // guards n
	n  int
}

// countChanges counts those that a client is told. They come before the answer to the
// call that brings them about, so nobody has to wait for them.
func countChanges(c *mcpclient.Client) *changes {
	var count changes
	c.OnNotification(func(n mcpgo.JSONRPCNotification) {
		if n.Method == mcpgo.MethodNotificationToolsListChanged {
			count.mu.Lock()
			defer count.mu.Unlock()
			count.n++
		}
	})
	return &count
}

func (c *changes) take() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.n
	c.n = 0
	return n
}

var (
	coreNames    = toolsOf(service.Core)
	historyNames = toolsOf(service.History)
	adminNames   = toolsOf(service.Admin)
)

// toolsOf returns the names of the operations of groups, sorted.
func toolsOf(groups ...service.Group) []string {
	var names []string
	for _, op := range service.Operations() {
		if slices.Contains(groups, op.Group) {
			names = append(names, op.Name)
		}
	}
	slices.Sort(names)
	return names
}

// with returns sorted names of tools, those of the core among them.
func with(more ...[]string) []string {
	names := slices.Concat(append(more, coreNames, []string{CallTool})...)
	slices.Sort(names)
	return names
}

// TestListing: the list grows by what is found, shrinks with a compaction, and the
// client is told of every change and of nothing else.
func TestListing(t *testing.T) {
	over := map[string]func(t *testing.T) *mcpclient.Client{
		"HTTP": func(t *testing.T) *mcpclient.Client { return connect(t, overHTTP(t, serve(t, newFinder(), Options{}))) },
		"HTTP with a stream": func(t *testing.T) *mcpclient.Client {
			//lint:ignore SA1019 Clients of the versions that are served listen so; it was removed by a later one.
			return connect(t, overHTTP(t, serve(t, newFinder(), Options{}), transport.WithContinuousListening()))
		},
		"bridge": func(t *testing.T) *mcpclient.Client { return stdioClient(t, newDaemon(t, newFinder()), "/src") },
	}
	for name, client := range over {
		t.Run(name, func(t *testing.T) {
			c := client(t)
			told := countChanges(c)
			for _, step := range []struct {
				tool, arguments string
				want            []string
				changes         int
			}{
				{"recall", `{"query":"q"}`, with(), 0},
				{"status", `{}`, with(), 0}, // answers unlisted
				{"search_tools", `{"query":"recall feedback"}`, with(), 0},
				{"search_tools", `{"query":"database:status database:query"}`, with(), 0}, // of a host
				{"search_tools", `{"query":"status? database:query"}`, with(), 0},         // told of, not listed
				{"search_tools", `{"query":"record_step recall status?"}`, with(historyNames), 1},
				{"search_tools", `{"query":"session_end"}`, with(historyNames), 0},
				{"search_tools", `{"query":"status session_start no_such_tool"}`, with(historyNames, adminNames), 1},
				{"session_start", `{"sessionId":"abcd"}`, with(historyNames, adminNames), 0},
				{"report_context", `{"entities":[{"id":"a"}]}`, with(historyNames, adminNames), 0},
				{"compact_session", `{"sessionId":"other-session"}`, with(historyNames, adminNames), 0},
				{"compact_session", `{"keepTurns":0}`, with(historyNames, adminNames), 0}, // refused
				{"compact_session", `{"sessionId":"abcd"}`, with(), 1},
				{"compact_session", `{}`, with(), 0},
				{"search_tools", `{"query":"status"}`, with(adminNames), 1},
				{"report_context", `{"clearDiscovered":true}`, with(), 1},
				{"session_start", `{"sessionId":"abcd"}`, with(historyNames), 1},
			} {
				callTool(t, c, step.tool, step.arguments)
				if n := told.take(); n != step.changes {
					t.Errorf("after %s %s the client was told %d times that its tools changed, want %d", step.tool, step.arguments, n, step.changes)
				}
				wantEqual(t, "tools after "+step.tool+" "+step.arguments, step.want, namesOf(listTools(t, c)))
			}
		})
	}
}

// TestListingIsOfOneSession: what one connection finds, another is not shown.
func TestListingIsOfOneSession(t *testing.T) {
	url := serve(t, newFinder(), Options{})
	a, b := connect(t, overHTTP(t, url)), connect(t, overHTTP(t, url))
	toldA, toldB := countChanges(a), countChanges(b)
	callTool(t, a, "search_tools", `{"query":"status"}`)
	callTool(t, b, "recall", `{"query":"q"}`)
	wantEqual(t, "tools of the one that searched", with(adminNames), namesOf(listTools(t, a)))
	wantEqual(t, "tools of the other", with(), namesOf(listTools(t, b)))
	if na, nb := toldA.take(), toldB.take(); na != 1 || nb != 0 {
		t.Errorf("told of changes: %d and %d times, want once and never", na, nb)
	}
}

// TestEveryChangeIsTold: of many searches in flight at once, each change reaches the
// client.
func TestEveryChangeIsTold(t *testing.T) {
	c := connect(t, overHTTP(t, serve(t, newFinder(), Options{})))
	told := countChanges(c)
	const rounds = 200
	for range rounds {
		callTool(t, c, "search_tools", `{"query":"status"}`)
		callTool(t, c, "compact_session", `{}`)
	}
	if n := told.take(); n != 2*rounds {
		t.Errorf("%d changes were told, want %d", n, 2*rounds)
	}
	var searches sync.WaitGroup
	for _, name := range []string{"status", "session_start", "task_window", "receipts", "list_context", "assemble_context", "working_context", "mm_knowledge_last"} {
		searches.Go(func() { callTool(t, c, "search_tools", fmt.Sprintf(`{"query":%q}`, name)) })
	}
	searches.Wait()
	if n := told.take(); n != 8 {
		t.Errorf("%d changes of eight searches at once were told, want 8", n)
	}
	wantEqual(t, "tools after all were found", namesOf(listTools(t, c, allTools)), namesOf(listTools(t, c)))
}

// TestClientWithoutStreams: a client that takes no streams of events gets its answer as
// it asked for it, and sees what was found when it lists the tools.
func TestClientWithoutStreams(t *testing.T) {
	url := serve(t, newFinder(), Options{})
	post := func(accept, session, body string) (*http.Response, string) {
		t.Helper()
		request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", accept)
		request.Header.Set(mcpgo.HeaderSessionID, session)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		return response, readAll(t, response)
	}
	for accept, want := range map[string]string{
		"application/json":                    `{"jsonrpc":"2.0","id":1,`,
		"application/json, text/event-stream": "event: message\ndata: " + listChanged + "\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,",
	} {
		opened, _ := post(accept, "", initializeLine)
		session := opened.Header.Get(mcpgo.HeaderSessionID)
		response, body := post(accept, session, toolCall(1, "search_tools", `{"query":"status"}`))
		if !strings.HasPrefix(body, want) || response.Header.Get(HeaderFound) != "1;admin" {
			t.Errorf("a client that takes %s: %s %s %.200q, want %.60q and what was found", accept, response.Header.Get("Content-Type"), response.Header.Get(HeaderFound), body, want)
		}
		if _, body = post(accept, session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); !strings.HasPrefix(body, "{") || !strings.Contains(body, `"index_repo"`) {
			t.Errorf("a client that takes %s is listed %.200s, want index_repo in JSON", accept, body)
		}
	}
}

// TestToolsets: the settings, or a client's header in their place, say what is listed
// from the start.
func TestToolsets(t *testing.T) {
	url := serve(t, newFinder(), Options{Toolsets: []string{"admin"}, KnowledgePrefix: new("x-")})
	knowledge := toolsOf(service.Knowledge)
	for i, name := range knowledge {
		knowledge[i] = "x-" + name
	}
	tasks := toolsOf(service.Tasks)
	contexts := toolsOf(service.Catalogue, service.Contexts, service.Working, service.Ledger)
	for header, want := range map[string][]string{
		"":                            with(adminNames),
		" , ":                         with(adminNames),
		"core":                        with(),
		"recall":                      with(),
		"knowledge":                   with(knowledge),
		"history":                     with(historyNames),
		"tasks":                       with(tasks),
		"context":                     with(contexts),
		"history, tasks,status":       with(historyNames, tasks, []string{"status"}),
		"x-knowledge_last":            with([]string{"x-knowledge_last"}),
		"all":                         with(knowledge, historyNames, tasks, contexts, adminNames),
		"all,core,knowledge,receipts": with(knowledge, historyNames, tasks, contexts, adminNames),
	} {
		c := connect(t, overHTTP(t, url, transport.WithHTTPHeaders(map[string]string{HeaderToolsets: header})))
		wantEqual(t, fmt.Sprintf("tools of %q", header), want, namesOf(listTools(t, c)))
		told := countChanges(c)
		callTool(t, c, "search_tools", `{"query":"record_step"}`)
		if before, after := len(want), len(listTools(t, c)); after < before || told.take() != 1 {
			t.Errorf("after a search %d tools of %q are listed, were %d", after, header, before)
		}
	}
	served := []string{CallTool}
	for _, t := range ownTools("x-", nil) {
		served = append(served, t.name)
	}
	slices.Sort(served)
	wantEqual(t, "all tools", served, with(knowledge, historyNames, tasks, contexts, adminNames))
}

// TestUnknownToolset: a name that nothing has is refused, with those that there are.
func TestUnknownToolset(t *testing.T) {
	_, err := NewServer(newFinder(), Options{Toolsets: []string{"core", "knowlege"}})
	const want = `"knowlege"; there are core, knowledge, history, tasks, context, admin, all and the names of tools`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("NewServer: %v, want an error with %s", err, want)
	}
	request, err := http.NewRequest(http.MethodPost, serve(t, newFinder(), Options{}), strings.NewReader(initializeLine))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(HeaderToolsets, "knowlege")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if body := readAll(t, response); response.StatusCode != http.StatusBadRequest || !strings.Contains(body, `"id":0`) || !strings.Contains(body, "knowlege") {
		t.Errorf("HTTP %d %s, want 400 that answers the message and names the toolset", response.StatusCode, body)
	}
}

// TestBridgeToolsets: the bridge says which toolsets it was started with, and the
// client is told of one that there is not.
func TestBridgeToolsets(t *testing.T) {
	d := newDaemon(t, newFinder())
	p := startBridgeWith(t, BridgeOptions{Connect: d.connect, Toolsets: []string{"history", "status"}})
	c := connect(t, p.transport())
	want := with(historyNames, []string{"status"})
	wantEqual(t, "tools", want, namesOf(listTools(t, c)))
	d.stop()
	wantEqual(t, "tools after a restart", want, namesOf(listTools(t, c)))

	p = startBridgeWith(t, BridgeOptions{Connect: d.connect, Toolsets: []string{"none"}})
	p.write(initializeLine)
	p.expect(`"id":0`, "-32600", `\"none\"`)
	for _, toolset := range []string{"", "a b", "a,b", "ä"} {
		err := RunBridge(t.Context(), BridgeOptions{In: strings.NewReader(""), Out: new(strings.Builder), Connect: d.connect, Toolsets: []string{toolset}})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", toolset)) {
			t.Errorf("a bridge with the toolset %q: %v, want an error that names it", toolset, err)
		}
	}
}

// TestBridgeKeepsWhatWasFound: the list is the same after the daemon was started anew
// or has forgotten the connection, and the client need not be told; what a compaction
// has cleared does not come back, nor what was found before the client began anew.
func TestBridgeKeepsWhatWasFound(t *testing.T) {
	d := newDaemon(t, newFinder())
	p := startBridgeWith(t, BridgeOptions{Connect: d.connect})
	c := connect(t, p.transport())
	told := countChanges(c)
	forgotten := func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.server.http.CloseSessions(t.Context())
	}
	for _, step := range []struct {
		what            string
		tool, arguments string
		lose            func()
		want            []string
	}{
		{"nothing found", "recall", `{"query":"q"}`, forgotten, with()},
		{"found, then forgotten", "search_tools", `{"query":"status"}`, forgotten, with(adminNames)},
		{"found, then a restart", "search_tools", `{"query":"record_step"}`, d.stop, with(adminNames, historyNames)},
		{"two restarts without a call", "recall", `{"query":"q"}`, func() { d.stop(); d.stop() }, with(adminNames, historyNames)},
		{"cleared, then a restart", "compact_session", `{}`, d.stop, with()},
		{"found again, then a restart", "search_tools", `{"query":"status"}`, d.stop, with(adminNames)},
	} {
		callTool(t, c, step.tool, step.arguments)
		step.lose()
		wantEqual(t, "tools after: "+step.what, step.want, namesOf(listTools(t, c)))
	}
	if n := told.take(); n < 4 {
		t.Errorf("%d changes were told, want those of four calls at least", n)
	}
	var again mcpgo.InitializeRequest
	again.Params.ProtocolVersion = mcpgo.LATEST_LEGACY_PROTOCOL_VERSION
	if _, err := c.Initialize(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	d.stop()
	wantEqual(t, "tools after the client began anew, and a restart", with(), namesOf(listTools(t, c)))
}

func TestFoundHeader(t *testing.T) {
	for _, f := range []found{{version: 1}, {7, []service.Group{service.History}}, {12, []service.Group{service.Admin, "of-a-newer-version"}}} {
		if got, ok := parseFound(formatFound(f)); !ok || got.version != f.version || !slices.Equal(got.groups, f.groups) {
			t.Errorf("%+v comes back as %+v, %v", f, got, ok)
		}
	}
	for _, text := range []string{"", "1", ";", "0;admin", "-1;admin", "x;admin", "1;admin,", "1;,admin", "1;a b", "1;ä",
		"99999999999999999999;admin", "1;" + strings.Repeat("a,", maxGroups) + "a"} {
		if got, ok := parseFound(text); ok {
			t.Errorf("%q is taken for %+v", text, got)
		}
	}
	var latest latestFound
	for _, step := range []struct{ header, want string }{
		{"", ""}, {"rubbish", ""}, {"2;admin,history", "2;admin,history"}, {"1;admin", "2;admin,history"}, {"", "2;admin,history"}, {"3;", "3;"},
	} {
		latest.keep(step.header)
		if got := latest.header(); got != step.want {
			t.Errorf("after %q the bridge keeps %q, want %q", step.header, got, step.want)
		}
	}
}

// TestOwnTools: recalld's own tools stand in its catalogue as they are served.
func TestOwnTools(t *testing.T) {
	entries := OwnTools(DefaultKnowledgePrefix)
	if err := memory.ValidEntries(entries); err != nil {
		t.Fatalf("the catalogue would refuse them: %v", err)
	}
	c := connect(t, overHTTP(t, serve(t, newFinder(), Options{})))
	served := map[string]mcpgo.Tool{}
	for _, tool := range listTools(t, c, allTools) {
		served[tool.Name] = tool
	}
	var core []string
	for _, e := range entries {
		tool, ok := served[e.Name]
		delete(served, e.Name)
		if !ok || e.Type != memory.Tool || e.ServerName != OwnServer || !strings.HasPrefix(e.Description, strings.TrimSuffix(tool.Description, ".")) || len(e.InputSchema) == 0 {
			t.Errorf("%+v is not as the tool is served", e.Ref)
		}
		if e.Core {
			core = append(core, e.Name)
		}
	}
	delete(served, CallTool)
	if len(served) > 0 {
		t.Errorf("tools without an entry: %v", served)
	}
	slices.Sort(core)
	wantEqual(t, "core", coreNames, core)
	if prefixed := OwnTools("x-"); !slices.ContainsFunc(prefixed, func(e memory.CatalogueEntry) bool { return e.Name == "x-knowledge_last" }) {
		t.Error("the prefix does not begin the names of the knowledge tools")
	}
}

// TestToolsetNamesAreNoTools: a name in the settings means one thing.
func TestToolsetNamesAreNoTools(t *testing.T) {
	all := ownTools(DefaultKnowledgePrefix, nil)
	known := []service.Group{service.Core}
	for _, set := range toolsets {
		known = append(known, set.groups...)
		if slices.ContainsFunc(all, func(t ownTool) bool { return t.name == set.name }) {
			t.Errorf("%s is a toolset and a tool", set.name)
		}
	}
	for _, tool := range all {
		if !slices.Contains(known, tool.op.Group) {
			t.Errorf("%s is in the group %q, which no toolset has", tool.name, tool.op.Group)
		}
	}
}

// TestToolsetsInDocs holds the table for people against the code.
func TestToolsetsInDocs(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "agents.md"))
	if err != nil {
		t.Fatal(err)
	}
	// Rows are | toolset | tools | what they do |; one without a toolset continues the one
	// above.
	inDocs, toolset := map[string][]string{}, ""
	for line := range strings.Lines(string(doc)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			toolset = ""
			continue
		}
		if first := strings.Split(cells[1], "`"); len(first) > 1 {
			toolset = first[1]
		}
		for i, part := range strings.Split(cells[2], "`") {
			if i%2 == 1 {
				inDocs[toolset] = append(inDocs[toolset], part)
			}
		}
	}
	for _, set := range toolsets {
		told, want := inDocs[set.name], []string(nil)
		for _, tool := range ownTools(DefaultKnowledgePrefix, nil) {
			if slices.Contains(set.groups, tool.op.Group) {
				want = append(want, tool.name)
			}
		}
		slices.Sort(told)
		slices.Sort(want)
		wantEqual(t, "tools of the toolset "+set.name+" in docs/agents.md", want, told)
	}
}
