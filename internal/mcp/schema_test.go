package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	mcpclient "github.com/mark3labs/mcp-go/client"
	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/recalld/recalld/internal/schema"
	"github.com/recalld/recalld/internal/testkit/golden"
)

// TestToolSchemas holds what a client is told about each tool against a golden
// file: descriptions, schemas and annotations are an interface.
func TestToolSchemas(t *testing.T) {
	c := connect(t, overHTTP(t, serve(t, &fakeService{}, Options{})))
	file := golden.Open(t, "testdata/tools.golden")
	for _, tool := range listTools(t, c, allTools) {
		encoded, err := json.Marshal(tool)
		if err != nil {
			t.Fatal(err)
		}
		var object map[string]any // it encodes sorted
		if err := json.Unmarshal(encoded, &object); err != nil {
			t.Fatal(err)
		}
		if object["outputSchema"] != nil {
			t.Errorf("%s lists a schema of structured content that it does not send", tool.Name)
		}
		file.Equal(tool.Name, flatJSON(object, "")+"\n")
		if text := string(encoded); strings.Contains(text, metaAlwaysLoad+`":true`) != (tool.Name == CallTool || slices.Contains(coreNames, tool.Name)) {
			t.Errorf("%s is always loaded, or not: %s", tool.Name, text)
		}
		for name, hint := range map[string]*bool{
			"readOnly": tool.Annotations.ReadOnlyHint, "destructive": tool.Annotations.DestructiveHint,
			"idempotent": tool.Annotations.IdempotentHint, "openWorld": tool.Annotations.OpenWorldHint,
		} {
			if hint == nil {
				t.Errorf("tool %s: the %s hint is not set, and its default may be wrong", tool.Name, name)
			}
		}
	}
}

// flatJSON encodes a value with objects and lists on one line where they fit.
func flatJSON(value any, indent string) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err) // it was decoded from JSON
	}
	inner := indent + " "
	var all []string
	brackets := "{}"
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = append(all, fmt.Sprintf("%s%q: %s", inner, name, flatJSON(v[name], inner)))
		}
	case []any:
		brackets = "[]"
		for _, x := range v {
			all = append(all, inner+flatJSON(x, inner))
		}
	}
	if len(all) == 0 || len(indent)+len(encoded) <= 120 {
		return string(encoded)
	}
	return brackets[:1] + "\n" + strings.Join(all, ",\n") + "\n" + indent + brackets[1:]
}

// listTools lists the tools of a client over HTTP, with toolsets if any are named.
func listTools(t *testing.T, c *mcpclient.Client, toolsets ...string) []mcpgo.Tool {
	t.Helper()
	request := mcpgo.ListToolsRequest{Header: http.Header{}}
	if len(toolsets) > 0 {
		request.Header.Set(HeaderToolsets, strings.Join(toolsets, ","))
	}
	list, err := c.ListTools(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return list.Tools
}

// namesOf returns the names of tools, sorted.
func namesOf(tools []mcpgo.Tool) []string {
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = tool.Name
	}
	slices.Sort(names)
	return names
}

// outputSchemas compiles every tool's output schema. Their objects are closed
// first, so that a field of an answer that the schema lacks is found.
func outputSchemas(t *testing.T, c *mcpclient.Client) map[string]*jsonschema.Schema {
	t.Helper()
	schemas := map[string]*jsonschema.Schema{}
	for _, tool := range listTools(t, c, allTools) {
		encoded, err := json.Marshal(tool)
		if err != nil {
			t.Fatal(err)
		}
		var parts struct {
			Out any `json:"outputSchema"`
		}
		if err := json.Unmarshal(encoded, &parts); err != nil {
			t.Fatal(err)
		}
		if tool.Name == CallTool { // it answers as the tool that it calls
			continue
		}
		closeObjects(parts.Out)
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("mem:///"+tool.Name, parts.Out); err != nil {
			t.Fatal(err)
		}
		if schemas[tool.Name], err = compiler.Compile("mem:///" + tool.Name); err != nil {
			t.Fatalf("output schema of %s: %v", tool.Name, err)
		}
	}
	return schemas
}

// inputSchemas compiles every tool's input schema with its limits. What is listed is brief.
func inputSchemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	schemas := map[string]*jsonschema.Schema{}
	for _, tool := range ownTools(DefaultKnowledgePrefix, nil) {
		schemas[tool.name] = compiled(t, tool.name, tool.in)
	}
	return schemas
}

func compiled(t *testing.T, name string, of schema.Schema) *jsonschema.Schema {
	t.Helper()
	var plain any
	if err := json.Unmarshal(of.Raw(), &plain); err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("mem:///"+name, plain); err != nil {
		t.Fatal(err)
	}
	out, err := compiler.Compile("mem:///" + name)
	if err != nil {
		t.Fatalf("input schema of %s: %v", name, err)
	}
	return out
}

func closeObjects(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		if _, ok := s["properties"]; ok && s["type"] == "object" {
			s["additionalProperties"] = false
		}
		for _, part := range s {
			closeObjects(part)
		}
	case []any:
		for _, part := range s {
			closeObjects(part)
		}
	}
}

func checkStructured(t *testing.T, schema *jsonschema.Schema, r *mcpgo.CallToolResult) map[string]any {
	t.Helper()
	encoded, err := json.Marshal(r.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var content map[string]any
	if err := json.Unmarshal(encoded, &content); err != nil {
		t.Fatalf("structured content is no object: %v", err)
	}
	if err := schema.Validate(content); err != nil {
		t.Errorf("structured content does not keep to the output schema: %v", err)
	}
	return content
}
