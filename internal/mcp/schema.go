package mcp

import (
	"encoding/json"
	"fmt"

	"github.com/recalld/recalld/internal/memory"
)

// schema is a JSON Schema (draft 2020-12), as far as the tools need it.
type schema map[string]any

// typed is a schema of a JSON type with a description.
func typed(kind, description string) schema {
	s := schema{"type": kind}
	if description != "" {
		s["description"] = description
	}
	return s
}

// with adds one keyword.
func (s schema) with(keyword string, value any) schema {
	s[keyword] = value
	return s
}

// text is a string of min to max characters.
func text(description string, min, max int) schema {
	s := typed("string", description).with("maxLength", max)
	if min > 0 {
		s["minLength"] = min
	}
	return s
}

// number is a number, or an integer, of min to max.
func number(kind, description string, min, max any) schema {
	return typed(kind, description).with("minimum", min).with("maximum", max)
}

// list is an array of at most max items; 0 leaves it open.
func list(description string, items schema, max int) schema {
	s := typed("array", description).with("items", items)
	if max > 0 {
		s["maxItems"] = max
	}
	return s
}

// object is an object of known fields. A closed one takes no others.
func object(description string, closed bool, fields schema, required ...string) schema {
	s := typed("object", description).with("properties", fields)
	if closed {
		s["additionalProperties"] = false
	}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// anything takes every JSON value.
func anything(description string) schema { return schema{"description": description} }

// moment is an RFC 3339 time.
func moment(description string) schema {
	return typed("string", description).with("format", "date-time")
}

// scope is "current", "all" or {"sessionId": "…"}.
func scope(description string) schema {
	return schema{
		"description": description,
		"anyOf": []schema{
			typed("string", "").with("enum", []string{memory.ScopeAll, memory.ScopeCurrent}),
			object("", true, schema{"sessionId": text("", memory.MinSessionID, memory.MaxNameText)}, "sessionId"),
		},
	}
}

// answer is the schema of a tool's structured content: its fields, or the
// error of a refusal. A refusal is part of the schema because widespread
// clients hold every structured content against it, those of errors included.
// Answers are open, so that they can grow.
func answer(fields schema, required ...string) schema {
	if fields["ok"] == nil {
		fields["ok"] = typed("boolean", "") // false in a refusal
	}
	fields["error"] = object("Why the call was refused; the other fields are then absent.", false, schema{
		"code":    typed("string", "invalid_input, not_found, conflict, unavailable, forbidden, corrupt, incompatible or internal"),
		"field":   typed("string", "The field at fault."),
		"limit":   typed("string", "What the field must keep to."),
		"message": typed("string", ""),
		"hint":    typed("string", "The next step."),
	}, "code", "message")
	return object("", false, fields).with("anyOf", []schema{
		{"required": required}, {"required": []string{"error"}},
	})
}

// raw encodes the schema; its keys come out sorted.
func (s schema) raw() json.RawMessage {
	encoded, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("mcp: schema: %v", err)) // it holds literals only
	}
	return encoded
}
