package agentctx

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

// toolNames returns the names of tools that a summary names, in the order in which they
// first occur: "read_file", or "filesystem:read_file" where it is written with its
// server. Case does not matter, and a name counts as a whole only:
//
//   - with its server, as server:tool, or as clients show it, server__tool and
//     mcp__server__tool, it counts anywhere; web/search may be a folder;
//   - alone it counts anywhere if it is no ordinary word: read_file, readFile,
//     read-file;
//   - an ordinary word (search, Edit, read file) counts in code marks only.
//
// The name of a file counts as none: read_file.go says what was worked on.
func toolNames(summary string, tools []memory.ToolRef) []string {
	text := summaryText{lower: strings.ToLower(summary)}
	text.code = codeSpans(text.lower)
	type mention struct {
		at   int
		name string
	}
	var found []mention
	seen := make(map[string]bool, len(tools))
	for _, tool := range tools {
		text.mentions(tool, func(at int, name string) {
			if !seen[name] { // tools of several servers may share it
				seen[name] = true
				found = append(found, mention{at, name})
			}
		})
	}
	slices.SortFunc(found, func(a, b mention) int {
		return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.name, b.name))
	})
	names := make([]string, len(found))
	for i, m := range found {
		names[i] = m.name
	}
	return names
}

// summaryText is a summary in which names are looked for.
type summaryText struct {
	lower string
	code  [][2]int // what stands in code marks, from and to, in order
}

// mentions calls each with every place where a tool is named, and the name there: with its
// server, or without.
func (t summaryText) mentions(tool memory.ToolRef, each func(at int, name string)) {
	name, server := strings.ToLower(tool.ToolName), strings.ToLower(tool.ServerName)
	if name == "" {
		return
	}
	ordinary := isOrdinary(tool.ToolName)
	for from := 0; ; {
		i := strings.Index(t.lower[from:], name)
		if i < 0 {
			return
		}
		at := from + i
		end := at + len(name)
		_, size := utf8.DecodeRuneInString(t.lower[at:])
		from = at + size
		if start, ok := t.qualified(at, server); ok && t.endsAt(end, name, false) {
			each(start, tool.String())
		} else if (!ordinary || t.inCode(at, end)) && t.startsAt(at, name, ordinary) && t.endsAt(end, name, ordinary) {
			each(at, tool.ToolName)
		}
	}
}

// qualified reports whether the server's name stands directly before a position, and
// where that name begins.
func (t summaryText) qualified(at int, server string) (start int, ok bool) {
	if server == "" {
		return 0, false
	}
	for _, sep := range []string{":", "__"} {
		head, ok := strings.CutSuffix(t.lower[:at], server+sep)
		if !ok {
			continue
		}
		if sep == "__" {
			head = strings.TrimSuffix(head, "mcp__")
		}
		if t.startsAt(len(head), server, false) {
			return len(head), true
		}
	}
	return 0, false
}

// startsAt reports whether no identifier goes on where a name begins. Of an ordinary word,
// the parts of a path are one identifier.
func (t summaryText) startsAt(at int, name string, ordinary bool) bool {
	before, _ := utf8.DecodeLastRuneInString(t.lower[:at])
	switch {
	case at == 0:
		return true
	case isWord(before):
		return false
	case before == '-':
		return !(ordinary || strings.Contains(name, "-")) || !endsInWord(t.lower[:at-1])
	case ordinary && strings.ContainsRune(`/\.$`, before):
		return false
	}
	return true
}

// endsAt reports whether a name ends at an index: no identifier continues there, and the name
// is not a file's name.
func (t summaryText) endsAt(end int, name string, ordinary bool) bool {
	rest := t.lower[end:]
	after, size := utf8.DecodeRuneInString(rest)
	next, _ := utf8.DecodeRuneInString(rest[size:])
	switch {
	case rest == "":
		return true
	case isWord(after):
		return false
	case after == '-':
		return !(ordinary || strings.Contains(name, "-")) || !isWord(next)
	case after == '.':
		return !isExtension(rest[1:])
	case ordinary && (after == '/' || after == '\\'):
		return false
	}
	return true
}

// maxExtension is how long the extension of a file's name is at most, in bytes:
// "config".
const maxExtension = 6

// isExtension reports whether a text begins with the extension of a file's name.
func isExtension(text string) bool {
	n := strings.IndexFunc(text, func(r rune) bool { return !isWord(r) })
	if n < 0 {
		n = len(text)
	}
	return 0 < n && n <= maxExtension
}

// inCode reports whether a range stands in code marks.
func (t summaryText) inCode(from, to int) bool {
	i, _ := slices.BinarySearchFunc(t.code, from, func(span [2]int, at int) int { return cmp.Compare(span[1], at+1) })
	return i < len(t.code) && t.code[i][0] <= from && to <= t.code[i][1]
}

// codeSpans returns what stands in code marks: as in Markdown, a run of backticks opens
// what the next run of as many closes. A block that is never closed goes to the end.
func codeSpans(text string) [][2]int {
	var spans [][2]int
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '`')
		if i < 0 {
			return spans
		}
		open := at + i
		n := run(text[open:])
		at = open + n
		end, ok := closing(text, at, n)
		switch {
		case ok:
			spans = append(spans, [2]int{at, end})
			at = end + n
		case n >= 3:
			return append(spans, [2]int{at, len(text)})
		}
	}
}

// closing returns where the next run of n backticks begins.
func closing(text string, at, n int) (int, bool) {
	for {
		i := strings.IndexByte(text[at:], '`')
		if i < 0 {
			return 0, false
		}
		at += i
		length := run(text[at:])
		if length == n {
			return at, true
		}
		at += length
	}
}

// run is how many backticks a text begins with.
func run(text string) int { return len(text) - len(strings.TrimLeft(text, "`")) }

// isOrdinary reports whether a name may be a word of a sentence, or several: letters and
// digits, with capitals at the beginning only or throughout.
func isOrdinary(name string) bool {
	for word := range strings.FieldsSeq(name) {
		_, first := utf8.DecodeRuneInString(word)
		if strings.ContainsFunc(word, func(r rune) bool { return r == '_' || !isWord(r) }) ||
			strings.ContainsFunc(word[first:], unicode.IsUpper) && strings.ContainsFunc(word, unicode.IsLower) {
			return false
		}
	}
	return true
}

// isWord reports whether a character may be within an identifier of any language.
func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func endsInWord(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return isWord(r)
}
