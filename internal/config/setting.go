package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// setting is one leaf of a Config, addressable.
type setting struct {
	path  string
	tag   reflect.StructTag
	value reflect.Value
}

// set parses text into the setting. Lists are separated by commas.
func (s setting) set(text string) error {
	text = strings.TrimSpace(text)
	switch p := s.value.Addr().Interface().(type) {
	case *string:
		*p = text
	case *bool:
		return parseInto(p, text, strconv.ParseBool, "is neither true nor false")
	case *int:
		return parseInto(p, text, strconv.Atoi, "is not a whole number")
	case *float64:
		parse := func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }
		return parseInto(p, text, parse, "is not a number")
	case *time.Duration:
		return parseInto(p, text, time.ParseDuration, "is not a duration such as 200ms or 5m")
	case *Size:
		return parseInto(p, text, ParseSize, "is not a size such as 500KB or 2MiB")
	case *[]string:
		*p = []string{}
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				*p = append(*p, part)
			}
		}
	default:
		return fmt.Errorf("a %T cannot be set from a text", p)
	}
	return nil
}

// parseInto sets p to the value of a text, or says what is wrong with the text.
func parseInto[T any](p *T, text string, parse func(string) (T, error), wrong string) error {
	v, err := parse(text)
	if err != nil {
		return fmt.Errorf("%q %s", text, wrong)
	}
	*p = v
	return nil
}
