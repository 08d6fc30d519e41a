package ingest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/steptext"
)

// ImportSession imports a session and some of its steps from files. It can be repeated:
// known data changes nothing. The metadata of a session may follow after its steps, and may
// be imported again after another program has changed it. A session that was started here is
// not changed. The steps of an agent's log have ids that are the same in every session, so
// that a step which is read again in another session is known. Time, content and labels of a
// step are read; the rest is derived. The steps have the session's provenance, "imported" by
// default. Followed data never changes recorded or imported data. The error is about the
// session: a *memory.Error if it is not valid.
func (s *Service) ImportSession(ctx context.Context, project memory.Project, session memory.Session, steps []memory.Record) (Imported, error) {
	var out Imported
	session.Project = project.ID
	if err := session.Validate(); err != nil {
		return out, err
	}
	in := sessionImport{s: s, project: project, read: s.cleanSession(session), seen: map[string]bool{}, now: s.now()}
	if in.read.Provenance.Followed() && in.read.CreatedAt.After(in.now) {
		in.read.CreatedAt, in.ahead = in.now, true
	}
	var clean []memory.Record
	for i, r := range steps {
		if err := r.ValidateStep(); err != nil {
			out.Problems = append(out.Problems, Problem{i, err})
			continue
		}
		clean = append(clean, in.clean(r))
	}
	parts := bySize(clean, stepSize)
	if len(parts) == 0 {
		parts = [][]memory.Record{nil} // the session alone
	}
	for _, part := range parts {
		if err := in.part(ctx, part, &out); err != nil {
			return out, fmt.Errorf("import session: %w", err)
		}
	}
	return out, nil
}

// cleanSession redacts a session that was read from a file.
func (s *Service) cleanSession(x memory.Session) memory.Session {
	c := s.newCleaner()
	c.text(&x.Goal, memory.MaxGoalText)
	x.FlowTags, x.Tags = c.list(x.FlowTags), c.list(x.Tags)
	x.Build, x.Launch, x.Extra = c.json(x.Build), c.json(x.Launch), c.extra(x.Extra)
	x.Git = c.git(x.Git)
	x.CreatedAt, x.EndedAt = x.CreatedAt.UTC(), x.EndedAt.UTC()
	x.Client, x.Imported = "", !x.Bare
	x.Provenance.Origin = cmp.Or(x.Provenance.Origin, memory.OriginImported)
	return x
}

// sessionImport is one call of ImportSession.
type sessionImport struct {
	s       *Service
	project memory.Project
	read    memory.Session // as the file describes it
	first   time.Time      // of the first step
	now     time.Time
	// ahead says that the file of a followed session contains a future time.
	ahead   bool
	seen    map[string]bool // steps by id
	session memory.Session  // as it will be stored
	// stored says that the session exists, changed that it must be written, and told
	// that its metadata is new; its steps are searched by the metadata.
	stored, changed, told bool
}

// clean makes the record of a step without its searched text.
func (in *sessionImport) clean(read memory.Record) memory.Record {
	content := *read.Step
	in.s.complete(&content, in.s.newCleaner())
	at := read.Created.UTC().Truncate(time.Millisecond)
	id := stepID(in.read.Key(), at, content.Tool.Name)
	if in.read.Provenance.Agent != "" && read.ID != "" {
		id = read.ID
	}
	if in.read.Provenance.Followed() && at.After(in.now) {
		at = in.now
	}
	if in.first.IsZero() || at.Before(in.first) {
		in.first = at
	}
	r := stepRecord(id, in.project, in.read, at, content)
	r.Provenance = in.read.Provenance
	return r
}

// part imports some steps and the session. Every part compares with the store again,
// because records may be forgotten between two parts.
func (in *sessionImport) part(ctx context.Context, steps []memory.Record, out *Imported) error {
	in.s.forgetting.RLock()
	defer in.s.forgetting.RUnlock()
	if err := in.settle(); err != nil {
		return err
	}
	known, forgotten, err := in.s.opts.Records.Known(idsOf(steps))
	if err != nil {
		return err
	}
	var records []memory.Record
	for _, r := range steps {
		old, again := known[r.ID]
		changed := true
		switch {
		case in.seen[r.ID]:
			out.Known++
			continue
		case again:
			out.Known++
			r, changed = in.again(r, old)
		case forgotten[r.ID]:
			out.Forgotten++
			changed = false
		default:
			setStepText(&r, in.session)
		}
		in.seen[r.ID] = true
		if changed {
			records = append(records, r)
		}
	}
	if len(records) == 0 && !in.changed {
		return nil
	}
	return in.write(ctx, records, out)
}

func idsOf(records []memory.Record) (ids []string) {
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	return ids
}

