package recall

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// entryName is what an entry or a task goes by; receipts keep it.
type entryName struct{ name, server string }

// nameOf returns the name of a rule, reference, tool, task or blocker.
func nameOf(r *memory.Record) (entryName, bool) {
	switch {
	case r.Entry != nil:
		return entryName{r.Entry.Name, r.Entry.Server}, true
	case r.Task != nil:
		return entryName{name: r.Task.TaskID}, true
	case r.Reference != nil:
		return entryName{name: r.Reference.Name}, true
	}
	return entryName{}, false
}

// hasName says that the records of a kind have names.
func hasName(kind memory.Kind) bool {
	switch kind {
	case memory.Rule, memory.Reference, memory.Tool, memory.Task, memory.Blocker:
		return true
	}
	return false
}

// nameWithheld names the entries and tasks among what is told of what was withheld, as
// far as they are still there.
func (s *Service) nameWithheld(ws []memory.Withheld) {
	for i, w := range ws[:min(len(ws), maxWithheld)] {
		if w.Name != "" || !hasName(w.Kind) {
			continue
		}
		r, err := s.opts.Corpus.Record(w.ID)
		if err != nil {
			continue
		}
		n, _ := nameOf(&r)
		ws[i].Name, ws[i].Server = n.name, n.server
	}
}

// entryText is an entry of a catalogue on one line: a tool with its server, then what
// it is described as and what it says.
func entryText(e *memory.Entry) string {
	name := e.Name
	if e.Server != "" {
		name = e.Server + ":" + name
	}
	text := name
	for i, part := range []string{e.Description, e.Content} {
		if part == "" {
			continue
		}
		sep := ": "
		if i > 0 && e.Description != "" {
			sep = " — "
		}
		text += sep + part
	}
	return oneLine(text)
}

// taskText is a completed task or a blocker on one line. A task that was not to be
// looked into says only how it went.
func taskText(kind memory.Kind, t *memory.TaskContent) string {
	if kind == memory.Blocker {
		return oneLine(t.TaskID + " is blocked: " + t.Reason)
	}
	text := t.TaskID
	if t.Intent != "" {
		text += ` "` + t.Intent + `"`
	}
	text += ", " + outcomeOf(t.Report)
	if t.Summary != "" {
		text += ": " + t.Summary
	}
	return oneLine(text)
}

// outcomeOf reads from a task's report how it went (contract 3).
func outcomeOf(report json.RawMessage) string {
	var r struct {
		Valid *bool `json:"valid"`
	}
	if json.Unmarshal(report, &r) == nil && r.Valid != nil && *r.Valid {
		return "✓ success"
	}
	return "✗ failed"
}

// named fills in what is shown of a rule, reference, tool, task or blocker.
func (f *filler) named(item *memory.Item, c *candidate, r *memory.Record) {
	switch {
	case r.Entry != nil:
		item.Text = f.redact(entryText(r.Entry))
	case r.Task != nil:
		item.Text = f.redact(taskText(r.Kind, r.Task))
	default:
		item.Text = f.redact(r.Text)
	}
	if r.Reference == nil && c.Rate != nil && c.Rate.Attempts > 0 {
		item.SuccessRate = c.Rate.String()
	}
}

// verdictsText writes the counts of verdicts in words: "2 worked, 1 outdated"; empty
// without any.
func verdictsText(v *memory.VerdictCounts) string {
	if v == nil {
		return ""
	}
	var parts []string
	for _, c := range []struct {
		n    int
		what memory.Verdict
	}{{v.Worked, memory.Worked}, {v.Failed, memory.Failed}, {v.Irrelevant, memory.Irrelevant}, {v.Outdated, memory.Outdated}} {
		if c.n > 0 {
			parts = append(parts, strconv.Itoa(c.n)+" "+string(c.what))
		}
	}
	return strings.Join(parts, ", ")
}
