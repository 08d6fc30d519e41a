package chunk

import (
	"bytes"
	"cmp"
	"slices"
)

// maxHead is how many bytes of a declaration are searched for its name.
const maxHead = 600

// braced finds the units between two lines of a language with braces. A unit is a
// declaration from its comments and annotations to the line where all its brackets are
// closed and it ends.
func (f *structured) braced(from, to int, in string) []unit {
	base := f.lines[from]
	lead := func(i int) int {
		if f.isLead(i, base) {
			i++
		}
		return i
	}
	return f.unitsBetween(from, to, lead, func(first, head int) unit {
		i, last := head+1, f.lines[head].last
		for ; i <= to && !f.endsBefore(i, head, last, base); i++ {
			if l := f.lines[i].last; l != 0 {
				last = l
			}
		}
		u := unit{first: first, last: i - 1}
		sig := declaration(f.lang, in, f.head(head, u.last), f.opens(head, u.last))
		if f.syntax.preproc && u.last > head && bytes.HasPrefix(f.t.trimmed(head), []byte("typedef")) {
			alias := lastName(f.t.trimmed(u.last)) // typedef struct { … } name;
			f.define(u.last, alias)
			sig.name = cmp.Or(sig.name, alias)
		}
		u.name = sig.name
		for _, name := range sig.defines {
			f.define(f.lineOf(name, head, u.last), name)
		}
		if sig.kind == container {
			if members := f.members(head, u.last, base, sig.word); f.t.size(u.first, u.last) > maxChunk {
				u.inner = members
			}
		}
		return u
	})
}

// isLead reports whether a line belongs to the declaration below: a comment, an
// annotation, a label such as "public:".
func (f *structured) isLead(i int, base lineInfo) bool {
	l := f.lines[i]
	if l.comment || l.literal {
		return true
	}
	opens := i+1 < len(f.lines) && (f.lines[i+1].brace > base.brace || f.lines[i+1].paren > base.paren)
	line := f.t.trimmed(i)
	switch {
	case opens || l.last == ';' || l.last == '}' || l.last == 0:
		return false
	case l.first == '@':
		return !bytes.HasPrefix(line, []byte("@i")) && !bytes.HasPrefix(line, []byte("@protocol")) || f.lang != "objc"
	case l.first == '#':
		return f.lang == "rust"
	case l.first == '[':
		return f.lang == "csharp" && l.last == ']'
	case l.last == ':':
		return f.syntax.preproc && bytes.IndexByte(line, ' ') < 0
	}
	return f.syntax.preproc && bytes.HasPrefix(line, []byte("template")) && l.last == '>'
}

// endsBefore reports whether the declaration whose head is at line head, and whose
// last byte of code before line i is last, has ended where that line begins.
func (f *structured) endsBefore(i, head int, last byte, base lineInfo) bool {
	l := f.lines[i]
	if l.brace > base.brace || l.paren > base.paren || l.literal {
		return false
	}
	if l.brace < base.brace || l.paren < base.paren {
		return true
	}
	switch {
	case l.first == '{':
		return false // the body on a separate line
	case f.syntax.preproc && f.lines[head].first == '#':
		return f.lang == "csharp" || last != '\\'
	case last == ';' || last == '}' || f.t.blank(i):
		return !f.continues(i)
	case f.syntax.ends:
		// A macro that looks like a call ends with its line. C# has none: there #if may be in a head.
		return f.syntax.preproc && l.first == '#' && f.lang != "csharp"
	case l.comment:
		return true
	case f.lang == "kotlin" && kotlinConstructor().Match(f.t.trimmed(i)) && kotlinClass().Match(f.t.line(head)[:min(maxHead, len(f.t.line(head)))]):
		return false
	}
	// Where lines end statements, a statement continues on a line that is indented, or if
	// the line begins, or the line before ends, with a sign that joins. The head may be long,
	// and is looked at last.
	return bytes.IndexByte([]byte(".?:+|&=)]}"), max(l.first, ' ')) < 0 && bytes.IndexByte([]byte("=(+&|?:"), last) < 0 &&
		f.t.indent(i) <= f.t.indent(head)
}

// The constructor of a Kotlin class may have a line of its own.
var (
	kotlinClass       = lazyPattern(`^\s*(?:\w+ )*class `)
	kotlinConstructor = lazyPattern(`^(?:(?:private|protected|internal|public|@\w+) )*constructor\b`)
)

// continuing begin lines that continue a unit after its closing brace.
var continuing = []string{"else", "catch", "finally", "while ("}

// continues reports whether a line continues a unit after its closing brace.
func (f *structured) continues(i int) bool {
	l := f.lines[i]
	if l.first == ')' || l.first == ']' || l.first == ';' || l.first == ',' {
		return true
	}
	line := f.t.trimmed(i)
	return slices.ContainsFunc(continuing, func(w string) bool { return hasPrefix(line, w) })
}

// opens reports whether a brace opens after the head of a unit.
func (f *structured) opens(head, last int) bool {
	return slices.ContainsFunc(f.lines[head+1:last+1], func(l lineInfo) bool { return l.brace > f.lines[head].brace })
}

// head returns the text of a declaration from its first line of code, without comment
// lines, up to the size in which a name is searched.
func (f *structured) head(from, to int) string {
	var b []byte
	for i := from; i <= to && len(b) < maxHead; i++ {
		if f.lines[i].comment || i > from && f.syntax.preproc && f.lines[i].first == '#' {
			continue
		}
		line := f.t.line(i)
		b = append(b, line[:min(len(line), maxHead)]...)
		b = append(b, '\n')
		if i+1 < len(f.lines) && f.lines[i+1].brace > f.lines[from].brace {
			break
		}
	}
	return string(b)
}

// members returns the units in the body of a unit: between the line that opens it and the
// line that closes it.
func (f *structured) members(head, last int, base lineInfo, in string) []unit {
	from := head + 1
	for from <= last && f.lines[from].brace <= base.brace {
		from++
	}
	to := last
	for to >= from && f.lines[to].brace <= f.lines[from].brace && f.onlyCloses(to) {
		to--
	}
	if from > to {
		return nil
	}
	return f.braced(from, to, in)
}

func (f *structured) onlyCloses(i int) bool {
	return f.t.blank(i) || len(bytes.Trim(f.t.line(i), "})]; \t\r,")) == 0 || f.lines[i].first == '}'
}

// lastName returns the last name of a line.
func lastName(line []byte) string {
	end := len(line)
	for end > 0 && !isNameByte(line[end-1]) {
		end--
	}
	start := end
	for start > 0 && isNameByte(line[start-1]) {
		start--
	}
	return string(line[start:end])
}
