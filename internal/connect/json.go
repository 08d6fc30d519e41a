package connect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// This file edits JSON with comments and trailing commas. It uses the parser's positions to
// cut and join the text, so that everything else stays byte for byte. Paths are keys of
// objects and indices of lists.

// byteOrderMark is at the beginning of files from some editors on Windows.
var byteOrderMark = []byte("\ufeff")

// jsonEntry keeps one object of a JSON file equal to entry, and keeps members that the user
// has added to it.
type jsonEntry struct {
	path []string
	// newer is the path in a later form of the file; it is used if its parent already
	// exists.
	newer []string
	entry any // a struct
	// chosen are members of the entry that a user may change: they are not written again.
	chosen []string
}

var _ edit = jsonEntry{}

// Put implements edit.
func (e jsonEntry) Put(text []byte) ([]byte, error) {
	path, err := e.at(text)
	if err != nil {
		return nil, err
	}
	value, _, err := jsonGet(text, path)
	if err != nil {
		return nil, err
	}
	old, object := value.(map[string]any)
	if !object {
		return jsonSet(text, path, e.entry)
	}
	// One member at a time, so that the entry's other members stay.
	fields, err := members(e.entry)
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		if _, there := old[f.key]; there && slices.Contains(e.chosen, f.key) {
			continue
		}
		if text, err = jsonSet(text, append(path[:len(path):len(path)], f.key), f.value); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// Take implements edit.
func (e jsonEntry) Take(text []byte) ([]byte, error) {
	text, err := jsonRemove(text, e.path)
	if err != nil || e.newer == nil {
		return text, err
	}
	return jsonRemove(text, e.newer)
}

// args are the arguments in the entry: its list "args", or what follows the program in its
// list "command".
func (e jsonEntry) args(text []byte) (args []string) {
	path, err := e.at(text)
	if err != nil {
		return nil
	}
	value, _, err := jsonGet(text, path)
	entry, _ := value.(map[string]any)
	if err != nil || entry == nil {
		return nil
	}
	list, ok := entry["args"].([]any)
	if !ok {
		list, _ = entry["command"].([]any)
	}
	return stringsOf(list)
}

// stringsOf returns the strings of a decoded list.
func stringsOf(list []any) (all []string) {
	for _, value := range list {
		if s, ok := value.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// at is the path of the entry, existing or new.
func (e jsonEntry) at(text []byte) ([]string, error) {
	if e.newer == nil {
		return e.path, nil
	}
	parent, _, err := jsonGet(text, e.newer[:len(e.newer)-1])
	if err != nil {
		return nil, err
	}
	if _, ok := parent.(map[string]any); ok {
		return e.newer, nil
	}
	return e.path, nil
}

type member struct {
	key   string
	value json.RawMessage
}

// members lists the members of a struct's encoding, in order.
func members(entry any) ([]member, error) {
	text, err := json.Marshal(entry)
	if err != nil {
		return nil, fmt.Errorf("encode entry: %w", err)
	}
	value, err := hujson.Parse(text)
	if err != nil {
		return nil, err
	}
	object, ok := value.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("encode entry: %T is not an object", entry)
	}
	var all []member
	for _, m := range object.Members {
		all = append(all, member{m.Name.Value.(hujson.Literal).String(), m.Value.Pack()})
	}
	return all, nil
}

// parseJSON parses a settings file; an error contains line and column.
func parseJSON(text []byte) (hujson.Value, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}")
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return root, fmt.Errorf("it is not JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return root, fmt.Errorf("line 1: it holds no JSON object")
	}
	return root, nil
}

// step returns the value of a key or an index, nil if there is none.
func step(v *hujson.Value, key string) *hujson.Value {
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i := range c.Members {
			if name, ok := c.Members[i].Name.Value.(hujson.Literal); ok && name.String() == key {
				return &c.Members[i].Value
			}
		}
	case *hujson.Array:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(c.Elements) {
			return &c.Elements[i]
		}
	}
	return nil
}

// walk follows a path as far as it exists: it returns the last value, and the number of
// steps to it.
func walk(root *hujson.Value, path []string) (at *hujson.Value, steps int) {
	at = root
	for _, key := range path {
		next := step(at, key)
		if next == nil {
			break
		}
		at = next
		steps++
	}
	return at, steps
}

// jsonGet returns the value at a path, decoded.
func jsonGet(text []byte, path []string) (value any, there bool, err error) {
	text = bytes.TrimPrefix(text, byteOrderMark)
	root, err := parseJSON(text)
	if err != nil {
		return nil, false, err
	}
	at, steps := walk(&root, path)
	if steps < len(path) {
		return nil, false, nil
	}
	plain := at.Clone()
	plain.Standardize()
	if err := json.Unmarshal(plain.Pack(), &value); err != nil {
		return nil, false, fmt.Errorf("decode %s: %w", strings.Join(path, "."), err)
	}
	return value, true, nil
}

