// Package schema makes JSON Schemas (draft 2020-12) of the Go types of requests and answers
// and their tags, which package memory explains: for MCP tools and for the description of
// the HTTP API.
package schema

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
)

// Schema is a JSON Schema.
type Schema map[string]any

// typed is a schema of a JSON type.
func typed(kind string) Schema { return Schema{"type": kind} }

// projectUse is what every tool says about the project that it works in.
const projectUse = "Project id or name; default: the one you work in."

var (
	timeType   = reflect.TypeFor[time.Time]()
	rawType    = reflect.TypeFor[json.RawMessage]()
	scopeType  = reflect.TypeFor[memory.Scope]()
	millisType = reflect.TypeFor[memory.Millis]()
	textType   = reflect.TypeFor[encoding.TextMarshaler]()
)

// Input describes the arguments of a tool: a closed object.
func Input(t reflect.Type) Schema { return builder{input: true}.object(t) }

// Output describes the answer of a tool. Objects are open, so that answers can grow.
func Output(t reflect.Type) Schema { return builder{}.object(t) }

// Named describes a request, or a response, of the HTTP API: a reference to one of defs, to
// which it adds the type and those that it is made of, under the path where. Other than for
// tools it has all fields.
func Named(t reflect.Type, input bool, where string, defs map[string]Schema) Schema {
	return builder{input: input, where: where, defs: defs}.value(t, reflect.StructField{}, memory.Limits{})
}

// builder makes schemas of arguments, or of answers. Answers say nothing of limits.
type builder struct {
	input bool
	// Of the API: the schemas of structs by name, and the path that they are referred to by.
	defs  map[string]Schema
	where string
}

// tools says whether the schemas are for tools.
func (b builder) tools() bool { return b.defs == nil }

// named refers to the schema of a struct. The requests of a type that is in answers, too,
// have a name of their own.
func (b builder) named(t reflect.Type) Schema {
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	if b.input && !strings.HasSuffix(name, "Request") && !strings.HasSuffix(name, "Form") {
		name += "Input"
	}
	if _, known := b.defs[name]; !known {
		b.defs[name] = nil // it may refer to itself
		b.defs[name] = b.object(t)
	}
	return Schema{"$ref": b.where + name}
}

func (b builder) object(t reflect.Type) Schema {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	properties, required := Schema{}, []string(nil)
	b.fields(t, properties, &required, false)
	s := Schema{"type": "object", "properties": properties}
	if b.input {
		s["additionalProperties"] = false
	}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// fields adds the fields of a struct. None is required of one that may be absent.
func (b builder) fields(t reflect.Type, properties Schema, required *[]string, absent bool) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Pointer:
			b.fields(f.Type.Elem(), properties, required, true)
			continue
		case f.Anonymous && name == "":
			b.fields(f.Type, properties, required, absent)
			continue
		case name == "-" || name == "" || b.tools() && (f.Tag.Get("mcp") == "-" || !b.input && f.Tag.Get("mcp") == "in" || b.input && memory.HiddenFromTools(f)):
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

func (b builder) field(f reflect.StructField, name string, limits memory.Limits, optional bool) Schema {
	t, pointer := f.Type, f.Type.Kind() == reflect.Pointer
	if pointer {
		t = t.Elem()
	}
	s := b.value(t, f, limits)
	// Over MCP lists and maps are never null.
	null := pointer || !b.tools() && (t.Kind() == reflect.Slice && t != rawType || t.Kind() == reflect.Map)
	switch ref := s["$ref"]; {
	case !null || b.input || optional:
	case ref != nil:
		s = Schema{"anyOf": []Schema{{"$ref": ref}, typed("null")}}
	default:
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
func (b builder) value(t reflect.Type, f reflect.StructField, limits memory.Limits) Schema {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == timeType:
		return Schema{"type": "string", "format": "date-time"}
	case t == millisType:
		return typed("number")
	case t == scopeType:
		return scopeSchema()
	case t == rawType && b.input:
		return formSchema(limits.Forms)
	case t == rawType:
		return Schema{}
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
		s := Schema{"type": "array", "items": items}
		if t.Kind() == reflect.Array {
			s["maxItems"] = t.Len()
		}
		return b.limited(s, "minItems", "maxItems", limits.Range, nil)
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": b.value(t.Elem(), f, memory.Limits{})}
	case reflect.Struct:
		switch {
		case b.tools() && strings.Contains(f.Tag.Get("mcp"), "flat"):
			return typed("object")
		case b.tools() || t.Name() == "":
			return b.object(t)
		}
		return b.named(t)
	case reflect.Interface:
		return Schema{}
	}
	s := b.limited(typed("integer"), "minimum", "maximum", limits.Range, nil)
	if strings.HasPrefix(t.Kind().String(), "uint") && b.input {
		s["minimum"] = 0
	}
	return s
}

func (b builder) limited(s Schema, least, most string, r *memory.Range, enum []string) Schema {
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
func formSchema(forms []string) Schema {
	switch len(forms) {
	case 0:
		return Schema{}
	case 1:
		return typed(forms[0])
	}
	either := make([]Schema, len(forms))
	for i, form := range forms {
		either[i] = typed(form)
	}
	return Schema{"anyOf": either}
}

// scopeSchema describes "current", "all" or {"sessionId": "…"}.
func scopeSchema() Schema {
	id := Schema{"type": "string", "minLength": memory.MinSessionID, "maxLength": memory.MaxNameText}
	return Schema{"anyOf": []Schema{
		{"type": "string", "enum": []string{memory.ScopeAll, memory.ScopeCurrent}},
		{"type": "object", "properties": Schema{"sessionId": id}, "required": []string{"sessionId"}, "additionalProperties": false},
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

// Property is the schema of a field.
func (s Schema) Property(name string) Schema { return s["properties"].(Schema)[name].(Schema) }

// Brief returns what a model needs of the schema to call the tool: the names, types and
// choices of the arguments, and which are required. The server checks the limits of each
// call, and its refusal names them. Older names are left out. If terse is set, so are the
// project, which instructions explains once, and the descriptions of what is optional.
func (s Schema) Brief(terse bool) Schema {
	out := Schema{}
	for keyword, value := range s {
		switch keyword {
		case "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "pattern", "format", "default":
		case "additionalProperties":
			if of, is := value.(Schema); is {
				out[keyword] = of.Brief(terse)
			}
		case "required":
			if len(s.required()) > 0 {
				out[keyword] = value
			}
		case "items":
			out[keyword] = value.(Schema).Brief(terse)
		case "anyOf":
			either := value.([]Schema)
			briefs := make([]Schema, len(either))
			for i := range either {
				briefs[i] = either[i].Brief(terse)
			}
			out[keyword] = briefs
		case "properties":
			out[keyword] = briefProperties(value.(Schema), s.required(), terse)
		default:
			out[keyword] = value
		}
	}
	return out
}

func briefProperties(properties Schema, required []string, terse bool) Schema {
	out := Schema{}
	for name, value := range properties {
		property := value.(Schema)
		if property["deprecated"] == true || terse && property["description"] == projectUse {
			continue
		}
		property = property.Brief(terse || property["type"] == "object")
		if terse && !slices.Contains(required, name) || property["description"] == projectUse {
			delete(property, "description")
		}
		out[name] = property
	}
	return out
}

func (s Schema) required() []string {
	names, _ := s["required"].([]string)
	return names
}

// Raw encodes the schema; its keys come out sorted.
func (s Schema) Raw() json.RawMessage {
	encoded, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("schema: %v", err)) // it holds numbers, texts, lists and maps only
	}
	return encoded
}
