package cli

import (
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestImportAgentsAsks: what would be imported is shown and asked about once; without a
// person nothing is imported unless the command says so.
func TestImportAgentsAsks(t *testing.T) {
	found := &memory.AgentImported{DryRun: true, Logs: 2, Sources: []memory.AgentSource{{Client: "codex", Dir: "/src/shop", Project: "shop", Sessions: 2, Steps: 30, Fixes: 4}}}
	agreed := *found
	agreed.Consented = true
	for name, test := range map[string]struct {
		found   *memory.AgentImported
		args    []string
		answer  string // of a person at the terminal
		code    int
		asked   bool
		imports bool
	}{
		"yes":                     {found, nil, "y\n", ExitOK, true, true},
		"no":                      {found, nil, "n\n", ExitOK, true, false},
		"the end of the input":    {found, nil, " ", ExitOK, true, false},
		"agreed before":           {&agreed, nil, " ", ExitOK, false, true},
		"nobody to ask":           {found, nil, "", ExitUsage, false, false},
		"nobody to ask, but yes":  {found, []string{"--yes"}, "", ExitOK, false, true},
		"nobody to ask, dry run":  {found, []string{"--dry-run"}, "", ExitOK, false, false},
		"nobody to ask, both":     {found, []string{"--yes", "--dry-run"}, "", ExitUsage, false, false},
		"nobody to ask, to stop":  {found, []string{"--stop"}, "", ExitOK, false, false},
		"a date that is none":     {found, []string{"--since", "2026"}, "y\n", ExitUsage, false, false},
		"agreed before, no human": {&agreed, nil, "", ExitOK, false, true},
	} {
		b := newBench(t, map[string]any{service.ImportAgents.Name: test.found})
		b.opts.Interactive, b.opts.In = test.answer != "", strings.NewReader(test.answer)
		out, errs, code := b.run(append([]string{"import", "agents"}, test.args...)...)
		if code != test.code || strings.Contains(errs, "follow these logs") != test.asked || test.asked && !strings.Contains(errs, "/src/shop") {
			t.Errorf("%s: exit %d, it says\n%s%s", name, code, out, errs)
		}
		imports := false
		for _, call := range b.fake.Calls() {
			if r, ok := call.Request.(memory.AgentImportRequest); ok && r.Consent && !r.DryRun {
				imports = true
			}
		}
		if imports != test.imports {
			t.Errorf("%s: it imports: %v, want %v", name, imports, test.imports)
		}
	}
}

// TestImportAgentsCounts: one is not called many.
func TestImportAgentsCounts(t *testing.T) {
	b := newBench(t, map[string]any{service.ImportAgents.Name: &memory.AgentImported{Logs: 2, Known: 1, Unchanged: 1}})
	if out := b.ok("import", "agents", "--yes"); !strings.Contains(out, "1 step already known, 1 log unchanged.") {
		t.Errorf("it says:\n%s", out)
	}
}
