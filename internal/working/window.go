package working

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/session"
)

// TaskWindow implements session.WorkingMemory.
func (s *Service) TaskWindow(ctx context.Context, req session.TaskWindowRequest) (*session.TaskWindow, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	p, _, err := s.opts.Projects.Resolve(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	held, err := s.held(p.ID)
	if err != nil {
		return nil, err
	}
	w := &session.TaskWindow{
		Project: p.ID, ProjectName: p.Name,
		Tasks: make([]session.CompletedTask, 0, len(held)), Blockers: make([]session.Blocker, 0, len(held)),
	}
	for i := range held {
		if r := &held[i]; r.Kind == memory.Blocker {
			w.Blockers = append(w.Blockers, blockerOf(r))
		} else {
			w.Tasks = append(w.Tasks, taskOf(r))
		}
	}
	w.Total = len(w.Tasks)
	limit := cmp.Or(req.Limit, s.Settings(p, req.TaskType).Window)
	w.Tasks = w.Tasks[max(0, w.Total-limit):]
	w.Text = windowText(w.Tasks, w.Blockers)
	w.Tokens = s.opts.Tokens(w.Text)
	return w, nil
}

// windowText writes the window as contract 3 has it. Every text stands on one line,
// whatever is in it.
func windowText(tasks []session.CompletedTask, blockers []session.Blocker) string {
	var b strings.Builder
	if len(tasks) > 0 {
		b.WriteString("## Recent Task History\n")
	}
	for i, t := range tasks {
		outcome := "✗ failed"
		if readReport(t.ValidationReport).valid {
			outcome = "✓ success"
		}
		fmt.Fprintf(&b, "%d. %s", i+1, line(t.TaskID))
		if t.RequiresContext && t.Intent != "" {
			fmt.Fprintf(&b, `: "%s"`, quoted(t.Intent))
		}
		fmt.Fprintf(&b, " (completed: %s, %s)\n", minute(t.CompletedAt), outcome)
	}
	if len(blockers) > 0 {
		if len(tasks) > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("## Active Blockers\n")
	}
	for _, x := range blockers {
		fmt.Fprintf(&b, "- %s: \"%s\" (blocked: %s)\n", line(x.TaskID), quoted(x.Reason), minute(x.BlockedAt))
	}
	return b.String()
}

// minute writes a time to the minute, in UTC.
func minute(t time.Time) string { return t.UTC().Format("2006-01-02T15:04Z") }

// quoted is a text as it stands between quotation marks.
func quoted(text string) string { return strings.ReplaceAll(line(text), `"`, "'") }

// line is a text on one line, with one blank between words. Characters that are not
// shown are blanks as well, so that nothing can pretend to be another line or to
// stand elsewhere.
func line(text string) string {
	if isLine(text) {
		return text
	}
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
	}), " ")
}

// isLine says of most texts that are a line already that they are, quickly: every
// request of an agent is shown fifty.
func isLine(text string) bool {
	last := byte(' ')
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c > '~' || c == ' ' && last == ' ' {
			return false
		}
		last = c
	}
	return last != ' '
}
