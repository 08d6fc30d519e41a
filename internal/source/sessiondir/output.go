package sessiondir

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// output is a JSON object that is being encoded: its fields in the order of the calls,
// then the rest. An empty field is left to the rest.
type output struct {
	rest   map[string]json.RawMessage
	names  []string
	values map[string]json.RawMessage
}

func newOutput(rest map[string]json.RawMessage) *output {
	return &output{rest: rest, values: map[string]json.RawMessage{}}
}

// put writes a value; nil is empty.
func (out *output) put(name string, value json.RawMessage) {
	if value == nil {
		value = out.rest[name]
	}
	if value != nil {
		out.names = append(out.names, name)
		out.values[name] = value
	}
}

// unless writes a value unless it is empty.
func (out *output) unless(empty bool, name string, v any) {
	if empty {
		out.put(name, nil)
	} else {
		out.put(name, marshal(v))
	}
}

func (out *output) text(name string, s *string) { out.unless(*s == "", name, *s) }

func (out *output) list(name string, list *[]string) { out.unless(len(*list) == 0, name, *list) }

func (out *output) flag(name string, set *bool) { out.unless(!*set, name, true) }

// raw writes a value unchanged. null counts as empty.
func (out *output) raw(name string, value *json.RawMessage) {
	if len(*value) == 0 || isNull(*value) {
		out.put(name, nil)
	} else {
		out.put(name, *value)
	}
}

// time writes a time, unless the rest has another form of the same time.
func (out *output) time(name string, t *time.Time) {
	old, _, ok := timeOf(out.rest[name])
	same := ok && formatTime(old) == formatTime(*t)
	out.unless(t.IsZero() || same, name, formatTime(*t))
}

// whole writes a number, unless the rest has another form of the same number.
func (out *output) whole(name string, n *int64) {
	var f float64
	same := false
	if json.Unmarshal(out.rest[name], &f) == nil {
		old, ok := wholeOf(f)
		same = ok && old == *n
	}
	out.unless(*n == 0 || same, name, *n)
}

// version writes schemaVersion, or the version of the file that was read.
func (out *output) version() {
	_, read := out.rest["schemaVersion"]
	out.unless(read, "schemaVersion", SchemaVersion)
}

// object writes a nested object.
func (out *output) object(name string, of func(fields)) {
	child := out.child(name)
	of(child)
	out.add(name, child)
}

// outcome writes the outcome of a step.
func (out *output) outcome(o *memory.Outcome) {
	object := out.child("outcome")
	object.put("ok", marshal(o.OK))
	if o.Error != nil {
		failure := object.child("error")
		errorFields(failure, o.Error)
		object.put("error", failure.compact())
	}
	out.add("outcome", object)
}

// child begins a nested object; add writes it.
func (out *output) child(name string) *output {
	var rest map[string]json.RawMessage
	if json.Unmarshal(out.rest[name], &rest) != nil {
		rest = nil // the known fields are an object, so they win
	}
	return newOutput(rest)
}

// add writes an object unless it is empty.
func (out *output) add(name string, child *output) {
	if len(child.names) == 0 && len(child.rest) == 0 {
		out.put(name, nil)
		return
	}
	out.put(name, child.compact())
}

// all returns the names of all fields, in order.
func (out *output) all() []string {
	names := slices.Clone(out.names)
	for _, name := range slices.Sorted(maps.Keys(out.rest)) {
		if _, ok := out.values[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}

func (out *output) value(name string) json.RawMessage {
	if value, ok := out.values[name]; ok {
		return value
	}
	return out.rest[name]
}

// compact returns the object on one line. file reports invalid JSON.
func (out *output) compact() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range out.all() {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(marshal(name))
		b.WriteByte(':')
		b.Write(out.value(name))
	}
	b.WriteByte('}')
	return b.Bytes()
}

// file returns the text of a file, with a line for each field. Nested values stay on one
// line: indentation of deeply nested ones would grow with the square of their depth.
func (out *output) file() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range out.all() {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  ")
		b.Write(marshal(name))
		b.WriteString(": ")
		if err := json.Compact(&b, bytes.ToValidUTF8(out.value(name), []byte("\uFFFD"))); err != nil {
			return nil, memory.Invalid(name, "valid JSON", "is not valid JSON")
		}
	}
	b.WriteString("\n}\n")
	return b.Bytes(), nil
}

// marshal encodes texts, numbers and objects that were read, which cannot fail.
func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
