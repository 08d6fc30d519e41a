package mcp

import (
	"encoding/json"
	"fmt"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/strict"
)

// decodeArguments reads the arguments of a call into the struct that in points
// to; see strict.Decode. None at all are an empty object.
func decodeArguments(raw json.RawMessage, in any) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return strict.Decode(raw, in, "arguments")
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
