// Package chunk splits a text into chunks, the parts of a file that are stored, analysed
// and embedded. It is a pure function of the text and its language.
//
// A unit is a part of a text that belongs together: a declaration with its comment, a
// section. Small units are joined to one chunk, large ones are split, by their members or
// at the cheapest lines. The symbol of a chunk is the path of the declarations or headings
// around it. Its document is the text that is analysed and embedded: language, symbol and
// text without secrets. The path is not part of it, so that renamed files and further
// worktrees share documents.
//
// Units are found by go/parser for Go, by headings for Markdown, and else by a scanner that
// tells code from strings and comments (syntax.go is its table of languages) and two
// splitters, one for braces and one for indentation. Heads of declarations are read word by
// word: typed.go is for languages with the type before the name, worded.go for those with a
// keyword before it. indented.go has a pattern for each language without braces.
package chunk

import (
	"bytes"
	"strings"

	"github.com/recalld/recalld/internal/language"
	"github.com/recalld/recalld/internal/redact"
)

// Version is the version of the rules by which files are split and documents written. It
// rises with every change of the output, so that files split by older rules are split
// again.
const Version = 4

// Sizes of chunks, in bytes. Code has 3.5 to 4 bytes a token, so maxChunk is about 500
// tokens.
const (
	maxChunk = 2000
	// A unit below smallUnit is joined with its neighbours up to maxJoined.
	smallUnit = 300
	maxJoined = 1200
	// maxOverlap is how much of the end of a part is repeated at the start of the next
	// one.
	maxOverlap = 200
	// maxSymbol bounds the symbol of joined units.
	maxSymbol = 160
)

// Chunk is a part of a file.
type Chunk struct {
	// Start and End are byte offsets in the file: from the start of a line to the end of
	// one, without its line break and without blank lines around.
	Start, End int
	// StartLine and EndLine count from 1, both ends included.
	StartLine, EndLine int
	// Overlap is how many of the first lines are also in the chunk before. It is zero
	// except within a unit that is larger than a chunk.
	Overlap int
	// Symbol is the path of the declarations or headings, "Server.Serve" or "Install >
	// From source"; for joined units their names, "Open, Close".
	Symbol string
	// Defines are the names declared in the lines of the chunk, in order and each once:
	// functions, methods, types and their members, constants and variables, without their
	// container: "Serve" for Server.Serve. Of a unit that was split, only the part with
	// the first line of the declaration defines its name.
	Defines []string
	// Declares says that it has no statement that branches, repeats, returns or fails: it is
	// a type, constants, an interface, imports. Test says that it is a test within a file
	// that is none.
	Declares, Test bool
	// Doc is the document: the text that is analysed and embedded.
	Doc string
}

// Split splits a text into chunks, in order. Every line that is not blank is in one chunk;
// lines of an overlap are in two; lines of a secret of several lines, such as a private
// key, are in none. A line is never split: a longer one is a chunk by itself. The result
// depends on the arguments only. If lang is empty, path and text tell the language; path
// has no other effect. The text must be UTF-8.
func Split(path, lang string, src []byte) []Chunk {
	t, lang, units := read(path, lang, src)
	c := &chunker{t: t, lang: lang, hidden: hiddenLines(t)}
	c.splitAll(units)
	return c.chunks
}

// read finds the language and the units of a text.
func read(path, lang string, src []byte) (*text, string, []unit) {
	if lang == "" {
		lang = language.Of(path, src)
	}
	t := newText(src)
	bare := t
	if body, marked := bytes.CutPrefix(src, byteOrderMark); marked {
		bare = newText(body)
	}
	if bare.lines() == 0 {
		return t, lang, nil
	}
	units := unitsOf(bare, lang)
	bare.sortDefines()
	t.cost, t.defines = bare.cost, bare.defines // by line
	return t, lang, units
}

// byteOrderMark begins texts of some editors. It is no part of the declaration behind it.
var byteOrderMark = []byte("\uFEFF")

// unitsOf finds the units of a text, and records the names that they declare.
func unitsOf(t *text, lang string) []unit {
	switch syntax, known := syntaxes[lang]; {
	case lang == "go":
		return goUnits(t)
	case lang == "markdown":
		return markdownUnits(t)
	case lang == "html" || lang == "vue" || lang == "svelte":
		return markupUnits(t)
	case known:
		return syntax.units(t, lang)
	}
	return textUnits(t)
}

// hiddenLines marks the lines of secrets of several lines. Split in two, neither half of
// such a secret would be recognised.
func hiddenLines(t *text) []bool {
	var hidden []bool
	for _, s := range redact.FindCode(string(t.src)) {
		if bytes.IndexByte(t.src[s.Start:s.End], '\n') < 0 {
			continue
		}
		if hidden == nil {
			hidden = make([]bool, t.lines())
		}
		for i := t.lineAt(s.Start); i <= t.lineAt(s.End-1); i++ {
			hidden[i] = true
		}
	}
	return hidden
}

// maxDocument bounds the document of a chunk. Only single long lines reach it; they are
// data that is not searched for.
const maxDocument = 8000

// DocText writes the document of a chunk: a line with its language and symbol, then the
// text with marks in place of its secrets and without words that look like keys. It
// depends on its arguments only, so that a document can be written again from the file on
// disk and recognised by its hash.
func DocText(lang, symbol, raw string) string {
	var b strings.Builder
	b.Grow(len(lang) + len(symbol) + min(len(raw), maxDocument) + 2)
	b.WriteString(lang)
	if lang != "" && symbol != "" {
		b.WriteByte(' ')
	}
	if symbol != "" {
		// A heading can contain a secret, too.
		clean, _ := redact.Code(symbol)
		writeWords(&b, clean)
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	clean, _ := redact.Code(Truncate(raw, maxDocument))
	writeWords(&b, clean)
	return b.String()
}

// writeWords writes text without words that look like keys, with plain line feeds.
func writeWords(b *strings.Builder, text string) {
	from := 0
	for i := 0; i < len(text); {
		if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			b.WriteString(text[from:i])
			i++
			from = i
			continue
		}
		if !keyByte[text[i]] {
			i++
			continue
		}
		start := i
		for i < len(text) && keyByte[text[i]] {
			i++
		}
		if i-start >= minKey && redact.DropHighEntropy(text[start:i]) {
			b.WriteString(text[from:start])
			from = i
		}
	}
	b.WriteString(text[from:])
}

// minKey is the length from which a word may be a key.
const minKey = 20

// keyByte are the bytes of base64, hexadecimal and UUIDs.
var keyByte = func() (is [256]bool) {
	for c := range 256 {
		is[c] = c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for _, c := range "+/=_-" {
		is[c] = true
	}
	return is
}()

// Truncate returns the first n bytes of a text, or fewer to end with a whole rune.
func Truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}
