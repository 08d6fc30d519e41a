package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// ImportSession takes over a session and steps of it as files hold them. It can
// be repeated: what is known changes nothing. The metadata of a session may come
// after its steps, and again when another program has changed it; one that was
// started here is not changed. Of a step, time and content are looked at, and
// labels, where it has some; the rest is derived. The error is that of the
// session, a *memory.Error when it is not valid.
func (s *Service) ImportSession(ctx context.Context, project memory.Project, session memory.Session, steps []memory.Record) (Taken, error) {
	var out Taken
	session.Project = project.ID
	if err := session.Validate(); err != nil {
		return out, err
	}
	s.forgetting.RLock()
	defer s.forgetting.RUnlock()
	in := sessionImport{s: s, project: project, session: s.cleanSession(session)}
	if err := in.settle(); err != nil {
		return out, fmt.Errorf("import session: %w", err)
	}
	var records []memory.Record
	seen := map[string]bool{}
	for i, r := range steps {
		if err := r.ValidateStep(); err != nil {
			out.Problems = append(out.Problems, Problem{i, err})
			continue
		}
		r, err := in.step(r)
		if err != nil {
			return out, fmt.Errorf("import session: %w", err)
		}
		switch {
		case r.known || seen[r.ID]:
			out.Known++
		case r.left:
			out.Left++
			continue
		}
		if r.write && !seen[r.ID] {
			seen[r.ID] = true
			records = append(records, r.Record)
		}
	}
	return out, in.write(ctx, records, &out)
}

// cleanSession takes the secrets out of a session that was read from a file.
func (s *Service) cleanSession(x memory.Session) memory.Session {
	c := s.newCleaner()
	c.text(&x.Goal, memory.MaxGoalText)
	x.FlowTags, x.Tags = c.list(x.FlowTags), c.list(x.Tags)
	x.Build, x.Launch, x.Extra = c.json(x.Build), c.json(x.Launch), c.extra(x.Extra)
	x.CreatedAt, x.EndedAt = x.CreatedAt.UTC(), x.EndedAt.UTC()
	return x
}

// sessionImport is one call of ImportSession.
type sessionImport struct {
	s       *Service
	project memory.Project
	session memory.Session // as it will be stored
	// stored says that the session is there, changed that it is to be written, and
	// told that its metadata is new, which its steps are searched by.
	stored, changed, told bool
}

// settle compares the session with the one stored.
func (in *sessionImport) settle() error {
	old, err := in.s.opts.Sessions.Session(in.project.ID, in.session.ID)
	if err == nil {
		in.session = mergeImported(old, in.session)
		in.stored, in.changed = true, !sameJSON(old, in.session)
		in.told = in.changed
		return nil
	}
	if memory.CodeOf(err) != memory.CodeNotFound {
		return err
	}
	forgotten, err := in.s.opts.Records.Tombstoned(sessionTombstone(in.project.ID, in.session.ID))
	if err != nil {
		return err
	}
	if forgotten { // its steps may go on, what it was about stays forgotten
		in.session = memory.Session{ID: in.session.ID, Project: in.project.ID, CreatedAt: in.session.CreatedAt, Bare: true}
	}
	// A bare one is worth keeping for its steps only.
	in.changed = !in.session.Bare
	return nil
}

// mergeImported is what is kept of a session that a file tells of again.
func mergeImported(old, new memory.Session) memory.Session {
	if new.Bare || !old.Bare && old.Client != "" {
		return old
	}
	new.Client = old.Client
	return new
}

// importedStep is a step that was read: known if it is there, left if it was
// forgotten; write says that there is something to write.
type importedStep struct {
	memory.Record
	known, left, write bool
}

// step makes the record of a step, or finds it.
func (in *sessionImport) step(read memory.Record) (importedStep, error) {
	content := *read.Step
	in.s.complete(&content, in.s.newCleaner())
	at := read.Created.UTC().Truncate(time.Millisecond)
	id := stepID(in.session.Key(), at, content.Tool.Name)
	old, err := in.s.opts.Records.Record(id)
	if err == nil {
		x := importedStep{Record: old, known: true}
		if in.told { // it is searched by its session's goal and flow tags
			setStepText(&x.Record, in.session)
			x.write = x.Doc != old.Doc
		}
		return x, nil
	}
	if memory.CodeOf(err) != memory.CodeNotFound {
		return importedStep{}, err
	}
	if left, err := in.s.opts.Records.Tombstoned(id); err != nil || left {
		return importedStep{left: left}, err
	}
	if !in.stored && in.session.Bare && (in.session.CreatedAt.IsZero() || at.Before(in.session.CreatedAt)) {
		in.session.CreatedAt = at
	}
	return importedStep{Record: stepRecord(id, in.project, in.session, at, content), write: true}, nil
}

// write commits the session, if it has changed or has new steps, and the steps.
func (in *sessionImport) write(ctx context.Context, records []memory.Record, out *Taken) error {
	parts := bySize(records, stepSize)
	if len(parts) == 0 && in.changed {
		parts = [][]memory.Record{nil}
	}
	for i, part := range parts {
		b := memory.Batch{Records: part, Import: true, Merge: keepStep, Action: "import session",
			Detail: map[string]any{"session": in.session.ID, "project": in.project.ID, "steps": len(part)}}
		if i == 0 && (in.changed || !in.stored) {
			b.Sessions = []memory.Session{in.session}
			b.MergeSession = func(old, new memory.Session) (memory.Session, error) { return mergeImported(old, new), nil }
			if err := in.s.addProject(&b, in.project); err != nil {
				return err
			}
		}
		var texts []memory.Document
		for _, r := range part {
			texts = append(texts, memory.Document{ID: r.Doc, Text: r.Text})
		}
		c, err := in.s.commit(ctx, b, texts)
		if err != nil {
			return fmt.Errorf("import session: %w", err)
		}
		out.Left += len(c.Left)
		out.Added += len(part) - len(c.Left) - len(c.Merged)
	}
	return nil
}

// keepStep keeps a step that is there, but for the text by which it is searched.
func keepStep(old, new memory.Record) memory.Record {
	old.Text, old.Doc = new.Text, new.Doc
	return old
}

// stepSize is about what a step takes in a commit.
func stepSize(r memory.Record) int {
	c := r.Step
	n := len(r.Text) + len(c.Tool.Input) + len(c.Tool.Target) + len(c.Observation) + len(c.Environment) + len(c.Build)
	if e := c.Outcome.Error; e != nil {
		n += len(e.Message) + len(e.Details)
	}
	return n
}

// sameJSON compares sessions by what is written of them.
func sameJSON(a, b memory.Session) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
