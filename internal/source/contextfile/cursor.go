package contextfile

import (
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// cursorRule makes a rule of an .mdc file of Cursor: front matter with description, globs
// and alwaysApply, and the text.
func (l *scan) cursorRule(p, text string) memory.FileEntries {
	matter, body, line, ok := frontMatter(text)
	if !ok {
		l.problem(p, 1, "its front matter has no end: a line ---")
		return memory.FileEntries{Path: p}
	}
	if strings.TrimSpace(body) == "" {
		return memory.FileEntries{Path: p}
	}
	fields := matterFields(matter)
	like := memory.CatalogueEntry{Description: fields["description"], Include: memory.IncludeManual}
	if globs := fields["globs"]; globs != "" {
		like.Description = strings.TrimSpace(like.Description + "\nFor files: " + globs)
	}
	switch {
	case strings.EqualFold(fields["alwaysApply"], "true"):
		like.Include = memory.IncludeAlways
	case like.Description != "":
		like.Include = memory.IncludeAgent
	}
	trimmed := strings.TrimLeft(body, " \t\n")
	line += strings.Count(body[:len(body)-len(trimmed)], "\n")
	return l.splitRule(p, strings.TrimSpace(trimmed), line, like)
}

// frontMatter splits a text into the lines of its front matter and the rest, which begins
// at line. It is not ok if the front matter does not end.
func frontMatter(text string) (matter []string, body string, line int, ok bool) {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return nil, text, 1, true
	}
	for line = 2; rest != ""; line++ {
		var this string
		this, rest, _ = strings.Cut(rest, "\n")
		if strings.TrimRight(this, " \t") == "---" {
			return matter, rest, line + 1, true
		}
		matter = append(matter, this)
	}
	return nil, "", 0, false
}

// matterFields reads the fields of front matter. It is not YAML: Cursor writes "globs:
// *.ts", which is an alias in YAML. A list becomes "a, b", a text over several lines one
// line.
func matterFields(lines []string) map[string]string {
	texts := map[string]*strings.Builder{}
	last := new(strings.Builder) // what is before the first field belongs to none
	for _, line := range lines {
		text := strings.TrimSpace(line)
		switch {
		case text == "" || text[0] == '#':
		case line[0] == ' ' || line[0] == '\t' || strings.HasPrefix(text, "- "):
			// The line continues the field above.
			between := " "
			if item, ok := strings.CutPrefix(text, "- "); ok {
				text, between = unquote(item), ", "
			}
			if last.Len() > 0 {
				last.WriteString(between)
			}
			last.WriteString(text)
		default:
			name, value, _ := strings.Cut(text, ":")
			last = new(strings.Builder)
			texts[strings.TrimSpace(name)] = last
			switch value = strings.TrimSpace(value); value {
			case ">", "|", ">-", "|-":
				value = "" // the lines below are the text
			}
			last.WriteString(list(unquote(value)))
		}
	}
	fields := make(map[string]string, len(texts))
	for name, text := range texts {
		fields[name] = strings.TrimSpace(text.String())
	}
	return fields
}

// list writes "[a, b]" as "a, b".
func list(value string) string {
	inner, ok := strings.CutPrefix(value, "[")
	if !ok || !strings.HasSuffix(inner, "]") {
		return value
	}
	items := strings.Split(strings.TrimSuffix(inner, "]"), ",")
	for i := range items {
		items[i] = unquote(strings.TrimSpace(items[i]))
	}
	return strings.Join(items, ", ")
}

// unquote removes the quotes around a value.
func unquote(value string) string {
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		return value[1 : n-1]
	}
	return value
}
