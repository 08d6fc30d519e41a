package memory

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Every limit of a catalogue's requests is tried from both sides; the error names the
// field and its limit.
func TestLimitsOfCatalogue(t *testing.T) {
	// chars makes a text of n characters that takes more bytes than that.
	chars := func(n int) string { return strings.Repeat("é", n) }
	aRule := CatalogueEntry{Ref: Ref{Type: Rule, Name: "r"}, Content: "c"}
	aTool := CatalogueEntry{Ref: Ref{Type: Tool, Name: "t", ServerName: "s"}}
	register := func(base CatalogueEntry, change func(*CatalogueEntry)) *RegisterRequest {
		change(&base)
		return &RegisterRequest{Entries: []CatalogueEntry{base}}
	}
	many := func(n int) *RegisterRequest {
		r := &RegisterRequest{}
		for i := range n {
			e := aRule
			e.Name = fmt.Sprint(i)
			r.Entries = append(r.Entries, e)
		}
		return r
	}
	servers := func(n int) *RegisterRequest {
		r := &RegisterRequest{}
		for i := range n {
			r.Servers = append(r.Servers, Server{Name: fmt.Sprint(i)})
		}
		return r
	}
	schema := func(bytes int) json.RawMessage {
		return json.RawMessage(`{"a":"` + strings.Repeat("x", bytes-8) + `"}`)
	}
	refs := func(n int) *UnregisterRequest {
		r := &UnregisterRequest{}
		for i := range n {
			r.Entries = append(r.Entries, Ref{Type: Rule, Name: fmt.Sprint(i)})
		}
		return r
	}
	for name, test := range map[string]struct {
		at, over any // at the limit, and past it
		field    string
	}{
		"nothing":          {&RegisterRequest{Replace: true}, &RegisterRequest{}, "entries"},
		"entries":          {many(2000), many(2001), "entries"},
		"an entry twice":   {&RegisterRequest{Entries: []CatalogueEntry{aRule, aTool}}, &RegisterRequest{Entries: []CatalogueEntry{aRule, aTool, aRule}}, "entries[2]"},
		"servers":          {servers(500), servers(501), "servers"},
		"a server twice":   {servers(2), &RegisterRequest{Servers: []Server{{Name: "a"}, {Name: " a "}}}, "servers[1]"},
		"server's name":    {&RegisterRequest{Servers: []Server{{Name: chars(200)}}}, &RegisterRequest{Servers: []Server{{Name: chars(201)}}}, "servers[0].name"},
		"server's mode":    {&RegisterRequest{Servers: []Server{{Name: "a", Include: "agent"}}}, &RegisterRequest{Servers: []Server{{Name: "a", Include: "auto"}}}, "servers[0].include"},
		"type":             {register(aRule, func(e *CatalogueEntry) { e.Type = Reference }), register(aRule, func(e *CatalogueEntry) { e.Type = Lesson }), "entries[0].type"},
		"name, least":      {register(aRule, func(e *CatalogueEntry) { e.Name = " x " }), register(aRule, func(e *CatalogueEntry) { e.Name = "\t" }), "entries[0].name"},
		"name, most":       {register(aRule, func(e *CatalogueEntry) { e.Name = chars(200) }), register(aRule, func(e *CatalogueEntry) { e.Name = chars(201) }), "entries[0].name"},
		"name, line":       {register(aRule, func(e *CatalogueEntry) { e.Name = "a b" }), register(aRule, func(e *CatalogueEntry) { e.Name = "a\nb" }), "entries[0].name"},
		"server, least":    {register(aTool, func(e *CatalogueEntry) { e.ServerName = "x" }), register(aTool, func(e *CatalogueEntry) { e.ServerName = "" }), "entries[0].serverName"},
		"server, most":     {register(aTool, func(e *CatalogueEntry) { e.ServerName = chars(200) }), register(aTool, func(e *CatalogueEntry) { e.ServerName = chars(201) }), "entries[0].serverName"},
		"server, rule":     {register(aRule, func(*CatalogueEntry) {}), register(aRule, func(e *CatalogueEntry) { e.ServerName = "s" }), "entries[0].serverName"},
		"description":      {register(aTool, func(e *CatalogueEntry) { e.Description = chars(4000) }), register(aTool, func(e *CatalogueEntry) { e.Description = chars(4001) }), "entries[0].description"},
		"content":          {register(aRule, func(e *CatalogueEntry) { e.Content = chars(20000) }), register(aRule, func(e *CatalogueEntry) { e.Content = chars(20001) }), "entries[0].content"},
		"content, NUL":     {register(aRule, func(e *CatalogueEntry) { e.Content = "a\nb" }), register(aRule, func(e *CatalogueEntry) { e.Content = "a\x00" }), "entries[0].content"},
		"content, none":    {register(aRule, func(e *CatalogueEntry) { e.Content, e.Description = "", "d" }), register(aRule, func(e *CatalogueEntry) { e.Content = " \n" }), "entries[0].content"},
		"content, seen":    {register(aRule, func(e *CatalogueEntry) { e.Content, e.Description = "\u200b", "d" }), register(aRule, func(e *CatalogueEntry) { e.Content = "\u200b" }), "entries[0].content"},
		"content, tool":    {register(aTool, func(*CatalogueEntry) {}), register(aTool, func(e *CatalogueEntry) { e.Content = "c" }), "entries[0].content"},
		"guidance":         {register(aTool, func(e *CatalogueEntry) { e.Guidance = chars(8000) }), register(aTool, func(e *CatalogueEntry) { e.Guidance = chars(8001) }), "entries[0].guidance"},
		"guidance, rule":   {register(aRule, func(*CatalogueEntry) {}), register(aRule, func(e *CatalogueEntry) { e.Guidance = "g" }), "entries[0].guidance"},
		"schema":           {register(aTool, func(e *CatalogueEntry) { e.InputSchema = schema(64 << 10) }), register(aTool, func(e *CatalogueEntry) { e.InputSchema = schema(64<<10 + 1) }), "entries[0].inputSchema"},
		"schema, object":   {register(aTool, func(e *CatalogueEntry) { e.InputSchema = json.RawMessage(" null ") }), register(aTool, func(e *CatalogueEntry) { e.InputSchema = json.RawMessage("[]") }), "entries[0].inputSchema"},
		"schema, JSON":     {register(aTool, func(e *CatalogueEntry) { e.InputSchema = json.RawMessage("{}") }), register(aTool, func(e *CatalogueEntry) { e.InputSchema = json.RawMessage("{") }), "entries[0].inputSchema"},
		"schema, rule":     {register(aRule, func(*CatalogueEntry) {}), register(aRule, func(e *CatalogueEntry) { e.InputSchema = json.RawMessage("{}") }), "entries[0].inputSchema"},
		"core, rule":       {register(aTool, func(e *CatalogueEntry) { e.Core = true }), register(aRule, func(e *CatalogueEntry) { e.Core = true }), "entries[0].core"},
		"mode":             {register(aRule, func(e *CatalogueEntry) { e.Include = "manual" }), register(aRule, func(e *CatalogueEntry) { e.Include = "Always" }), "entries[0].include"},
		"source":           {&RegisterRequest{Replace: true, Source: chars(200)}, &RegisterRequest{Replace: true, Source: chars(201)}, "source"},
		"source, file":     {&RegisterRequest{Replace: true, Source: "files"}, &RegisterRequest{Replace: true, Source: " file:x"}, "source"},
		"request":          {&RegisterRequest{Replace: true, RequestID: chars(200)}, &RegisterRequest{Replace: true, RequestID: chars(201)}, "request_id"},
		"project":          {&RegisterRequest{Replace: true, Project: chars(4096)}, &RegisterRequest{Replace: true, Project: chars(4097)}, "project"},
		"caller":           {&RegisterRequest{Replace: true, Caller: Caller{Client: chars(200)}}, &RegisterRequest{Replace: true, Caller: Caller{Client: chars(201)}}, "caller.client"},
		"none to remove":   {&UnregisterRequest{Source: "s"}, &UnregisterRequest{}, "entries"},
		"both to remove":   {refs(1), &UnregisterRequest{Source: "s", Entries: refs(1).Entries}, "source"},
		"refs":             {refs(2000), refs(2001), "entries"},
		"a ref":            {refs(1), &UnregisterRequest{Entries: []Ref{{Type: Tool, Name: "t"}}}, "entries[0].serverName"},
		"a ref twice":      {refs(2), &UnregisterRequest{Entries: append(refs(2).Entries, refs(1).Entries...)}, "entries[2]"},
		"types":            {&EntriesRequest{Types: []Kind{"rule", "reference", "tool"}}, &EntriesRequest{Types: []Kind{"rule", "rule", "rule", "rule"}}, "types"},
		"a type":           {&EntriesRequest{}, &EntriesRequest{Types: []Kind{"tool", "chunk"}}, "types[1]"},
		"listed server":    {&EntriesRequest{Server: chars(200)}, &EntriesRequest{Server: chars(201)}, "server"},
		"listed project":   {&EntriesRequest{Project: "p"}, &EntriesRequest{Project: "\x00"}, "project"},
		"listing's caller": {&EntriesRequest{}, &EntriesRequest{Caller: Caller{Dir: chars(4097)}}, "caller.dir"},
	} {
		if err := Check(test.at); err != nil {
			t.Errorf("%s: at the limit: %v", name, err)
		}
		err := Check(test.over)
		if e := AsError(err); CodeOf(err) != CodeInvalidInput || e.Field != test.field || e.Limit == "" {
			t.Errorf("%s: past the limit: %v, want the field %s and its limit", name, err, test.field)
		}
	}
}

// A request is trimmed, and what the caller gave is not written to.
func TestRegisterRequestIsTrimmed(t *testing.T) {
	given := []CatalogueEntry{{Ref: Ref{Type: Tool, Name: " t ", ServerName: " s "}, InputSchema: json.RawMessage("{ \"a\" :\n1 }")}}
	r := RegisterRequest{Entries: given, Servers: []Server{{Name: " x"}}}
	if err := Check(&r); err != nil {
		t.Fatal(err)
	}
	if e := r.Entries[0]; e.Name != "t" || e.ServerName != "s" || string(e.InputSchema) != `{"a":1}` || r.Servers[0].Name != "x" {
		t.Errorf("validated, it is %+v and %+v", e, r.Servers)
	}
	if given[0].Name != " t " {
		t.Error("the caller's entries were written to")
	}
}
