// Package strict decodes the JSON of calls: what a caller wrote is what is
// taken, or the call is refused with an error that names the field.
//
// encoding/json forgives what a call must not: it matches names in any case,
// takes the last of several fields of one name, passes over fields that it does
// not know, and puts U+FFFD in the place of half a surrogate pair. A misspelt
// filter would widen a search, and another text be remembered than was sent.
//
// Where the zero value of a field says that it was left out, a zero that is spelled out
// is refused with the field's limit. A field with the tag required must be there. See
// the tags of package memory.
//
// Values that callers shape themselves (json.RawMessage, any) are taken as they
// are.
package strict

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

// Decode reads one JSON value into what into points to, a struct as a rule.
// Errors that concern all of it name whole, "body" or "arguments". Every error
// is a *memory.Error of CodeInvalidInput, or the one that a type's own decoding
// returned.
func Decode(text []byte, into any, whole string) error {
	return checker{whole: whole}.decode(text, into, "")
}

// Arguments is Decode of the arguments of a tool. Fields that tools do not have are
// unknown.
func Arguments(text []byte, into any) error {
	return checker{whole: "arguments", tool: true}.decode(text, into, "")
}

func (c checker) decode(text []byte, into any, path string) error {
	value, err := c.single(text)
	if err == nil {
		err = c.check(value, reflect.TypeOf(into).Elem(), path, "")
	}
	if err != nil {
		return err
	}
	if c.tool {
		switchOn(reflect.ValueOf(into).Elem())
	}
	if err := json.Unmarshal(value, into); err != nil {
		return c.foreign(err, path)
	}
	return nil
}

// switchOn sets what tools do unless their arguments say otherwise.
func switchOn(request reflect.Value) {
	for _, f := range reflect.VisibleFields(request.Type()) {
		if f.Type.Kind() == reflect.Bool && f.Tag.Get("usual") == "true" {
			request.FieldByIndex(f.Index).SetBool(true)
		}
	}
}

// checker refuses what encoding/json would forgive.
type checker struct {
	whole string
	tool  bool // what is decoded are the arguments of a tool
}

// invalid names the field, or the whole where it has no name.
func (c checker) invalid(path, limit, format string, args ...any) error {
	return memory.Invalid(cmp.Or(path, c.whole), limit, format, args...)
}

// foreign puts the error of a type's own decoding into our form.
func (c checker) foreign(err error, path string) error {
	if e, ok := errors.AsType[*memory.Error](err); ok {
		return e
	}
	return c.invalid(path, "", "cannot be read: %v", err)
}

