package config

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// Edit returns the text of a settings file in which one setting has another value. All
// other lines stay as they are, comments included. The value is spelled as in the
// environment. The result was checked: it is a valid settings file, and nothing else in it
// has changed. Errors are *Error, or *FileError if the text is no settings file.
func Edit(text []byte, path, value string) ([]byte, error) {
	s, err := parseSetting(path, value)
	if err != nil {
		return nil, err
	}
	text, former := plain(text)
	tree, err := parse(text)
	if err != nil {
		return nil, &FileError{&Error{Message: "the settings file is not valid YAML: " + err.Error()}}
	}
	if len(tree.Docs) > 1 {
		return nil, &FileError{&Error{Message: "the settings file holds more than one document"}}
	}
	nodes := map[string]*ast.MappingValueNode{}
	for _, doc := range tree.Docs {
		walkKeys(doc.Body, func(path string, n *ast.MappingValueNode) { nodes[path] = n })
	}
	edited := []byte(splice(string(text), nodes, path, s.yaml()))

	before, after := Default(), Default()
	if err := decode(text, "the settings file", &before); err != nil {
		return nil, &FileError{err}
	}
	if err := decode(edited, "", &after); err != nil {
		return nil, notHere(path)
	}
	if others := slices.DeleteFunc(Changed(before, after), func(name string) bool { return name == path }); len(others) > 0 {
		return nil, notHere(path)
	}
	for _, got := range after.leaves() {
		if got.path == path && got.text() != s.text() {
			return nil, notHere(path)
		}
	}
	edited = former(edited)
	return edited, Check(edited)
}

// plain returns a text without a byte order mark, whose lines end with \n if all of them end
// with \r\n, and what gives a text the former form.
func plain(text []byte) ([]byte, func([]byte) []byte) {
	body := bytes.TrimPrefix(text, byteOrderMark)
	mark, newline := text[:len(text)-len(body)], "\n"
	if n := bytes.Count(body, []byte("\r\n")); n > 0 && n == bytes.Count(body, []byte("\n")) {
		newline = "\r\n"
	}
	return bytes.ReplaceAll(body, []byte(newline), []byte("\n")), func(edited []byte) []byte {
		return slices.Concat(mark, bytes.ReplaceAll(edited, []byte("\n"), []byte(newline)))
	}
}

// Check says what is wrong with the text of a settings file, taken by itself: nil if
// nothing is.
func Check(text []byte) error {
	cfg := Default()
	if err := decode(text, "", &cfg); err != nil {
		return err
	}
	return cfg.Validate()
}

// notHere is the error for a file that is written so that a line cannot be exchanged.
func notHere(path string) error {
	return &Error{Field: path, Message: "cannot be changed without touching other lines of the file: run 'recalld config edit'"}
}

// parseSetting returns a setting of a configuration of its own that has a value.
func parseSetting(path, value string) (setting, error) {
	if Removed(path) {
		return setting{}, &Error{Field: path, Message: "is no longer a setting and has no effect"}
	}
	scratch := Default()
	for _, s := range scratch.leaves() {
		if s.path != path {
			continue
		}
		if !s.settable() {
			return s, &Error{Field: path, Message: "is a list of groups: run 'recalld config edit'"}
		}
		if err := s.set(value); err != nil {
			return s, &Error{Field: path, Message: err.Error()}
		}
		return s, nil
	}
	return setting{}, &Error{Field: path, Message: "unknown setting"}
}

// yaml writes the value on one line of a settings file.
func (s setting) yaml() string {
	switch v := s.value.Interface().(type) {
	case string:
		return yamlString(v)
	case []string:
		words := make([]string, len(v))
		for i, word := range v {
			words[i] = yamlString(word)
		}
		return "[" + strings.Join(words, ", ") + "]"
	}
	return s.text()
}

// yamlString quotes a string that YAML would take for something else. In a list, a comma
// and a bracket end a bare word.
func yamlString(text string) string {
	encoded, err := yaml.Marshal(text)
	bare := strings.TrimSuffix(string(encoded), "\n")
	if err != nil || strings.ContainsAny(text, "\n,[]{}*&!|>%@`#:\"'") && bare == text {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
	}
	return bare
}

// splice puts a value at a path into a text whose keys are known: over the old value,
// or as a line of its own at the end of its group, or in a new group at the end.
func splice(text string, nodes map[string]*ast.MappingValueNode, path, value string) string {
	lines := strings.SplitAfter(text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	} else {
		lines[last] += "\n"
	}
	if n := nodes[path]; n != nil {
		at := n.Start.Position // of the colon
		line := []rune(strings.TrimSuffix(lines[at.Line-1], "\n"))
		kept := ""
		for _, t := range lexer.Tokenize(text) {
			if t.Type == token.CommentType && t.Position.Line == at.Line {
				kept = " #" + strings.TrimRight(t.Value, "\n")
			}
		}
		lines[at.Line-1] = string(line[:at.Column]) + " " + value + kept + "\n"
		return strings.Join(slices.Delete(lines, at.Line, max(at.Line, lastLine(n.Value))), "")
	}
	parts := strings.Split(path, ".")
	for depth := len(parts) - 1; depth > 0; depth-- {
		group := nodes[strings.Join(parts[:depth], ".")]
		if group == nil {
			continue
		}
		end, indent := group.Start.Position.Line, group.Key.GetToken().Position.Column+1
		walkKeys(group.Value, func(_ string, child *ast.MappingValueNode) {
			if end == group.Start.Position.Line {
				indent = child.Key.GetToken().Position.Column - 1
			}
			end = max(end, child.Start.Position.Line, lastLine(child.Value))
		})
		return strings.Join(slices.Insert(lines, end, newLines(parts[depth:], indent, value)), "")
	}
	return strings.Join(append(lines, newLines(parts, 0, value)), "")
}

// newLines writes a path of keys, one a line, with the value behind the last.
func newLines(keys []string, indent int, value string) string {
	var b strings.Builder
	for i, key := range keys {
		fmt.Fprintf(&b, "%s%s:", strings.Repeat(" ", indent+2*i), key)
		if i == len(keys)-1 {
			b.WriteString(" " + value)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// lastLine is the last line that a node takes.
func lastLine(n ast.Node) int {
	last := 0
	ast.Walk(lineFinder{&last}, n)
	return last
}

type lineFinder struct{ last *int }

// Visit implements ast.Visitor.
func (f lineFinder) Visit(n ast.Node) ast.Visitor {
	if t := n.GetToken(); t != nil {
		*f.last = max(*f.last, t.Position.Line+strings.Count(strings.TrimRight(t.Origin, " \n"), "\n"))
	}
	if list, ok := n.(*ast.SequenceNode); ok && list.End != nil {
		*f.last = max(*f.last, list.End.Position.Line)
	}
	return f
}

// leaves lists all settings, in the order of the structs, also those that only a file can
// set.
func (c *Config) leaves() []setting {
	var list []setting
	var walk func(v reflect.Value, prefix string)
	walk = func(v reflect.Value, prefix string) {
		for field, value := range v.Fields() {
			name := field.Tag.Get("yaml")
			path := prefix + name
			switch {
			case name == "-": // filled by Load
			case value.Kind() == reflect.Struct:
				walk(value, path+".")
			default:
				list = append(list, setting{path: path, tag: field.Tag, value: value})
			}
		}
	}
	walk(reflect.ValueOf(c).Elem(), "")
	return list
}
