package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/recalld/recalld/internal/memory"
)

// RecentTasks writes the window as contract 3 has it. Every text stands on one line,
// whatever is in it, and is cut to its bound; of more blockers than the bound the newest
// are shown. What is cut and left out is counted, and a last line says so.
func RecentTasks(tasks []memory.CompletedTask, blockers []memory.BlockedTask) (text string, shortened, leftOut int) {
	var b strings.Builder
	cut := func(text string, most int) string {
		short := Characters(text, most)
		if short != text {
			shortened++
		}
		return short
	}
	if len(tasks) > 0 {
		b.WriteString("## Recent Task History\n")
	}
	for i, t := range tasks {
		fmt.Fprintf(&b, "%d. %s", i+1, cut(SafeLine(t.TaskID), memory.MaxShownID))
		if t.RequiresContext && t.Intent != "" {
			fmt.Fprintf(&b, `: "%s"`, cut(quoted(t.Intent), memory.MaxShownText))
		}
		fmt.Fprintf(&b, " (completed: %s, %s)\n", minute(t.CompletedAt), TaskOutcome(t.ValidationReport))
	}
	if len(blockers) > 0 {
		if len(tasks) > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("## Active Blockers\n")
	}
	leftOut = max(0, len(blockers)-memory.MaxShownBlockers)
	for _, x := range blockers[leftOut:] {
		fmt.Fprintf(&b, "- %s: \"%s\" (blocked: %s)\n", cut(SafeLine(x.TaskID), memory.MaxShownID), cut(quoted(x.Reason), memory.MaxShownText), minute(x.BlockedAt))
	}
	if leftOut > 0 || shortened > 0 {
		fmt.Fprintf(&b, "(%s; all of it: recalld tasks --json)\n", joined(
			when(leftOut > 0, memory.Count(leftOut, "older blocker")+" left out"), when(shortened > 0, memory.Count(shortened, "text")+" shortened")))
	}
	return b.String(), shortened, leftOut
}

// TaskHistory writes a line for each event. Texts stand on one line and are cut as in the
// window. For loaded tasks it writes only their number.
func TaskHistory(events []memory.TaskEvent) string {
	if len(events) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Task History\n")
	for _, e := range events {
		fmt.Fprintf(&b, "- %s %s", minute(e.At), eventText(&e))
		if n := len(e.GaveWay); n > 0 {
			ids := make([]string, min(n, maxGaveWay))
			for i := range ids {
				ids[i] = Characters(SafeLine(e.GaveWay[i]), memory.MaxShownID)
			}
			fmt.Fprintf(&b, "; %s gave way", strings.Join(ids, ", "))
			if n > len(ids) {
				fmt.Fprintf(&b, " with %d more", n-len(ids))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// maxGaveWay is how many tasks that gave way a line names.
const maxGaveWay = 3

func eventText(e *memory.TaskEvent) string {
	said := func(text string) string {
		return when(text != "", `: "`+Characters(quoted(text), memory.MaxShownText)+`"`)
	}
	var t memory.CompletedTask
	var x memory.BlockedTask
	_ = json.Unmarshal(e.Task, &t) // what is missing is empty
	_ = json.Unmarshal(e.Blocker, &x)
	switch e.Event {
	case memory.TaskCompleted:
		return Characters(SafeLine(t.TaskID), memory.MaxShownID) + " completed, " + TaskOutcome(t.ValidationReport) + said(cmp.Or(t.Intent, t.Summary))
	case memory.TaskBlocked:
		return Characters(SafeLine(x.TaskID), memory.MaxShownID) + " blocked" + said(x.Reason)
	case memory.TaskUnblocked:
		return Characters(SafeLine(x.TaskID), memory.MaxShownID) + " unblocked" + said(e.Resolution) + when(x.Reason != "", " (was blocked"+said(x.Reason)+")")
	}
	return "loaded " + memory.Count(len(e.Tasks), "task") + " and " + memory.Count(len(e.Blockers), "blocker")
}

// minute writes a time to the minute, in UTC.
func minute(t time.Time) string { return t.UTC().Format("2006-01-02T15:04Z") }

// quoted is a text as it stands between quotation marks.
func quoted(text string) string { return strings.ReplaceAll(SafeLine(text), `"`, "'") }

// SafeLine is a text on one line, with one blank between words. Characters that are not
// shown are blanks as well, so that nothing can pretend to be another line or to
// stand elsewhere.
func SafeLine(text string) string {
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
