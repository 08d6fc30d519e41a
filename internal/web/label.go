package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/steptext"
)

const (
	// maxLabelled bounds the memories of a page whose titles are read; the others have ids.
	maxLabelled = 200
	// perRead is how many memories one request reads.
	perRead = 20
	// titleLength bounds a title, in characters.
	titleLength = 120
)

// label is how a memory is named on a page: by its title, or its id if it cannot be read any
// more. Link is where it is shown; empty is nowhere.
type label struct {
	Title, Link string
	IsID        bool
}

// labels are the labels of memories of a project, by their ids.
type labels struct {
	project string
	known   map[string]label
}

// Of is the label of an item: an entry of the catalogue or a task by its name, code by its
// path, other memories by their titles.
func (l labels) Of(id string, kind memory.Kind, server, name, path string) label {
	switch known, ok := l.known[id]; {
	case server != "":
		return label{Title: server + ": " + name}
	case name != "":
		return label{Title: name}
	case path != "":
		return label{Title: path, Link: l.chunk(kind, id)}
	case ok:
		return known
	}
	return label{Title: render.ShortID(id), Link: l.chunk(kind, id), IsID: true}
}

// chunk is the address of a chunk, and empty for another kind.
func (l labels) chunk(kind memory.Kind, id string) string {
	if kind != memory.Chunk {
		return ""
	}
	return l.address("chunks", id)
}

func (l labels) address(page, id string) string {
	return Root + page + "/" + url.PathEscape(id) + "?" + url.Values{"project": {l.project}}.Encode()
}

// named reads the titles of memories. What cannot be read gets none: a title is no reason not
// to show a page.
func (q *request) named(project string, ids []string) labels {
	out := labels{project, map[string]label{}}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for part := range slices.Chunk(ids[:min(len(ids), maxLabelled)], perRead) {
		for len(part) > 0 {
			a, err := ask(q, service.Recall, memory.RecallRequest{IDs: part, Project: project, MaxTokens: memory.MaxTokens, Typing: true, Caller: q.caller()})
			if err != nil {
				return out
			}
			for _, i := range a.Items {
				out.known[i.ID] = out.labelOf(i)
			}
			var rest []string
			for _, w := range a.Withheld {
				switch {
				case w.Reason == memory.OverBudget && len(a.Items) > 0: // it has room in the next answer
					rest = append(rest, w.ID)
				case w.Reason == memory.Superseded || w.Reason == memory.Retracted:
					if h, err := ask(q, service.Lesson, memory.LessonRequest{ID: w.ID, Project: project, Caller: q.caller()}); err == nil {
						out.known[w.ID] = out.labelOf(h.Lesson)
					}
				}
			}
			part = rest
		}
	}
	return out
}

func (l labels) labelOf(i memory.Item) label {
	switch i.Kind {
	case memory.Lesson:
		return label{Title: cutTo(cmp.Or(i.Context, i.Lesson, i.Text), titleLength), Link: l.address("lessons", i.ID)}
	case memory.Step:
		step := label{Title: cutTo(i.Text, titleLength)}
		if s := i.Step; s != nil {
			words := s.Tool.Name + " " + steptext.Target(s.Tool.Target)
			if !s.Outcome.OK {
				words += " " + render.StepOutcome(s.Outcome)
			}
			step.Title = cutTo(words, titleLength)
		}
		if i.Source.Session != "" {
			step.Link = l.address("sessions", i.Source.Session) + "#" + url.PathEscape(i.ID)
		}
		return step
	case memory.Chunk:
		title := i.Source.Path
		if len(i.Source.Lines) == 2 {
			title += fmt.Sprintf(":%d–%d", i.Source.Lines[0], i.Source.Lines[1])
		}
		return label{Title: title, Link: l.chunk(i.Kind, i.ID)}
	}
	return label{Title: cutTo(i.Text, titleLength)}
}

// taskLine is a task or blocker, as an event has it.
type taskLine struct {
	ID, Intent string
	State      string // a word of the page
	Good, Bad  bool
	Why        string // it is blocked, or how that was resolved
}

// taskLines are what an event is about.
func taskLines(e *memory.TaskEvent) (lines []taskLine) {
	for _, raw := range append(e.Tasks, e.Task) {
		var t memory.CompletedTask
		if json.Unmarshal(raw, &t) != nil || t.TaskID == "" {
			continue
		}
		l := taskLine{ID: t.TaskID, Intent: t.Intent, State: "failed", Bad: true}
		if render.TaskSucceeded(t.ValidationReport) {
			l.State, l.Good, l.Bad = "done", true, false
		}
		lines = append(lines, l)
	}
	for _, raw := range append(e.Blockers, e.Blocker) {
		var b memory.BlockedTask
		if json.Unmarshal(raw, &b) != nil || b.TaskID == "" {
			continue
		}
		l := taskLine{ID: b.TaskID, State: "blocked", Bad: true, Why: b.Reason}
		if e.Event == memory.TaskUnblocked {
			l.State, l.Bad, l.Good, l.Why = "unblocked", false, true, cmp.Or(e.Resolution, "was blocked: "+b.Reason)
		}
		lines = append(lines, l)
	}
	return lines
}
