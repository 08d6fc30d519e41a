package agentctx

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

// TaskWindow implements memory.WorkingMemory.
func (s *Tasks) TaskWindow(ctx context.Context, req memory.TaskWindowRequest) (*memory.TaskWindow, error) {
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
	w := &memory.TaskWindow{
		Project: p.ID, ProjectName: p.Name,
		Tasks: make([]memory.CompletedTask, 0, len(held)), Blockers: make([]memory.BlockedTask, 0, len(held)),
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
	w.Text, w.Shortened, w.LeftOut = windowText(w.Tasks, w.Blockers)
	w.Tokens = s.opts.Tokens(w.Text)
	return w, nil
}

// windowText writes the window as contract 3 has it. Every text stands on one line,
// whatever is in it, and is cut to its bound; of more blockers than the bound the newest
// are shown. What is cut and left out is counted, and a last line says so.
func windowText(tasks []memory.CompletedTask, blockers []memory.BlockedTask) (text string, shortened, leftOut int) {
	var b strings.Builder
	cut := func(text string, most int) string {
		short := shorten(text, most)
		if short != text {
			shortened++
		}
		return short
	}
	if len(tasks) > 0 {
		b.WriteString("## Recent Task History\n")
	}
	for i, t := range tasks {
		outcome := "✗ failed"
		if readReport(t.ValidationReport).valid {
			outcome = "✓ success"
		}
		fmt.Fprintf(&b, "%d. %s", i+1, cut(line(t.TaskID), memory.MaxShownID))
		if t.RequiresContext && t.Intent != "" {
			fmt.Fprintf(&b, `: "%s"`, cut(quoted(t.Intent), memory.MaxShownText))
		}
		fmt.Fprintf(&b, " (completed: %s, %s)\n", minute(t.CompletedAt), outcome)
	}
	if len(blockers) > 0 {
		if len(tasks) > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("## Active Blockers\n")
	}
	leftOut = max(0, len(blockers)-memory.MaxShownBlockers)
	for _, x := range blockers[leftOut:] {
		fmt.Fprintf(&b, "- %s: \"%s\" (blocked: %s)\n", cut(line(x.TaskID), memory.MaxShownID), cut(quoted(x.Reason), memory.MaxShownText), minute(x.BlockedAt))
	}
	switch {
	case leftOut > 0 && shortened > 0:
		fmt.Fprintf(&b, "(%s left out, %s shortened; all of it: recalld tasks --json)\n", memory.Count(leftOut, "older blocker"), memory.Count(shortened, "text"))
	case leftOut > 0:
		fmt.Fprintf(&b, "(%s left out; all of it: recalld tasks --json)\n", memory.Count(leftOut, "older blocker"))
	case shortened > 0:
		fmt.Fprintf(&b, "(%s shortened; all of it: recalld tasks --json)\n", memory.Count(shortened, "text"))
	}
	return b.String(), shortened, leftOut
}

// shorten cuts a text to so many characters, the last one an ellipsis.
func shorten(text string, most int) string {
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
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
