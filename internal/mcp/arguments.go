package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// decodeArguments reads the arguments of a call into the struct that in points
// to. Every error is a *memory.Error that names the field: one that the struct
// does not have, at any depth; one of another type; one whose text holds half
// of a surrogate pair, which decoding would silently replace.
func decodeArguments(raw json.RawMessage, in any) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if err := checkFields(raw, reflect.TypeOf(in).Elem(), ""); err != nil {
		return err
	}
	if loneSurrogate(raw) {
		return memory.Invalid("arguments", "valid UTF-16 escapes", `contain an unpaired surrogate (\ud800–\udfff)`)
	}
	return typeError(json.Unmarshal(raw, in), "")
}

// checkFields looks for fields that t does not have. What is not an object is
// left for the decoder to refuse.
func checkFields(raw json.RawMessage, t reflect.Type, path string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return nil
	}
	known := map[string]reflect.Type{}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		known[name] = field.Type
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		field, ok := known[name]
		if !ok {
			if name == "" {
				name = `""` // an error must name something
			}
			return memory.Invalid(path+name, "known fields: "+strings.Join(slices.Sorted(maps.Keys(known)), ", "), "unknown field")
		}
		if err := checkFields(object[name], field, path+name+"."); err != nil {
			return err
		}
	}
	return nil
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// typeError turns the decoder's error into one that names field and type;
// prefix is the path of the value that was decoded.
func typeError(err error, prefix string) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*memory.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := prefix + e.Field
		if field == "" {
			field = "arguments"
		}
		return memory.Invalid(field, jsonType(e.Type), "must be %s, not %s", jsonType(e.Type), e.Value)
	}
	return memory.Invalid("arguments", "a JSON object", "%v", err)
}

// jsonType says in the words of JSON what a Go type takes.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Int, reflect.Int64:
		return "an integer"
	case reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "an array"
	}
	return "an object"
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

// within refuses a number that was given and lies outside its limits. The
// service takes zero for "the default"; a zero that was spelled out is not
// that.
func within(field string, value *int, min, max int) (int, error) {
	if value == nil {
		return 0, nil
	}
	if *value < min || *value > max {
		return 0, memory.Invalid(field, fmt.Sprintf("%d–%d", min, max), "%d is out of range", *value)
	}
	return *value, nil
}
