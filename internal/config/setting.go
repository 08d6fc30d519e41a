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
		v, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		*p = v
	case *int:
		v, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		*p = v
	case *float64:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%q is not a number", text)
		}
		*p = v
	case *time.Duration:
		v, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%q is not a duration such as 200ms or 5m", text)
		}
		*p = v
	case *Size:
		v, err := ParseSize(text)
		if err != nil {
			return err
		}
		*p = v
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
