package sessiondir

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// errNotJSON is returned for a text that is not a JSON object: it may be half-written.
var errNotJSON = errors.New("is not a JSON object")

// input is a JSON object that is being decoded. A field that is taken in the form in
// which it would be written is removed; what remains is the rest.
type input struct {
	fields map[string]json.RawMessage
	path   string // of the object in the file, "" or "tool."
	err    *error // the first error in the whole file
}

// readInput decodes a file. Invalid UTF-8 is replaced.
func readInput(text []byte) (*input, error) {
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	text = bytes.TrimPrefix(text, []byte("\uFEFF")) // as some editors put it
	in := &input{err: new(error)}
	if err := json.Unmarshal(text, &in.fields); err != nil || in.fields == nil {
		return nil, errNotJSON
	}
	return in, nil
}

// take decodes a field; a missing or null field is left alone.
func (in *input) take(name string, into any, want string) bool {
	raw, ok := in.fields[name]
	if !ok || isNull(raw) || *in.err != nil {
		return false
	}
	if json.Unmarshal(raw, into) != nil {
		*in.err = memory.Invalid(in.path+name, want, "is not %s", want)
		return false
	}
	return true
}

func (in *input) text(name string, s *string) {
	if in.take(name, s, "a text") && *s != "" {
		delete(in.fields, name)
	}
}

func (in *input) list(name string, list *[]string) {
	if in.take(name, list, "a list of texts") && len(*list) > 0 {
		delete(in.fields, name)
	} else {
		*list = nil
	}
}

func (in *input) flag(name string, set *bool) {
	if in.take(name, set, "true or false") && *set {
		delete(in.fields, name)
	}
}

// raw takes a value unchanged.
func (in *input) raw(name string, value *json.RawMessage) {
	if raw, ok := in.fields[name]; ok && !isNull(raw) {
		*value = raw
		delete(in.fields, name)
	}
}

// time takes a time. In another form than it is written, it stays in the rest, too.
func (in *input) time(name string, at *time.Time) {
	var s string
	if !in.take(name, &s, "a time") || s == "" {
		return
	}
	t, s, ok := timeOf(in.fields[name])
	if !ok {
		*in.err = memory.Invalid(in.path+name, "RFC 3339", "%s is not a time", memory.Quote(s))
		return
	}
	if *at = t; formatTime(t) == s {
		delete(in.fields, name)
	}
}

// whole takes a number and rounds it. In another form than it is written, it stays in the
// rest, too.
func (in *input) whole(name string, n *int64) {
	var f float64
	if !in.take(name, &f, "a number") {
		return
	}
	var ok bool
	if *n, ok = wholeOf(f); !ok {
		*in.err = memory.Invalid(in.path+name, "", "%v is out of range", f)
	}
	if raw := in.fields[name]; *n != 0 && string(raw) == strconv.FormatInt(*n, 10) {
		delete(in.fields, name)
	}
}

// wholeOf rounds a number that fits an int64.
func wholeOf(f float64) (int64, bool) {
	if f = math.Round(f); math.Abs(f) >= 1<<63 {
		return 0, false
	}
	return int64(f), true
}

// object takes the fields of a nested object.
func (in *input) object(name string, of func(fields)) {
	child := in.child(name)
	of(child)
	in.give(name, child)
}

// outcome takes the outcome of a step. Without one the step has succeeded, unless it has an
// error.
func (in *input) outcome(o *memory.Outcome) {
	object := in.child("outcome")
	failure, failed := object.fields["error"]
	failed = failed && !isNull(failure)
	known := object.take("ok", &o.OK, "true or false")
	if !known {
		o.OK = !failed
	}
	if failed && !o.OK { // the error of a success has no meaning; it stays in the rest
		o.Error = &memory.StepError{}
		object.object("error", func(c fields) { errorFields(c, o.Error) })
	}
	if known {
		delete(object.fields, "ok") // it is always written
	}
	in.give("outcome", object)
}

// child decodes a nested object, an empty one if there is none. give puts its rest back.
func (in *input) child(name string) *input {
	child := &input{path: in.path + name + ".", err: in.err}
	in.take(name, &child.fields, "an object")
	return child
}

// give puts the rest of a nested object back into its field.
func (in *input) give(name string, child *input) {
	switch old := in.fields[name]; {
	case len(child.fields) > 0:
		in.fields[name] = marshal(child.fields)
	case len(old) > 0 && !isNull(old) && !isEmptyObject(old):
		delete(in.fields, name)
	}
}

// rest returns the fields that were not taken, nil for none.
func (in *input) rest() map[string]json.RawMessage {
	if len(in.fields) == 0 {
		return nil
	}
	return in.fields
}

// version takes schemaVersion. Another version than ours stays in the rest.
func (in *input) version() int {
	var n float64
	if json.Unmarshal(in.fields["schemaVersion"], &n) != nil {
		return 0
	}
	if n == SchemaVersion {
		delete(in.fields, "schemaVersion")
	}
	if n > SchemaVersion {
		return int(min(math.Ceil(n), math.MaxInt32))
	}
	return SchemaVersion
}

func isNull(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "null" }

func isEmptyObject(raw json.RawMessage) bool {
	var fields map[string]json.RawMessage
	return json.Unmarshal(raw, &fields) == nil && len(fields) == 0
}

// timeOf decodes a JSON value as a time, and as text.
func timeOf(raw json.RawMessage) (t time.Time, s string, ok bool) {
	if json.Unmarshal(raw, &s) != nil {
		return time.Time{}, "", false
	}
	t, ok = fsx.ParseTime(s)
	return t, s, ok
}

// formatTime writes a time as the contract shows it, in milliseconds.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
