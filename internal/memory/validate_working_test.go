package memory

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Every field is held to its limit from both sides, and the error names it.
func TestValidateWorking(t *testing.T) {
	text := func(n int) string { return strings.Repeat("ü", n) }
	object := func(n int) json.RawMessage { // of n bytes
		return json.RawMessage(`{"x":"` + strings.Repeat("y", n-8) + `"}`)
	}
	many := func(n int) []Entity {
		list := make([]Entity, n)
		for i := range list {
			list[i].ID = fmt.Sprint(i)
		}
		return list
	}
	tools := func(n int) []ToolRef {
		list := make([]ToolRef, n)
		for i := range list {
			list[i].ToolName = fmt.Sprint(i)
		}
		return list
	}
	entity := func(e Entity) *ReportRequest { return &ReportRequest{Entities: []Entity{{ID: "a"}, e}} }
	used := func(server, name string) *ReportRequest {
		return &ReportRequest{UsedTools: []ToolRef{{ServerName: server, ToolName: name}}}
	}
	for name, c := range map[string]struct {
		good, bad any
		field     string
	}{
		"query":         {&SearchToolsRequest{Query: text(1000)}, &SearchToolsRequest{Query: text(1001)}, "query"},
		"empty query":   {&SearchToolsRequest{Query: " x "}, &SearchToolsRequest{Query: " \n"}, "query"},
		"limit":         {&SearchToolsRequest{Query: "x", Limit: 20}, &SearchToolsRequest{Query: "x", Limit: 21}, "limit"},
		"limit below":   {&SearchToolsRequest{Query: "x", Limit: 1}, &SearchToolsRequest{Query: "x", Limit: -1}, "limit"},
		"search id":     {&SearchToolsRequest{Query: "x", RequestID: text(200)}, &SearchToolsRequest{Query: "x", RequestID: text(201)}, "request_id"},
		"search NUL":    {&SearchToolsRequest{Query: "x"}, &SearchToolsRequest{Query: "a\x00b"}, "query"},
		"session":       {&WorkingContextRequest{SessionRef{SessionID: "abcd"}}, &WorkingContextRequest{SessionRef{SessionID: "abc"}}, "sessionId"},
		"project":       {&WorkingContextRequest{SessionRef{Project: text(4096)}}, &WorkingContextRequest{SessionRef{Project: text(4097)}}, "project"},
		"caller":        {&WorkingContextRequest{}, &WorkingContextRequest{SessionRef{Caller: Caller{Client: text(201)}}}, "caller.client"},
		"report":        {&ReportRequest{ClearDiscovered: true}, &ReportRequest{}, "entities"},
		"report id":     {&ReportRequest{ClearDiscovered: true, RequestID: text(200)}, &ReportRequest{ClearDiscovered: true, RequestID: text(201)}, "request_id"},
		"entities":      {&ReportRequest{Entities: many(1000)}, &ReportRequest{Entities: many(1001)}, "entities"},
		"entity id":     {entity(Entity{ID: text(200)}), entity(Entity{ID: text(201)}), "entities[1].id"},
		"no entity id":  {entity(Entity{ID: "x"}), entity(Entity{ID: " "}), "entities[1].id"},
		"entity type":   {entity(Entity{ID: "b", Type: text(500)}), entity(Entity{ID: "b", Type: text(501)}), "entities[1].type"},
		"entity name":   {entity(Entity{ID: "b", Name: text(500)}), entity(Entity{ID: "b", Name: text(501)}), "entities[1].name"},
		"entity data":   {entity(Entity{ID: "b", Data: object(MaxEntityData)}), entity(Entity{ID: "b", Data: object(MaxEntityData + 1)}), "entities[1].data"},
		"data list":     {entity(Entity{ID: "b", Data: json.RawMessage(" null ")}), entity(Entity{ID: "b", Data: json.RawMessage(`[1]`)}), "entities[1].data"},
		"data broken":   {entity(Entity{ID: "b", Data: json.RawMessage(` {} `)}), entity(Entity{ID: "b", Data: json.RawMessage(`{"a"}`)}), "entities[1].data"},
		"used tools":    {&ReportRequest{UsedTools: tools(1000)}, &ReportRequest{UsedTools: tools(1001)}, "usedTools"},
		"tool":          {used("", text(200)), used("", text(201)), "usedTools[0].toolName"},
		"no tool":       {used("s", "t"), used("s", ""), "usedTools[0].toolName"},
		"server":        {used(text(200), "t"), used(text(201), "t"), "usedTools[0].serverName"},
		"summary":       {&CompactRequest{Summary: text(MaxSummary)}, &CompactRequest{Summary: text(MaxSummary + 1)}, "summary"},
		"summary, seen": {&CompactRequest{Summary: "é"}, &CompactRequest{Summary: "\u200b"}, "summary"},
		"transcript":    {&CompactRequest{Transcript: text(MaxTranscript)}, &CompactRequest{Transcript: text(MaxTranscript + 1)}, "transcript"},
		"turns":         {&CompactRequest{KeepTurns: 100}, &CompactRequest{KeepTurns: 101}, "keepTurns"},
		"turns below":   {&CompactRequest{KeepTurns: 1}, &CompactRequest{KeepTurns: -1}, "keepTurns"},
		"compaction id": {&CompactRequest{RequestID: text(200)}, &CompactRequest{RequestID: text(201)}, "request_id"},
		"compacted":     {&CompactRequest{SessionRef: SessionRef{SessionID: "abcd"}}, &CompactRequest{SessionRef: SessionRef{SessionID: "a/b/c"}}, "sessionId"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := Check(c.good); err != nil {
				t.Errorf("within its limit: %v", err)
			}
			err := Check(c.bad)
			if e := AsError(err); err == nil || e.Code != CodeInvalidInput || e.Field != c.field || e.Limit == "" {
				t.Errorf("over its limit: %v, field %q; want one of %q with its limit", err, AsError(err).Field, c.field)
			}
		})
	}
}