// settle compares the session with the one stored.
func (in *sessionImport) settle() error {
	old, err := in.s.opts.Sessions.Session(in.project.ID, in.read.ID)
	if err == nil {
		if in.ahead && old.Provenance.Followed() {
			in.read.CreatedAt = old.CreatedAt
		}
		in.session = mergeImported(old, in.read)
		in.stored, in.changed = true, !sameJSON(old, in.session)
		in.told = in.told || in.changed
		return nil
	}
	if memory.CodeOf(err) != memory.CodeNotFound {
		return err
	}
	forgotten, err := in.s.SessionForgotten(in.project.ID, in.read.ID)
	if err != nil {
		return err
	}
	in.session, in.stored = in.read, false
	if forgotten { // its steps may go on, its metadata stays forgotten
		in.session = memory.Session{ID: in.read.ID, Project: in.project.ID, CreatedAt: in.read.CreatedAt, Bare: true, Provenance: in.read.Provenance}
	}
	if at := in.session.CreatedAt; in.session.Bare && !in.first.IsZero() && (at.IsZero() || in.first.Before(at)) {
		in.session.CreatedAt = in.first
	}
	// A bare session is stored only for its steps.
	in.changed = !in.session.Bare
	return nil
}

// SessionForgotten says that a session was forgotten and not started again since.
func (s *Service) SessionForgotten(project, id string) (bool, error) {
	return s.opts.Records.Tombstoned(sessionTombstone(project, id))
}

// mergeImported merges a session with its newer import. An ended session stays ended.
func mergeImported(old, new memory.Session) memory.Session {
	if new.Bare || !old.Bare && (!old.Imported || new.Provenance.Followed() && !old.Provenance.Followed()) {
		return old
	}
	ofLog := new.Provenance.Agent != ""
	if new.EndedAt.IsZero() || ofLog && new.EndedAt.Before(old.EndedAt) {
		new.EndedAt = old.EndedAt
	}
	if ofLog { // agents below an agent have logs of their own, without its goal
		new.Goal = cmp.Or(new.Goal, old.Goal)
		if old.CreatedAt.Before(new.CreatedAt) {
			new.CreatedAt = old.CreatedAt
		}
		if old.Provenance.Path != new.Provenance.Path {
			new.Git = cmp.Or(old.Git, new.Git)
			new.Provenance.Path = cmp.Or(old.Provenance.Path, new.Provenance.Path)
		}
	}
	new.Private = new.Private || old.Private
	return new
}

// again returns what is to be stored of a step that was read and is stored, and whether that
// changes it.
func (in *sessionImport) again(read, old memory.Record) (memory.Record, bool) {
	if old.Provenance.Followed() && !read.Provenance.Followed() {
		setStepText(&read, in.session)
		return read, true
	}
	doc := old.Doc
	if in.told && old.Session == in.session.ID { // a step is searched by its session's goal and flow tags
		setStepText(&old, in.session)
	}
	return old, old.Doc != doc
}

// write commits the session, if it has changed or has new steps, and the steps.
func (in *sessionImport) write(ctx context.Context, records []memory.Record, out *Imported) error {
	b := memory.Batch{Records: records, Import: true, Merge: keepStep, Action: "import session",
		Detail: map[string]any{"session": in.session.ID, "project": in.project.ID, "steps": len(records)}}
	if in.changed || !in.stored {
		b.Sessions = []memory.Session{in.session}
		b.MergeSession = func(old, new memory.Session) (memory.Session, error) { return mergeImported(old, new), nil }
		if err := in.s.addProject(&b, in.project); err != nil {
			return err
		}
	}
	var texts []memory.Document
	for _, r := range records {
		texts = append(texts, memory.Document{ID: r.Doc, Text: r.Text})
	}
	c, err := in.s.commit(ctx, b, texts)
	if err != nil {
		return err
	}
	out.Forgotten += len(c.Left)
	out.Added += len(records) - len(c.Left) - len(c.Merged)
	return nil
}

// keepStep keeps a stored step but updates its searched text. An imported step replaces a
// followed one.
func keepStep(old, new memory.Record) memory.Record {
	if old.Provenance.Followed() && !new.Provenance.Followed() {
		new.Verdicts = old.Verdicts
		return new
	}
	old.Text, old.Doc = new.Text, new.Doc
	return old
}

// stepSize estimates the bytes of a step in a commit.
func stepSize(r memory.Record) int {
	c := r.Step
	n := steptext.Max + len(c.Tool.Input) + len(c.Tool.Target) + len(c.Observation) + len(c.Environment) + len(c.Build) + memory.ExtraSize(c.Extra)
	if e := c.Outcome.Error; e != nil {
		n += len(e.Message) + len(e.Details)
	}
	return n
}

// sameJSON compares the stored form of two sessions.
func sameJSON(a, b memory.Session) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
