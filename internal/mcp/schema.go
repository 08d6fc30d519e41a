package mcp

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// schema is a JSON Schema (draft 2020-12). Schemas are made from the Go types of
// requests and responses and their tags, which package memory explains.
type schema map[string]any

// typed is a schema of a JSON type.
func typed(kind string) schema { return schema{"type": kind} }

// projectUse is what every tool says about the project that it works in.
const projectUse = "Project id or name; default: the one you work in."

var (
	timeType   = reflect.TypeFor[time.Time]()
	rawType    = reflect.TypeFor[json.RawMessage]()
	scopeType  = reflect.TypeFor[memory.Scope]()
	millisType = reflect.TypeFor[memory.Millis]()
	textType   = reflect.TypeFor[encoding.TextMarshaler]()
)

// inputSchema describes the arguments of a tool: a closed object.
func inputSchema(t reflect.Type) schema { return builder{input: true}.object(t) }

// outputSchema describes the structured content of a tool. Objects are open, so that answers
// can grow. Refusals have no structured content.
func outputSchema(op *service.Spec) schema {
	s := builder{}.object(op.Response())
	if op.Group == service.Knowledge {
		return schema{"type": "object", "required": []string{"ok", "result"}, "properties": schema{"ok": typed("boolean"), "notice": typed("string"), "result": s}}
	}
	if op.Stored {
		s["properties"].(schema)["notice"] = typed("string")
	}
	return s
}

// builder makes schemas of arguments, or of answers. Answers say nothing of limits.
type builder struct{ input bool }

func (b builder) object(t reflect.Type) schema {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	properties, required := schema{}, []string(nil)
	b.fields(t, properties, &required, false)
	s := schema{"type": "object", "properties": properties}
	if b.input {
		s["additionalProperties"] = false
	}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// fields adds the fields of a struct. None is required of one that may be absent.
func (b builder) fields(t reflect.Type, properties schema, required *[]string, absent bool) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Pointer:
			b.fields(f.Type.Elem(), properties, required, true)
			continue
		case f.Anonymous && name == "":
			b.fields(f.Type, properties, required, absent)
			continue
		case name == "-" || name == "" || f.Tag.Get("mcp") == "-" || !b.input && f.Tag.Get("mcp") == "in" || b.input && memory.HiddenFromTools(f):
			continue
		}
		limits := memory.LimitsOf(f)
		optional := strings.Contains(options, "omit") || absent
		if b.input {
			optional = limits.Optional
		}
		if !optional {
			*required = append(*required, name)
		}
		properties[name] = b.field(f, name, limits, optional)
	}
}

func (b builder) field(f reflect.StructField, name string, limits memory.Limits, optional bool) schema {
	t, pointer := f.Type, f.Type.Kind() == reflect.Pointer
	if pointer {
		t = t.Elem()
	}
	s := b.value(t, f, limits)
	if pointer && !b.input && !optional {
		s["type"] = []any{s["type"], "null"}
	}
	description := f.Tag.Get("desc")
	if out, ok := f.Tag.Lookup("out"); ok && !b.input {
		description = strings.TrimPrefix(out, "-")
	}
	if description == "" && b.input && name == "project" {
		description = projectUse
	}
	if description != "" {
		s["description"] = description
	}
	if !b.input {
		return s
	}
	for _, tag := range []string{"default", "usual"} {
		if text := f.Tag.Get(tag); text != "" {
			s["default"] = literal(t, text)
		}
	}
	if pattern := f.Tag.Get("pattern"); pattern != "" {
		s["pattern"] = pattern
	}
	if strings.Contains(f.Tag.Get("mcp"), "deprecated") {
		s["deprecated"] = true
	}
	return s
}

