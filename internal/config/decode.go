package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/recalld/recalld/internal/fsx"
)

// decode reads a settings file over what cfg holds. A list in the file replaces the
// list in cfg. The error is an *Error with the file's name and line.
func decode(text []byte, file string, cfg *Config) error {
	tree, err := parse(text)
	if err != nil {
		return locate(err, nil, file)
	}
	var body ast.Node
	for _, doc := range tree.Docs {
		// The library would set everything to zero.
		if doc.Body == nil || doc.Body.Type() == ast.NullType || doc.Body.Type() == ast.CommentType {
			continue
		}
		if body != nil {
			return &Error{Source: file, Message: "holds more than one document"}
		}
		body = doc.Body
	}
	if body == nil {
		return nil
	}
	cfg.ignoreRemoved(file, body)
	if err := yaml.NodeToValue(body, cfg, yaml.Strict()); err != nil {
		return locate(err, body, file)
	}
	return nil
}

// maxNesting bounds what is nested within a line: lists and mappings in brackets, lists by
// dashes, and keys by question marks. No setting has more than two. The library takes a time
// that grows with the square of the depth; what is nested by indentation is bounded by the
// size of the file.
const maxNesting = 64

var byteOrderMark = []byte(fsx.ByteOrderMark)

// parse parses a settings file.
func parse(text []byte) (*ast.File, error) {
	text = bytes.TrimPrefix(text, byteOrderMark)
	depth, dashes, line := 0, 0, 0
	for _, t := range lexer.Tokenize(string(text)) {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth = max(depth-1, 0)
		case token.SequenceEntryType, token.MappingKeyType:
			if t.Position.Line != line {
				line, dashes = t.Position.Line, 0
			}
			dashes++
		}
		if max(depth, dashes) > maxNesting {
			return nil, fmt.Errorf("line %d: values are nested more than %d deep", t.Position.Line, maxNesting)
		}
	}
	return parser.ParseBytes(text, 0)
}

// Text writes the settings in force as a settings file.
func (c Config) Text() string {
	text, err := yaml.Marshal(c)
	if err != nil {
		return ""
	}
	return string(text)
}

// locate turns an error of the YAML library into one that names the file, the line and,
// if the text could be parsed, the setting.
func locate(err error, body ast.Node, file string) error {
	located, ok := errors.AsType[yaml.Error](err)
	if !ok || located.GetToken() == nil {
		return &Error{Source: file, Message: err.Error()}
	}
	at := located.GetToken()
	e := &Error{
		Source:  fmt.Sprintf("%s:%d", file, at.Position.Line),
		Message: located.GetMessage(),
	}
	if body != nil {
		finder := &pathFinder{at: at.Position}
		ast.Walk(finder, body)
		e.Field = strings.TrimPrefix(strings.TrimPrefix(finder.path, "$"), ".")
	}
	if _, ok := errors.AsType[*yaml.UnknownFieldError](err); ok {
		e.Message = "unknown setting"
	}
	return e
}

// pathFinder is an ast.Visitor that keeps the path of the node at a position.
type pathFinder struct {
	at   *token.Position
	path string
}

// Visit implements ast.Visitor.
func (f *pathFinder) Visit(n ast.Node) ast.Visitor {
	if t := n.GetToken(); t != nil && t.Position.Line == f.at.Line && t.Position.Column == f.at.Column && n.GetPath() != "" {
		f.path = n.GetPath()
	}
	return f
}
