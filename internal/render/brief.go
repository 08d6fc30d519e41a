package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// The most that a brief holds of each kind, and the characters of a line.
const (
	briefBlockers = 3
	briefTasks    = 3
	briefFailures = 2
	briefSteps    = 6
	briefLine     = 160
)

// briefIntro stands before the frame.
const briefIntro = "recalld, for the start of this session (more: recall):\n\n"

// Brief writes what an agent should know when a session starts: what the session did before
// its conversation was compacted (steps, the newest first), pinned lessons, the newest
// blockers, lessons that have worked, and the last tasks, in this order as far as there is
// room. It fills in how many of each are in the text.
func Brief(steps []memory.StepView, window *memory.TaskWindow, pinned, lessons []memory.Item, maxTokens int) memory.Brief {
	var out memory.Brief
	room := MaxBytes(maxTokens) - len(briefIntro) - frameBytes
	var parts []string
	add := func(title string, lines []string) (n int) {
		var b strings.Builder
		for _, line := range lines {
			line = "- " + Characters(line, briefLine) + "\n"
			size := len(Escape(Visible(line)))
			if n == 0 {
				size += len(title) + 1
			}
			if size > room {
				break
			}
			if n == 0 {
				b.WriteString(title + "\n")
			}
			room -= size
			b.WriteString(line)
			n++
		}
		if n > 0 {
			parts = append(parts, b.String())
		}
		return n
	}
	lines, failures := briefOf(steps)
	if len(steps) > 0 && steps[0].SessionGoal != "" {
		add("This session:", []string{SafeLine(steps[0].SessionGoal)})
	}
	out.Steps = add("Still failing in it:", failures) + add("Its last steps, newest first:", lines)
	out.Lessons = add("Pinned:", briefLessons(pinned))
	lines = nil
	for _, x := range newest(window.Blockers, briefBlockers) {
		lines = append(lines, fmt.Sprintf("%s: %s", SafeLine(x.TaskID), SafeLine(x.Reason)))
	}
	out.Blockers = add("Blocked:", lines)
	out.Lessons += add("Worked before:", briefLessons(lessons))
	lines = nil
	for _, x := range newest(window.Tasks, briefTasks) {
		line := SafeLine(x.TaskID)
		if x.RequiresContext && x.Intent != "" {
			line += ": " + Characters(SafeLine(x.Intent), briefLine/2)
		}
		lines = append(lines, line+" "+TaskOutcome(x.ValidationReport))
	}
	out.Tasks = add("Last tasks:", lines)
	if len(parts) > 0 {
		out.Text = briefIntro + Fence(strings.Join(parts, ""))
		out.Tokens = Tokens(out.Text)
	}
	return out
}

// briefLessons writes each lesson as a line: with its id, how often it worked, and what became
// of its code if that changed.
func briefLessons(lessons []memory.Item) (lines []string) {
	for _, x := range lessons {
		line, notes := SafeLine(x.Lesson), ShortID(x.ID)
		if x.Context != "" {
			line = SafeLine(x.Context) + ": " + line
		}
		if x.SuccessRate != "" {
			notes += ", " + x.SuccessRate
		}
		if state := memory.WorstAnchor(x.Anchors); state.Outdated() {
			notes += ", its code: " + string(state)
		}
		lines = append(lines, fmt.Sprintf("%s (%s)", Characters(line, briefLine-40), notes))
	}
	return lines
}

// briefOf writes the last steps, and the failures that no later success of the same tool on
// the same target has mended, each once.
func briefOf(steps []memory.StepView) (last, failures []string) {
	type use struct{ tool, target string }
	seen := map[use]bool{}
	for _, x := range steps {
		u := use{x.Tool, x.Target}
		if x.Provenance != nil || seen[u] {
			continue // of another's file, or done again since
		}
		seen[u] = true
		line := SafeLine(x.Tool + " " + x.Target)
		switch {
		case x.OK && len(last) < briefSteps:
			last = append(last, line)
		case !x.OK && len(failures) < briefFailures:
			failures = append(failures, Characters(line, briefLine/2)+" → "+SafeLine(StepOutcome(memory.Outcome{Error: x.Error})))
		}
	}
	return last, failures
}

// newest returns the last n of a list, the last one first.
func newest[T any](list []T, n int) []T {
	last := slices.Clone(list[max(0, len(list)-n):])
	slices.Reverse(last)
	return last
}
