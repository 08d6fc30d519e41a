package daemon

import (
	"slices"
	"testing"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// ownPhrases are what an agent would ask search_tools for, and the tool of recalld's own
// that does it.
var ownPhrases = []struct{ phrase, tool string }{
	{"start a session", "session_start"},
	{"open a session for work of several steps", "session_start"},
	{"record what I just did", "record_step"},
	{"log a step that failed", "record_step"},
	{"end the session", "session_end"},
	{"search steps of earlier sessions", "mm_knowledge_search"},
	{"list the last steps", "mm_knowledge_last"},
	{"summarize a session", "mm_knowledge_summarize"},
	{"list sessions", "mm_knowledge_sessions"},
	{"complete a task", "complete_task"},
	{"mark a task as done", "complete_task"},
	{"a task is blocked", "block_task"},
	{"resolve a blocker", "unblock_task"},
	{"show recent tasks and blockers", "task_window"},
	{"import tasks from an old state", "load_tasks"},
	{"register rules and references", "register_context"},
	{"register my tools in the catalogue", "register_context"},
	{"remove a rule from the catalogue", "unregister_context"},
	{"list the rules of the project", "list_context"},
	{"what is in the session context", "session_context"},
	{"add a rule to the context", "change_context"},
	{"build the context for a request", "assemble_context"},
	{"which tools did this session discover", "working_context"},
	{"report used tools and entities", "report_context"},
	{"compact the conversation", "compact_session"},
	{"the conversation is too long", "compact_session"},
	{"what context was the last turn given", "context_of_turn"},
	{"show receipts", "receipts"},
	{"index a repository", "index_repo"},
	{"is the daemon healthy", "status"},
	{"give feedback", "feedback"},
}

// TestOwnToolsAreFound: who asks for what a tool of recalld does finds it among the first
// three, and is listed it from then on. Beside the 1,346 tools of other servers, several
// of which complete tasks and index repositories too, fewer phrases do. They were written
// beside the descriptions: it is no measure of how well tools are found, but falls when a
// description loses its words.
func TestOwnToolsAreFound(t *testing.T) {
	underrace.Skip(t, "ranks, of one question after the other")
	s, address, token := serveTCP(t, func(o *Options) { o.memTable = 0 }) // much is registered at once
	dir := shop(t)
	s.until("ready", func(st *memory.Status) bool { return st.State == "ready" })
	for _, tt := range []struct {
		crowded bool
		least   int // phrases, of 31; 31 and 23 when this was written
	}{{false, 29}, {true, 22}} {
		if tt.crowded {
			_, err := service.Register.Do(t.Context(), s, memory.RegisterRequest{Entries: toolCatalogue(t), Caller: memory.Caller{Dir: dir}})
			must(t, err)
		}
		right := 0
		for _, p := range ownPhrases {
			agent, err := open(t, address, token)
			must(t, err)
			var found memory.ToolMatches
			callTool(t, agent, "search_tools", map[string]any{"query": p.phrase, "project": dir}, &found)
			at := slices.IndexFunc(found.Tools, func(f memory.FoundTool) bool { return f.ServerName == "recalld" && f.Name == p.tool })
			if at < 0 || at > 2 {
				t.Logf("crowded %v: %q finds %s at %d of %d", tt.crowded, p.phrase, p.tool, at, len(found.Tools))
				continue
			}
			right++
			if !slices.Contains(listed(t, agent), p.tool) {
				t.Errorf("%s was found by %q and is not listed", p.tool, p.phrase)
			}
		}
		if right < tt.least {
			t.Errorf("crowded %v: %d of %d phrases find their tool among the first three, want %d", tt.crowded, right, len(ownPhrases), tt.least)
		}
	}
}

// TestOwnToolsAreNotCounted: status, backups, restores and repairs count what users remember.
func TestOwnToolsAreNotCounted(t *testing.T) {
	s, dir := serve(t, newConfig(t)), shop(t)
	s.keep(dir, "Freeze the clock before the coupon expires")
	s.until("ready", func(st *memory.Status) bool { return st.State == stateReady })
	found, err := service.SearchTools.Do(t.Context(), s, memory.SearchToolsRequest{Query: "record a lesson", Own: true, SessionRef: memory.SessionRef{Caller: memory.Caller{Dir: dir}}})
	must(t, err)
	if len(found.Tools) == 0 {
		t.Fatal("a search finds no tool, want recalld's own")
	}
	status, err := service.Status.Do(t.Context(), s, service.None{})
	must(t, err)
	b, err := service.Backup.Do(t.Context(), s, memory.BackupRequest{}, func(memory.BackupProgress) {})
	must(t, err)
	if n, backedUp := status.Records[memory.Tool], b.Records[string(memory.Tool)]; n != 0 || backedUp != 0 || b.Records[string(memory.Lesson)] != 1 {
		t.Errorf("status counts %d tools, the backup %d, want none: the user has registered none", n, backedUp)
	}
	s.end()
	must(t, s.wait())
	restore, err := PrepareRestore(t.Context(), s.cfg, "test", b, "", func(int64) {})
	must(t, err)
	must(t, restore.End())
	repair, err := PrepareRepair(t.Context(), s.cfg, "test")
	must(t, err)
	must(t, repair.End())
	for what, kept := range map[string]map[string]int{"restore": restore.Kept, "repair": repair.Kept} {
		if _, counted := kept[string(memory.Tool)]; counted || kept[string(memory.Lesson)] != 1 {
			t.Errorf("a %s keeps %v, want the lesson and no tool", what, kept)
		}
	}
}

// listed returns the names of the tools that an agent is shown.
func listed(t *testing.T, agent *mcpclient.Client) []string {
	t.Helper()
	list, err := agent.ListTools(t.Context(), mcp.ListToolsRequest{})
	must(t, err)
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}
