package daemon

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/golden"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// toolCatalogue reads the tools of public MCP servers, described in our own words:
// sections [server], lines "tool: description".
func toolCatalogue(t testing.TB) []memory.CatalogueEntry {
	t.Helper()
	text, err := os.ReadFile("testdata/toolsearch/catalogue.txt")
	if err != nil {
		t.Fatal(err)
	}
	var entries []memory.CatalogueEntry
	server := ""
	for n, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if name, ok := strings.CutPrefix(line, "["); ok {
			server = strings.TrimSuffix(name, "]")
			continue
		}
		name, description, ok := strings.Cut(line, ": ")
		if !ok {
			t.Fatalf("catalogue.txt:%d: %q is no tool", n+1, line)
		}
		entries = append(entries, memory.CatalogueEntry{
			Ref: memory.Ref{Type: memory.Tool, Name: name, ServerName: server}, Description: description, Include: memory.IncludeAgent,
		})
	}
	return entries
}

// registered has a core with a project whose catalogue holds the entries.
func registered(t testing.TB, core *Core, project string, entries []memory.CatalogueEntry) {
	t.Helper()
	for begin := 0; begin < len(entries); begin += memory.MaxRegistered {
		_, err := core.Catalogue.Register(t.Context(), memory.RegisterRequest{
			Source: "test", Entries: entries[begin:min(begin+memory.MaxRegistered, len(entries))], Project: project,
		})
		if err != nil {
			t.Fatal(fmt.Errorf("register: %w", err))
		}
	}
}

// toolPhrase is a task in somebody's words, and the tools that are right for it.
type toolPhrase struct {
	text  string
	right []string // server:tool
}

// toolPhrases reads phrases: a line each, the text, a tab, and the right tools with
// commas between. queries.txt are queries as agents send them to search_tools,
// phrases.txt tasks as people tell them, a third of them without a word of the tool's:
// both were written without a look at the search, and nothing was chosen by what they
// find. practice.txt was written and dealt with phrases.txt, and is what was tuned on.
func toolPhrases(t *testing.T, name string) []toolPhrase {
	t.Helper()
	text, err := os.ReadFile("testdata/toolsearch/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var phrases []toolPhrase
	for n, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		phrase, right, ok := strings.Cut(line, "\t")
		if !ok {
			t.Fatalf("%s:%d: %q has no tools", name, n+1, line)
		}
		phrases = append(phrases, toolPhrase{phrase, strings.Split(right, ",")})
	}
	return phrases
}

// TestGoldenToolSearch holds where the right tool of 1,346 stands for 100 queries of
// agents, for 100 phrases of people, and for those that were tuned on. Run with -update
// to accept a change.
func TestGoldenToolSearch(t *testing.T) {
	underrace.Skip(t, "ranks, of one question after the other")
	core := openQuiet(t)
	project := t.TempDir()
	registered(t, core, project, toolCatalogue(t))
	var report strings.Builder
	three := map[string]int{} // among the first three
	for _, name := range []string{"queries.txt", "phrases.txt", "practice.txt", "own.txt"} {
		phrases := toolPhrases(t, name)
		var lines []string
		first, five := 0, 0
		for _, p := range phrases {
			found, err := core.Session.SearchTools(t.Context(), memory.SearchToolsRequest{
				Query: p.text, Limit: memory.MaxToolsFound, SessionRef: memory.SessionRef{Project: project},
			})
			must(t, err)
			at := 1 + slices.IndexFunc(found.Tools, func(f memory.FoundTool) bool {
				return slices.Contains(p.right, f.ServerName+":"+f.Name)
			})
			first, five = first+within(at, 1), five+within(at, 5)
			three[name] += within(at, 3)
			lines = append(lines, fmt.Sprintf("%2d %s", at, p.text))
		}
		fmt.Fprintf(&report, "%s: of %d phrases %d find the right tool first, %d among the first three, %d among five\n", name, len(phrases), first, three[name], five)
		if name == "queries.txt" || name == "phrases.txt" {
			report.WriteString(strings.Join(lines, "\n") + "\n")
		}
	}
	golden.Equal(t, "testdata/toolsearch/found.golden", report.String())
	if three["queries.txt"] < 85 {
		t.Errorf("%d of 100 queries find their tool among the first three, want 85", three["queries.txt"])
	}
}

// within is 1 for a rank, counted from 1, among the first most.
func within(rank, most int) int {
	if rank > 0 && rank <= most {
		return 1
	}
	return 0
}
