package chunk

import (
	"bytes"
	"strings"

	"github.com/recalld/recalld/internal/language"
	"github.com/recalld/recalld/internal/redact"
)

// Version names the rules by which files are cut and documents written.
// It rises with every change of what comes out, so that what was cut by other
// rules is cut again.
const Version = 2

// Sizes of chunks, in bytes. Code has some 3.5 to 4 bytes a token, so that
// maxChunk is about 500 tokens.
const (
	maxChunk = 2000
	// A unit below smallUnit does not stand for itself: it is joined with its
	// neighbours up to maxJoined.
	smallUnit = 300
	maxJoined = 1200
	// maxOverlap is how much of a part that was cut off begins the next one.
	maxOverlap = 200
	// maxSymbol bounds the symbol of units that were joined.
	maxSymbol = 160
)

// Chunk is a part of a file.
type Chunk struct {
	// Start and End are byte offsets in the file: from the start of a line to
	// the end of one, without its line break and without blank lines around.
	Start, End int
	// StartLine and EndLine count from 1, both ends included.
	StartLine, EndLine int
	// Overlap is how many of its first lines the chunk before has as well. It
	// is not zero only within a unit that is larger than a chunk.
	Overlap int
	// Symbol is the path of the declarations or headings: "Server.Serve",
	// "Install > From source"; of units joined: "Open, Close".
	Symbol string
	// Defines are the names that its own lines declare, in order and each once:
	// functions, methods, types and their members, constants and variables,
	// without what they are declared in: "Serve" for Server.Serve. Of a unit that
	// was cut, only the part with the declaration's first line defines its name.
	Defines []string
	// Doc is the document: what is analysed and embedded.
	Doc string
}

// Chunk cuts a text into chunks, in order. Every line that is not blank is in
// one chunk, those of a declared overlap in two, those of a secret of several
// lines (a private key) in none. A line is never cut: one longer than a chunk
// is a chunk by itself. The same text gives the same chunks. An unknown lang is
// found by path; that is all that path is for. The text must be UTF-8.
func Split(path, lang string, src []byte) []Chunk {
	if lang == "" {
		lang = language.Of(path, src)
	}
	t := newText(src)
	if t.lines() == 0 {
		return nil
	}
	c := &chunker{t: t, lang: lang, hidden: hiddenLines(t)}
	units := unitsOf(t, lang)
	t.sortDefines()
	c.cut(units)
	return c.chunks
}

// unitsOf finds the units of a text and the names that they declare.
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

// hiddenLines marks the lines of secrets that span several. Where such a
// secret is cut in two, neither half can be told for what it is.
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

// maxDocument is how much of a chunk its document holds. Only a line longer
// than a chunk comes near: data, whose end nobody searches for.
const maxDocument = 8000

// DocText writes the document of a chunk: a line with its language and symbol,
// then the text with its secrets replaced by marks and without words that look
// like keys. It depends on nothing else, so that a document can be written
// again from the disk and be told by its hash.
func DocText(lang, symbol, raw string) string {
	var b strings.Builder
	b.Grow(len(lang) + len(symbol) + min(len(raw), maxDocument) + 2)
	b.WriteString(lang)
	if lang != "" && symbol != "" {
		b.WriteByte(' ')
	}
	if symbol != "" {
		// A heading can hold what a text can.
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

// writeWords writes text without words that look like keys and with plain line
// feeds.
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

// minKey is the length from which on a word may be a key.
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

// Truncate returns the first n bytes of a text, less a rune that they cut.
func Truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}
