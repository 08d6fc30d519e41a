package memory

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// noticeField is a field that transports add to every answer with stored text (see
// package render). It is none of the working context's own.
const noticeField = "notice"

// plainContext is a WorkingContext without its methods.
type plainContext WorkingContext

// contextFields are the names of its fields in JSON.
var contextFields = sync.OnceValue(func() []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[plainContext]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
			names = append(names, name)
		}
	}
	return names
})

// MarshalJSON writes a working context in one way only: its fields in their order,
// then those that this version does not know by their names, and lists that are empty
// as such. What is the same has therefore the same bytes.
func (wc WorkingContext) MarshalJSON() ([]byte, error) {
	plain := plainContext(wc)
	plain.DiscoveredTools = listed(plain.DiscoveredTools)
	plain.UsedTools = listed(plain.UsedTools)
	plain.Entities = listed(plain.Entities)
	raw, err := json.Marshal(plain)
	if err != nil || len(wc.Extra) == 0 {
		return raw, err
	}
	b := bytes.NewBuffer(raw[:len(raw)-1]) // without the brace
	for _, name := range slices.Sorted(maps.Keys(wc.Extra)) {
		field, err := json.Marshal(map[string]json.RawMessage{name: wc.Extra[name]})
		if err != nil {
			return nil, err
		}
		b.WriteByte(',')
		b.Write(field[1 : len(field)-1])
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON wrote, by this version or a newer one.
func (wc *WorkingContext) UnmarshalJSON(raw []byte) error {
	plain := plainContext{}
	// Half a megabyte takes milliseconds: it is read twice only if there is need to.
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if d.Decode(&plain) != nil {
		plain = plainContext{}
		if err := json.Unmarshal(raw, &plain); err != nil {
			return err
		}
		if err := json.Unmarshal(raw, &plain.Extra); err != nil {
			return err
		}
		for _, name := range contextFields() {
			delete(plain.Extra, name)
		}
		delete(plain.Extra, noticeField)
	}
	plain.DiscoveredTools = listed(plain.DiscoveredTools)
	plain.UsedTools = listed(plain.UsedTools)
	plain.Entities = listed(plain.Entities)
	*wc = WorkingContext(plain)
	return nil
}

// listed returns a list that is empty instead of missing.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
