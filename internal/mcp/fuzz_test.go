package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// FuzzArguments: whatever the arguments, they decode or are refused with an
// error of our own, and no text is silently replaced.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{"query":"q","filters":{"since":"x"},"scope":{"sessionId":"abcd"}}`, `{"scope":"all"}`, `"text"`, `[[]]`, `null`,
		`{"query":"\ud83d\ude00\\ud800"}`, `{"query":"\ud800"}`, `{"query":"\\\udc00"}`, `{"limit":1e9,"kinds":[null]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if !json.Valid([]byte(raw)) || strings.ToValidUTF8(raw, "") != raw {
			return // refused before it gets here
		}
		decoded, err := service.Recall.Arguments([]byte(raw))
		if err != nil {
			if e, ok := errors.AsType[*memory.Error](err); !ok || e.Code != memory.CodeInvalidInput || e.Field == "" {
				t.Errorf("error %#v is no refusal that names a field", err)
			}
			return
		}
		in := decoded.(memory.RecallRequest)
		if strings.ContainsRune(in.Query, '\uFFFD') && !strings.ContainsRune(raw, '\uFFFD') && !strings.Contains(strings.ToLower(raw), `\ufffd`) {
			t.Errorf("%q was decoded to %q", raw, in.Query)
		}
	})
}

// FuzzStepArguments: whatever the arguments of the tools with the deepest inputs,
// they become a request or are refused with an error that names a field, and
// values of the host's stay JSON.
func FuzzStepArguments(f *testing.F) {
	for _, seed := range []string{
		`{"tool":{"name":"x","input":{"a":[1.50]},"target":null},"outcome":{"ok":false,"error":{"message":"m","details":"\ud800"}}}`,
		`{"outcome":{"ok":true,"error":{}},"tool":{}}`, `{"tool":null,"outcome":{"ok":null}}`, `{"timestamp":"x","tool":{},"outcome":{"ok":true}}`,
		`{"query":"q","scope":{"sessionId":"abcd"},"filters":{"sinceHours":7}}`, `{"scope":[],"filters":null}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if !json.Valid([]byte(raw)) || strings.ToValidUTF8(raw, "") != raw {
			return // refused before it gets here
		}
		refused := func(err error) bool {
			if e, ok := errors.AsType[*memory.Error](err); err != nil && (!ok || e.Code != memory.CodeInvalidInput || e.Field == "") {
				t.Errorf("error %#v is no refusal that names a field", err)
			}
			return err != nil
		}
		_, err := service.SearchSteps.Arguments([]byte(raw))
		refused(err)
		decoded, err := service.RecordStep.Arguments([]byte(raw))
		if refused(err) {
			return
		}
		request := decoded.(memory.RecordStepRequest)
		if refused(memory.Check(&request)) {
			return
		}
		for _, value := range []json.RawMessage{request.Tool.Input, request.Tool.Target, request.Observation, request.Environment} {
			if value != nil && (!json.Valid(value) || string(value) == "null") {
				t.Errorf("%s leads to the value %q", raw, value)
			}
		}
	})
}

// FuzzContextArguments: whatever the arguments of the tools of tasks, catalogue,
// contexts and ledger, they are taken or refused with an error that names a field,
// and so is what they ask the service for.
func FuzzContextArguments(f *testing.F) {
	for i, call := range contextCalls {
		f.Add(byte(i), call.full)
		f.Add(byte(i), call.short)
	}
	f.Add(byte(5), `{"entries":[{"type":"tool","name":"\ud800","inputSchema":null}]}`)
	f.Add(byte(15), `{"entities":[{"id":"a","data":{"a":1,"a":2}}],"usedTools":[null]}`)
	s, err := NewServer(fullContexts(), Options{})
	if err != nil {
		f.Fatal(err)
	}
	binders := map[string]ownTool{}
	for _, tool := range s.tools {
		binders[tool.name] = tool
	}
	f.Fuzz(func(t *testing.T, which byte, raw string) {
		if !json.Valid([]byte(raw)) || strings.ToValidUTF8(raw, "") != raw {
			return // refused before it gets here
		}
		tool := binders[contextCalls[int(which)%len(contextCalls)].tool]
		var request mcpgo.CallToolRequest
		request.Params.Name, request.Params.RawArguments = tool.name, json.RawMessage(raw)
		result, err := s.handler(tool)(t.Context(), request)
		if err != nil {
			t.Fatalf("%s %s: protocol error: %v", tool.name, raw, err)
		}
		if text := textOf(result); result.IsError && !strings.HasPrefix(text, string(memory.CodeInvalidInput)+": ") {
			t.Errorf("%s %s is refused with %q, want invalid_input", tool.name, raw, text)
		}
		if _, err := json.Marshal(result); err != nil {
			t.Errorf("%s %s: the answer cannot be sent: %v", tool.name, raw, err)
		}
	})
}

// FuzzFoundHeader: what is taken for a HeaderFound is written the same again.
func FuzzFoundHeader(f *testing.F) {
	for _, seed := range []string{"1;admin", "7;history,tasks", "2;", "0;x", ";", "1;a,,b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found, ok := parseFound(text)
		if !ok {
			return
		}
		if again, ok := parseFound(formatFound(found)); !ok || !slices.Equal(again.groups, found.groups) || again.version != found.version {
			t.Errorf("%q is %+v, and written again %+v, %v", text, found, again, ok)
		}
	})
}

// FuzzEnvelope: a message is taken or refused; what comes out is one line.
func FuzzEnvelope(f *testing.F) {
	for _, seed := range []string{initializeLine, `{"id":1}`, "{\"id\":\n1}", `[]`, "\xff", `{"id":{},"method":"x"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		env, wrong := parseEnvelope(message)
		if wrong == nil && !json.Valid(message) {
			t.Errorf("%q was taken for a message", message)
		}
		for _, out := range [][]byte{oneLine(message), rpcError(env.ID, codeParse, string(message))} {
			if bytes.ContainsAny(out, "\r\n") {
				t.Errorf("%q holds a line break", out)
			}
		}
	})
}
