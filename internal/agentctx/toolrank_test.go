package agentctx

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/render"
)

// entriesOf are tools by ids, "server:name: description" each.
func entriesOf(tools ...string) map[string]*memory.EntryState {
	entries := map[string]*memory.EntryState{}
	for _, text := range tools {
		ref, description, _ := strings.Cut(text, ": ")
		server, name, _ := strings.Cut(ref, ":")
		entries[ref] = &memory.EntryState{CatalogueEntry: tool(server, name, description)}
	}
	return entries
}

func TestNamedServers(t *testing.T) {
	entries := entriesOf("google-drive:share_file: Give access", "git:git_log: List commits", "github:create_issue: Open an issue",
		"time:convert_time: Convert", "srv1:x: the time", "srv2:x: the time of day", "srv3:x: a time", "srv4:x: some time")
	for query, want := range map[string]string{
		"who has access to the file in Google Drive": "google-drive | who has access to the file in",
		"open a GitHub issue":                        "github | open a issue",
		"the git log":                                "git | the log",
		"share it with googleDrive":                  "google-drive | share it with",
		"what time is it":                            " | what time is it", // an ordinary word
		"gitlog":                                     " | gitlog",
		"":                                           " | ",
	} {
		named, rest := namedServers(splitName(query), entries)
		if got := strings.Join(slices.Sorted(maps.Keys(named)), ",") + " | " + rest; got != want {
			t.Errorf("%q names %q, want %q", query, got, want)
		}
	}
}

// TestServersOfOneName: servers whose names differ in case and separators alone are all named.
func TestServersOfOneName(t *testing.T) {
	entries := entriesOf("file-system:a: A", "filesystem:b: B", "FileSystem:c: C")
	for range 20 { // the order of a map must not show
		named, _ := namedServers(splitName("list it with file system"), entries)
		if got := slices.Sorted(maps.Keys(named)); len(got) != 3 {
			t.Fatalf("named are %q, want all three", got)
		}
	}
}

func TestSpellOut(t *testing.T) {
	entries := entriesOf("gitlab:merge_merge_request: m", "gitlab:getMergeRequest: g", "github:update_pull_request: u", "aws:list_s3_objects: l", "aws:get_vm: g", "x:very_much: v", "x:very-many: v")
	for query, want := range map[string]string{
		"sign off the MR": "sign off the MR merge request",
		"update the PR":   "update the PR", // one tool alone
		"sign off the mr": "sign off the mr",
		"start the VM":    "start the VM", // a word of its own
		"OK, AWS":         "OK, AWS",
	} {
		if got := spellOut(query, entries); got != want {
			t.Errorf("%q is spelled out as %q, want %q", query, got, want)
		}
	}
}

// TestChosenTools: "o.9" is one of recalld's own of relevance .9, "h.3" one of the host's.
func TestChosenTools(t *testing.T) {
	for _, tt := range []struct{ found, want string }{
		{"h.9 o.8 h.4", "h.9 o.8 h.4"},
		{"h.9 h.8 h.7 o.8", "h.9 h.8 h.7"},                             // not one of the best
		{"h.9 o.4 h.3", "h.9 h.3"},                                     // not sure
		{"o.4 o.3", "o.4 o.3"},                                         // nothing else
		{"h.3 h.3 h.3 h.3 h.3 h.3 h.3", "h.3 h.3 h.3 h.3 h.3"},         // five where none is active
		{"h.9 h.3 h.3 h.3 h.3 h.4 h.3", "h.9 h.3 h.3 h.3 h.4"},         // three beside one
		{"h.9 h.9 h.9 h.9 h.9 h.9 h.9 h.9", "h.9 h.9 h.9 h.9 h.9 h.9"}, // at most six
		{"", ""},
	} {
		var f foundTools
		for i, text := range strings.Fields(tt.found) {
			m := recall.Matched{ID: fmt.Sprint(i)}
			if text[0] == 'o' {
				m.Project = memory.OwnProject
			}
			if _, err := fmt.Sscan("0"+text[1:], &m.Relevance); err != nil {
				t.Fatal(err)
			}
			f.tools = append(f.tools, foundTool{&memory.EntryState{CatalogueEntry: tool("s", text, "")}, m})
		}
		n := len(f.tools)
		f.choose(6)
		var got []string
		for _, chosen := range f.tools {
			got = append(got, chosen.entry.Name)
		}
		if strings.Join(got, " ") != tt.want || len(f.tools)+len(f.withheld) != n {
			t.Errorf("of %s are chosen %s and withheld %d; want %s, and the rest withheld", tt.found, got, len(f.withheld), tt.want)
		}
	}
}

// TestToolLines: the stronger a match, the more is told of the tool.
func TestToolLines(t *testing.T) {
	f := memory.FoundTool{ServerName: "db", Name: "query", Description: "Run an SQL statement against the database, " + strings.Repeat("and say what it returned ", 10),
		InputSchema: json.RawMessage(`{"properties":{"sql":{},"limit":{},"args":{}},"required":["sql"]}`)}
	for strength, want := range map[memory.Strength]string{
		memory.Sure:   "db:query: Run an SQL statement against the database, and say",
		memory.Likely: "db:query (likely): Run an SQL statement",
		memory.Maybe:  "db:query (maybe): Run an SQL statement",
	} {
		f.Strength = strength
		line := toolLine(f)
		if !strings.HasPrefix(line, want) || (strength != memory.Maybe) != strings.HasSuffix(line, " (takes sql*, args, limit)") || strength == memory.Maybe && render.Tokens(line) > maybeTokens {
			t.Errorf("%s: %q of %d tokens, want it to begin %q", strength, line, render.Tokens(line), want)
		}
	}
}

// TestNamedServersToolComesFirst: of a server that is named, the tool that the other words
// mean is the best, not one that names the server again.
func TestNamedServersToolComesFirst(t *testing.T) {
	r := newRig(t)
	r.register(tool("gitlab", "create_repository", "Create a GitLab project."), tool("gitlab", "get_merge_request", "Show one merge request."),
		tool("gitlab", "merge_merge_request", "Accept a merge request and merge its branch."), tool("github", "merge_pull_request", "Merge a pull request."),
		tool("weather", "forecast", "Tell the weather forecast of a city."))
	id := r.start("review")
	if found := r.search(id, "accept the GitLab MR"); len(found.Tools) == 0 || found.Tools[0].Name != "merge_merge_request" {
		t.Errorf("found %v, want merge_merge_request first", foundNames(found))
	}
}
