package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlTable keeps the table of an MCP server in Codex's config.toml, and leaves
// alone the keys that the user has added to it. The parser says where statements
// begin; text is cut and joined there.
type tomlTable struct{ server Server }

var _ edit = tomlTable{}

// tomlServers is the key of the table of all servers.
const tomlServers = "mcp_servers"

var errOtherForm = errors.New("its " + tomlServers + " are written in a form that is not edited; add " + tomlServers + "." + name + " by hand")

// Put implements edit.
func (t tomlTable) Put(text []byte) ([]byte, error) {
	old, there, err := t.get(text)
	if err != nil {
		return nil, err
	}
	if there && t.same(old) {
		return text, nil
	}
	statements, err := tomlStatements(text)
	if err != nil {
		return nil, err
	}
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
	}
	var out []byte
	head := slices.IndexFunc(statements, func(s statement) bool { return s.table && slices.Equal(s.path, []string{tomlServers, name}) })
	switch {
	case head >= 0:
		out, err = t.change(text, statements[head:], newline)
	case there:
		return nil, errOtherForm
	default:
		out, err = t.append(text, newline)
	}
	if err != nil {
		return nil, err
	}
	// The parser has the last word: servers in an inline table refuse another one.
	if now, there, err := t.get(out); err != nil || !there || !t.same(now) {
		return nil, errOtherForm
	}
	return out, nil
}

// lines are the keys of the table with their values.
func (t tomlTable) lines() (lines [2]string, err error) {
	command, err := tomlString(t.server.Command)
	if err != nil {
		return lines, err
	}
	args := make([]string, len(t.server.Args))
	for i, arg := range t.server.Args {
		if args[i], err = tomlString(arg); err != nil {
			return lines, err
		}
	}
	return [2]string{"command = " + command, "args = [" + strings.Join(args, ", ") + "]"}, nil
}

// tomlString writes a basic string; its escapes are those of JSON.
func tomlString(s string) (string, error) {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		return "", fmt.Errorf("encode string: %w", err)
	}
	return strings.ReplaceAll(strings.TrimSuffix(out.String(), "\n"), "\x7f", `\u007f`), nil
}

// append adds the table at the end, after an empty line.
func (t tomlTable) append(text []byte, newline string) ([]byte, error) {
	lines, err := t.lines()
	if err != nil {
		return nil, err
	}
	out := bytes.Clone(text)
	if len(out) > 0 {
		if !bytes.HasSuffix(out, []byte("\n")) {
			out = append(out, newline...)
		}
		out = append(out, newline...)
	}
	block := []string{"[" + tomlServers + "." + name + "]", lines[0], lines[1], ""}
	return append(out, strings.Join(block, newline)...), nil
}

// change writes command and arguments anew in the table that statements begin
// with.
func (t tomlTable) change(text []byte, statements []statement, newline string) ([]byte, error) {
	lines, err := t.lines()
	if err != nil {
		return nil, err
	}
	// From the last to the first, so that the places before stay right.
	for i := len(lines) - 1; i >= 0; i-- {
		key, _, _ := strings.Cut(lines[i], " ")
		at := statements[0]
		replaced := false
		for _, s := range statements[1:] {
			if s.table {
				break
			}
			if slices.Equal(s.path, []string{tomlServers, name, key}) {
				text, replaced = splice(text, s.start, s.end, lines[i]), true
				break
			}
		}
		if !replaced {
			text = splice(text, at.end, at.end, newline+lines[i])
		}
		if statements, err = tomlStatements(text); err != nil {
			return nil, err
		}
		statements = statements[slices.IndexFunc(statements, func(s statement) bool {
			return s.table && slices.Equal(s.path, []string{tomlServers, name})
		}):]
	}
	return text, nil
}

