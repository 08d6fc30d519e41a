package contextfile

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

// wholeRule makes a rule of a whole file.
func (l *scan) wholeRule(p, text string) memory.FileEntries {
	whole := text
	if text = strings.TrimSpace(text); text == "" || l.texts[text] {
		return memory.FileEntries{Path: p} // CLAUDE.md is often a link to AGENTS.md
	}
	l.texts[text] = true
	before, _, _ := strings.Cut(whole, text)
	return l.splitRule(p, text, 1+strings.Count(before, "\n"), memory.CatalogueEntry{Include: memory.IncludeAlways})
}

// splitRule makes a rule of a text that begins at a line of a file, or several rules if
// it is over the limit. like has their common fields.
func (l *scan) splitRule(p, text string, line int, like memory.CatalogueEntry) memory.FileEntries {
	f := memory.FileEntries{Path: p}
	names := map[string]int{}
	for _, s := range sections(text, memory.MaxContent) {
		e := like
		e.Ref = memory.Ref{Type: memory.Rule, Name: sectionName(p, s.title)}
		if names[e.Name]++; names[e.Name] > 1 {
			e.Name = sectionName(p, fmt.Sprintf("%s (%d)", s.title, names[e.Name]))
		}
		e.Content = s.text
		if n := utf8.RuneCountInString(s.text); n > memory.MaxContent {
			l.problem(p, line+s.line-1, "%d characters are too many for a rule, and no headings split them (limit: %d characters)", n, memory.MaxContent)
			continue
		}
		if err := e.Validate(""); err != nil {
			l.problem(p, line+s.line-1, "%v", err)
			continue
		}
		f.Entries = append(f.Entries, e)
	}
	return f
}

// sectionName returns the name of a part of a file: "AGENTS.md: Build and test".
func sectionName(p, title string) string {
	name := p
	if title = strings.Join(strings.Fields(title), " "); title != "" {
		name += ": " + title
	}
	if r := []rune(name); len(r) > memory.MaxNameText {
		name = string(r[:memory.MaxNameText-1]) + "…"
	}
	return name
}

// section is a part of a text.
type section struct {
	title string // of its heading; empty before the first one
	line  int    // where it begins, from 1
	text  string
}

// sections splits a text at its headings of the highest level that has several, unless it
// has at most limit characters. Parts of only white space are left out.
func sections(text string, limit int) []section {
	if utf8.RuneCountInString(text) <= limit {
		return []section{{line: 1, text: text}}
	}
	lines := strings.SplitAfter(text, "\n")
	headings := headingsOf(lines)
	level, count := 0, [7]int{}
	for _, h := range headings {
		count[h.level]++
	}
	for n := 1; n <= 6 && level == 0; n++ {
		if count[n] > 1 {
			level = n
		}
	}
	var parts []section
	begin, title := 0, ""
	end := func(at int) {
		if part := strings.Join(lines[begin:at], ""); strings.TrimSpace(part) != "" {
			parts = append(parts, section{title, begin + 1, strings.TrimSpace(part)})
		}
		begin = at
	}
	for _, h := range headings {
		if h.level == level {
			end(h.line)
			title = h.title
		}
	}
	end(len(lines))
	return parts
}

// heading is a heading of Markdown; line counts from 0.
type heading struct {
	line, level int
	title       string
}

// headingsOf finds the headings written with #, except in fenced code.
func headingsOf(lines []string) []heading {
	var found []heading
	fence := ""
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		if fence != "" {
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "" {
				fence = ""
			}
			continue
		}
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, trimmed[:1]))]
			continue
		}
		title := strings.TrimLeft(line, "#")
		level := len(line) - len(title)
		if level < 1 || level > 6 || title != "" && !strings.ContainsAny(title[:1], " \t\n") {
			continue
		}
		found = append(found, heading{i, level, strings.TrimSpace(strings.TrimRight(strings.TrimSpace(title), "#"))})
	}
	return found
}
