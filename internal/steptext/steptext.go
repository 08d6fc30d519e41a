// Package steptext says in words what a step was about: the text that is searched
// (Text, Fields), what its tool was used on (Target, Subject), and the texts and keys
// in the JSON values that hosts send (Scalars). It is pure functions, which the write
// path stores by and the read path shows by.
package steptext

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

// Max is how many bytes of a step are searched. A step is looked for by
// what it did, to what, and how it ended; what a page or a file held is not that.
const Max = 4000

// Field is a part of a step that is searched, by the name that matchedFields
// gives it.
type Field struct{ Name, Text string }

// The shares of the fields in Max, in bytes. The last ones get what is
// left.
const (
	maxTargetPart = 300
	maxErrorPart  = 1200
	maxGoalPart   = 400
	maxInputPart  = 1000
	// maxValue is of one string of a JSON value, maxTelling of one that says
	// what a tool was asked to do.
	maxValue   = 160
	maxTelling = 500
	// maxGathered is after how much text of one JSON value its further strings are
	// left alone.
	maxGathered = 4 * Max
)

// telling are the keys of tools' inputs, and of what they observed, whose values
// say what a step was about. They go before all others.
var telling = []string{
	"command", "cmd", "script", "file_path", "filePath", "path", "file", "notebook_path", "url", "query", "pattern",
	"description", "testId", "selector", "name", "text", "title", "error", "message", "stderr",
}

// Text is what is searched of a step: its fields, one to a line, in at most
// Max bytes. s is its session; a zero one is of a step that came alone.
func Text(r memory.Record, s memory.Session) string {
	var b strings.Builder
	for _, f := range Fields(r, s) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(f.Text)
	}
	return clip(b.String(), Max)
}

// Fields are the parts of a step that are searched, in a fixed order, those
// that are empty left out: tool, target, screen, error, goal, flowTags, tags
// (these three of its session), labels, input, testIds, a11y (the names of its
// nodes) and observation. Each is one line without control characters. The same
// step and session give the same fields, so what was found by a field can be
// shown from it.
func Fields(r memory.Record, s memory.Session) []Field {
	c := r.Step
	if c == nil {
		return nil
	}
	var fields []Field
	left := Max
	add := func(name, text string, most int) {
		text = clip(line(text), min(most, left))
		if text != "" {
			fields = append(fields, Field{name, text})
			left -= len(text) + 1
		}
	}
	add("tool", c.Tool.Name, memory.MaxNameText)
	add("target", Target(c.Tool.Target), maxTargetPart)
	add("screen", c.Screen, maxTargetPart)
	if e := c.Outcome.Error; e != nil {
		add("error", e.Code+" "+e.Message, maxErrorPart)
	}
	add("goal", s.Goal, maxGoalPart)
	add("flowTags", strings.Join(s.FlowTags, " "), maxTargetPart)
	add("tags", strings.Join(s.Tags, " "), maxTargetPart)
	add("labels", strings.Join(c.Labels, " "), maxTargetPart)
	input := gather(c.Tool.Input)
	add("input", input.join(maxInputPart), maxInputPart)
	seen := gather(c.Observation)
	add("testIds", strings.Join(seen.testIDs, " "), left/2)
	add("a11y", strings.Join(seen.nodes, " "), left/2)
	add("observation", seen.join(left), left)
	return fields
}

// Target is what a step's target says as one text: a string itself, of any
// other value its JSON.
func Target(target json.RawMessage) string {
	var text string
	switch {
	case len(target) == 0 || string(target) == "null":
		return ""
	case json.Unmarshal(target, &text) == nil:
		return text
	}
	return string(target)
}

// gathered are the strings of a JSON value.
type gathered struct {
	telling, others []string
	// testIDs and nodes are what an observation of a page holds beside its state.
	testIDs, nodes []string
}

// join puts the strings together, the telling ones first.
func (g gathered) join(most int) string {
	return clip(strings.Join(slices.Concat(g.telling, g.others), " "), most)
}

// isData says that the beginning of a long text is one word. Scripts that write no spaces
// have letters that data such as base64 has not.
func isData(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r == ' ' || r > unicode.MaxASCII && unicode.IsLetter(r) })
}

// gather collects the strings of a JSON value, each but once. Numbers and flags
// find nothing, and long words without a space are data, not text.
func gather(value json.RawMessage) gathered {
	var g gathered
	seen := map[string]bool{}
	size := 0
	for x := range Scalars(value) {
		if size >= maxGathered {
			break
		}
		if x.Kind != ScalarText {
			continue
		}
		top, key := "", x.Key()
		if len(x.Keys) > 0 {
			top = x.Keys[0]
		}
		says := key == "" || slices.Contains(telling, key)
		most := maxValue
		if says {
			most = maxTelling
		}
		if top == "" && key == "" { // the value is one text
			most = Max
		}
		text := line(x.Text)
		data := len(text) > maxValue && isData(text[:maxValue])
		if text = clip(text, most); text == "" || data || seen[text] {
			continue
		}
		seen[text] = true
		size += len(text)
		switch {
		case top == "testIds":
			g.testIDs = append(g.testIDs, text)
		case top == "a11y":
			if key == "name" {
				g.nodes = append(g.nodes, text)
			}
		case top == "state" && key == "currentScreen": // a field of its own
		case says:
			g.telling = append(g.telling, text)
		default:
			g.others = append(g.others, text)
		}
	}
	return g
}

// line makes a text one line: control characters and runs of white space become
// one space.
func line(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// clip cuts a text to at most so many bytes, at a space if one is near, and never
// inside a rune.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	if most <= 0 {
		return ""
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	if i := strings.LastIndexByte(text[:cut], ' '); i > cut*3/4 {
		cut = i
	}
	return strings.TrimRight(text[:cut], " \n")
}
