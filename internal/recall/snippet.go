package recall

import (
	"strings"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/render"
)

// snippet cuts a chunk at line boundaries around its best lines: the window of
// at most limit bytes that holds most of the question's distinct terms, the
// earliest such window, so that a signature is kept before a body; with a line to
// focus on, counted from 0, the window around that. It returns the text with the
// first and last line shown; start is the number of the chunk's first line. A line
// longer than limit is cut to its own best words.
func snippet(text string, start, limit, focus int, query index.Terms, analyze func(string) index.Terms) (string, int, int) {
	text = strings.TrimRight(text, "\n")
	if len(text) <= limit {
		return text, start, start + strings.Count(text, "\n")
	}
	lines := strings.SplitAfter(text+"\n", "\n")
	lines = lines[:len(lines)-1] // what follows the last line's end
	for i, line := range lines {
		if len(line) > limit+1 {
			parts := words(line[:len(line)-1], limit)
			from, to := window(parts, limit, query, analyze)
			lines[i] = strings.Join(parts[from:to], "") + "\n"
		}
	}
	from, to := 0, 0
	if focus >= 0 && focus < len(lines) {
		from, to = around(lines, limit+1, focus) // the last line's end is not shown
	} else {
		from, to = window(lines, limit+1, query, analyze)
	}
	shown := strings.TrimSuffix(strings.Join(lines[from:to], ""), "\n")
	return shown, start + from, start + max(to-1, from)
}

// window returns the run of pieces, from one up to before another, that takes at
// most limit bytes and holds most of the query's distinct terms: the earliest
// such run, and as much after it as fits. No piece may be longer than limit.
func window(pieces []string, limit int, query index.Terms, analyze func(string) index.Terms) (from, to int) {
	hits := make([][]int, len(pieces)) // which terms of the query a piece holds
	for i, p := range pieces {
		hits[i] = common(query, analyze(p))
	}
	held := make([]int, len(query)) // how often the run holds each term
	best, distinct, size, first := -1, 0, 0, 0
	for last, p := range pieces {
		size += len(p)
		for _, t := range hits[last] {
			if held[t]++; held[t] == 1 {
				distinct++
			}
		}
		for ; size > limit; first++ {
			size -= len(pieces[first])
			for _, t := range hits[first] {
				if held[t]--; held[t] == 0 {
					distinct--
				}
			}
		}
		// A run that only grew is better: more context for the same terms.
		if distinct > best || distinct == best && first == from {
			best, from, to = distinct, first, last+1
		}
	}
	return from, to
}

// words takes a line apart after spaces and brackets, into parts of at most
// limit bytes that end at the end of a rune.
func words(line string, limit int) []string {
	var parts []string
	for len(line) > 0 {
		part := line[:strings.IndexAny(line, " \t,;(){}")+1]
		if part == "" {
			part = line
		}
		if part = render.Prefix(part, limit); part == "" {
			break // not even one rune fits
		}
		parts = append(parts, part)
		line = line[len(part):]
	}
	return parts
}

// common returns which of the question's terms a line holds.
func common(query, line index.Terms) []int {
	var at []int
	i, j := 0, 0
	for i < len(query) && j < len(line) {
		switch strings.Compare(query[i].Text, line[j].Text) {
		case 0:
			at = append(at, i)
			i++
			j++
		case -1:
			i++
		default:
			j++
		}
	}
	return at
}