// single returns the one value that a text holds.
func (c checker) single(text []byte) (json.RawMessage, error) {
	if !utf8.Valid(text) {
		return nil, c.invalid("", "", "is not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	var value json.RawMessage
	err := dec.Decode(&value)
	switch {
	case errors.Is(err, io.EOF):
		return nil, c.invalid("", "", "is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, c.invalid("", "", "ends in the middle of the JSON")
	case err != nil:
		return nil, c.invalid("", "", "is not JSON: %v at byte %d", err, dec.InputOffset())
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, c.invalid("", "", "has something after the JSON")
	}
	return value, nil
}

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	rawMessage      = reflect.TypeFor[json.RawMessage]()
	timeType        = reflect.TypeFor[time.Time]()
)

// check looks through a valid value that is to become a t. Given is the limit of
// a field whose zero means its default.
func (c checker) check(value json.RawMessage, t reflect.Type, path, given string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == rawMessage || t.Kind() == reflect.Interface || string(value) == "null" {
		return nil
	}
	if p := reflect.PointerTo(t); p.Implements(jsonUnmarshaler) || p.Implements(textUnmarshaler) {
		return c.own(value, t, path)
	}
	if want := jsonType(t); !fits(kindOf(value), want) {
		limit := want
		if t.Kind() == reflect.Struct {
			var names []string
			for _, f := range c.fieldsOf(t) {
				names = append(names, f.Name)
			}
			if limit += " without fields"; len(names) > 0 {
				limit = want + " with the fields " + strings.Join(names, ", ")
			}
		}
		return c.invalid(path, limit, "must be %s, is %s", want, kindOf(value))
	}
	switch t.Kind() {
	case reflect.Struct:
		return c.object(value, t, path)
	case reflect.Map:
		return c.members(value, path, func(name string, v json.RawMessage) error {
			return c.check(v, t.Elem(), join(path, name), "")
		})
	case reflect.Slice, reflect.Array:
		var list []json.RawMessage
		if err := json.Unmarshal(value, &list); err != nil {
			return c.foreign(err, path)
		}
		for i, v := range list {
			if err := c.check(v, t.Elem(), fmt.Sprintf("%s[%d]", path, i), ""); err != nil {
				return err
			}
		}
		return nil
	case reflect.String:
		if loneSurrogate(value) {
			return c.surrogate(path)
		}
	}
	zero := reflect.New(t)
	if err := json.Unmarshal(value, zero.Interface()); err != nil {
		want := jsonType(t)
		if reflect.Zero(t).CanUint() {
			want += " from 0"
		}
		return c.invalid(path, want, "must be %s, is %.40s", want, value)
	}
	if given != "" && zero.Elem().IsZero() {
		if t.Kind() == reflect.String {
			return c.invalid(path, given, "is empty")
		}
		return c.invalid(path, given, "0 is out of range")
	}
	return nil
}

func (c checker) surrogate(path string) error {
	return c.invalid(path, "valid UTF-16 escapes", `contains an unpaired surrogate (\ud800–\udfff)`)
}

// own checks a value whose type decodes itself.
func (c checker) own(value json.RawMessage, t reflect.Type, path string) error {
	if loneSurrogate(value) {
		return c.surrogate(path)
	}
	if kindOf(value) == "an object" {
		if err := c.members(value, path, func(string, json.RawMessage) error { return nil }); err != nil {
			return err
		}
	}
	err := json.Unmarshal(value, reflect.New(t).Interface())
	if err != nil && t == timeType {
		return c.invalid(path, "an RFC 3339 time", "%.80s is not a time", value)
	}
	if err != nil {
		return c.foreign(err, path)
	}
	return nil
}

// object checks the fields of a struct.
func (c checker) object(value json.RawMessage, t reflect.Type, path string) error {
	fields := c.fieldsOf(t)
	known := make(map[string]reflect.StructField, len(fields))
	for _, f := range fields {
		known[f.Name] = f
	}
	seen := map[string]bool{}
	err := c.members(value, path, func(name string, v json.RawMessage) error {
		seen[name] = string(v) != "null"
		field, ok := known[name]
		if !ok {
			name = cmp.Or(name, `""`) // an error must name something
			names := slices.Sorted(maps.Keys(known))
			return c.invalid(join(path, name), "known fields: "+cmp.Or(strings.Join(names, ", "), "none"), "unknown field")
		}
		return c.check(v, field.Type, join(path, name), memory.LimitsOf(field).Given)
	})
	if err != nil {
		return err
	}
	for _, f := range fields {
		at := join(path, f.Name)
		switch limit := f.Tag.Get("required"); {
		case seen[f.Name]:
		case limit != "":
			return c.invalid(at, limit, "is missing")
		case f.Type.Kind() == reflect.Struct && f.Type != timeType && !strings.Contains(f.Tag.Get("json"), ",omit"):
			if err := c.object([]byte("{}"), f.Type, at); err != nil { // what is required within
				return err
			}
		}
	}
	return nil
}

// fieldsOf lists a struct's fields under their names in JSON, the fields of embedded
// structs as its own, as encoding/json does.
func (c checker) fieldsOf(t reflect.Type) []reflect.StructField {
	var fields []reflect.StructField
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() || c.tool && memory.HiddenFromTools(f):
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct: // its fields follow
		case name == "":
			fields = append(fields, f)
		default:
			f.Name = name
			fields = append(fields, f)
		}
	}
	return fields
}

// members goes through an object's members; a name that is there twice is an
// error.
func (c checker) members(value json.RawMessage, path string, each func(name string, v json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(value))
	if _, err := dec.Token(); err != nil {
		return c.foreign(err, path)
	}
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return c.foreign(err, path)
		}
		name, _ := token.(string)
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return c.foreign(err, path)
		}
		if seen[name] {
			return c.invalid(join(path, name), "once", "appears twice")
		}
		seen[name] = true
		if err := each(name, v); err != nil {
			return err
		}
	}
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// kindOf says in the words of JSON Schema what a valid value is.
func kindOf(value []byte) string {
	switch value[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	if bytes.ContainsAny(value, ".eE") {
		return "a number"
	}
	return "an integer"
}

// fits says whether a kind of value may become what is wanted.
func fits(kind, want string) bool {
	return kind == want || kind == "an integer" && want == "a number"
}

// jsonType says in the words of JSON Schema what a Go type takes.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "an integer"
}

// loneSurrogate says whether valid JSON has a \u escape that is one half of a
// pair.
func loneSurrogate(raw []byte) bool {
	// at returns the code unit escaped at i, or -1.
	at := func(i int) int64 {
		if i+6 > len(raw) || raw[i] != '\\' || raw[i+1] != 'u' {
			return -1
		}
		unit, err := strconv.ParseUint(string(raw[i+2:i+6]), 16, 16)
		if err != nil {
			return -1
		}
		return int64(unit)
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		switch unit := at(i); {
		case unit >= 0xDC00 && unit <= 0xDFFF:
			return true
		case unit >= 0xD800 && unit <= 0xDBFF:
			if low := at(i + 6); low < 0xDC00 || low > 0xDFFF {
				return true
			}
			i += 11
		case unit >= 0:
			i += 5
		default:
			i++ // the escaped character, which may be a backslash
		}
	}
	return false
}
