package agentctx

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// judged are the tools and requests of testdata/active.txt.
func judged(t *testing.T) (tools []memory.CatalogueEntry, asks map[string][]string, order []string) {
	t.Helper()
	raw, err := os.ReadFile("testdata/active.txt")
	must(t, err)
	asks = map[string][]string{}
	for line := range strings.Lines(string(raw)) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch kind {
		case "tool":
			name, description, _ := strings.Cut(rest, ": ")
			server, name, _ := strings.Cut(name, ":")
			e := tool(server, name, description)
			e.Include = memory.IncludeAgent
			tools = append(tools, e)
		case "ask":
			query, wanted, _ := strings.Cut(rest, "=>")
			query = strings.TrimSpace(query)
			asks[query] = strings.Fields(wanted)
			order = append(order, query)
		}
	}
	return tools, asks, order
}

// TestFewToolsBecomeActive asks for 24 things beside 20 tools, each in a session of its
// own: what is needed becomes active, and little else does.
func TestFewToolsBecomeActive(t *testing.T) {
	r := newRig(t)
	tools, asks, order := judged(t)
	r.register(tools...)
	needed, got, wrong, told := 0, 0, 0, 0
	for _, query := range order {
		found := r.search(r.start(query), query)
		told += len(found.Tools)
		needed += len(asks[query])
		for _, f := range found.Tools {
			ref := f.ServerName + ":" + f.Name
			if !f.Active && f.InputSchema != nil {
				t.Errorf("%q: %s is only named, and comes with its schema", query, ref)
			}
			switch {
			case slices.Contains(asks[query], ref) && f.Active:
				got++
			case f.New:
				wrong++
			}
		}
	}
	if got < 17 || wrong > 5 {
		t.Errorf("%d needed tools become active and %d others; want at least 17 and at most 5", got, wrong)
	}
	t.Logf("of %d needed tools %d are active, %d others; %d are told in %d answers", needed, got, wrong, told, len(order))
}

// TestAToolThatIsNamedCanBeMadeActive: who is told a name searches for it.
func TestAToolThatIsNamedCanBeMadeActive(t *testing.T) {
	r := newRig(t)
	tools, _, _ := judged(t)
	r.register(tools...)
	id := r.start("review")
	found := r.search(id, "put the branch up for review")
	if f := one(t, found, "open_pull"); f.Active || f.New || !strings.Contains(found.Text, "only named") {
		t.Fatalf("a weak hit is %+v, told as\n%s\nwant it named", f, found.Text)
	}
	for _, e := range tools {
		if f := one(t, r.search(r.start("by name"), e.ServerName+":"+e.Name), e.Name); !f.Active {
			t.Errorf("%s is found by its name with %.2f, and not active", e.Name, f.Relevance)
		}
	}
}
