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

// define notes that a line declares a name. Of a path to it, "Server.Serve" or
// "app.people", the last part is the name: what it is declared in has a line of
// its own.
func (t *text) define(line int, name string) {
	if i := strings.LastIndexAny(name, ".:"); i >= 0 {
		name = name[i+1:]
	}
	t.defineWhole(line, name)
}

// defineWhole notes that a line declares a name that is no path: "lib.a".
func (t *text) defineWhole(line int, name string) {
	if name == "" || name == "_" || len(name) > maxSymbol {
		return
	}
	t.defines = append(t.defines, defined{line, name})
}

// sortDefines puts what was found while units were, inner ones first or last,
// into the order of lines.
func (t *text) sortDefines() {
	slices.SortStableFunc(t.defines, func(a, b defined) int { return a.line - b.line })
}

// definedIn are the names that lines declare, each once, in order.
func (t *text) definedIn(first, last int) []string {
	i, _ := slices.BinarySearchFunc(t.defines, first, func(d defined, line int) int { return d.line - line })
	var names []string
	for ; i < len(t.defines) && t.defines[i].line <= last; i++ {
		if !slices.Contains(names, t.defines[i].name) {
			names = append(names, t.defines[i].name)
		}
	}
	return names
}

// maxHeadLines is how far below the first line of a head its name is looked for.
const maxHeadLines = 20

// lineOf is the line of a head that holds a name: not the first where a type, or
// parameters of one, stand on lines of their own above.
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

// declaresNothing are languages whose units have names that are no
// declarations: rules, keys and sections.
var declaresNothing = words("css scss json yaml ini toml diff tex asciidoc")

// define notes the name that a line declares, in languages with declarations.
func (f *structured) define(line int, name string) {
	switch {
	case declaresNothing[f.lang]:
	case f.lang == "make":
		f.t.defineWhole(line, name)
	case f.lang == "php":
		f.t.define(line, strings.TrimPrefix(name, "$"))
	default:
		f.t.define(line, strings.TrimPrefix(name, "@"))
	}
}
