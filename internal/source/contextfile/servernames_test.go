package contextfile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestNamesUnder(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
		line int // 0: it is JSON
	}{
		"usual":        {`{"mcpServers": {"a": {"command": "x", "args": ["{", "}\""]}, "b": {}}}`, []string{"a", "b"}, 0},
		"comments":     {"// c\n{ /* mcpServers: { */ \"mcpServers\": { // {\n \"a\": {/*}*/}, }, }\n// end", []string{"a"}, 0},
		"elsewhere":    {`{"x": {"mcpServers": {"no": {}}}, "inputs": [{"mcpServers": {"no": {}}}], "mcpServers": {"yes": {}}}`, []string{"yes"}, 0},
		"no objects":   {`{"mcpServers": {"a": "x", "b": [], "c": null, "d": {}}}`, []string{"d"}, 0},
		"not there":    {`{}`, nil, 0},
		"no object":    {`{"mcpServers": ["a"]}`, nil, 0},
		"escaped":      {`{"mcpServers": {"\u00fc \"q\"": {}}}`, []string{`ü "q"`}, 0},
		"list":         {`["a"]`, nil, 1},
		"empty":        {``, nil, 1},
		"open":         {"{\n\"mcpServers\": {\n\"a\": {\"x\": \"y", nil, 3},
		"open comment": {"{\n/* ", nil, 2},
		"no comma":     {"{\"mcpServers\": {\"a\": {}\n\"b\": {}}}", nil, 2},
		"behind":       {"{}\n{}", nil, 2},
		"slash":        {`{"a": /}`, nil, 1},
		"no value":     {`{"a": ,}`, nil, 1},
		"bad escape":   {`{"mcpServers": {"\x": {}}}`, nil, 1},
	} {
		got, line, err := namesUnder(test.text, "mcpServers")
		if !slices.Equal(got, test.want) || line != test.line || (err == nil) != (test.line == 0) {
			t.Errorf("%s: %q, line %d, %v; want %q, line %d", name, got, line, err, test.want, test.line)
		}
	}
}

// However a secret stands in the settings of a client, it is in nothing that comes of
// them.
func TestNoSecretIsRead(t *testing.T) {
	const secret = "hunter2-S3CRET"
	whole := `{"inputs": [{"id": "SECRET", "password": true, "default": "SECRET"}], "SECRET": "SECRET",
	"mcpServers": {"github": {"command": "SECRET", "args": ["--token", "SECRET"], "env": {"SECRET": "SECRET"}, "url": "https://SECRET@host/SECRET",
	"headers": {"Authorization": "Bearer SECRET"}, "type": "SECRET", "nested": [[{"SECRET": ["SECRET"]}]]}, "plain": "SECRET"}, // SECRET
	/* SECRET */ }`
	whole = strings.ReplaceAll(whole, "SECRET", secret)
	texts := []string{whole, "SECRET"}
	for at := 0; at < len(whole); at += 7 { // a file that is being written, and one that is broken
		texts = append(texts, whole[:at], whole[:at]+"\x01"+whole[at:])
	}
	r := newRepo(t, nil)
	for i, text := range texts {
		for _, name := range []string{".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"} {
			r.write(name, strings.ReplaceAll(text, "mcpServers", map[bool]string{true: "servers", false: "mcpServers"}[name == ".vscode/mcp.json"]))
		}
		r.now = r.now.Add(time.Second)
		found, err := New().Scan(r.root)
		if err != nil {
			t.Fatal(err)
		}
		all, err := json.Marshal(found)
		if err != nil || strings.Contains(string(all)+fmt.Sprintf("%+v", found), "S3CRET") {
			t.Fatalf("text %d: %s, %v", i, all, err)
		}
		if i == 0 && listing(found) != "server github, server github, server github" {
			t.Errorf("found %s, want the server of each file: %+v", listing(found), found.Problems)
		}
	}
	// Nor is a name that is none, which may be a secret.
	r.write(".mcp.json", `{"mcpServers": {"`+strings.Repeat(secret, 30)+`": {}, "two\nlines`+secret+`": {}, "": {}}}`)
	found := r.look()
	if all := fmt.Sprintf("%+v", found); strings.Contains(all, "S3CRET") || strings.Count(all, "name is not one line") != 3 {
		t.Errorf("names that are none: %s", all)
	}
}

// What is JSON has the names that Go's decoder finds, and what is not never hangs.
func FuzzNamesUnder(f *testing.F) {
	f.Add(`{"mcpServers": {"a": {"b": [1, {"c": "}"}]}}, "x": -1.5e3}`)
	f.Add("{\"mcpServers\":{\"a\":{},},}//")
	f.Add(`{"mcpServers":{"a":{}},"mcpServers":{"b":{}}}`)
	f.Add("{\"a\":/**/}")
	f.Fuzz(func(t *testing.T, text string) {
		names, line, err := namesUnder(text, "mcpServers")
		if err != nil && (line < 1 || line > 1+strings.Count(text, "\n")) {
			t.Errorf("line %d of %q", line, text)
		}
		var whole map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &whole) != nil || whole == nil {
			return
		}
		if err != nil {
			t.Fatalf("%q is JSON, and was refused in line %d", text, line)
		}
		var servers map[string]json.RawMessage
		if strings.Count(text, "mcpServers") != 1 || json.Unmarshal(whole["mcpServers"], &servers) != nil {
			return // named twice, or not in so many letters
		}
		for name, value := range servers {
			if isObject := strings.HasPrefix(strings.TrimSpace(string(value)), "{"); isObject && !slices.Contains(names, name) {
				t.Errorf("%q has the server %q, found %q", text, name, names)
			}
		}
		for _, name := range names {
			if _, ok := servers[name]; !ok {
				t.Errorf("%q has no server %q", text, name)
			}
		}
	})
}
