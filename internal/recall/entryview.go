package recall

import (
	"github.com/recalld/recalld/internal/memory"
)

// entryName is what an entry or a task goes by; receipts keep it.
type entryName struct{ name, server string }

// nameOf returns the name of a rule, reference, tool, task or blocker.
func nameOf(r *memory.Record) (entryName, bool) {
	switch {
	case r.Entry != nil:
		return entryName{r.Entry.Name, r.Entry.Server}, true
	case r.Task != nil:
		return entryName{name: r.Task.TaskID}, true
	case r.Reference != nil:
		return entryName{name: r.Reference.Name}, true
	}
	return entryName{}, false
}

// hasName says that the records of a kind have names.
func hasName(kind memory.Kind) bool {
	switch kind {
	case memory.Rule, memory.Reference, memory.Tool, memory.Task, memory.Blocker:
		return true
	}
	return false
}

// nameWithheld names the entries and tasks among what is told of what was withheld, as
// far as they are still there.
func (s *Service) nameWithheld(ws []memory.Withheld) {
	for i, w := range ws[:min(len(ws), maxWithheld)] {
		if w.Name != "" || !hasName(w.Kind) {
			continue
		}
		r, err := s.opts.Corpus.Record(w.ID)
		if err != nil {
			continue
		}
		n, _ := nameOf(&r)
		ws[i].Name, ws[i].Server = n.name, n.server
	}
}

// named fills in what is shown of a rule, reference, tool, task or blocker.
func (f *filler) named(item *memory.Item, c *candidate, r *memory.Record) {
	switch {
	case r.Entry != nil:
		item.Text = f.redact(entryText(r.Entry))
	case r.Task != nil:
		item.Text = f.redact(taskText(r.Kind, r.Task))
	default:
		item.Text = f.redact(r.Text)
	}
	if r.Reference == nil && c.Rate != nil && c.Rate.Attempts > 0 {
		item.SuccessRate = c.Rate.String()
	}
}
