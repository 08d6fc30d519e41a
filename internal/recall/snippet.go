package recall

import (
	"strings"

	"github.com/recalld/recalld/index"
)

// snippet cuts a chunk at line boundaries around its best lines: the window of
// at most limit bytes that holds most of the question's distinct terms, the
// earliest such window, so that a signature is kept before a body. It returns
// the text with the first and last line shown; start is the number of the
// chunk's first line. A line longer than limit gives no snippet.
func snippet(text string, start, limit int, query index.Terms, analyze func(string) index.Terms) (string, int, int) {
	text = strings.TrimRight(text, "\n")
	if len(text) <= limit {
		return text, start, start + strings.Count(text, "\n")
	}
	lines := strings.Split(text, "\n")
	hits := make([][]int, len(lines)) // which terms of the question a line holds
	for i, line := range lines {
		hits[i] = common(query, analyze(line))
	}
	bestScore, bestFrom, bestTo := -1, 0, 0
	size, from := 0, 0
	held := make([]int, len(query))
	distinct := 0
	drop := func(i int) {
		size -= len(lines[i]) + 1
		for _, t := range hits[i] {
			if held[t]--; held[t] == 0 {
				distinct--
			}
		}
	}
	for to, line := range lines {
		size += len(line) + 1
		for _, t := range hits[to] {
			if held[t]++; held[t] == 1 {
				distinct++
			}
		}
		for size > limit+1 && from <= to {
			drop(from)
			from++
		}
		// A window that only grew is better: more context for the same terms.
		if from <= to && (distinct > bestScore || distinct == bestScore && from == bestFrom) {
			bestScore, bestFrom, bestTo = distinct, from, to
		}
	}
	if bestScore < 0 {
		return "", 0, 0
	}
	return strings.Join(lines[bestFrom:bestTo+1], "\n"), start + bestFrom, start + bestTo
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
