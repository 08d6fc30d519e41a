package code

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/language"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/redact"
	"github.com/recalld/recalld/internal/source/code/chunk"
)

var _ memory.AnchorReader = (*Verifier)(nil)

// telling is how many letters and digits make a line worth comparing: "}" and "else" are
// in every file.
const telling = 5

// Anchor implements memory.AnchorReader. The file is split as the index splits it, so an
// anchor needs no index. A symbol is the part of the file that all its chunks cover.
func (*Verifier) Anchor(ctx context.Context, at memory.Location, want memory.AnchorRequest) (memory.Anchor, error) {
	src, reason := textOf(ctx, at)
	if reason != "" {
		return memory.Anchor{}, &memory.GateError{Reason: reason, Path: at.Path}
	}
	lang := language.Of(at.Path, src)
	chunks := chunk.Split(at.Path, lang, src)
	if len(chunks) == 0 {
		return memory.Anchor{}, memory.Invalid("path", "a file with text", "%s has no text", memory.Quote(at.Path))
	}
	a := memory.Anchor{Path: at.Path, Symbol: want.Symbol}
	// first and last are lines, from 1; holder is the chunk with the first of them.
	var first, last int
	var holder chunk.Chunk
	switch {
	case want.Symbol != "":
		found, err := declares(chunks, want.Symbol, at.Path)
		if err != nil {
			return memory.Anchor{}, err
		}
		holder, first, last = found[0], found[0].StartLine, found[len(found)-1].EndLine
	case len(want.Lines) == 2:
		first, last = want.Lines[0], want.Lines[1]
		if lines := len(chunk.LineStarts(src)) - 1; last > lines {
			return memory.Anchor{}, memory.Invalid("lines", fmt.Sprintf("1–%d", lines), "%s has %s", memory.Quote(at.Path), memory.Count(lines, "line"))
		}
		holder = chunkWith(chunks, first)
	default:
		a.Whole, holder, first, last = true, chunks[0], chunks[0].StartLine, chunks[len(chunks)-1].EndLine
	}
	starts := chunk.LineStarts(src)
	start, end := starts[first-1], starts[last]
	end -= len(src[start:end]) - len(bytes.TrimRight(src[start:end], "\r\n"))
	if end = max(end, start); end == start {
		return memory.Anchor{}, memory.Invalid("lines", "lines with text", "the lines of %s are blank", memory.Quote(at.Path))
	}
	last = first + bytes.Count(src[start:end], []byte("\n"))
	a.Code = memory.FileChunk{
		Doc: memory.DocumentID(holder.Doc), Hash: hashOf(src[start:end]), Start: start, End: end, StartLine: first, EndLine: last,
		Symbol: chunk.Truncate(holder.Symbol, memory.MaxNameText),
	}
	a.Sketch = sketch(src[start:end])
	return a, nil
}

// chunkWith returns the chunk that holds a line, or the nearest before it.
func chunkWith(chunks []chunk.Chunk, line int) chunk.Chunk {
	best := chunks[0]
	for _, c := range chunks {
		if c.StartLine <= line {
			best = c
		}
	}
	return best
}

// declares returns the chunks of a declaration or heading: those that have its name as
// their symbol, else the one that declares the name beside others. A name that several
// types declare needs its type.
func declares(chunks []chunk.Chunk, symbol, path string) ([]chunk.Chunk, error) {
	const limit = "a declaration or heading of the file"
	name := strings.NewReplacer("::", ".", "#", ".", "->", ".", "(", "", ")", "", "*", "").Replace(symbol)
	if strings.ContainsAny(symbol, " ") { // a heading
		name = symbol
	}
	within := map[string]bool{} // symbols that are or end with the name
	var found []chunk.Chunk
	for _, c := range chunks {
		if c.Symbol == name || strings.HasSuffix(c.Symbol, "."+name) || strings.HasSuffix(c.Symbol, "> "+name) {
			within[c.Symbol] = true
			found = append(found, c)
		}
	}
	if exact := slices.DeleteFunc(slices.Clone(found), func(c chunk.Chunk) bool { return c.Symbol != name }); len(exact) > 0 {
		return exact, nil
	}
	switch {
	case len(within) > 1:
		return nil, memory.Invalid("symbol", limit, "%s is declared %d times in %s; give its type as well", memory.Quote(symbol), len(within), memory.Quote(path))
	case len(found) > 0:
		return found, nil
	}
	own := name[strings.LastIndexByte(name, '.')+1:]
	for _, c := range chunks {
		if slices.Contains(c.Defines, own) {
			found = append(found, c)
		}
	}
	switch len(found) {
	case 1:
		return found, nil
	case 0:
		return nil, memory.Invalid("symbol", limit, "%s declares no %s", memory.Quote(path), memory.Quote(symbol))
	}
	return nil, memory.Invalid("symbol", limit, "%s is declared %d times in %s; give lines instead", memory.Quote(symbol), len(found), memory.Quote(path))
}

