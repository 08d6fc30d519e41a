package chunk

import (
	"bytes"
	"sort"
)

// text is a file by its lines, which count from 0.
type text struct {
	src []byte
	// starts are the starts of the lines, and the end of the text.
	starts []int
	// cost is the cost of beginning a chunk at a line: low at the boundary of a statement
	// or paragraph. Nil means the cost of indentation.
	cost []int
	// defines are the declared names, sorted by line once all units are found.
	defines []defined
}

func newText(src []byte) *text { return &text{src: src, starts: LineStarts(src)} }

// LineStarts returns where the lines of a text start, and its end.
func LineStarts(src []byte) []int {
	starts := make([]int, 1, 16+len(src)/32)
	for i := 0; i < len(src); {
		n := bytes.IndexByte(src[i:], '\n')
		if n < 0 {
			return append(starts, len(src))
		}
		i += n + 1
		starts = append(starts, i)
	}
	return starts
}

func (t *text) lines() int { return len(t.starts) - 1 }

// line is a line without its break.
func (t *text) line(i int) []byte {
	b := t.src[t.starts[i]:t.starts[i+1]]
	if n := len(b); n > 0 && b[n-1] == '\n' {
		b = b[:n-1]
		if n > 1 && b[n-2] == '\r' {
			b = b[:n-2]
		}
	}
	return b
}

// trimmed is a line without the space around it.
func (t *text) trimmed(i int) []byte { return bytes.TrimSpace(t.line(i)) }

func (t *text) blank(i int) bool {
	for _, c := range t.src[t.starts[i]:t.starts[i+1]] {
		switch {
		case c == ' ' || c >= '\t' && c <= '\r':
		case c < 0x80:
			return false
		default:
			return len(t.trimmed(i)) == 0 // other alphabets' spaces are rare
		}
	}
	return true
}

// trim returns the first and the last of some lines that are not blank; the last one comes
// before the first if all are.
func (t *text) trim(first, last int) (int, int) {
	for first <= last && t.blank(first) {
		first++
	}
	for last >= first && t.blank(last) {
		last--
	}
	return first, last
}

// size is the length of the lines from first to last.
func (t *text) size(first, last int) int { return t.starts[last+1] - t.starts[first] }

// lineAt is the line that holds a byte.
func (t *text) lineAt(offset int) int {
	return sort.Search(t.lines(), func(i int) bool { return t.starts[i+1] > offset })
}

// indent is how far a line is indented, a tab being four columns.
func (t *text) indent(i int) int {
	n := 0
	for _, c := range t.line(i) {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}

// costAt returns the cost of beginning a chunk at a line within a unit.
func (t *text) costAt(i int) int {
	if t.cost != nil {
		return t.cost[i]
	}
	return t.indentCost(i)
}

// indentCosts are the costs of all lines by their indentation.
func (t *text) indentCosts() []int {
	costs := make([]int, t.lines())
	for i := range costs {
		costs[i] = t.indentCost(i)
	}
	return costs
}

// costWithin is the cost of splitting a literal, a comment or a statement.
const costWithin = 1000

// indentCost recognises the boundaries of statements by indentation: deeper lines cost
// more, a line after a blank one less, a closing bracket much, because it belongs to its
// statement.
func (t *text) indentCost(i int) int {
	cost := 2 * t.indent(i)
	if i > 0 && t.blank(i-1) {
		cost--
	} else {
		cost += 2
	}
	if line := t.trimmed(i); len(line) > 0 && bytes.IndexByte([]byte("})]"), line[0]) >= 0 {
		cost += 12
	}
	return cost
}
