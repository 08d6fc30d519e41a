package mcp

import (
	"encoding/json"
	"reflect"
	"strings"
)

// whole returns an answer whose lists and maps are empty instead of null, as its schema
// has them, without the text that says the same. What can be left out stays left out. The
// answer itself is not changed: others may hold it.
func whole(answer any) any {
	v := reflect.ValueOf(answer)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return answer
	}
	own := reflect.New(v.Type())
	own.Elem().Set(v)
	if f, ok := v.Type().FieldByName("Text"); ok && f.Tag.Get("mcp") == "-" {
		own.Elem().FieldByIndex(f.Index).SetString("")
	}
	fillLists(own.Elem())
	return own.Interface()
}

var marshalerType = reflect.TypeFor[json.Marshaler]()

// fillLists fills in the lists of a struct, which is a copy.
func fillLists(v reflect.Value) {
	if v.Type().Implements(marshalerType) { // a time too
		return
	}
	for i := range v.NumField() {
		f, t := v.Field(i), v.Type().Field(i)
		if !t.IsExported() && !t.Anonymous {
			continue
		}
		optional := strings.Contains(t.Tag.Get("json"), ",omit")
		switch f.Kind() {
		case reflect.Struct:
			fillLists(f)
		case reflect.Pointer:
			if !f.IsNil() && f.Elem().Kind() == reflect.Struct {
				own := reflect.New(f.Type().Elem())
				own.Elem().Set(f.Elem())
				f.Set(own)
				fillLists(own.Elem())
			}
		case reflect.Map:
			if f.IsNil() && !optional {
				f.Set(reflect.MakeMap(f.Type()))
			}
		case reflect.Slice:
			if f.Type() == reflect.TypeFor[json.RawMessage]() || f.IsNil() && optional {
				continue
			}
			own := reflect.MakeSlice(f.Type(), f.Len(), f.Len())
			reflect.Copy(own, f)
			f.Set(own)
			if f.Type().Elem().Kind() == reflect.Struct {
				for j := range f.Len() {
					fillLists(f.Index(j))
				}
			}
		}
	}
}
