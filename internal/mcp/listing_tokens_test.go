package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testkit/golden"
)

// TestListingTokens counts what the tools cost a client's model, at first and with all
// of them: what tools/list answers, and what of it hosts as a rule hand to a model,
// which are names, descriptions and input schemas. The figures are a golden file, so
// that every word that is added shows; docs/quality.md has them.
func TestListingTokens(t *testing.T) {
	c := connect(t, overHTTP(t, serve(t, newFinder(), Options{})))
	var text strings.Builder
	fmt.Fprintf(&text, "Tokens, counted as recall counts them: 3.5 bytes each.\n\n%-28s %6s %9s %9s\n", "", "tools", "to model", "all of it")
	row := func(name string, tools []mcpgo.Tool) (shown int) {
		shown = tokensOfTools(t, tools, shownOf)
		fmt.Fprintf(&text, "%-28s %6d %9d %9d\n", name, len(tools), shown, tokensOfTools(t, tools, func(t mcpgo.Tool) any { return t }))
		return shown
	}
	core := listTools(t, c)
	first := row("at first (core)", core)
	everything := listTools(t, c, allTools)
	all := row("all", everything)
	fmt.Fprintf(&text, "\nsaved at first: %d %% of what the model is shown\ninstructions: %d tokens\n\n",
		100*(all-first)/all, tokensIn(len(instructions(DefaultKnowledgePrefix))))

	byGroup := map[service.Group][]mcpgo.Tool{}
	groups := map[string]service.Group{CallTool: service.Core}
	for _, tool := range ownTools(DefaultKnowledgePrefix, nil) {
		groups[tool.name] = tool.op.Group
	}
	for _, tool := range everything {
		g := groups[tool.Name]
		byGroup[g] = append(byGroup[g], tool)
	}
	for _, g := range slices.Sorted(maps.Keys(byGroup)) {
		row("group "+string(g), byGroup[g])
	}
	text.WriteByte('\n')
	slices.SortFunc(everything, func(a, b mcpgo.Tool) int { return cmp.Compare(a.Name, b.Name) })
	for _, tool := range everything {
		row(tool.Name, []mcpgo.Tool{tool})
	}
	t.Log(text.String())
	golden.Equal(t, "testdata/listing.txt", text.String())
	if first > 1500 || all > 4500 {
		t.Errorf("the tools cost a model %d tokens at first and %d in all, want at most 1500 and 4500", first, all)
	}
}

// shownOf is what a host hands to its model of a tool.
func shownOf(tool mcpgo.Tool) any {
	return struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	}{tool.Name, tool.Description, inputOf(tool)}
}

// inputOf is a tool's input schema as it came.
func inputOf(tool mcpgo.Tool) json.RawMessage {
	if tool.RawInputSchema != nil {
		return tool.RawInputSchema
	}
	encoded, err := json.Marshal(tool.InputSchema)
	if err != nil {
		return nil // a schema that was decoded encodes
	}
	return encoded
}

// tokensOfTools counts the tokens of tools as JSON.
func tokensOfTools(t *testing.T, tools []mcpgo.Tool, part func(mcpgo.Tool) any) int {
	t.Helper()
	n := 0
	for _, tool := range tools {
		encoded, err := json.Marshal(part(tool))
		if err != nil {
			t.Fatal(err)
		}
		n += len(encoded)
	}
	return tokensIn(n)
}

// tokensIn is how many tokens so many bytes are, as recall counts them.
func tokensIn(bytes int) int { return (2*bytes + 6) / 7 }
