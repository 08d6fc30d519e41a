package render

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// Entry writes a catalogue entry on one line: its name, description and content.
func Entry(e *memory.Entry) string {
	text := Name(e.Server, e.Name)
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
	return OneLine(text)
}

// Task writes a completed task or a blocker on one line. A redacted task has its outcome
// only.
func Task(kind memory.Kind, t *memory.TaskContent) string {
	if kind == memory.Blocker {
		return OneLine(t.TaskID + " is blocked: " + t.Reason)
	}
	return OneLine(t.TaskID + when(t.Intent != "", ` "`+t.Intent+`"`) + ", " + TaskOutcome(t.Report) + when(t.Summary != "", ": "+t.Summary))
}

// TaskOutcome returns the outcome in a task's validation report (contract 3).
func TaskOutcome(report json.RawMessage) string {
	if TaskSucceeded(report) {
		return "✓ success"
	}
	return "✗ failed"
}

// TaskSucceeded says whether a validation report says so.
func TaskSucceeded(report json.RawMessage) bool {
	var fields map[string]json.RawMessage
	return json.Unmarshal(report, &fields) == nil && string(fields["valid"]) == "true"
}

// Verdicts writes counts of verdicts: "2 worked, 1 outdated". It is empty without any.
func Verdicts(v *memory.VerdictCounts) string {
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
