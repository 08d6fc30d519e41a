package agents

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

const (
	begin = "<!-- agents: made by make agents -->\n"
	end   = "<!-- agents: end -->"
)

// table writes the rows in Markdown, and under it what is not green.
func table(rows []row) string {
	var b strings.Builder
	fmt.Fprintln(&b, "| client | version | lists at first | calls | of them by name | its model is shown | hooks record | brief at the start | finds the lesson of another |")
	fmt.Fprintln(&b, "|---|---|---|---|---|---|---|---|---|")
	for _, r := range rows {
		said := map[bool]string{true: "yes", false: "no"}
		fmt.Fprintf(&b, "| %s | %s | %d | %d of %d | %d | %s | %s | %s | %s |\n",
			r.title, r.version, r.listed, r.called, len(everyTool(r.client, ""))-2, r.direct, r.shown, r.hooks, said[r.briefed], said[r.found])
	}
	for _, r := range rows {
		for _, fault := range r.faults {
			fmt.Fprintf(&b, "\n- %s: %s\n", r.title, fault)
		}
	}
	return b.String()
}

// replaceTable puts the table between its two marks in a file.
func replaceTable(path, table string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(text, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !ok || !closed {
		return fmt.Errorf("%s has no line %q followed by %q", path, strings.TrimSpace(begin), end)
	}
	return os.WriteFile(path, []byte(string(before)+begin+table+end+string(after)), 0o644)
}
