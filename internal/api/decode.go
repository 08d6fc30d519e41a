package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

// decode reads a request's body, one JSON object of known fields, into v. Every
// error is a *memory.Error that names the field, or "body".
func decode(w http.ResponseWriter, r *http.Request, max int64, v any) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, max))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			e := memory.Invalid("body", fmt.Sprintf("at most %d bytes", max), "is too long")
			e.Cause = errTooLong
			return e
		}
		return memory.Invalid("body", "", "could not be read: %v", err)
	}
	// encoding/json would put U+FFFD in the place of what is not UTF-8, and so
	// remember another text than the one that was sent.
	if !utf8.Valid(body) {
		return memory.Invalid("body", "", "is not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return decodeError(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return memory.Invalid("body", "", "has something after the JSON object")
	}
	return nil
}

// decodeError puts an error of encoding/json into our words.
func decodeError(err error) error {
	if e, ok := errors.AsType[*memory.Error](err); ok { // from a type's UnmarshalJSON
		return e
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		// The path names embedded Go types as well, which are not in the JSON.
		field := strings.TrimPrefix(e.Field, "RecallRequest.")
		if field == "" {
			field = "body"
		}
		return memory.Invalid(field, "", "must be %s, is %s", typeName(e), e.Value)
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return memory.Invalid("body", "", "is not JSON: %v at byte %d", e, e.Offset)
	}
	switch {
	case errors.Is(err, io.EOF):
		return memory.Invalid("body", "", "is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return memory.Invalid("body", "", "ends in the middle of the JSON object")
	}
	// encoding/json has no type for this one.
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		if unquoted, err := strconv.Unquote(name); err == nil && unquoted != "" {
			name = unquoted
		}
		return memory.Invalid(name, "", "unknown field")
	}
	return memory.Invalid("body", "", "cannot be read: %v", err)
}

// typeName says in JSON's words what a field must be.
func typeName(e *json.UnmarshalTypeError) string {
	switch kind := e.Type.Kind().String(); {
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return "a whole number"
	case strings.HasPrefix(kind, "float"):
		return "a number"
	case kind == "bool":
		return "true or false"
	case kind == "string":
		return "a string"
	case kind == "slice", kind == "array":
		return "a list"
	}
	return "an object"
}
