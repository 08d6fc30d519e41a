package recall

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/steptext"
)

// Bounds of a summary. Counts are of all steps, also of those that a list omits.
const (
	maxRecipe   = 500
	maxFailures = 100
	maxScreens  = 200
	maxLabels   = 100
	// notesBytes is the longest text from one step.
	notesBytes = 200
	// betweenSteps is how many steps before a recovery are listed.
	betweenSteps = 5
)

// summarizer reads a session's steps, oldest first, and keeps what the summary shows.
type summarizer struct {
	steps   []digest
	labels  map[string]int
	screens []string
	seen    map[string]bool // screens
}

// digest is one step of a session.
type digest struct {
	tool    string
	subject string // what the step acted on; only compared
	notes   string
	failed  bool
	error   string
}

func (s *summarizer) add(r memory.Record) {
	st := r.Step
	if st == nil {
		return
	}
	d := digest{tool: st.Tool.Name, subject: steptext.Subject(st.Tool), notes: render.StepOutline(st), failed: !st.Outcome.OK}
	if d.failed {
		d.error = strings.TrimPrefix(strings.TrimPrefix(render.StepOutcome(st.Outcome), "failed"), ": ")
	}
	s.steps = append(s.steps, d)
	for _, label := range st.Labels {
		if s.labels[label] > 0 || len(s.labels) < maxLabels {
			s.labels[label]++
		}
	}
	if st.Screen != "" && !s.seen[st.Screen] && len(s.screens) < maxScreens {
		s.seen[st.Screen] = true
		s.screens = append(s.screens, st.Screen)
	}
}

// summary describes the steps so far; clean redacts what is shown.
func (s *summarizer) summary(session memory.Session, clean func(string) string) *memory.Summary {
	out := &memory.Summary{
		SessionID: session.ID, StepCount: len(s.steps), Goal: clean(session.Goal),
		CreatedAt: session.CreatedAt, EndedAt: session.EndedAt,
		Recipe: []memory.RecipeStep{}, Labels: map[string]int{}, Screens: []string{}, Failures: []memory.Failure{},
	}
	for label, n := range s.labels {
		out.Labels[clean(label)] += n
	}
	for _, screen := range s.screens {
		out.Screens = append(out.Screens, clean(screen))
	}
	note := func(d digest) string { return render.Shorten(clean(d.notes), notesBytes) }
	out.OmittedSteps = max(len(s.steps)-maxRecipe, 0)
	for i, d := range s.steps[:min(len(s.steps), maxRecipe)] {
		out.Recipe = append(out.Recipe, memory.RecipeStep{StepNumber: i + 1, Tool: clean(d.tool), Notes: note(d)})
	}
	recovered := recoveries(s.steps)
	for i, d := range s.steps {
		if !d.failed || len(out.Failures) == maxFailures {
			continue
		}
		f := memory.Failure{StepNumber: i + 1, Tool: clean(d.tool), Error: render.Shorten(clean(render.OneLine(d.error)), notesBytes)}
		if by := recovered[i]; by > 0 {
			f.RecoveredBy = by + 1
			f.Recovery = s.recovery(i, by, clean)
		}
		out.Failures = append(out.Failures, f)
	}
	return out
}

// recoveries returns, for each failed step, the index of the step that recovered it, 0 if
// none did: the next success of the same tool on the same subject. A step without a subject
// has no recovery.
func recoveries(steps []digest) []int {
	type use struct{ tool, subject string }
	next := map[use]int{} // the next success after the current index
	out := make([]int, len(steps))
	for i, d := range slices.Backward(steps) {
		if !d.failed {
			next[use{d.tool, d.subject}] = i
			continue
		}
		if d.subject != "" {
			out[i] = next[use{d.tool, d.subject}]
		}
	}
	return out
}

// recovery lists what succeeded of the last steps between a failure and its recovery, and the
// recovery.
func (s *summarizer) recovery(failure, by int, clean func(string) string) string {
	first := max(failure+1, by-betweenSteps)
	var steps []string
	if first > failure+1 {
		steps = append(steps, render.Ellipsis)
	}
	for i := first; i <= by; i++ {
		d := s.steps[i]
		if d.failed { // it recovered nothing
			continue
		}
		steps = append(steps, fmt.Sprintf("%d. %s %s", i+1, clean(d.tool), render.Shorten(clean(d.notes), notesBytes/2)))
	}
	return strings.Join(steps, "; ")
}
