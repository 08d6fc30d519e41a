package contextfile

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// serverNames reads the names of servers from the settings of an MCP client, and nothing
// else. Problems quote nothing, because a name may be a secret in the wrong place.
func (l *scan) serverNames(p, text, under string) memory.FileEntries {
	f := memory.FileEntries{Path: p}
	names, line, err := namesUnder(text, under)
	if err != nil {
		l.problem(p, line, "%v", err)
		return f
	}
	seen := map[string]bool{}
	for _, name := range names {
		server := memory.Server{Name: name}
		if server.Validate("") != nil {
			l.problem(p, 0, "has a server whose name is not one line of 1–200 characters")
			continue
		}
		if !seen[server.Name] {
			seen[server.Name] = true
			f.Servers = append(f.Servers, server)
		}
	}
	return f
}

var errNotJSON = errors.New("is not a JSON object")

// namesUnder returns the names of the objects in the field under of a JSON object.
// Comments and trailing commas are allowed, as editors write them. If the text is not
// JSON, line, from 1, is where it stops being so. Everything else is skipped without
// being decoded or copied.
func namesUnder(text, under string) (names []string, line int, err error) {
	r := &jsonReader{text: text}
	ok := r.object(func(field string) bool {
		if field != under || !r.next('{') {
			return r.skip()
		}
		return r.object(func(name string) bool {
			if r.next('{') {
				names = append(names, strings.Clone(name)) // not the text it stands in
			}
			return r.skip()
		})
	})
	if r.space(); !ok || r.at < len(text) {
		return nil, 1 + strings.Count(text[:min(r.at, len(text))], "\n"), errNotJSON
	}
	return names, 0, nil
}

// jsonReader reads JSON with comments. Its methods return false at invalid JSON, and at
// is its position.
type jsonReader struct {
	text string
	at   int
}

// space skips white space and comments.
func (r *jsonReader) space() {
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			r.at++
		case strings.HasPrefix(rest, "//"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			r.at += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				return
			}
			r.at += n + 4
		default:
			return
		}
	}
}

// next reports whether the next character is c, which stays.
func (r *jsonReader) next(c byte) bool {
	r.space()
	return r.at < len(r.text) && r.text[r.at] == c
}

// take skips c if it is next.
func (r *jsonReader) take(c byte) bool {
	ok := r.next(c)
	if ok {
		r.at++
	}
	return ok
}

// object skips an object and calls member with each name; member skips the value.
func (r *jsonReader) object(member func(name string) bool) bool {
	if !r.take('{') {
		return false
	}
	for !r.take('}') {
		start := r.at
		var name string
		if !r.next('"') || !r.string() || json.Unmarshal([]byte(r.text[start:r.at]), &name) != nil ||
			!r.take(':') || !member(name) || !r.take(',') && !r.next('}') {
			return false
		}
	}
	return true
}

// string skips a string.
func (r *jsonReader) string() bool {
	for i := r.at + 1; i < len(r.text); i++ {
		switch r.text[i] {
		case '\\':
			i++
		case '"':
			r.at = i + 1
			return true
		}
	}
	return false
}

// skip skips a value. Of lists and objects it only finds the end, without checking them.
func (r *jsonReader) skip() bool {
	depth := 0
	for {
		if r.space(); r.at >= len(r.text) {
			return false
		}
		switch c := r.text[r.at]; c {
		case '{', '[':
			depth++
			r.at++
		case '}', ']':
			if depth--; depth < 0 {
				return false
			}
			r.at++
		case ',', ':':
			if depth == 0 {
				return false
			}
			r.at++
			continue
		case '"':
			if !r.string() {
				return false
			}
		default: // a number or a word
			n := strings.IndexAny(r.text[r.at:], " \t\r\n,:{}[]\"/")
			if n < 0 {
				n = len(r.text) - r.at
			}
			if n == 0 { // a slash that begins no comment
				return false
			}
			r.at += n
		}
		if depth == 0 {
			return true
		}
	}
}
