package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

const (
	// StepLine is the longest line of a step, in bytes.
	StepLine = 300
	// SubjectBytes is the longest target of a step.
	SubjectBytes = 120
)

// Step writes a step on one line: its tool and its outline.
func Step(st *memory.StepContent) string { return OneLine(st.Tool.Name) + " " + StepOutline(st) }

// StepOutline writes the target of a step and how it ended on one line.
func StepOutline(st *memory.StepContent) string {
	line := subject(st) + " → " + StepOutcome(st.Outcome)
	if st.Outcome.OK && st.Screen == "" {
		if text := Value(st.Observation); text != "" {
			line += ": " + text
		}
	}
	return OneLine(line + when(st.Screen != "", " (screen "+st.Screen+")"))
}

// StepOutcome writes an outcome in words.
func StepOutcome(o memory.Outcome) string {
	if o.OK {
		return "ok"
	}
	text := "failed"
	if e := o.Error; e != nil {
		text += when(e.Code != "", ": "+e.Code) + when(e.Message != "", ": "+e.Message)
	}
	return text
}

// subject returns the target of a step, or else its input.
func subject(st *memory.StepContent) string {
	return Shorten(cmp.Or(Value(st.Tool.Target), Value(st.Tool.Input)), SubjectBytes)
}

// Value writes a JSON value on one line: a string as it is, otherwise the scalars of an
// object or list, until the line is longer than StepLine bytes.
func Value(raw json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var words []string
	size := 0
	key := false  // the next token of an object is a key
	var in []byte // the brackets that are open
	for size < StepLine {
		t, err := d.Token()
		if err != nil {
			break // the end, or no JSON from here on
		}
		if open, ok := t.(json.Delim); ok {
			switch open {
			case '{', '[':
				in = append(in, byte(open))
			default:
				in = in[:len(in)-1]
			}
			key = len(in) > 0 && in[len(in)-1] == '{'
			continue
		}
		inObject := len(in) > 0 && in[len(in)-1] == '{'
		if !inObject || !key {
			if text := strings.TrimSpace(plainValue(t)); text != "" {
				words = append(words, text)
				size += len(text)
			}
		}
		key = inObject && !key
	}
	return OneLine(strings.Join(words, ", "))
}

// plainValue writes a scalar; null is empty.
func plainValue(t json.Token) string {
	switch v := t.(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}
