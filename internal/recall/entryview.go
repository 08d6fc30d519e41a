package recall

import (
	"slices"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// entryName is the name of an entry or a task, as receipts keep it.
type entryName struct{ name, server string }

// nameOf returns the name of a rule, reference, tool, task or blocker; other records have none.
func nameOf(rec *memory.Record) entryName {
	switch {
	case rec.Entry != nil:
		return entryName{rec.Entry.Name, rec.Entry.Server}
	case rec.Task != nil:
		return entryName{name: rec.Task.TaskID}
	case rec.Reference != nil:
		return entryName{name: rec.Reference.Name}
	}
	return entryName{}
}

// hasName says that the records of a kind have names.
func hasName(kind memory.Kind) bool {
	return slices.Contains([]memory.Kind{memory.Rule, memory.Reference, memory.Tool, memory.Task, memory.Blocker}, kind)
}

// nameWithheld adds the names of withheld entries and tasks, if their records still exist.
func (s *Service) nameWithheld(ws []memory.Withheld) {
	for i, w := range ws[:min(len(ws), maxWithheld)] {
		if w.Name != "" || !hasName(w.Kind) {
			continue
		}
		rec, err := s.opts.Corpus.Record(w.ID)
		if err != nil {
			continue
		}
		n := nameOf(&rec)
		ws[i].Name, ws[i].Server = n.name, n.server
	}
}

// titled returns withheld results with the beginnings of lessons and steps, by which a person
// recognises them. The receipt, which shares ws, stays without.
func (r *run) titled(ws []memory.Withheld) []memory.Withheld {
	ws = slices.Clone(ws)
	for i, w := range ws {
		if w.Kind != memory.Lesson && w.Kind != memory.Step || w.Reason == memory.Gone {
			continue
		}
		rec, err := r.s.opts.Corpus.Record(w.ID)
		switch {
		case err != nil:
		case rec.Event != nil && rec.Event.Withdrawn == nil:
			var item memory.Item
			fillLesson(&item, rec.Event, r.redact)
			ws[i].Title = render.Title(item.Text)
		case rec.Step != nil:
			ws[i].Title = render.Title(r.redact(render.Step(rec.Step)))
		}
	}
	return ws
}

// named fills in the displayed fields of a rule, reference, tool, task, blocker or session
// summary.
func (r *run) named(item *memory.Item, c *candidate, rec *memory.Record) {
	switch {
	case rec.Entry != nil:
		item.Text = r.redact(render.Entry(rec.Entry))
	case rec.Task != nil:
		item.Text = r.redact(render.Task(rec.Kind, rec.Task))
	case rec.Kind == memory.SessionSummary:
		item.Text, item.Team = r.redact(render.OneLine(rec.Text)), rec.Provenance.Agent
		return
	default:
		item.Text = r.redact(rec.Text)
	}
	if rec.Reference == nil && c.Rate != nil && c.Rate.Attempts > 0 {
		item.SuccessRate = c.Rate.String()
	}
}
