package agentctx

import (
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

func TestToolNames(t *testing.T) {
	tools := []memory.ToolRef{
		{ServerName: "filesystem", ToolName: "read_file"}, {ServerName: "github", ToolName: "createIssue"},
		{ServerName: "linear", ToolName: "create-issue"}, {ServerName: "web", ToolName: "search"}, {ToolName: "Edit"},
		{ToolName: "WebFetch"}, {ToolName: "LS"}, {ToolName: "HTTPGet"}, {ServerName: "kb", ToolName: "search docs"}, {ServerName: "db", ToolName: "v2.query"},
		{ServerName: "übung", ToolName: "größe_lesen"}, {ServerName: "one", ToolName: "shared_name"}, {ServerName: "two", ToolName: "shared_name"},
	}
	for name, c := range map[string]struct {
		summary string
		want    []string
	}{
		"none":                      {"Fixed the login in src/auth.go; order 4711 is open.", nil},
		"snake case":                {"Called read_file on the log.", []string{"read_file"}},
		"at both ends":              {"read_file", []string{"read_file"}},
		"capital at the beginning":  {"Read_file showed it.", []string{"read_file"}},
		"as a call":                 {"It was read_file(\"x\").", []string{"read_file"}},
		"end of a sentence":         {"I used read_file.", []string{"read_file"}},
		"in a list":                 {"read_file/createIssue, create-issue", []string{"read_file", "createIssue", "create-issue"}},
		"longer identifier":         {"read_files, bread_file, read_file_2, read_file2, xcreateIssue, createIssues", nil},
		"another after a longer":    {"read_files and then read_file", []string{"read_file"}},
		"a file of that name":       {"Changed read_file.go and createIssue.test.ts.", nil},
		"camel case":                {"With createIssue, twice createIssue.", []string{"createIssue"}},
		"kebab case":                {"create-issue failed", []string{"create-issue"}},
		"longer kebab case":         {"re-create-issue and create-issue-now", nil},
		"dash that ends":            {"create-issue - again", []string{"create-issue"}},
		"snake with a suffix":       {"a read_file-based approach", []string{"read_file"}},
		"Pascal case":               {"WebFetch and HTTPGet", []string{"WebFetch", "HTTPGet"}},
		"ordinary word":             {"The search was slow; edit the search form, ls.", nil},
		"ordinary word in marks":    {"Then `search` and `Edit`.", []string{"search", "Edit"}},
		"ordinary, other case":      {"Then `SEARCH` and ``ls -l``.", []string{"search", "LS"}},
		"ordinary call in marks":    {"`search(\"orders\")` gave 3", []string{"search"}},
		"ordinary in a block":       {"Run:\n```\nx = 1\nsearch it\n```\nsearch", []string{"search"}},
		"block that stays open":     {"```sh\nsearch it", []string{"search"}},
		"mark that stays open":      {"it`s a search", nil},
		"between two code marks":    {"`a` search `b`", nil},
		"marks of other lengths":    {"``a ` search`` edit", []string{"search"}},
		"path in marks":             {"`src/search/index.ts`, `search.go`, `pre-search`, `./edit`, `research`", nil},
		"ordinary with its server":  {"Then web:search found it.", []string{"web:search"}},
		"a place in a path":         {"src/web/search/index.ts, web.search", nil},
		"compound in a path":        {"at src/read_file/x", []string{"read_file"}},
		"server with two lines":     {"as web__search", []string{"web:search"}},
		"as clients show it":        {"as mcp__filesystem__read_file", []string{"filesystem:read_file"}},
		"another server":            {"with myweb:search and other:search", nil},
		"compound, another server":  {"other:read_file", []string{"read_file"}},
		"server and colon in prose": {"The web: search is slow", nil},
		"several words":             {"search docs is in the plan", nil},
		"several words, marked":     {"`search docs`", []string{"search", "search docs"}},
		"name with a dot":           {"then v2.query", []string{"v2.query"}},
		"other letters":             {"Mit GRÖSSE_LESEN? Mit Größe_lesen.", []string{"größe_lesen"}},
		"order of occurrence":       {"createIssue then read_file", []string{"createIssue", "read_file"}},
		"shared by servers":         {"shared_name", []string{"shared_name"}},
		"shared, one with server":   {"two:shared_name", []string{"two:shared_name", "shared_name"}},
		"broken bytes":              {"\xff`search\xff` read_file\xff", []string{"search", "read_file"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := toolNames(c.summary, tools); !slices.Equal(got, c.want) {
				t.Errorf("%q names %q, want %q", c.summary, got, c.want)
			}
		})
	}
}

func TestIsOrdinary(t *testing.T) {
	for name, want := range map[string]bool{
		"search": true, "Search": true, "LS": true, "sha256": true, "search docs": true, "größe": true, "検索": true,
		"readFile": false, "WebFetch": false, "HTTPGet": false, "read_file": false, "read-file": false, "v2.query": false, "a/b": false,
	} {
		if got := isOrdinary(name); got != want {
			t.Errorf("isOrdinary(%q) = %v, want %v", name, got, want)
		}
	}
}

// Whatever the texts, what is found was asked for and is there.
func FuzzToolNames(f *testing.F) {
	f.Add("Called `search` and fs:read_file, then ``x` y``", "search", "fs")
	f.Add("İ`İ`", "i̇", "")
	f.Add("```a", "a", "b")
	f.Fuzz(func(t *testing.T, summary, name, server string) {
		tool := memory.ToolRef{ServerName: server, ToolName: name}
		got := toolNames(summary, []memory.ToolRef{tool})
		for _, n := range got {
			if n != name && n != tool.String() {
				t.Errorf("%q is named in %q, which nobody asked for", n, summary)
			}
			if !strings.Contains(strings.ToLower(summary), strings.ToLower(name)) {
				t.Errorf("%q is named in %q, where it does not stand", n, summary)
			}
		}
		if name != "" && isWord([]rune(name)[0]) && !isOrdinary(name) && len(toolNames(" "+name+" ", []memory.ToolRef{tool})) == 0 {
			r := []rune(name)
			if isWord(r[len(r)-1]) {
				t.Errorf("%q alone does not name itself", name)
			}
		}
	})
}
