package servicetest

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/recalld/recalld/internal/service"
)

// Full returns a service that answers every operation with a text in every string, two
// elements in every list, 1 for every number, and at as every time. Raw JSON is an object
// with the text in it. Streams report such progress twice.
func Full(text string, at time.Time) *Service {
	f := full{text, at, func(reflect.Value) bool { return false }}
	s := &Service{Answers: map[string]any{}, Progress: map[string][]any{}}
	for _, op := range service.Operations() {
		if op == service.Hello.Spec {
			continue
		}
		s.Answers[op.Name] = f.value(reflect.PointerTo(op.Response())).Interface()
		if p := op.Progress(); p != nil {
			s.Progress[op.Name] = []any{f.value(p).Interface(), f.value(p).Interface()}
		}
	}
	return s
}

// Value is an addressable value of a type, filled as the answers of Full but for what set says
// that it has set.
func Value(typ reflect.Type, text string, at time.Time, set func(reflect.Value) bool) reflect.Value {
	return full{text, at, set}.value(typ)
}

type full struct {
	text string
	at   time.Time
	set  func(reflect.Value) bool
}

func (f full) value(typ reflect.Type) reflect.Value {
	v := reflect.New(typ).Elem()
	if f.set(v) {
		return v
	}
	switch typ {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(f.at))
		return v
	case reflect.TypeFor[json.RawMessage]():
		// Texts cannot fail to be encoded.
		raw, _ := json.Marshal(map[string]string{"key": f.text})
		v.SetBytes(raw)
		return v
	}
	switch typ.Kind() {
	case reflect.String:
		v.SetString(f.text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		v.Set(reflect.New(typ.Elem()))
		v.Elem().Set(f.value(typ.Elem()))
	case reflect.Slice:
		v.Set(reflect.Append(v, f.value(typ.Elem()), f.value(typ.Elem())))
	case reflect.Array:
		for i := range typ.Len() {
			v.Index(i).Set(f.value(typ.Elem()))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(typ))
		v.SetMapIndex(f.value(typ.Key()), f.value(typ.Elem()))
	case reflect.Struct:
		for field, value := range v.Fields() {
			if field.Tag.Get("json") != "-" { // which does not travel
				value.Set(f.value(field.Type))
			}
		}
	}
	return v
}
