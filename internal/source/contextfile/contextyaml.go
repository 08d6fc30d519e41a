package contextfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/recalld/recalld/internal/memory"
)

// The items of the lists of .recalld/context.yaml.
type (
	textItem struct {
		Name        string         `yaml:"name"`
		Description string         `yaml:"description"`
		Content     string         `yaml:"content"`
		File        string         `yaml:"file"`
		Include     memory.Include `yaml:"include"`
		Enabled     *bool          `yaml:"enabled"`
	}
	toolItem struct {
		ServerName  string         `yaml:"serverName"`
		Name        string         `yaml:"name"`
		Description string         `yaml:"description"`
		Guidance    string         `yaml:"guidance"`
		InputSchema any            `yaml:"inputSchema"`
		Core        bool           `yaml:"core"`
		Include     memory.Include `yaml:"include"`
		Enabled     *bool          `yaml:"enabled"`
	}
	serverItem struct {
		Name    string         `yaml:"name"`
		Include memory.Include `yaml:"include"`
		Enabled *bool          `yaml:"enabled"`
	}
)

// contextReader reads one .recalld/context.yaml.
type contextReader struct {
	*scan
	file    memory.FileEntries
	refs    map[memory.Ref]bool
	servers map[string]bool
}

// readContext reads .recalld/context.yaml. A wrong item is a problem and does not stop
// the others.
func (l *scan) readContext(p, text string) memory.FileEntries {
	r := contextReader{scan: l, file: memory.FileEntries{Path: p}, refs: map[memory.Ref]bool{}, servers: map[string]bool{}}
	fields, line, err := parseYAML(text)
	if err != nil {
		l.problem(p, line, "%v", err)
	}
	for _, field := range fields {
		name := field.Key.GetToken().Value
		read := map[string]func(ast.Node) error{
			"rules":      func(n ast.Node) error { return r.text(memory.Rule, n) },
			"references": func(n ast.Node) error { return r.text(memory.Reference, n) },
			"servers":    r.server,
			"tools":      r.tool,
		}[name]
		if read == nil {
			l.problem(p, lineOf(field.Key), "unknown field %s: there are rules, references, servers and tools", memory.Quote(name))
			continue
		}
		items, err := itemsOf(field.Value)
		if err != nil {
			l.problem(p, lineOf(field.Key), "%s: %v", name, err)
		}
		for _, item := range items {
			if err := read(item); err != nil {
				at, why := yamlProblem(err, lineOf(item))
				l.problem(p, at, "%s: %s", name, why)
			}
		}
	}
	return r.file
}

// text reads a rule or a reference.
func (r *contextReader) text(kind memory.Kind, item ast.Node) error {
	var x textItem
	if err := yaml.NodeToValue(item, &x, yaml.Strict()); err != nil {
		return err
	}
	if x.File != "" && x.Content != "" {
		return errors.New("has both content and file")
	}
	if x.File != "" {
		var err error
		if x.Content, err = r.named(x.File); err != nil {
			return fmt.Errorf("file %w", err)
		}
	}
	return r.add(memory.CatalogueEntry{
		Ref: memory.Ref{Type: kind, Name: x.Name}, Description: x.Description, Content: x.Content, Include: x.Include, Enabled: x.Enabled,
	})
}

func (r *contextReader) tool(item ast.Node) error {
	var x toolItem
	if err := yaml.NodeToValue(item, &x, yaml.Strict()); err != nil {
		return err
	}
	e := memory.CatalogueEntry{
		Ref:         memory.Ref{Type: memory.Tool, Name: x.Name, ServerName: x.ServerName},
		Description: x.Description, Guidance: x.Guidance, Core: x.Core, Include: x.Include, Enabled: x.Enabled,
	}
	if x.InputSchema != nil {
		var err error
		if e.InputSchema, err = json.Marshal(x.InputSchema); err != nil {
			return errors.New("inputSchema cannot be written as JSON")
		}
	}
	return r.add(e)
}

func (r *contextReader) add(e memory.CatalogueEntry) error {
	if err := e.Validate(""); err != nil {
		return err
	}
	if r.refs[e.Ref] {
		return fmt.Errorf("the %s %s appears twice", e.Type, memory.Quote(e.Name))
	}
	r.refs[e.Ref] = true
	r.file.Entries = append(r.file.Entries, e)
	return nil
}

