package recall

import (
	"cmp"
	"strings"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/render"
)

// snippet cuts a chunk at line boundaries to the window of at most limit bytes that
// contains most of the question's distinct terms. The earliest such window wins, so that a
// signature is kept before a body. With a line to focus on, counted from 0, it is the
// window around that line. It returns the text with the first and last line shown; start
// is the number of the chunk's first line. A line longer than limit is cut to its best words.
func snippet(text string, start, limit, focus int, query index.Terms, analyze func(string) index.Terms) (string, int, int) {
	text = strings.TrimRight(text, "\n")
	if len(text) <= limit {
		return text, start, start + strings.Count(text, "\n")
	}
	lines := strings.SplitAfter(text+"\n", "\n")
	lines = lines[:len(lines)-1] // the text after the last line feed
	for i, line := range lines {
		if len(line) > limit+1 {
			parts := words(line[:len(line)-1], limit)
			from, to := window(parts, limit, query, analyze)
			lines[i] = strings.Join(parts[from:to], "") + "\n"
		}
	}
	from, to := 0, 0
	if focus >= 0 && focus < len(lines) {
		from, to = around(lines, limit+1, focus) // the last line feed is not shown
	} else {
		from, to = window(lines, limit+1, query, analyze)
	}
	shown := strings.TrimSuffix(strings.Join(lines[from:to], ""), "\n")
	return shown, start + from, start + max(to-1, from)
}

// window returns the run parts[from:to] that takes at most limit bytes and contains most of
// the query's distinct terms: the earliest such run, and as much after it as fits. No part
// may be longer than limit.
func window(parts []string, limit int, query index.Terms, analyze func(string) index.Terms) (from, to int) {
	hits := make([][]int, len(parts)) // which terms of the query a part contains
	for i, p := range parts {
		hits[i] = common(query, analyze(p))
	}
	held := make([]int, len(query)) // how often the run contains each term
	best, distinct, size, first := -1, 0, 0, 0
	for last, p := range parts {
		size += len(p)
		for _, t := range hits[last] {
			if held[t]++; held[t] == 1 {
				distinct++
			}
		}
		for ; size > limit; first++ {
			size -= len(parts[first])
			for _, t := range hits[first] {
				if held[t]--; held[t] == 0 {
					distinct--
				}
			}
		}
		// A longer run with the same terms is better: it gives more context.
		if distinct > best || distinct == best && first == from {
			best, from, to = distinct, first, last+1
		}
	}
	return from, to
}

// words splits a line after spaces and brackets into parts of at most limit bytes, each
// of whole runes.
func words(line string, limit int) []string {
	var parts []string
	for len(line) > 0 {
		part := cmp.Or(line[:strings.IndexAny(line, " \t,;(){}")+1], line)
		if part = render.Prefix(part, limit); part == "" {
			break // not even one rune fits
		}
		parts = append(parts, part)
		line = line[len(part):]
	}
	return parts
}

// common returns which of the question's terms a line contains.
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
