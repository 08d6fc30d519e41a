package ingest

import (
	"cmp"
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
	p, err := s.PrepareLessons(ctx, project, from, lines)
	if err != nil {
		return Imported{}, err
	}
	return s.ImportPrepared(ctx, p)
}

// PreparedLessons are lines of logs that can be imported, once.
type PreparedLessons struct {
	project memory.Project
	lines   []importedLine              // those that were not imported before, by time
	docs    map[memory.DocID]memory.Doc // of new lessons, analysed and embedded
	out     Imported                    // so far: problems, and lines that were imported before
}

// PrepareLessons does the part of ImportLessons that needs no commit, with its errors. It is
// most of the work, and can be done while other lines are imported.
func (s *Service) PrepareLessons(ctx context.Context, project memory.Project, from memory.Provenance, lines []memory.LogLine) (*PreparedLessons, error) {
	p := &PreparedLessons{project: project, docs: map[memory.DocID]memory.Doc{}}
	ids := make([]string, len(lines))
	for i, line := range lines {
		line.Repo = cmp.Or(line.Repo, project.Name) // as cleanLine
		ids[i] = lessonID(project.ID, line)
	}
	stored, forgotten, err := s.opts.Records.Known(ids)
	if err != nil {
		return nil, fmt.Errorf("import lessons: %w", err)
	}
	var texts []memory.Document
	for i, line := range lines {
		if isRead(line, stored[ids[i]], from) {
			p.out.Known++
			continue
		}
		anchors := s.importedAnchors(&line) // what looks for secrets would take their hashes for some
		pinned, private := importedMarks(&line)
		clean, err := s.importedLine(line, project, from)
		if err != nil {
			p.out.Problems = append(p.out.Problems, Problem{i, err})
			continue
		}
		one := s.lessonRecord(clean, project.ID)
		if one.Provenance = from; from.Followed() {
			one.Event.Rate, one.Event.RateAt = nil, time.Time{}
		}
		one.Event.Anchors = anchors
		// A repository's file pins nothing into the briefs of its readers.
		one.Event.Pinned, one.Event.Private = pinned && !from.Followed(), private
		p.lines = append(p.lines, importedLine{clean, one})
		// Lines of other lessons seldom write a document; it is made when they do.
		if stored[one.ID].ID == "" && !forgotten[one.ID] {
			texts = append(texts, memory.Document{ID: one.Doc, Text: one.Text})
		}
	}
	// By time, so that a lesson exists before another one withdraws it.
	slices.SortStableFunc(p.lines, func(a, b importedLine) int { return a.line.Timestamp.Compare(b.line.Timestamp) })
	docs, err := s.documents(ctx, texts, false)
	if err != nil {
		return nil, fmt.Errorf("import lessons: %w", err)
	}
	for _, d := range docs {
		p.docs[d.ID] = d
	}
	return p, nil
}

// ImportPrepared imports prepared lessons as ImportLessons does.
func (s *Service) ImportPrepared(ctx context.Context, p *PreparedLessons) (Imported, error) {
	size := func(x importedLine) int { return 2*len(x.one.Text) + memory.ExtraSize(x.one.Extra) }
	for _, part := range bySize(p.lines, size) {
		if err := s.importLines(ctx, p, part); err != nil {
			return p.out, fmt.Errorf("import lessons: %w", err)
		}
	}
	return p.out, nil
}

// importedLine is a line of a log, cleaned, and the lesson that it tells.
type importedLine struct {
	line memory.LogLine
	one  memory.Record
}

// isRead says that a line was imported before, without looking for secrets in it: a log that
// was rewritten is read again from its start, and most of it is known. stored is its lesson,
// zero if there is none. A line with secrets, or one that withdraws others, takes the long way.
func isRead(line memory.LogLine, stored memory.Record, from memory.Provenance) bool {
	if line.Hash.IsZero() || len(line.Supersedes)+len(line.Retracts) > 0 ||
		stored.Event == nil || stored.Provenance.Followed() && !from.Followed() { // it is raised
		return false
	}
	return slices.ContainsFunc(stored.Event.Observations, func(t memory.Observation) bool { return t.Line == line.Hash })
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

// importLines writes one part of an import, and counts it.
func (s *Service) importLines(ctx context.Context, p *PreparedLessons, part []importedLine) error {
	s.forgetting.RLock()
	defer s.forgetting.RUnlock()
	w := s.newChanges()
	w.docs = p.docs
	var ids []string
	for _, x := range part {
		ids = append(ids, x.one.ID)
	}
	stored, forgotten, err := s.opts.Records.Known(ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		w.now[id] = stored[id]
	}
	added := map[string]int{} // by id
	for _, x := range part {
		if forgotten[x.one.ID] {
			p.out.Forgotten++
			continue
		}
		isNew, err := w.add(x.one.ID, change{one: &x.one, counted: x.line.Counted})
		switch {
		case err != nil:
			return err
		case x.line.Counted: // no observation
		case isNew:
			added[x.one.ID]++
		default:
			p.out.Known++
		}
	}
	for _, x := range part { // when all are told: two may have the same time
		if err := withdraw(w, x.one, x.line, false); err != nil {
			return err
		}
	}
	b := memory.Batch{Import: true, Action: "import lessons", Detail: map[string]any{"project": p.project.ID, "lines": len(part)}}
	if err := s.addProject(&b, p.project); err != nil {
		return err
	}
	c, err := s.commitChanges(ctx, w, b)
	if err != nil {
		return err
	}
	for id, n := range added {
		if slices.Contains(c.Left, id) { // forgotten meanwhile
			p.out.Forgotten += n
		} else {
			p.out.Added += n
		}
	}
	return nil
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
