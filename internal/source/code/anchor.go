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

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/redact"
	"github.com/recalld/recalld/internal/source/code/chunk"
)

var _ memory.AnchorReader = (*Verifier)(nil)

// telling is how many letters and digits make a line worth comparing: "}" and "else" are
// in every file.
const telling = 5

// Anchor implements memory.AnchorReader. The file is cut by the rules of the index, so a
// symbol is found without one.
func (*Verifier) Anchor(ctx context.Context, at memory.Location, want memory.AnchorRequest) (memory.Anchor, error) {
	src, reason := textOf(ctx, at)
	if reason != "" {
		return memory.Anchor{}, &memory.GateError{Reason: reason, Path: at.Path}
	}
	a := memory.Anchor{Path: at.Path, Symbol: want.Symbol, Whole: want.Symbol == "" && len(want.Lines) == 0}
	starts := chunk.LineStarts(src)
	lines := len(starts) - 1
	first, last := 1, lines
	switch {
	case want.Symbol != "":
		u, err := declares(chunk.Units(at.Path, "", src), want.Symbol, at.Path)
		if err != nil {
			return memory.Anchor{}, err
		}
		first, last = u.StartLine, u.EndLine
	case len(want.Lines) == 2:
		if first, last = want.Lines[0], want.Lines[1]; last > lines {
			return memory.Anchor{}, memory.Invalid("lines", fmt.Sprintf("1–%d", lines), "%s has %s", memory.Quote(at.Path), memory.Count(lines, "line"))
		}
	}
	for first < last && blank(src[starts[first-1]:starts[first]]) {
		first++
	}
	for last > first && blank(src[starts[last-1]:starts[last]]) {
		last--
	}
	if lines == 0 || blank(src[starts[first-1]:starts[last]]) {
		return memory.Anchor{}, memory.Invalid("path", "code", "these lines of %s are blank", memory.Quote(at.Path))
	}
	start := starts[first-1]
	text := bytes.TrimRight(src[start:starts[last]], "\r\n")
	a.Code = memory.FileChunk{Hash: hashOf(text), Start: start, End: start + len(text), StartLine: first, EndLine: last}
	a.Sketch = sketch(text)
	return a, nil
}

func blank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }

// declares returns the declaration or heading of a name: the unit that has it as its
// symbol, else the smallest one that declares it. A name that several types declare needs
// its type.
func declares(units []chunk.Unit, symbol, path string) (chunk.Unit, error) {
	name := symbol
	if !strings.Contains(name, " ") { // a heading has blanks
		name = strings.NewReplacer("::", ".", "#", ".", "->", ".", "(", "", ")", "", "*", "").Replace(name)
	}
	own := name[strings.LastIndexByte(name, '.')+1:]
	for _, fits := range []func(chunk.Unit) bool{
		func(u chunk.Unit) bool { return u.Symbol == name },
		func(u chunk.Unit) bool {
			return strings.HasSuffix(u.Symbol, "."+name) || strings.HasSuffix(u.Symbol, headingMark+name)
		},
		func(u chunk.Unit) bool { return slices.Contains(u.Defines, own) },
	} {
		var found []chunk.Unit
		for _, u := range units {
			if !fits(u) {
				continue
			}
			if n := len(found); n > 0 && u.EndLine <= found[n-1].EndLine {
				found[n-1] = u // inside of the one before
			} else {
				found = append(found, u)
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			return chunk.Unit{}, memory.Invalid("symbol", "one declaration or heading", "%s has %d of %s; give its type as well, or lines",
				memory.Quote(path), len(found), memory.Quote(symbol))
		}
	}
	return chunk.Unit{}, memory.Invalid("symbol", "a declaration or heading of the file", "%s declares no %s", memory.Quote(path), memory.Quote(symbol))
}

// headingMark stands between a heading and the one below it.
const headingMark = "> "

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
	lines := map[uint32]bool{} // of the file
	eachLine(src, func(hash uint32) { lines[hash] = true })
	out := make([]memory.AnchorFound, len(anchors))
	for i, a := range anchors {
		// A text whose lines are not all there is not there. To look for it in a file of
		// equally long lines would take seconds.
		if lost(a, lines) > 0 {
			out[i] = missing(a, src, lines)
			continue
		}
		start, same := find(ctx, src, a.Code)
		switch {
		case ctx.Err() != nil:
			return nil, &memory.GateError{Reason: memory.TooSlow, Path: at.Path}
		case same:
			first := bytes.Count(src[:start], []byte("\n")) + 1
			out[i] = memory.AnchorFound{Same: true, StartLine: first, EndLine: first + a.Code.EndLine - a.Code.StartLine}
		default:
			out[i] = missing(a, src, lines)
		}
	}
	return out, nil
}

// lost counts the lines of an anchor that a file lacks.
func lost(a memory.Anchor, lines map[uint32]bool) (n int) {
	for i := range len(a.Sketch) / 4 {
		if !lines[binary.BigEndian.Uint32(a.Sketch[4*i:])] {
			n++
		}
	}
	return n
}

// missing says how much of an anchor a file lacks, and counts at least one line: the text
// is another one. A line that the file has elsewhere counts as there.
func missing(a memory.Anchor, src []byte, lines map[uint32]bool) memory.AnchorFound {
	all, lost := len(a.Sketch)/4, lost(a, lines)
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
	isName := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for at := 0; ; {
		i := bytes.Index(src[at:], []byte(word))
		if i < 0 {
			return false
		}
		at += i + len(word)
		last, _ := utf8.DecodeLastRune(src[:at-len(word)])
		next, _ := utf8.DecodeRune(src[at:])
		if !isName(last) && !isName(next) {
			return true
		}
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
		if bytes.IndexFunc(line, letterAfter(telling)) < 0 {
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
