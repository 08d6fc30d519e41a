package connect

import (
	"fmt"
	"slices"
	"strings"
)

// diffContext is how many unchanged lines a diff shows around a change, like diff -u.
const diffContext = 3

// Diff shows a change as one hunk of a unified diff; empty if nothing changes.
func (c Change) Diff() string {
	if c.None() {
		return ""
	}
	from, to := c.Path, c.Path
	if c.Before == nil {
		from = "/dev/null"
	}
	if c.After == nil {
		to = "/dev/null"
	}
	old, new := linesOf(c.Before), linesOf(c.After)
	same := 0
	for same < min(len(old), len(new)) && old[same] == new[same] {
		same++
	}
	tail := 0
	for tail < min(len(old), len(new))-same && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	before := min(same, diffContext)
	after := min(tail, diffContext)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", from, to)
	fmt.Fprintf(&out, "@@ -%s +%s @@\n", hunkRange(same-before, len(old)-tail+after), hunkRange(same-before, len(new)-tail+after))
	show := func(sign string, lines []string) {
		for _, line := range lines {
			out.WriteString(sign + strings.TrimSuffix(line, "\n") + "\n")
			if !strings.HasSuffix(line, "\n") {
				out.WriteString("\\ No newline at end of file\n")
			}
		}
	}
	show(" ", old[same-before:same])
	middle(old[same:len(old)-tail], new[same:len(new)-tail], show)
	show(" ", old[len(old)-tail:len(old)-tail+after])
	return out.String()
}

// middle shows the lines between the first difference and the last, including lines that
// both texts share. Where one of the texts has at most one line left, nothing is compared.
func middle(old, new []string, show func(sign string, lines []string)) {
	for len(old) > 0 && len(new) > 0 {
		// The next line of the new text that the old text also has.
		i, j := -1, 0
		for ; j < len(new); j++ {
			if i = slices.Index(old, new[j]); i >= 0 {
				break
			}
		}
		if i < 0 {
			break
		}
		show("-", old[:i])
		show("+", new[:j])
		show(" ", old[i:i+1])
		old, new = old[i+1:], new[j+1:]
	}
	show("-", old)
	show("+", new)
}

// hunkRange writes lines from..to, counted from 0, like diff: start and length, with the
// start one lower for an empty range.
func hunkRange(from, to int) string {
	if to == from {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

// linesOf splits a text behind its line ends.
func linesOf(text []byte) []string { return slices.Collect(strings.Lines(string(text))) }
