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

	"github.com/recalld/recalld/internal/fsx"
)

// This file edits JSON with comments and trailing commas. It uses the parser's positions to
// cut and join the text, so that everything else stays byte for byte. Paths are keys of
// objects and indices of lists.

var byteOrderMark = []byte(fsx.ByteOrderMark)

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
	value, err := jsonGet(text, path)
	if err != nil {
		return nil, err
	}
	old, object := value.(map[string]any)
	if !object {
		return jsonSet(text, path, e.entry)
	}
	if addressed(old) {
		return nil, errAddressed
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
	text, err := jsonRemoveAll(text, e.path)
	if err != nil || e.newer == nil {
		return text, err
	}
	return jsonRemoveAll(text, e.newer)
}

// jsonRemoveAll removes a member that may be there twice: a client reads the last.
func jsonRemoveAll(text []byte, path []string) ([]byte, error) {
	for {
		left, err := jsonRemove(text, path)
		if err != nil || len(left) == len(text) {
			return left, err
		}
		text = left
	}
}

// args are the arguments in the entry: its list "args", or what follows the program in its
// list "command".
func (e jsonEntry) args(text []byte) (args []string) {
	path, err := e.at(text)
	if err != nil {
		return nil
	}
	value, err := jsonGet(text, path)
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
	parent, err := jsonGet(text, e.newer[:len(e.newer)-1])
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
	var all []member
	for _, m := range value.Value.(*hujson.Object).Members {
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

// index returns the position of a key in an object, or of an index in a list, -1 if there is
// none. Of a key that is there twice the last counts, as it does for clients.
func index(v *hujson.Value, key string) int {
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i, m := range slices.Backward(c.Members) {
			if m.Name.Value.(hujson.Literal).String() == key {
				return i
			}
		}
	case *hujson.Array:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(c.Elements) {
			return i
		}
	}
	return -1
}

// walk follows a path as far as it exists: it returns the last value, and the number of
// steps to it.
func walk(root *hujson.Value, path []string) (at *hujson.Value, steps int) {
	at = root
	for _, key := range path {
		i := index(at, key)
		if i < 0 {
			break
		}
		switch c := at.Value.(type) {
		case *hujson.Object:
			at = &c.Members[i].Value
		case *hujson.Array:
			at = &c.Elements[i]
		}
		steps++
	}
	return at, steps
}

// jsonGet returns the value at a path, decoded; nil if there is none.
func jsonGet(text []byte, path []string) (value any, err error) {
	root, err := parseJSON(bytes.TrimPrefix(text, byteOrderMark))
	if err != nil {
		return nil, err
	}
	at, steps := walk(&root, path)
	if steps < len(path) {
		return nil, nil
	}
	if value, err = decoded(*at); err != nil {
		return nil, fmt.Errorf("decode %s: %w", strings.Join(path, "."), err)
	}
	return value, nil
}

// decoded is a value as package json decodes it.
func decoded(v hujson.Value) (value any, err error) {
	plain := v.Clone()
	plain.Standardize()
	err = json.Unmarshal(plain.Pack(), &value)
	return value, err
}

// jsonSet puts a value at a path, making the objects on the way. An equal value, in
// whatever layout, is not changed. The last step may be "-", which adds an element to a
// list.
func jsonSet(text []byte, path []string, value any) ([]byte, error) {
	body := bytes.TrimPrefix(text, byteOrderMark)
	mark := text[:len(text)-len(body)]
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{}\n")
	}
	root, err := parseJSON(body)
	if err != nil {
		return nil, err
	}
	at, steps := walk(&root, path)
	style := styleOf(body, root)
	if steps == len(path) {
		if same, err := equalJSON(*at, value); err != nil || same {
			return text, err
		}
		at.Value, err = style.render(value, lineIndent(body, at.StartOffset), !spans(body, *at))
		return slices.Concat(mark, root.Pack()), err
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
	_, object := at.Value.(*hujson.Object)
	if _, list := at.Value.(*hujson.Array); !object && !(list && missing[0] == "-") {
		return nil, fmt.Errorf("line %d: %s is not an object, so %q cannot be added",
			1+bytes.Count(body[:at.StartOffset], []byte("\n")), strings.Join(path[:steps], "."), missing[0])
	}
	err = insert(body, style, at, missing[0], value)
	return slices.Concat(mark, root.Pack()), err
}

// equalJSON says whether a value in a file equals one of ours.
func equalJSON(at hujson.Value, value any) (bool, error) {
	var is, want any
	encoded, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(encoded, &want)
	}
	if err == nil {
		is, err = decoded(at)
	}
	if err != nil {
		return false, fmt.Errorf("compare values: %w", err)
	}
	return reflect.DeepEqual(is, want), nil
}

// item is what stands around one item of an object or a list: before its name or its value,
// and between its value and the comma. after is nil if the last item has no comma.
type item struct{ before, after *hujson.Extra }

// items lists the items of an object or a list; end is what stands after them.
func items(v *hujson.Value) (all []item, end *hujson.Extra) {
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i := range c.Members {
			all = append(all, item{&c.Members[i].Name.BeforeExtra, &c.Members[i].Value.AfterExtra})
		}
		end = &c.AfterExtra
	case *hujson.Array:
		for i := range c.Elements {
			all = append(all, item{&c.Elements[i].BeforeExtra, &c.Elements[i].AfterExtra})
		}
		end = &c.AfterExtra
	}
	return all, end
}

