package connect

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlTable keeps the table of an MCP server in Codex's config.toml, and keeps the keys
// that the user has added to it. It uses the parser's positions of statements to cut and
// join the text.
type tomlTable struct{ server Server }

var _ edit = tomlTable{}

// tomlServers is the key of the table of all servers.
const tomlServers = "mcp_servers"

var errOtherForm = errors.New("its " + tomlServers + " are written in a form that recalld cannot edit; change " + tomlServers + "." + name + " by hand")

// Put implements edit.
func (t tomlTable) Put(text []byte) ([]byte, error) { return behindMark(text, t.put) }

// Take implements edit.
func (t tomlTable) Take(text []byte) ([]byte, error) { return behindMark(text, t.take) }

// behindMark edits what stands behind a byte order mark.
func behindMark(text []byte, edit func([]byte) ([]byte, error)) ([]byte, error) {
	body, marked := bytes.CutPrefix(text, byteOrderMark)
	out, err := edit(body)
	if marked && out != nil {
		out = slices.Concat(byteOrderMark, out)
	}
	return out, err
}

func (t tomlTable) put(text []byte) ([]byte, error) {
	old, there, err := t.get(text)
	if err != nil {
		return nil, err
	}
	if addressed(old) {
		return nil, errAddressed
	}
	if there && t.same(old) {
		return text, nil
	}
	statements, err := tomlStatements(text)
	if err != nil {
		return nil, err
	}
	var out []byte
	if slices.ContainsFunc(statements, statement.isOurs) {
		if out, err = t.change(text); err != nil {
			return nil, err
		}
	} else {
		out = t.append(text)
	}
	// Parse the result: an inline table, of servers or of ours, does not allow another table.
	if now, there, err := t.get(out); err != nil || !there || !t.same(now) {
		return nil, errOtherForm
	}
	return out, nil
}

// args are the arguments in the table.
func (t tomlTable) args(text []byte) []string {
	table, _, err := t.get(text)
	if err != nil {
		return nil
	}
	list, _ := table["args"].([]any)
	return stringsOf(list)
}

// lines returns the keys of the table with their values.
func (t tomlTable) lines() [2]string {
	args := make([]string, len(t.server.Args))
	for i, arg := range t.server.Args {
		args[i] = tomlString(arg)
	}
	return [2]string{"command = " + tomlString(t.server.Command), "args = [" + strings.Join(args, ", ") + "]"}
}

// tomlString writes a basic string; its escapes are the same as in JSON.
func tomlString(s string) string {
	return strings.ReplaceAll(strings.TrimSuffix(jsonText(s), "\n"), "\x7f", `\u007f`)
}

// append adds the table at the end, after an empty line.
func (t tomlTable) append(text []byte) []byte {
	lines, newline := t.lines(), newlineOf(text)
	out := bytes.Clone(text)
	if len(out) > 0 {
		if !bytes.HasSuffix(out, []byte("\n")) {
			out = append(out, newline...)
		}
		out = append(out, newline...)
	}
	block := []string{"[" + tomlServers + "." + name + "]", lines[0], lines[1], ""}
	return append(out, strings.Join(block, newline)...)
}

// change rewrites command and arguments in the existing table.
func (t tomlTable) change(text []byte) ([]byte, error) {
	for i, line := range t.lines() {
		statements, err := tomlStatements(text)
		if err != nil {
			return nil, err
		}
		key, _, _ := strings.Cut(line, " = ")
		path := []string{tomlServers, name, key}
		if k := slices.IndexFunc(statements, func(s statement) bool { return !s.table && slices.Equal(s.path, path) }); k >= 0 {
			text = splice(text, statements[k].start, statements[k].end, line)
			continue
		}
		table := slices.IndexFunc(statements, statement.isOurs)
		end := statements[table+i].lineEnd // of the header, or of the key before
		text = splice(text, end, end, newlineOf(text)+line)
	}
	return text, nil
}

