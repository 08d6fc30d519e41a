package render

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// codePainter paints comments and texts in code, line by line: what the eye skips and what
// it looks for. A library of lexers would know keywords as well, and costs every hook
// its start (decision 70).
type codePainter struct {
	remark string // what begins a comment; empty paints nothing
	quotes string // what encloses a text
	block  bool   // in a comment of several lines
}

// newCodePainter returns the painter of the code in a fence, by the extension of its file.
func newCodePainter(extension string) codePainter {
	is := func(extensions string) bool { return slices.Contains(strings.Fields(extensions), extension) }
	switch {
	case is("py pyi rb sh bash zsh pl pm yaml yml toml mk r jl ex exs nix tf ps1"):
		return codePainter{remark: "#", quotes: "\"'"}
	case is("sql lua"):
		return codePainter{remark: "--", quotes: "\"'"}
	case is("js jsx mjs cjs ts tsx mts php css scss dart"):
		return codePainter{remark: "//", quotes: "\"'`"}
	case is("go"):
		return codePainter{remark: "//", quotes: "\"`"}
	case is("c h cc cpp hpp cs java kt kts rs scala swift zig proto groovy"): // a ' may be a lifetime
		return codePainter{remark: "//", quotes: "\""}
	}
	return codePainter{}
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
	case p.block:
		end := strings.Index(line, "*/")
		if end < 0 {
			return len(line), sgrDim
		}
		p.block = false
		return end + 2, sgrDim
	case p.remark == "//" && strings.HasPrefix(line, "/*"):
		p.block = true
		if end := strings.Index(line[2:], "*/"); end >= 0 {
			p.block = false
			return end + 4, sgrDim
		}
		return len(line), sgrDim
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
	_, n = utf8.DecodeRuneInString(line)
	// A comment of # begins a word: in $# and a#b it is no comment.
	if p.remark == "#" && line[0] != ' ' && line[0] != '\t' {
		for n < len(line) && line[n] == '#' {
			n++
		}
	}
	return n, ""
}