// insert adds an item at the end of an object or a list, in the layout of those before it. A
// comment in an empty one stays.
func insert(text []byte, style style, into *hujson.Value, key string, value any) error {
	all, end := items(into)
	before, indent, inline := " ", "", style.inline
	var after hujson.Extra
	switch kept := string(blankEnd(*end)); {
	case len(all) == 0 && inline && kept == "":
		before, *end = "", nil
	case len(all) == 0:
		outer := lineIndent(text, into.StartOffset)
		indent = outer + style.unit
		before, *end = kept+style.newline+indent, hujson.Extra(style.newline+outer)
	case !bytes.Contains(*all[0].before, []byte("\n")):
		inline = true
	default:
		inline, indent = false, lineIndent(*all[0].before, len(*all[0].before))
		n := endOfLine(*end)
		before, *end = string((*end)[:n])+style.newline+indent, (*end)[n:]
	}
	if len(all) > 0 && *all[len(all)-1].after != nil {
		after = hujson.Extra{}
	}
	rendered, err := style.render(value, indent, inline)
	switch c := into.Value.(type) {
	case *hujson.Object:
		c.Members = append(c.Members, hujson.ObjectMember{
			Name:  hujson.Value{BeforeExtra: hujson.Extra(before), Value: hujson.String(key)},
			Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: rendered, AfterExtra: after},
		})
	case *hujson.Array:
		c.Elements = append(c.Elements, hujson.Value{BeforeExtra: hujson.Extra(before), Value: rendered, AfterExtra: after})
	}
	return err
}

// jsonRemove removes the value at a path, and then the objects and lists that have become
// empty. It returns nil if nothing remains; a comment keeps the object that contains it.
func jsonRemove(text []byte, path []string) ([]byte, error) {
	body := bytes.TrimPrefix(text, byteOrderMark)
	root, err := parseJSON(body)
	if err != nil {
		return nil, err
	}
	if _, steps := walk(&root, path); steps < len(path) {
		return text, nil
	}
	for {
		if len(path) == 0 {
			if len(blankEnd(root.BeforeExtra))+len(blankEnd(root.AfterExtra)) == 0 {
				return nil, nil
			}
			root.Value = &hujson.Object{}
			break
		}
		if parent, _ := walk(&root, path[:len(path)-1]); !holdsOnly(parent) {
			remove(parent, index(parent, path[len(path)-1]))
			break
		}
		path = path[:len(path)-1]
	}
	return slices.Concat(text[:len(text)-len(body)], root.Pack()), nil
}

// remove removes an item of an object or a list. Comments before it stay.
func remove(v *hujson.Value, i int) {
	all, end := items(v)
	kept, rest := blankEnd(*all[i].before), end
	switch last := i == len(all)-1; {
	case !last:
		rest = all[i+1].before
		if i == 0 && len(*all[i].before) == 0 { // a list on one line, which begins with the next item
			*rest = bytes.TrimLeft(*rest, " \t")
		}
	case i > 0 && *all[i].after == nil: // the comma before it is not needed any more
		kept, *all[i-1].after = slices.Concat(*all[i-1].after, kept), nil
	case i > 0 && *all[i-1].after == nil:
		*all[i-1].after = hujson.Extra{}
	}
	comment := kept[bytes.LastIndexByte(kept, '\n')+1:]
	if bytes.Contains(comment, []byte("//")) && !bytes.HasPrefix(bytes.TrimLeft(*rest, " \t\r"), []byte("\n")) {
		kept = append(slices.Clone(kept), '\n') // what follows would be in the comment
	}
	*rest = slices.Concat(kept, *rest)
	switch c := v.Value.(type) {
	case *hujson.Object:
		c.Members = slices.Delete(c.Members, i, i+1)
	case *hujson.Array:
		c.Elements = slices.Delete(c.Elements, i, i+1)
	}
}

// holdsOnly says whether an object or a list has exactly one item and no comment.
func holdsOnly(v *hujson.Value) bool {
	all, end := items(v)
	return len(all) == 1 && len(blankEnd(*all[0].before))+len(blankEnd(*all[0].after))+len(blankEnd(*end)) == 0
}

// blankEnd is a text without the white space at its end.
func blankEnd(text hujson.Extra) hujson.Extra { return bytes.TrimRight(text, " \t\r\n") }

// style is how a file is laid out.
type style struct {
	unit, newline string
	// inline says that the file is written on one line.
	inline bool
}

func styleOf(text []byte, root hujson.Value) style {
	s := style{unit: "  ", newline: newlineOf(text)}
	all, _ := items(&root)
	if len(all) == 0 {
		return s
	}
	if s.inline = !spans(text, root); s.inline {
		return s
	}
	if unit := lineIndent(text, root.StartOffset+1+len(*all[0].before)); unit != "" {
		s.unit = unit
	}
	return s
}

// render writes a value; its first line continues the current line.
func (s style) render(value any, indent string, inline bool) (hujson.ValueTrimmed, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // people read it
	if !inline {
		encoder.SetIndent(indent, s.unit)
	}
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encode value: %w", err)
	}
	written, err := hujson.Parse(bytes.ReplaceAll(bytes.TrimSpace(out.Bytes()), []byte("\n"), []byte(s.newline)))
	return written.Value, err
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

// endOfLine is the length of the first line of what stands after an item, if it has only
// white space and whole comments; otherwise 0.
func endOfLine(extra hujson.Extra) int {
	line, _, _ := bytes.Cut(extra, []byte("\n"))
	line = bytes.TrimRight(line, " \t\r")
	if open := bytes.LastIndex(line, []byte("/*")); open >= 0 && !bytes.Contains(line[open:], []byte("*/")) && !bytes.Contains(line[:open], []byte("//")) {
		return 0
	}
	return len(line)
}

// newlineOf is how the lines of a text end.
func newlineOf(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// splice replaces a range of a text, in a copy.
func splice(text []byte, from, to int, with string) []byte {
	return slices.Concat(text[:from], []byte(with), text[to:])
}