func (t tomlTable) take(text []byte) ([]byte, error) {
	_, there, err := t.get(text)
	if err != nil || !there {
		return text, err
	}
	statements, err := tomlStatements(text)
	if err != nil {
		return nil, err
	}
	// The table, the user's subtables, env for instance, and keys outside of them.
	var cuts [][2]int
	inside := false // such a table
	for _, s := range statements {
		ours := len(s.path) >= 2 && s.path[0] == tomlServers && s.path[1] == name
		if s.table {
			inside = ours
		}
		switch {
		case inside && !s.table:
			cuts[len(cuts)-1][1] = s.lineEnd
		case ours:
			cuts = append(cuts, [2]int{lineStart(text, s.start), s.lineEnd})
		}
	}
	for _, c := range slices.Backward(cuts) {
		text = cutLines(text, c[0], c[1])
	}
	if _, there, err := t.get(text); err != nil || there {
		return nil, errOtherForm
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	return text, nil
}

// cutLines removes whole lines, and the empty line before them, or after them at the
// beginning of the text.
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
	if from == 0 {
		to += len(text[to:]) - len(bytes.TrimLeft(text[to:], "\r\n"))
	}
	return splice(text, from, to, "")
}

// get returns the server's table, decoded.
func (t tomlTable) get(text []byte) (table map[string]any, there bool, err error) {
	var all map[string]any
	if err := toml.Unmarshal(bytes.TrimPrefix(text, byteOrderMark), &all); err != nil {
		return nil, false, tomlError(err)
	}
	servers, _ := all[tomlServers].(map[string]any)
	table, there = servers[name].(map[string]any)
	return table, there, nil
}

// same says whether a table starts the wanted server.
func (t tomlTable) same(table map[string]any) bool {
	args, _ := table["args"].([]any)
	return table["command"] == t.server.Command &&
		slices.EqualFunc(args, t.server.Args, func(is any, want string) bool { return is == want })
}

// tomlError adds the position to an error.
func tomlError(err error) error {
	if e, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := e.Position()
		return fmt.Errorf("it is not TOML: line %d, column %d: %s", line, column, strings.TrimPrefix(e.Error(), "toml: "))
	}
	return fmt.Errorf("it is not TOML: %w", err)
}

// statement is the header of a table, or a key with its value. Path is the full path from
// the root. A comment may follow on the line.
type statement struct {
	table               bool
	path                []string
	start, end, lineEnd int
}

// isOurs says whether a statement is the header of recalld's table.
func (s statement) isOurs() bool { return s.table && slices.Equal(s.path, []string{tomlServers, name}) }

// tomlStatements lists the statements of a file.
func tomlStatements(text []byte) ([]statement, error) {
	var p unstable.Parser
	p.Reset(text)
	var all []statement
	var table []string
	for p.NextExpression() {
		node := p.Expression()
		var keys []string
		var header unstable.Range // the last key; only headers have a position
		for key := node.Key(); key.Next(); {
			keys = append(keys, string(key.Node().Data))
			header = key.Node().Raw
		}
		s := statement{path: slices.Concat(table, keys), start: int(node.Raw.Offset), end: int(node.Raw.Offset + node.Raw.Length)}
		if node.Kind != unstable.KeyValue {
			table = keys
			s = statement{table: true, path: keys, start: lineStart(text, int(header.Offset)), end: int(header.Offset + header.Length)}
		}
		s.lineEnd = len(text)
		if i := bytes.IndexByte(text[s.end:], '\n'); i >= 0 {
			s.lineEnd = s.end + len(bytes.TrimSuffix(text[s.end:s.end+i], []byte("\r")))
		}
		all = append(all, s)
	}
	if err := p.Error(); err != nil {
		return nil, tomlError(err)
	}
	return all, nil
}

func lineStart(text []byte, offset int) int { return bytes.LastIndexByte(text[:offset], '\n') + 1 }