// jsonSet puts a value at a path, making the objects on the way. An equal value, in
// whatever layout, is not changed. The last step may be "-", which adds an element to a
// list.
func jsonSet(text []byte, path []string, value any) ([]byte, error) {
	if body, ok := bytes.CutPrefix(text, byteOrderMark); ok {
		out, err := jsonSet(body, path, value)
		return append(bytes.Clone(byteOrderMark), out...), err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	root, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	at, steps := walk(&root, path)
	if steps == len(path) {
		if same, err := equalJSON(*at, value); err != nil || same {
			return text, err
		}
		rendered, err := styleOf(text, root).render(value, lineIndent(text, at.StartOffset), !spans(text, *at))
		return splice(text, at.StartOffset, at.EndOffset, rendered), err
	}
	// Missing parents are created with the value.
	missing := path[steps:]
	for i := len(missing) - 1; i > 0; i-- {
		if missing[i] == "-" {
			value = []any{value}
		} else {
			value = map[string]any{missing[i]: value}
		}
	}
	switch at.Value.(type) {
	case *hujson.Object:
		return insert(text, root, *at, strconv.Quote(missing[0])+": ", value)
	case *hujson.Array:
		if missing[0] == "-" {
			return insert(text, root, *at, "", value)
		}
	}
	return nil, fmt.Errorf("line %d: %s is not an object, so %q cannot be added",
		1+bytes.Count(text[:at.StartOffset], []byte("\n")), strings.Join(path[:steps], "."), missing[0])
}

// equalJSON says whether a value in a file equals one of ours.
func equalJSON(at hujson.Value, value any) (bool, error) {
	plain := at.Clone()
	plain.Standardize()
	var is, want any
	encoded, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(encoded, &want)
	}
	if err == nil {
		err = json.Unmarshal(plain.Pack(), &is)
	}
	if err != nil {
		return false, fmt.Errorf("compare values: %w", err)
	}
	return reflect.DeepEqual(is, want), nil
}

// span is one item of an object or a list: from the start of its name or value to the end
// of its value, and the position of the comma after it, -1 without one.
type span struct{ start, end, comma int }

// items lists the items of an object or a list.
func items(text []byte, v hujson.Value) []span {
	var all []span
	add := func(first, value hujson.Value) {
		s := span{first.StartOffset, value.EndOffset, -1}
		if i := value.EndOffset + len(value.AfterExtra); i < len(text) && text[i] == ',' {
			s.comma = i
		}
		all = append(all, s)
	}
	switch c := v.Value.(type) {
	case *hujson.Object:
		for _, m := range c.Members {
			add(m.Name, m.Value)
		}
	case *hujson.Array:
		for _, e := range c.Elements {
			add(e, e)
		}
	}
	return all
}

// insert adds an item at the end of an object or a list, in the layout of those
// before it.
func insert(text []byte, root, into hujson.Value, label string, value any) ([]byte, error) {
	style := styleOf(text, root)
	all := items(text, into)
	if len(all) == 0 {
		return insertFirst(text, style, into, label, value)
	}
	first, last := all[0], all[len(all)-1]
	inline := !bytes.Contains(text[into.StartOffset:first.start], []byte("\n"))
	indent := lineIndent(text, first.start)
	rendered, err := style.render(value, indent, inline)
	if err != nil {
		return nil, err
	}
	item := label + rendered
	if inline {
		if last.comma >= 0 {
			return splice(text, last.comma+1, last.comma+1, " "+item+","), nil
		}
		return splice(text, last.end, last.end, ", "+item), nil
	}
	item = style.newline + indent + item
	if last.comma >= 0 {
		at := endOfLine(text, last.comma+1, into.EndOffset-1)
		return splice(text, at, at, item+","), nil
	}
	at := endOfLine(text, last.end, into.EndOffset-1)
	return splice(splice(text, at, at, item), last.end, last.end, ","), nil
}

// insertFirst adds the first item of an object or a list; a comment in it stays.
func insertFirst(text []byte, style style, into hujson.Value, label string, value any) ([]byte, error) {
	outer := lineIndent(text, into.StartOffset)
	indent := outer + style.unit
	rendered, err := style.render(value, indent, style.inline)
	if err != nil {
		return nil, err
	}
	from, to := into.StartOffset+1, into.EndOffset-1
	kept := strings.TrimRight(string(text[from:to]), " \t\r\n")
	if style.inline && kept == "" {
		return splice(text, from, to, label+rendered), nil
	}
	return splice(text, from, to, kept+style.newline+indent+label+rendered+style.newline+outer), nil
}

