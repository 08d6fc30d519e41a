package agentctx

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/render"
)

// Limits of what is read of a report; texts in code points.
const (
	maxPoints    = 8
	maxPointText = 160
	maxNoteText  = 300
)

// report is the content of a validation report. Only its field "valid" is prescribed, so the
// names that validators commonly use are looked up, in a fixed order, at the top level.
type report struct {
	valid bool
	// points are the failures, a line each, without repetition; more counts those beyond
	// maxPoints.
	points []string
	more   int
	note   string // what it says in one text, a line
}

var (
	// failureKeys name failures: a text, a list, or an object by name.
	failureKeys = []string{"errors", "error", "failures", "failed", "failing", "issues", "problems", "missing", "violations"}
	// checkKeys name checks, a list or an object by name. Only failed checks count.
	checkKeys = []string{"checks", "tests", "results", "criteria", "validations"}
	noteKeys  = []string{"summary", "message", "reason", "feedback", "notes"}
	// The fields of an object that describes a check.
	nameKeys    = []string{"name", "id", "title", "check", "test", "criterion", "field", "path", "file"}
	messageKeys = []string{"message", "error", "reason", "description", "detail", "text"}
	passedKeys  = []string{"valid", "passed", "pass", "ok", "success"}
)

type object = map[string]json.RawMessage

// readReport reads a report. A report that is no object means that the task failed.
func readReport(raw json.RawMessage) report {
	var top object
	if json.Unmarshal(raw, &top) != nil {
		return report{}
	}
	r := report{valid: string(top["valid"]) == "true"}
	for _, key := range failureKeys {
		var text string
		if json.Unmarshal(top[key], &text) == nil {
			r.add(text)
		} else {
			r.addAll(top[key], func(json.RawMessage) bool { return true })
		}
	}
	for _, key := range checkKeys {
		r.addAll(top[key], hasFailed)
	}
	r.note = shortenTrimmed(render.SafeLine(firstText(top, noteKeys)), maxNoteText)
	return r
}

// addAll adds the chosen ones of a list, or of an object by name.
func (r *report) addAll(raw json.RawMessage, chosen func(json.RawMessage) bool) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, x := range list {
			if chosen(x) {
				r.add(pointText(x))
			}
		}
		return
	}
	var byName object
	_ = json.Unmarshal(raw, &byName) // anything else has none
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if x := byName[name]; chosen(x) {
			r.add(joined(name, pointText(x)))
		}
	}
}

// add adds a point.
func (r *report) add(point string) {
	point = shortenTrimmed(render.SafeLine(point), maxPointText)
	switch {
	case point == "" || slices.Contains(r.points, point):
	case len(r.points) == maxPoints:
		r.more++
	default:
		r.points = append(r.points, point)
	}
}

// hasFailed reports whether a check is false or an object that says it failed.
func hasFailed(raw json.RawMessage) bool {
	if string(raw) == "false" {
		return true
	}
	var x object
	if json.Unmarshal(raw, &x) != nil {
		return false
	}
	for _, key := range passedKeys {
		if v, ok := x[key]; ok {
			return string(v) == "false"
		}
	}
	switch strings.ToLower(firstText(x, []string{"status", "outcome"})) {
	case "fail", "failed", "failure", "error":
		return true
	}
	return false
}

// pointText returns what a text or an object says about a failure.
func pointText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var x object
	if json.Unmarshal(raw, &x) != nil {
		return ""
	}
	return joined(firstText(x, nameKeys), firstText(x, messageKeys))
}

func joined(name, message string) string {
	if name == "" || message == "" {
		return name + message
	}
	return name + ": " + message
}

// firstText returns the first of some fields that is a non-empty text.
func firstText(x object, keys []string) string {
	for _, key := range keys {
		var text string
		if json.Unmarshal(x[key], &text) == nil && strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// summarize returns the summary of a task that has none, always the same for the same input:
// the intent, the outcome, the note of the report, and the failures.
//
//	Implement login: failed. Two tests are red. Failing: TestLogin: timeout; lint; and 3 more.
func summarize(intent string, raw json.RawMessage) string {
	r := readReport(raw)
	outcome := "Failed."
	if r.valid {
		outcome = "Succeeded."
	}
	if intent != "" {
		outcome = strings.TrimRight(shortenTrimmed(render.SafeLine(intent), maxNoteText), ".") + ": " + strings.ToLower(outcome)
	}
	parts := []string{outcome}
	if r.note != "" {
		parts = append(parts, strings.TrimRight(r.note, ".")+".")
	}
	if len(r.points) > 0 {
		failing := "Failing: " + strings.Join(r.points, "; ")
		if r.more > 0 {
			failing += fmt.Sprintf("; and %d more", r.more)
		}
		parts = append(parts, strings.TrimRight(failing, ".")+".")
	}
	return strings.Join(parts, " ")
}

// shortenTrimmed cuts a text to most characters, without a blank at the end.
func shortenTrimmed(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:most-1])) + render.Ellipsis
}
