package agentctx

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// TaskHistory implements memory.WorkingMemory. It reads the audit log backwards as far
// as the answer needs. A line whose detail was forgotten names no project any more, and
// is in no history.
//
// There is no index by project and task: the log has no lines for steps and code, most
// requests are about its end, and an index would enlarge every write.
func (s *Tasks) TaskHistory(ctx context.Context, req memory.TaskHistoryRequest) (*memory.TaskHistory, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	p, _, err := s.opts.Projects.Resolve(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	out := &memory.TaskHistory{Project: p.ID, ProjectName: p.Name, Events: []memory.TaskEvent{}}
	looked, bytes := 0, 0
	for lines, err := range s.opts.Store.AuditBack(req.Before) {
		switch {
		case err != nil:
			return nil, fmt.Errorf("read audit log: %w", err)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case len(lines) == 0:
			continue
		}
		if len(out.Events) >= req.Limit || looked == memory.MaxHistoryLooked {
			out.More = true
			break
		}
		looked++
		found, size := eventsOf(lines, p.ID, req.TaskID)
		if len(found) > 0 && len(out.Events) > 0 && bytes+size > memory.MaxHistoryBytes {
			out.More = true
			break
		}
		out.Events = append(out.Events, found...)
		bytes += size
		out.Before = lines[0].Seq
	}
	if !out.More {
		out.Before = 0
	}
	out.Text = historyText(out.Events)
	out.Tokens = s.opts.Tokens(out.Text)
	return out, nil
}

// eventsOf are the events of a project among the lines of one update, newest first, and
// what they take in bytes.
func eventsOf(lines []memory.AuditEntry, project, taskID string) (events []memory.TaskEvent, size int) {
	for _, l := range slices.Backward(lines) {
		text, _ := l.Detail.(string)
		if text == "" || !isAction(l.Action) {
			continue
		}
		var e memory.TaskEvent
		if json.Unmarshal([]byte(text), &e) != nil || e.Project != project {
			continue
		}
		if taskID != "" && !narrow(&e, taskID) {
			continue
		}
		e.Seq = l.Seq
		events = append(events, e)
		size += len(text)
	}
	return events, size
}

func isAction(action string) bool {
	for _, name := range actions {
		if action == name {
			return true
		}
	}
	return false
}

// narrow leaves in an event what is about one task, and says whether it is about it.
func narrow(e *memory.TaskEvent, taskID string) bool {
	others := func(raw json.RawMessage) bool { return idOf(raw) != taskID }
	e.Tasks = slices.DeleteFunc(e.Tasks, others)
	e.Blockers = slices.DeleteFunc(e.Blockers, others)
	e.GaveWay = slices.DeleteFunc(e.GaveWay, func(id string) bool { return id != taskID })
	return !others(e.Task) || !others(e.Blocker) || len(e.Tasks)+len(e.Blockers)+len(e.GaveWay) > 0
}

// idOf is the id of a task or blocker of an event.
func idOf(raw json.RawMessage) string {
	var x struct {
		TaskID string `json:"task_id"`
	}
	_ = json.Unmarshal(raw, &x) // what is missing has none
	return x.TaskID
}

// historyText writes a line for each event. Texts stand on one line and are cut as in the
// window, and of loaded tasks the number alone is told.
func historyText(events []memory.TaskEvent) string {
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
				ids[i] = shorten(line(e.GaveWay[i]), memory.MaxShownID)
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
		if text == "" {
			return ""
		}
		return `: "` + shorten(quoted(text), memory.MaxShownText) + `"`
	}
	var t memory.CompletedTask
	var x memory.BlockedTask
	_ = json.Unmarshal(e.Task, &t) // what is missing is empty
	_ = json.Unmarshal(e.Blocker, &x)
	switch e.Event {
	case memory.TaskCompleted:
		outcome := "✗ failed"
		if readReport(t.ValidationReport).valid {
			outcome = "✓ success"
		}
		text := t.Intent
		if text == "" {
			text = t.Summary
		}
		return shorten(line(t.TaskID), memory.MaxShownID) + " completed, " + outcome + said(text)
	case memory.TaskBlocked:
		return shorten(line(x.TaskID), memory.MaxShownID) + " blocked" + said(x.Reason)
	case memory.TaskUnblocked:
		text := shorten(line(x.TaskID), memory.MaxShownID) + " unblocked" + said(e.Resolution)
		if x.Reason != "" {
			text += ` (was blocked` + said(x.Reason) + ")"
		}
		return text
	}
	return "loaded " + memory.Count(len(e.Tasks), "task") + " and " + memory.Count(len(e.Blockers), "blocker")
}