// jsonRemove removes the value at a path, and then the objects and lists that have become
// empty. It returns nil if nothing remains; a comment keeps the object that contains it.
func jsonRemove(text []byte, path []string) ([]byte, error) {
	if body, ok := bytes.CutPrefix(text, byteOrderMark); ok {
		out, err := jsonRemove(body, path)
		if err != nil || out == nil {
			return out, err
		}
		return append(bytes.Clone(byteOrderMark), out...), nil
	}
	root, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	if _, steps := walk(&root, path); steps < len(path) {
		return text, nil
	}
	// Upwards, past parents without other items.
	for len(path) > 0 {
		parent, _ := walk(&root, path[:len(path)-1])
		if !holdsOnly(text, *parent) {
			break
		}
		path = path[:len(path)-1]
	}
	if len(path) == 0 {
		if len(bytes.TrimSpace(text[:root.StartOffset]))+len(bytes.TrimSpace(text[root.EndOffset:])) == 0 {
			return nil, nil
		}
		return splice(text, root.StartOffset, root.EndOffset, "{}"), nil
	}
	parent, _ := walk(&root, path[:len(path)-1])
	target := step(parent, path[len(path)-1])
	all := items(text, *parent)
	i := 0
	for all[i].end != target.EndOffset {
		i++
	}
	from, to := all[i].start, all[i].end
	for from > 0 && strings.IndexByte(" \t\r\n", text[from-1]) >= 0 {
		from--
	}
	if all[i].comma >= 0 {
		to = all[i].comma + 1
		if i == 0 && from == all[i].start { // a list on one line, which begins with the next item
			to += len(text[to:]) - len(bytes.TrimLeft(text[to:], " \t"))
		}
		return splice(text, from, to, ""), nil
	}
	text = splice(text, from, to, "")
	if i > 0 { // the last item: the comma before it is not needed any more
		comma := all[i-1].comma
		text = splice(text, comma, comma+1, "")
	}
	return text, nil
}

// holdsOnly says whether an object or a list has exactly one item and no comment.
func holdsOnly(text []byte, v hujson.Value) bool {
	all := items(text, v)
	if len(all) != 1 {
		return false
	}
	rest := string(text[v.StartOffset+1:all[0].start]) + string(text[all[0].end:v.EndOffset-1])
	return strings.Trim(rest, " \t\r\n,") == ""
}

// style is how a file is laid out.
type style struct {
	unit, newline string
	// inline says that the file is written on one line.
	inline bool
}

func styleOf(text []byte, root hujson.Value) style {
	s := style{unit: "  ", newline: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		s.newline = "\r\n"
	}
	all := items(text, root)
	if len(all) == 0 {
		return s
	}
	if s.inline = !spans(text, root); s.inline {
		return s
	}
	if unit := lineIndent(text, all[0].start); unit != "" {
		s.unit = unit
	}
	return s
}

// render writes a value; its first line continues the current line.
func (s style) render(value any, indent string, inline bool) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // people read it
	if !inline {
		encoder.SetIndent(indent, s.unit)
	}
	if err := encoder.Encode(value); err != nil {
		return "", fmt.Errorf("encode value: %w", err)
	}
	return strings.ReplaceAll(strings.TrimSuffix(out.String(), "\n"), "\n", s.newline), nil
}

// spans says whether a value takes more than one line.
func spans(text []byte, v hujson.Value) bool {
	return bytes.Contains(text[v.StartOffset:v.EndOffset], []byte("\n"))
}

// lineIndent is the white space at the beginning of the line of an offset.
func lineIndent(text []byte, offset int) string {
	line := text[bytes.LastIndexByte(text[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// endOfLine is the end of a line that has, from an offset on, only white space and whole
// comments; otherwise the offset.
func endOfLine(text []byte, from, most int) int {
	line := text[from:most]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	line = bytes.TrimRight(line, " \t\r")
	if open := bytes.LastIndex(line, []byte("/*")); open >= 0 && !bytes.Contains(line[open:], []byte("*/")) && !bytes.Contains(line[:open], []byte("//")) {
		return from
	}
	return from + len(line)
}

// splice replaces a range of a text, in a copy.
func splice(text []byte, from, to int, with string) []byte {
	out := make([]byte, 0, len(text)-(to-from)+len(with))
	out = append(out, text[:from]...)
	out = append(out, with...)
	return append(out, text[to:]...)
}