// What is left out is filled in, texts are trimmed, and the caller's lists stay as they
// are.
func TestValidateWorkingFillsIn(t *testing.T) {
	search := &SearchToolsRequest{Query: " find it "}
	if err := Check(search); err != nil || search.Limit != DefaultTools || search.Query != "find it" {
		t.Errorf("the search is %+v, %v", search, err)
	}
	mine := []Entity{{ID: " a ", Data: json.RawMessage(" { \"b\" : 1 } ")}, {ID: "c", Data: json.RawMessage("null")}}
	report := &ReportRequest{Entities: mine, UsedTools: []ToolRef{{" s ", " t "}}}
	if err := Check(report); err != nil {
		t.Fatal(err)
	}
	if e := report.Entities; e[0].ID != "a" || string(e[0].Data) != `{"b":1}` || e[1].Data != nil || report.UsedTools[0] != (ToolRef{"s", "t"}) {
		t.Errorf("the report is %+v", report)
	}
	if mine[0].ID != " a " {
		t.Error("the caller's list was written to")
	}
}

// A state of whatever bytes is read or refused, and what was read is written in one way.
func FuzzWorkingContext(f *testing.F) {
	f.Add(`{"sessionId":"abcd","version":3,"turn":1,"discoveredTools":null,"later":{"x":1}}`)
	f.Add(`{"TURN":1,"entities":[{"id":"a","data":{"z": 1}}],"":null}`)
	f.Fuzz(func(t *testing.T, in string) {
		var wc WorkingContext
		if json.Unmarshal([]byte(in), &wc) != nil {
			return
		}
		once, err := json.Marshal(wc)
		if err != nil {
			return // a time, say, that cannot be written
		}
		var again WorkingContext
		if err := json.Unmarshal(once, &again); err != nil {
			t.Fatalf("%s was read, and what was written of it, %s, is not: %v", in, once, err)
		}
		if twice, err := json.Marshal(again); err != nil || string(twice) != string(once) {
			t.Errorf("written once\n%s\ntwice\n%s, %v", once, twice, err)
		}
	})
}
