package render

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// codePainter paints comments, texts and keywords in code, line by line. A library of
// lexers would know more, and costs every hook its start (decision 70).
type codePainter struct {
	remark string // what begins a comment; empty paints nothing
	quotes string // what encloses a text
	words  string // the keywords, with spaces around each
	block  bool   // in a comment of several lines
}

// keywords are those of the languages that most code is in, by the extensions of files.
var keywords = []struct{ extensions, words string }{
	{"go", " break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var "},
	{"py pyi", " and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield "},
	{"js jsx mjs cjs ts tsx mts", " async await break case catch class const continue default delete do else enum export extends finally for function if implements import in instanceof interface let new of return static switch throw try type typeof var void while yield "},
	{"rs", " as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return static struct trait type unsafe use where while "},
	{"c h cc cpp hpp", " break case catch class const constexpr continue default delete do else enum extern for goto if inline namespace new operator private protected public return sizeof static struct switch template throw try typedef typename union using virtual void volatile while "},
	{"java kt kts cs scala groovy swift dart", " abstract async await break case catch class const continue default do else enum extends extension final finally for fun func if implements import in interface internal let namespace new object override package private protected public return sealed static struct super switch throw throws trait try using val var void when while "},
	{"sh bash zsh", " case do done elif else esac export fi for function if in local return then until while "},
	{"rb", " begin break case class def do else elsif end ensure if in module next nil rescue return self then unless until when while yield "},
}

// newCodePainter returns the painter of the code in a fence, by the extension of its file.
func newCodePainter(extension string) codePainter {
	is := func(extensions string) bool { return slices.Contains(strings.Fields(extensions), extension) }
	var p codePainter
	switch {
	case is("py pyi rb sh bash zsh pl pm yaml yml toml mk r jl ex exs nix tf ps1"):
		p = codePainter{remark: "#", quotes: "\"'"}
	case is("sql lua"):
		p = codePainter{remark: "--", quotes: "\"'"}
	case is("js jsx mjs cjs ts tsx mts php css scss dart"):
		p = codePainter{remark: "//", quotes: "\"'`"}
	case is("go"):
		p = codePainter{remark: "//", quotes: "\"`"}
	case is("c h cc cpp hpp cs java kt kts rs scala swift zig proto groovy"): // a ' may be a lifetime
		p = codePainter{remark: "//", quotes: "\""}
	}
	for _, k := range keywords {
		if is(k.extensions) {
			p.words = k.words
		}
	}
	return p
}

// line paints the next line of the code.
func (p *codePainter) line(line string) string {
	if p.remark == "" {
		return line
	}
	var b strings.Builder
	for line != "" {
		n, colour := p.next(line)
		if colour == "" {
			b.WriteString(line[:n])
		} else {
			b.WriteString(colour + line[:n] + sgrReset)
		}
		line = line[n:]
	}
	return b.String()
}

// next returns the length of the next piece of a line, and its colour.
func (p *codePainter) next(line string) (n int, colour string) {
	switch {
	case p.block, p.remark == "//" && strings.HasPrefix(line, "/*"):
		inside := line
		if !p.block {
			inside = line[len("/*"):]
		}
		_, after, ends := strings.Cut(inside, "*/")
		p.block = !ends
		return len(line) - len(after), sgrDim
	case strings.HasPrefix(line, p.remark):
		return len(line), sgrDim
	case strings.IndexByte(p.quotes, line[0]) >= 0:
		for at := 1; at < len(line); at++ {
			switch line[at] {
			case '\\':
				at++
			case line[0]:
				return at + 1, sgrGreen
			}
		}
		return 1, "" // it ends on another line, or is none
	}
	if n = wordLength(line); n == 0 {
		_, n = utf8.DecodeRuneInString(line)
		// x.type and $in are no keywords, nor is --for where a program's arguments are; <-chan is one.
		if strings.IndexByte(".$@", line[0]) >= 0 || line[0] == '-' && p.remark == "#" {
			n += wordLength(line[n:])
		}
	} else if strings.Contains(p.words, " "+line[:n]+" ") {
		return n, sgrMagenta
	}
	// A comment of # begins a word: in $# and a#b it is no comment.
	if p.remark == "#" && line[0] != ' ' && line[0] != '\t' {
		for n < len(line) && line[n] == '#' {
			n++
		}
	}
	return n, ""
}

// wordLength is the length of the word that a line begins with.
func wordLength(line string) int {
	n := strings.IndexFunc(line, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if n < 0 {
		return len(line)
	}
	return n
}