// value describes the values of a type. The field says how: its form, its limits.
func (b builder) value(t reflect.Type, f reflect.StructField, limits memory.Limits) schema {
	flat := strings.Contains(f.Tag.Get("mcp"), "flat")
	switch {
	case t == timeType:
		return schema{"type": "string", "format": "date-time"}
	case t == millisType:
		return typed("number")
	case t == scopeType:
		return scopeSchema()
	case t == rawType && b.input:
		return formSchema(limits.Forms)
	case t == rawType:
		return schema{}
	case t.Implements(textType):
		return typed("string")
	}
	switch t.Kind() {
	case reflect.Bool:
		return typed("boolean")
	case reflect.String:
		return b.limited(typed("string"), "minLength", "maxLength", limits.Range, limits.Enum)
	case reflect.Float64:
		return b.limited(typed("number"), "minimum", "maximum", limits.Range, nil)
	case reflect.Slice, reflect.Array:
		items := b.value(t.Elem(), f, memory.Limits{Range: limits.Each, Enum: limits.Enum})
		s := schema{"type": "array", "items": items}
		if t.Kind() == reflect.Array {
			s["maxItems"] = t.Len()
		}
		return b.limited(s, "minItems", "maxItems", limits.Range, nil)
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": b.value(t.Elem(), f, memory.Limits{})}
	case reflect.Struct:
		if flat {
			return typed("object")
		}
		return b.object(t)
	case reflect.Interface:
		return schema{}
	}
	s := b.limited(typed("integer"), "minimum", "maximum", limits.Range, nil)
	if strings.HasPrefix(t.Kind().String(), "uint") && b.input {
		s["minimum"] = 0
	}
	return s
}

func (b builder) limited(s schema, least, most string, r *memory.Range, enum []string) schema {
	if !b.input {
		return s
	}
	if r != nil {
		s[most] = r.Max
		if r.Min > 0 || least == "minimum" {
			s[least] = r.Min
		}
	}
	if enum != nil {
		s["enum"] = enum
	}
	return s
}

// formSchema describes a JSON value that callers shape.
func formSchema(forms []string) schema {
	switch len(forms) {
	case 0:
		return schema{}
	case 1:
		return typed(forms[0])
	}
	either := make([]schema, len(forms))
	for i, form := range forms {
		either[i] = typed(form)
	}
	return schema{"anyOf": either}
}

// scopeSchema describes "current", "all" or {"sessionId": "…"}.
func scopeSchema() schema {
	id := schema{"type": "string", "minLength": memory.MinSessionID, "maxLength": memory.MaxNameText}
	return schema{"anyOf": []schema{
		{"type": "string", "enum": []string{memory.ScopeAll, memory.ScopeCurrent}},
		{"type": "object", "properties": schema{"sessionId": id}, "required": []string{"sessionId"}, "additionalProperties": false},
	}}
}

// literal is the value of a type that a tag writes.
func literal(t reflect.Type, text string) any {
	switch t.Kind() {
	case reflect.Bool:
		return text == "true"
	case reflect.Int:
		n, _ := strconv.Atoi(text)
		return n
	}
	return text
}

// property is the schema of a field.
func (s schema) property(name string) schema { return s["properties"].(schema)[name].(schema) }

// brief returns what a model needs of the schema to call the tool: the names, types and
// choices of the arguments, and which are required. The server checks the limits of each
// call, and its refusal names them. Older names are left out. If terse is set, so are the
// project, which instructions explains once, and the descriptions of what is optional.
func (s schema) brief(terse bool) schema {
	out := schema{}
	for keyword, value := range s {
		switch keyword {
		case "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "pattern", "format", "default":
		case "additionalProperties":
			if of, is := value.(schema); is {
				out[keyword] = of.brief(terse)
			}
		case "required":
			if len(s.required()) > 0 {
				out[keyword] = value
			}
		case "items":
			out[keyword] = value.(schema).brief(terse)
		case "anyOf":
			either := value.([]schema)
			briefs := make([]schema, len(either))
			for i := range either {
				briefs[i] = either[i].brief(terse)
			}
			out[keyword] = briefs
		case "properties":
			out[keyword] = briefProperties(value.(schema), s.required(), terse)
		default:
			out[keyword] = value
		}
	}
	return out
}

func briefProperties(properties schema, required []string, terse bool) schema {
	out := schema{}
	for name, value := range properties {
		property := value.(schema)
		if property["deprecated"] == true || terse && property["description"] == projectUse {
			continue
		}
		property = property.brief(terse || property["type"] == "object")
		if terse && !slices.Contains(required, name) || property["description"] == projectUse {
			delete(property, "description")
		}
		out[name] = property
	}
	return out
}

func (s schema) required() []string {
	names, _ := s["required"].([]string)
	return names
}

// headline is what a description says first, up to the end of a sentence or a colon.
func headline(text string) string {
	for _, mark := range []string{". ", ": ", "; "} {
		text, _, _ = strings.Cut(text, mark)
	}
	return strings.TrimSuffix(text, ".") + "."
}

// raw encodes the schema; its keys come out sorted.
func (s schema) raw() json.RawMessage {
	encoded, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("mcp: schema: %v", err)) // it holds numbers, texts, lists and maps only
	}
	return encoded
}