func (r *contextReader) server(item ast.Node) error {
	var x serverItem
	if err := yaml.NodeToValue(item, &x, yaml.Strict()); err != nil {
		return err
	}
	server := memory.Server{Name: x.Name, Include: x.Include, Enabled: x.Enabled}
	if err := server.Validate(""); err != nil {
		return err
	}
	if r.servers[server.Name] {
		return fmt.Errorf("the server %s appears twice", memory.Quote(server.Name))
	}
	r.servers[server.Name] = true
	r.file.Servers = append(r.file.Servers, server)
	return nil
}

// named reads a file that an item names.
func (r *contextReader) named(name string) (string, error) {
	p := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	if !filepath.IsLocal(filepath.FromSlash(p)) {
		return "", fmt.Errorf("%s is not a path below the repository", memory.Quote(name))
	}
	if !r.count() {
		return "", fmt.Errorf("%s is left out: %d files are read", memory.Quote(name), maxFiles)
	}
	text, err := r.read(p)
	if err != nil {
		return "", fmt.Errorf("%s %w", memory.Quote(name), err)
	}
	return text, nil
}

// maxNesting bounds the nesting of values; a schema rarely needs ten levels.
const maxNesting = 64

// parseYAML returns the fields of a text that is one mapping. The line of an error
// counts from 1.
func parseYAML(text string) (fields []*ast.MappingValueNode, line int, err error) {
	if line, err := plainYAML(lexer.Tokenize(text)); err != nil {
		return nil, line, err
	}
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		line, why := yamlProblem(err, 1)
		return nil, line, errors.New(why)
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, 0, nil
	}
	for _, further := range file.Docs[1:] {
		if further.Body != nil {
			return nil, lineOf(further.Body), errors.New("a second document is not read")
		}
	}
	switch body := file.Docs[0].Body.(type) {
	case *ast.MappingNode:
		return body.Values, 0, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{body}, 0, nil
	case *ast.CommentGroupNode, *ast.NullNode:
		return nil, 0, nil
	}
	return nil, 1, errors.New("is not a mapping of rules, references, servers and tools")
}

// plainYAML rejects features that settings do not need or that make a small file
// expensive: references, tags, complex keys, and unlimited nesting in one line. By
// indentation a file of the largest size has at most some 700 levels, which are harmless.
func plainYAML(tokens token.Tokens) (line int, err error) {
	flow, dashes, on := 0, 0, 0
	for _, t := range tokens {
		at := t.Position.Line
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			return at, errors.New("anchors and aliases are not read")
		case token.TagType, token.DirectiveType, token.MappingKeyType:
			return at, errors.New("tags, directives and keys with ? are not read")
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType:
			if at != on {
				on, dashes = at, 0
			}
			dashes++
		}
		if flow > maxNesting || dashes > maxNesting {
			return at, errors.New("values are nested too deeply")
		}
	}
	return 0, nil
}

// itemsOf returns the items of a list.
func itemsOf(value ast.Node) ([]ast.Node, error) {
	switch v := value.(type) {
	case *ast.SequenceNode:
		return v.Values, nil
	case *ast.NullNode:
		return nil, nil
	}
	return nil, errors.New("is not a list")
}

func lineOf(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// yamlProblem returns an error of the YAML library in one line, with the line in the
// file. The library's own messages may quote the file.
func yamlProblem(err error, line int) (at int, why string) {
	located, ok := errors.AsType[yaml.Error](err)
	if !ok {
		return line, err.Error()
	}
	value := ""
	if t := located.GetToken(); t != nil {
		value = t.Value
		if t.Position != nil {
			line = t.Position.Line
		}
	}
	if _, ok := errors.AsType[*yaml.UnknownFieldError](err); ok {
		return line, "unknown field " + memory.Quote(value)
	}
	if e, ok := errors.AsType[*yaml.TypeError](err); ok {
		return line, "is not " + typeName(e.DstType)
	}
	if _, ok := errors.AsType[*yaml.SyntaxError](err); ok {
		return line, "is not YAML: " + firstLine(located.GetMessage())
	}
	return line, firstLine(located.GetMessage())
}

func typeName(t reflect.Type) string {
	switch {
	case t == nil:
		return "what is expected"
	case t.Kind() == reflect.Bool || t.Kind() == reflect.Pointer:
		return "true or false"
	case t.Kind() == reflect.String:
		return "a text"
	case t.Kind() == reflect.Slice:
		return "a list"
	}
	return "a mapping"
}

// maxMessage bounds a message of the library, in characters.
const maxMessage = 160

func firstLine(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	if r := []rune(message); len(r) > maxMessage {
		message = string(r[:maxMessage]) + "…"
	}
	return message
}
