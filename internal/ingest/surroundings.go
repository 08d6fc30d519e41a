package ingest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/steptext"
)

// surroundings are the neighbours of the scalars in one JSON value.
type surroundings struct {
	outer string         // what the whole value is the value of
	named map[int]string // names that stand beside a value, by their object
	// The arguments of the list that is being read, cleaned.
	list int
	args []string
}

// names returns the possible names of a scalar: the keys that lead to it, a name beside it,
// and the flag before it.
func (a *surroundings) names(s steptext.Scalar) [][]string {
	ways := [][]string{s.Keys}
	if a.outer != "" {
		ways[0] = append([]string{a.outer}, s.Keys...)
	}
	if name := a.named[s.In]; name != "" && !s.List && slices.Contains(valueKeys[:], strings.ToLower(s.Key())) {
		ways = append(ways, []string{name})
	}
	if flag := a.flag(s); flag != "" {
		ways = append(ways, []string{flag})
	}
	return ways
}

// flag returns the flag before a text of a list.
func (a *surroundings) flag(s steptext.Scalar) string {
	if !s.List || s.In != a.list || len(a.args) == 0 {
		return ""
	}
	if last := a.args[len(a.args)-1]; strings.HasPrefix(last, "-") && !strings.ContainsAny(last, "= ") {
		return last
	}
	return ""
}

// arguments are those before a text of a list, if it is a flag, or follows one.
func (a *surroundings) arguments(s steptext.Scalar) []string {
	if s.List && s.In == a.list && (a.flag(s) != "" || strings.HasPrefix(s.Text, "-")) {
		return a.args
	}
	return nil
}

// maxArguments is how many of a list's texts are kept.
const maxArguments = 8

// take adds a text of a list.
func (a *surroundings) take(s steptext.Scalar, clean string) {
	if !s.List {
		return
	}
	if s.In != a.list {
		a.list, a.args = s.In, nil
	}
	a.args = append(a.args, clean)
	if len(a.args) > maxArguments { // the first names the program
		a.args = slices.Delete(a.args, 1, 2)
	}
}

// Objects such as {"name": "DB_PASSWORD", "value": "…"} name a value by another.
var (
	nameKeys  = [...]string{"name", "key", "label", "element", "field", "header", "variable", "env"}
	valueKeys = [...]string{"value", "val", "text"}
)

// namesBeside finds the names in such objects, by the number of the object.
func namesBeside(raw json.RawMessage) map[int]string {
	names := map[int]string{}
	for s := range steptext.Scalars(raw) {
		if s.Kind == steptext.ScalarText && !s.List && names[s.In] == "" && slices.Contains(nameKeys[:], strings.ToLower(s.Key())) {
			names[s.In] = s.Text
		}
	}
	return names
}
