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

// settings lists the leaves that a text can set, in the order of the structs. Maps and
// lists of structs are not included.
func (c *Config) settings() []setting {
	var list []setting
	var walk func(v reflect.Value, prefix string)
	walk = func(v reflect.Value, prefix string) {
		for i := range v.NumField() {
			name := v.Type().Field(i).Tag.Get("yaml")
			path := prefix + name
			switch f := v.Field(i); {
			case name == "-": // filled by Load
			case f.Kind() == reflect.Struct:
				walk(f, path+".")
			case f.Kind() == reflect.Map, f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct:
			default:
				list = append(list, setting{path: path, tag: v.Type().Field(i).Tag, value: f})
			}
		}
	}
	walk(reflect.ValueOf(c).Elem(), "")
	return list
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
