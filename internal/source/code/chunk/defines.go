package chunk

import (
	"bytes"
	"slices"
	"strings"
)

// defined is a name and the line that declares it.
type defined struct {
	line int
	name string
}

// define records that a line declares a name. Of a path, "Server.Serve" or "app.people",
// only the last part counts: its container is declared in another line.
func (t *text) define(line int, name string) {
	if i := strings.LastIndexAny(name, ".:"); i >= 0 {
		name = name[i+1:]
	}
	t.defineWhole(line, name)
}

// defineWhole records that a line declares a name with dots: "lib.a".
func (t *text) defineWhole(line int, name string) {
	if name == "" || name == "_" || len(name) > maxSymbol {
		return
	}
	t.defines = append(t.defines, defined{line, name})
}

// sortDefines sorts the names by line.
func (t *text) sortDefines() {
	slices.SortStableFunc(t.defines, func(a, b defined) int { return a.line - b.line })
}

// definedIn returns the names that lines declare, each once, in order.
func (t *text) definedIn(first, last int) []string {
	i, _ := slices.BinarySearchFunc(t.defines, first, func(d defined, line int) int { return d.line - line })
	var names []string
	seen := map[string]bool{} // a line may declare a hundred thousand
	for ; i < len(t.defines) && t.defines[i].line <= last; i++ {
		if name := t.defines[i].name; !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// maxHeadLines is how many lines of a head are searched for its name.
const maxHeadLines = 20

// lineOf returns the line of a head that contains a name. It is not the first if a type, or
// type parameters, are on separate lines above.
func (f *structured) lineOf(name string, head, last int) int {
	if i := strings.LastIndexAny(name, ".:"); i >= 0 {
		name = name[i+1:]
	}
	for i := head; i <= min(last, head+maxHeadLines); i++ {
		if bytes.Contains(f.t.line(i), []byte(name)) {
			return i
		}
	}
	return head
}

// declaresNothing are the languages whose units are not declarations but rules, keys and
// sections.
var declaresNothing = words("css scss json yaml ini toml diff tex asciidoc")

// define records the name that a line declares, unless the language has no declarations.
func (f *structured) define(line int, name string) {
	switch {
	case declaresNothing[f.lang]:
	case f.lang == "make" || f.lang == "r": // dots are part of names
		f.t.defineWhole(line, name)
	case f.lang == "php":
		f.t.define(line, strings.TrimPrefix(name, "$"))
	default:
		f.t.define(line, strings.TrimPrefix(name, "@"))
	}
}
