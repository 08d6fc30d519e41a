package recall

import (
	"context"
	"slices"
	"strings"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/steptext"
)

// Lengths in a step's view, in bytes.
const (
	stepSnippet = 200
	// endingBytes is the room in a snippet that is reserved for a step's error.
	endingBytes = 90
	// leastPart is the least room for a further matching part.
	leastPart = 40
)

// shownApart are the fields of a step (steptext.Fields) that a view shows separately or
// that belong to its session. A snippet leaves them out.
var shownApart = map[string]bool{
	"tool": true, "screen": true, "labels": true, "goal": true, "flowTags": true, "tags": true,
}

// viewer shows steps of one project for one question.
type viewer struct {
	s        *Service
	project  string
	query    index.Terms // empty without a question
	sessions map[string]memory.Session
}

// views reads steps and shows them. It skips steps that have been deleted since. With a
// query, a view shows the matching parts.
func (s *Service) views(ctx context.Context, p historyScope, ids []string, query index.Terms) ([]memory.StepView, error) {
	v := viewer{s: s, project: p.project, query: query, sessions: map[string]memory.Session{}}
	out := make([]memory.StepView, 0, len(ids))
	for r, err := range s.records(ctx, ids) {
		if err != nil {
			return nil, err
		}
		if r.Step != nil && (p.inside || !r.Provenance.Followed()) {
			out = append(out, v.view(r))
		}
	}
	return out, nil
}

func (v *viewer) view(r memory.Record) memory.StepView {
	session := v.session(r.Session)
	view := memory.StepView{
		ID: r.ID, Timestamp: r.Created.UTC(), Tool: v.s.clean(r.Step.Tool.Name), Screen: v.s.clean(r.Step.Screen),
		Labels: v.s.cleanAll(r.Step.Labels), StepEnd: stepEnd(r.Step, v.s.clean), SessionID: r.Session, SessionGoal: session.Goal,
		Provenance: shownProvenance(r.Provenance),
	}
	if len(v.query) > 0 {
		view.Snippet, view.MatchedFields = v.matching(r.Step, steptext.Fields(r, session))
	}
	if view.Snippet == "" {
		view.Snippet = render.Shorten(v.s.clean(render.StepOutline(r.Step)), stepSnippet)
	}
	return view
}

// stepEnd returns a step's target and outcome, without secrets.
func stepEnd(st *memory.StepContent, clean func(string) string) memory.StepEnd {
	target := render.Value(st.Tool.Target)
	if target == "" {
		target = render.OneLine(steptext.Subject(st.Tool))
	}
	end := memory.StepEnd{OK: st.Outcome.OK, Target: render.Shorten(clean(target), render.SubjectBytes)}
	if e := st.Outcome.Error; !st.Outcome.OK && e != nil {
		end.Error = &memory.StepError{Code: render.Shorten(clean(render.OneLine(e.Code)), render.SubjectBytes), Message: render.Shorten(clean(render.OneLine(e.Message)), stepSnippet)}
	}
	return end
}

// session returns a step's session with its redacted goal.
func (v *viewer) session(id string) memory.Session {
	session, ok := v.sessions[id]
	if !ok {
		session, _, _ = v.s.opts.Sessions.Session(v.project, id)
		session.Goal = v.s.clean(session.Goal)
		v.sessions[id] = session
	}
	return session
}

// matching returns the parts of a step that contain most of the question, with its error if
// it failed, and the names of all fields that contain any of it. Without a part worth
// showing the snippet is empty.
func (v *viewer) matching(step *memory.StepContent, fields []steptext.Field) (snippet string, names []string) {
	analyze := v.s.opts.Analyze
	told := map[int]bool{} // terms of the question that the snippet contains
	var parts []string
	room := stepSnippet
	if !step.Outcome.OK {
		room -= endingBytes
	}
	failure, byFailure := "", false
	for _, f := range fields {
		if f.Name == errorField {
			failure = v.s.clean(render.OneLine(f.Text))
		}
		hits := common(v.query, analyze(f.Text))
		if len(hits) == 0 {
			continue
		}
		names = append(names, f.Name)
		news := slices.ContainsFunc(hits, func(t int) bool { return !told[t] })
		if shownApart[f.Name] || !news || room < leastPart {
			continue
		}
		for _, t := range hits {
			told[t] = true
		}
		if f.Name == errorField && !step.Outcome.OK {
			byFailure = true
			continue // it is shown as the ending
		}
		text := f.Text
		if f.Name == targetField {
			text = render.Value(step.Tool.Target)
		}
		part := excerpt(v.s.clean(render.OneLine(text)), room, v.query, analyze)
		parts = append(parts, part)
		room -= len(part) + len(partMark)
	}
	snippet = strings.Join(parts, partMark)
	if step.Outcome.OK || snippet == "" && !byFailure {
		return snippet, names
	}
	end := failedMark
	if failure != "" {
		end += ": " + excerpt(failure, stepSnippet-len(snippet)-len(failedMark)-len(": "), v.query, analyze)
	}
	return strings.TrimSpace(snippet + end), names
}

const (
	// partMark separates the parts of a snippet; failedMark precedes a step's error.
	partMark   = " | "
	failedMark = " → failed"
	// Names of fields (steptext.Fields).
	targetField, errorField = "target", "error"
)

// excerpt returns the part of a line that takes at most limit bytes and contains most of
// the question; marks show what was left out.
func excerpt(line string, limit int, query index.Terms, analyze func(string) index.Terms) string {
	if len(line) <= limit {
		return line
	}
	room := limit - 2*len(render.Ellipsis)
	parts := words(line, room)
	from, to := window(parts, room, query, analyze)
	text := strings.TrimSpace(strings.Join(parts[from:to], ""))
	if from > 0 {
		text = render.Ellipsis + text
	}
	if to < len(parts) {
		text += render.Ellipsis
	}
	return text
}
