package ingest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// Imported counts what an import did.
type Imported struct {
	// Added are new lessons, observations or steps, Known those that were stored, and
	// Forgotten those that stay out because they were forgotten.
	Added, Known, Forgotten int
	// Problems are the lines or steps that were skipped, in order.
	Problems []Problem
}

// Problem is a line or a step that was skipped: Index is its index in the input, Err a
// *memory.Error that names the field.
type Problem struct {
	Index int
	Err   error
}

// ImportLessons imports lines of logs into a project. It can be repeated, with the lines
// in any order: a known line changes nothing, not even the store, and forgotten lessons
// stay forgotten. An invalid line does not stop the others. A line without a time gets the
// current time.
//
// from is the provenance of the lines. Followed lines change nothing that was told or
// imported, and their success rates count for nothing; a time that is yet to come
// becomes now.
func (s *Service) ImportLessons(ctx context.Context, project memory.Project, from memory.Provenance, lines []memory.LogLine) (Imported, error) {
	var out Imported
	var told []importedLine
	for i, line := range lines {
		read, err := s.isRead(line, project.ID, from)
		if err != nil {
			return out, fmt.Errorf("import lessons: %w", err)
		}
		if read {
			out.Known++
			continue
		}
		anchors := s.importedAnchors(&line) // what looks for secrets would take their hashes for some
		pinned, private := importedMarks(&line)
		clean, err := s.importedLine(line, project, from)
		if err != nil {
			out.Problems = append(out.Problems, Problem{i, err})
			continue
		}
		one := s.lessonRecord(clean, project.ID)
		if one.Provenance = from; from.Followed() {
			one.Event.Rate, one.Event.RateAt = nil, time.Time{}
		}
		one.Event.Anchors = anchors
		// A repository's file pins nothing into the briefs of its readers.
		one.Event.Pinned, one.Event.Private = pinned && !from.Followed(), private
		told = append(told, importedLine{clean, one})
	}
	// By time, so that a lesson exists before another one withdraws it.
	slices.SortStableFunc(told, func(a, b importedLine) int { return a.line.Timestamp.Compare(b.line.Timestamp) })
	for _, part := range bySize(told, func(x importedLine) int { return 2 * len(x.one.Text) }) {
		if err := s.importLines(ctx, project, part, &out); err != nil {
			return out, fmt.Errorf("import lessons: %w", err)
		}
	}
	return out, nil
}

// importedLine is a line of a log, cleaned, and the lesson that it tells.
type importedLine struct {
	line memory.LogLine
	one  memory.Record
}

// isRead says that a line was imported before, without looking for secrets in it: a log
// that was rewritten is read again from its start, and most of it is known. A line with
// secrets, or one that withdraws others, takes the long way.
func (s *Service) isRead(line memory.LogLine, project string, from memory.Provenance) (bool, error) {
	if line.Hash.IsZero() || len(line.Supersedes)+len(line.Retracts) > 0 {
		return false, nil
	}
	r, known, err := find(s.opts.Records, lessonID(project, line))
	if err != nil || !known || r.Provenance.Followed() && !from.Followed() { // or it is raised
		return false, err
	}
	return r.Event != nil && slices.ContainsFunc(r.Event.Observations, func(t memory.Observation) bool { return t.Line == line.Hash }), nil
}

// importedLine checks and cleans a line that was read from a file.
func (s *Service) importedLine(line memory.LogLine, project memory.Project, from memory.Provenance) (memory.LogLine, error) {
	req := memory.RememberRequest{
		Repo: line.Repo, Type: line.Type, Context: line.Context, Command: line.Command, Lesson: line.Lesson,
		SuccessRate: line.SuccessRate, Tags: line.Tags, AgentID: line.AgentID, Supersedes: line.Supersedes, Retracts: line.Retracts,
	}
	if err := memory.Check(&req); err != nil {
		return line, err
	}
	line.Repo, line.Type, line.Context, line.Command = req.Repo, req.Type, req.Context, req.Command
	line.Lesson, line.AgentID = req.Lesson, req.AgentID
	now := s.now()
	if line.Timestamp = line.Timestamp.UTC(); line.Timestamp.IsZero() || from.Followed() && line.Timestamp.After(now) {
		line.Timestamp = now
	}
	line.Extra = withoutField(line.Extra, provenanceField)
	line, _, err := s.cleanLine(line, project)
	return line, err
}

// importLines writes one part of an import, and adds to what is known of it.
func (s *Service) importLines(ctx context.Context, project memory.Project, part []importedLine, out *Imported) error {
	s.forgetting.RLock()
	defer s.forgetting.RUnlock()
	w := s.newChanges()
	added := map[string]int{} // by id
	for _, x := range part {
		left, err := s.isForgotten(w, x.one.ID)
		if err != nil {
			return err
		}
		if left {
			out.Forgotten++
		} else {
			isNew, err := w.add(x.one.ID, change{one: &x.one, counted: x.line.Counted})
			if err != nil {
				return err
			}
			switch {
			case x.line.Counted: // no observation
			case isNew:
				added[x.one.ID]++
			default:
				out.Known++
			}
		}
	}
	for _, x := range part { // when all are told: two may have the same time
		if err := withdraw(w, x.one, x.line, false); err != nil {
			return err
		}
	}
	b := memory.Batch{Import: true, Action: "import lessons", Detail: map[string]any{"project": project.ID, "lines": len(part)}}
	if err := s.addProject(&b, project); err != nil {
		return err
	}
	c, err := s.commitChanges(ctx, w, b)
	if err != nil {
		return err
	}
	for id, n := range added {
		if slices.Contains(c.Left, id) { // forgotten meanwhile
			out.Forgotten += n
		} else {
			out.Added += n
		}
	}
	return nil
}

// isForgotten says that a record is not there because it was forgotten.
func (s *Service) isForgotten(w *changes, id string) (bool, error) {
	if r, err := w.record(id); err != nil || r.ID != "" {
		return false, err
	}
	return s.opts.Records.Tombstoned(id)
}

// addProject adds a project to a batch unless it is stored with all its names.
func (s *Service) addProject(b *memory.Batch, project memory.Project) error {
	stored, err := s.opts.Projects.Stored(project)
	if err != nil {
		return fmt.Errorf("find project: %w", err)
	}
	if !stored {
		b.Projects = []memory.Project{project}
	}
	return nil
}
