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

// Limits of what is read of a report, in code points where they are of text.
const (
	maxPoints    = 8
	maxPointText = 160
	maxNoteText  = 300
)

// report is what a validation report says. Nobody prescribes its form but for
// "valid", so the names that validators commonly use are looked for, in a fixed
// order, at its top.
type report struct {
	valid bool
	// points are what failed, a line each, without repetition; more counts those over
	// maxPoints.
	points []string
	more   int
	note   string // what it says in one text, a line
}

var (
	// failureKeys hold what failed: a text, a list, or an object by name.
	failureKeys = []string{"errors", "error", "failures", "failed", "failing", "issues", "problems", "missing", "violations"}
	// checkKeys hold what was checked, a list or an object by name. Of these only what
	// failed counts.
	checkKeys = []string{"checks", "tests", "results", "criteria", "validations"}
	noteKeys  = []string{"summary", "message", "reason", "feedback", "notes"}
	// The fields of an object that says what failed, and whether it did.
	nameKeys    = []string{"name", "id", "title", "check", "test", "criterion", "field", "path", "file"}
	messageKeys = []string{"message", "error", "reason", "description", "detail", "text"}
	passedKeys  = []string{"valid", "passed", "pass", "ok", "success"}
)

type object = map[string]json.RawMessage

// readReport reads a report; what is no object says that the task failed.
func readReport(raw json.RawMessage) report {
	var top object
	if json.Unmarshal(raw, &top) != nil {
		return report{}
	}
	r := report{valid: string(top["valid"]) == "true"}
	for _, key := range failureKeys {
		r.failures(top[key])
	}
	for _, key := range checkKeys {
		r.checks(top[key])
	}
	r.note = shortenTrimmed(render.SafeLine(firstText(top, noteKeys)), maxNoteText)
	return r
}

// failures takes in what failed.
func (r *report) failures(raw json.RawMessage) {
	var (
		text   string
		list   []json.RawMessage
		byName object
	)
	switch {
	case json.Unmarshal(raw, &text) == nil:
		r.add(text)
	case json.Unmarshal(raw, &list) == nil:
		for _, x := range list {
			r.add(pointText(x))
		}
	case json.Unmarshal(raw, &byName) == nil:
		for _, name := range slices.Sorted(maps.Keys(byName)) {
			r.add(joined(name, pointText(byName[name])))
		}
	}
}

// checks takes in what failed of what was checked.
func (r *report) checks(raw json.RawMessage) {
	var (
		list   []json.RawMessage
		byName object
	)
	switch {
	case json.Unmarshal(raw, &list) == nil:
		for _, x := range list {
			if hasFailed(x) {
				r.add(pointText(x))
			}
		}
	case json.Unmarshal(raw, &byName) == nil:
		for _, name := range slices.Sorted(maps.Keys(byName)) {
			if x := byName[name]; hasFailed(x) {
				r.add(joined(name, pointText(x)))
			}
		}
	}
}

// add takes in a point.
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

// hasFailed says that a check is false, or an object that says so of itself.
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

// pointText is what a text or an object says of something that failed.
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

// firstText is the first of some fields that is a text and says something.
func firstText(x object, keys []string) string {
	for _, key := range keys {
		var text string
		if raw, ok := x[key]; ok && json.Unmarshal(raw, &text) == nil && strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// summarize makes the summary of a task for which none is given, always the same of
// the same: what it was to do, how it went, what its report says of it in one text,
// and what failed.
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

// shortenTrimmed shortens a text to most characters.
func shortenTrimmed(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:most-1])) + "…"
}