// Take implements edit.
func (t tomlTable) Take(text []byte) ([]byte, error) {
	_, there, err := t.get(text)
	if err != nil || !there {
		return text, err
	}
	statements, err := tomlStatements(text)
	if err != nil {
		return nil, err
	}
	// The table, and those of the user's below it, an env for instance.
	taken := false
	for i := len(statements) - 1; i >= 0; i-- {
		s := statements[i]
		if !s.table || len(s.path) < 2 || s.path[0] != tomlServers || s.path[1] != name {
			continue
		}
		last := i
		for last+1 < len(statements) && !statements[last+1].table {
			last++
		}
		text = cutLines(text, s.start, statements[last].end)
		taken = true
	}
	if !taken {
		return nil, errOtherForm
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	return text, nil
}

// cutLines takes whole lines out, and the empty line before them.
func cutLines(text []byte, from, to int) []byte {
	if i := bytes.IndexByte(text[to:], '\n'); i >= 0 {
		to += i + 1
	} else {
		to = len(text)
	}
	for _, blank := range []string{"\r\n\r\n", "\n\n"} {
		if bytes.HasSuffix(text[:from], []byte(blank)) {
			from -= len(blank) / 2
			break
		}
	}
	return splice(text, from, to, "")
}

// get returns the server's table, decoded.
func (t tomlTable) get(text []byte) (table map[string]any, there bool, err error) {
	var all map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		return nil, false, tomlError(err)
	}
	servers, _ := all[tomlServers].(map[string]any)
	table, there = servers[name].(map[string]any)
	return table, there, nil
}

// same says whether a table starts the server that is wanted.
func (t tomlTable) same(table map[string]any) bool {
	args, _ := table["args"].([]any)
	return table["command"] == t.server.Command &&
		slices.EqualFunc(args, t.server.Args, func(is any, want string) bool { return is == want })
}

// tomlError says what is wrong, and where.
func tomlError(err error) error {
	if e, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := e.Position()
		return fmt.Errorf("it is not TOML: line %d, column %d: %s", line, column, strings.TrimPrefix(e.Error(), "toml: "))
	}
	return fmt.Errorf("it is not TOML: %w", err)
}

// statement is the header of a table or a key with its value. Path is the whole
// one, from the root; the text from start to end has no comment behind it.
type statement struct {
	table      bool
	path       []string
	start, end int
}

// tomlStatements lists the statements of a file that parses.
func tomlStatements(text []byte) ([]statement, error) {
	var p unstable.Parser
	p.KeepComments = true
	p.Reset(text)
	var all []statement
	var table []string
	for p.NextExpression() {
		node := p.Expression()
		if node.Kind == unstable.Comment {
			continue
		}
		s := statement{start: -1, table: node.Kind == unstable.Table || node.Kind == unstable.ArrayTable}
		var keys []string
		for key := node.Key(); key.Next(); {
			if s.start < 0 {
				s.start = lineStart(text, int(key.Node().Raw.Offset))
			}
			keys = append(keys, string(key.Node().Data))
		}
		if s.path = slices.Concat(table, keys); s.table {
			s.path, table = keys, keys
		}
		all = append(all, s)
	}
	if err := p.Error(); err != nil {
		return nil, tomlError(err)
	}
	for i := range all {
		end := len(text)
		if i+1 < len(all) {
			end = all[i+1].start
		}
		all[i].end = trimTrivia(text, all[i].start, end)
	}
	return all, nil
}

func lineStart(text []byte, offset int) int { return bytes.LastIndexByte(text[:offset], '\n') + 1 }

// trimTrivia moves an end back over empty lines and lines of comments.
func trimTrivia(text []byte, start, end int) int {
	for end > start {
		from := max(start, bytes.LastIndexByte(bytes.TrimRight(text[:end], "\r\n"), '\n')+1)
		line := bytes.TrimSpace(text[from:end])
		if len(line) > 0 && line[0] != '#' || from == start {
			break
		}
		end = from
	}
	return start + len(bytes.TrimRight(text[start:end], " \t\r\n"))
}