// Compare implements memory.AnchorReader. A file that is too large to be read, or no text,
// holds nothing of an anchor.
func (*Verifier) Compare(ctx context.Context, at memory.Location, anchors []memory.Anchor) ([]memory.AnchorFound, error) {
	src, reason := textOf(ctx, at)
	switch reason {
	case "":
	case memory.Changed, memory.Binary:
		src = nil
	default:
		return nil, &memory.GateError{Reason: reason, Path: at.Path}
	}
	var lines map[uint32]bool // of the file, made when needed
	out := make([]memory.AnchorFound, len(anchors))
	for i, a := range anchors {
		start, same := find(ctx, src, a.Code)
		if ctx.Err() != nil {
			return nil, &memory.GateError{Reason: memory.TooSlow, Path: at.Path}
		}
		if same {
			first := bytes.Count(src[:start], []byte("\n")) + 1
			out[i] = memory.AnchorFound{Same: true, StartLine: first, EndLine: first + a.Code.EndLine - a.Code.StartLine}
			continue
		}
		if lines == nil {
			lines = map[uint32]bool{}
			eachLine(src, func(hash uint32) { lines[hash] = true })
		}
		out[i] = missing(a, src, lines)
	}
	return out, nil
}

// missing says how much of an anchor a file lacks, and counts at least one line: the text
// is another one. A line that the file has elsewhere counts as there.
func missing(a memory.Anchor, src []byte, lines map[uint32]bool) memory.AnchorFound {
	all, lost := len(a.Sketch)/4, 0
	for i := range all {
		if !lines[binary.BigEndian.Uint32(a.Sketch[4*i:])] {
			lost++
		}
	}
	if all == 0 { // nothing but lines such as "}"
		all, lost = 1, 1
	}
	found := memory.AnchorFound{Changed: float64(max(lost, 1)) / float64(all)}
	name := a.Symbol[strings.LastIndexAny(a.Symbol, ".:#>")+1:]
	found.Gone = lost == all && (name == "" || !containsWord(src, strings.TrimSpace(name))) && (!a.Whole || len(src) == 0)
	return found
}

// containsWord says whether a text has a word, not as a part of another word.
func containsWord(src []byte, word string) bool {
	if word == "" {
		return false
	}
	isName := func(b []byte, last bool) bool {
		r, _ := utf8.DecodeRune(b)
		if last {
			r, _ = utf8.DecodeLastRune(b)
		}
		return len(b) > 0 && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
	}
	for rest := src; ; {
		i := bytes.Index(rest, []byte(word))
		if i < 0 {
			return false
		}
		if !isName(rest[:i], true) && !isName(rest[i+len(word):], false) {
			return true
		}
		rest = rest[i+len(word):]
	}
}

// sketch returns the smallest hashes of a text's lines, each once: of a long text they are
// an even sample (bottom-k sampling). Lines with secrets are left out.
func sketch(text []byte) []byte {
	raw := map[uint32]bool{}
	eachLine(text, func(hash uint32) { raw[hash] = true })
	clean, _ := redact.Code(string(text))
	var hashes []uint32
	eachLine([]byte(clean), func(hash uint32) {
		if raw[hash] {
			hashes = append(hashes, hash)
		}
	})
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	var out []byte
	for _, h := range hashes[:min(len(hashes), memory.MaxSketch/4)] {
		out = binary.BigEndian.AppendUint32(out, h)
	}
	return out
}

// eachLine hashes the lines of a text that say something, without the space around them.
func eachLine(text []byte, yield func(hash uint32)) {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if n := bytes.IndexFunc(line, letterAfter(telling)); n < 0 {
			continue
		}
		h := fnv.New32a()
		_, _ = h.Write(line)
		yield(h.Sum32())
	}
}

// letterAfter returns a function that is true at the n-th letter or digit.
func letterAfter(n int) func(rune) bool {
	return func(r rune) bool {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n--
		}
		return n <= 0
	}
}
