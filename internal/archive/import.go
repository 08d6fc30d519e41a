package archive

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/recalld/recalld/internal/memory"
)

// A batch has at most so many values and bytes.
const (
	batchValues = 64
	batchBytes  = 512 << 10
)

// Writer is the write path; see ingest.Service.
type Writer interface {
	Write(ctx context.Context, project memory.Project, b memory.Batch) (memory.Committed, error)
	CleanJSON(raw json.RawMessage) (clean json.RawMessage, n int)
}

// Store reads what is stored already.
type Store interface {
	Projects() ([]memory.Project, error)
	ProjectSessions(project string) ([]memory.Session, error)
	Record(id string) (memory.Record, error)
	Receipt(id string) (memory.Receipt, error)
	State(key memory.StateKey) ([]byte, error)
	Tombstoned(id string) (bool, error)
}

// Importer takes archives in. It changes nothing that is stored: values that are there stay
// as they are, but a session that is private in the archive becomes so, and records that were
// forgotten stay forgotten. So an import can be repeated, and one that was killed goes on.
type Importer struct {
	Writer Writer
	Store  Store
	// CheckState says whether a state can be read as one of its kind.
	CheckState func(kind string, value json.RawMessage) error
}

// Import verifies a whole archive and then takes it in, unless it is only to be verified.
func (i Importer) Import(ctx context.Context, path string, dry bool, progress func(memory.ArchiveProgress)) (*memory.Archive, error) {
	check := i.newValues()
	lines := 0
	found, err := read(ctx, path, func(n int, l line) error {
		if n%progressEvery == 0 {
			progress(memory.ArchiveProgress{Phase: "verifying", Done: n})
		}
		lines = n
		_, err := check.decode(l)
		return err
	})
	if err != nil {
		return nil, err
	}
	found.DryRun = dry
	if dry {
		return found, nil
	}
	t := &taking{Importer: i, ctx: ctx, out: found, check: i.newValues()}
	found.Added = map[memory.ArchiveKind]int{}
	if err := t.begin(); err != nil {
		return nil, err
	}
	// It is verified again: the file may have changed since.
	_, err = read(ctx, path, func(n int, l line) error {
		if n%progressEvery == 0 {
			progress(memory.ArchiveProgress{Phase: "importing", Done: n, Total: lines})
		}
		return t.take(l)
	})
	if err == nil {
		err = t.flush()
	}
	if err != nil {
		return nil, fmt.Errorf("import archive: %w", err)
	}
	return found, nil
}

// values reads the values of lines and checks them.
type values struct {
	state    func(string, json.RawMessage) error
	projects map[string]bool
	sessions map[memory.SessionKey]bool
	seen     map[string]bool // records and receipts by id, states by key
}

func (i Importer) newValues() *values {
	return &values{i.CheckState, map[string]bool{}, map[memory.SessionKey]bool{}, map[string]bool{}}
}

// once refuses what comes twice.
func (v *values) once(kind memory.ArchiveKind, id string) error {
	name := string(kind) + " " + id
	if v.seen[name] {
		return memory.Invalid(string(kind), "once", "%s comes twice", memory.Quote(id))
	}
	v.seen[name] = true
	return nil
}

// decode returns the value of a line.
func (v *values) decode(l line) (any, error) {
	switch l.Kind {
	case memory.ArchivedSettings:
		return strict[string](l.Value)
	case memory.ArchivedProject:
		p, err := strict[memory.Project](l.Value)
		// A folder names it, or an address: both may be longer than other names.
		err = cmp.Or(err, memory.Text("project.id", p.ID, 1, memory.MaxNameText), memory.Text("project.name", p.Name, 1, memory.MaxPathText))
		p.Roots, p.Folders, p.Place = nil, nil, memory.FolderRef{}
		v.projects[p.ID] = true
		return p, err
	case memory.ArchivedForgotten:
		id, err := strict[string](l.Value)
		return id, cmp.Or(err, memory.Text("forgotten", id, 1, memory.MaxNameText))
	case memory.ArchivedSession:
		x, err := strict[memory.Session](l.Value)
		err = cmp.Or(err, x.Validate(), v.known(x.Project))
		if err == nil && v.sessions[x.Key()] {
			err = memory.Invalid("session", "once", "%s comes twice", memory.Quote(x.ID))
		}
		v.sessions[x.Key()] = true
		return x, err
	case memory.ArchivedRecord:
		r, err := strict[memory.Record](l.Value)
		if err == nil {
			err = v.record(&r)
		}
		return r, err
	case memory.ArchivedStateOf:
		s, err := strict[memory.ArchivedState](l.Value)
		switch {
		case err != nil:
		case s.Kind != memory.StateSession && s.Kind != memory.StateServers:
			err = memory.Invalid("state.kind", memory.StateSession+" or "+memory.StateServers, "%s is none", memory.Quote(s.Kind))
		case len(s.ID) > memory.MaxNameText:
			err = memory.Invalid("state.id", fmt.Sprintf("at most %d bytes", memory.MaxNameText), "it has %d", len(s.ID))
		case s.Kind == memory.StateSession && !v.sessions[memory.SessionKey{Project: s.Project, ID: s.ID}]:
			err = memory.Invalid("state.id", "a session of the archive", "%s is none", memory.Quote(s.ID))
		default:
			err = v.known(s.Project)
		}
		if err == nil {
			err = v.once(l.Kind, s.Project+" "+s.Kind+" "+s.ID)
		}
		if err == nil {
			if wrong := v.state(s.Kind, s.Value); wrong != nil {
				err = memory.Invalid("state.value", "", "%v", wrong)
			}
		}
		return s, err
	}
	r, err := strict[memory.Receipt](l.Value)
	err = cmp.Or(err, memory.Text("receipt.id", r.ID, memory.ReceiptDigits, memory.MaxNameText))
	if err == nil {
		err = v.once(l.Kind, r.ID)
	}
	return r, err
}

func (v *values) known(project string) error {
	if !v.projects[project] {
		return memory.Invalid("project", "a project of the archive", "%s is none", memory.Quote(project))
	}
	return nil
}

// maxText bounds the text of a record that is searched.
const maxText = 1 << 20

// record checks that a record has what its kind has.
func (v *values) record(r *memory.Record) error {
	has := map[memory.Kind]bool{
		memory.Lesson: r.Event != nil, memory.Step: r.Step != nil, memory.Task: r.Task != nil, memory.Blocker: r.Task != nil,
		memory.Rule: r.Entry != nil, memory.Tool: r.Entry != nil, memory.Reference: r.Entry != nil || r.Reference != nil,
		memory.SessionSummary: true,
	}
	switch {
	case !has[r.Kind]:
		return memory.Invalid("record.kind", "lesson, step, task, blocker, reference, rule or tool, with its content, or session_summary", "%s has none", memory.Quote(string(r.Kind)))
	case len(r.Text) > maxText:
		return memory.Invalid("record.text", fmt.Sprintf("at most %d bytes", maxText), "it has %d", len(r.Text))
	case r.Created.IsZero():
		return memory.Invalid("record.created_at", "", "it is missing")
	}
	if err := memory.Text("record.id", r.ID, 1, memory.MaxNameText); err != nil {
		return err
	}
	if r.Kind == memory.Step {
		if err := r.ValidateStep(); err != nil {
			return err
		}
		if !v.sessions[memory.SessionKey{Project: r.Project, ID: r.Session}] {
			return memory.Invalid("record.session", "a session of the archive", "%s is none", memory.Quote(r.Session))
		}
	}
	if err := v.once(memory.ArchivedRecord, r.ID); err != nil || r.Project == memory.OwnProject {
		return err
	}
	return v.known(r.Project)
}

// strict reads a value whose fields are all known.
func strict[T any](raw json.RawMessage) (v T, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return v, memory.Invalid("value", "", "%v", err)
	}
	return v, nil
}

// taking is one import.
type taking struct {
	Importer
	ctx   context.Context
	out   *memory.Archive
	check *values

	stored   map[string]bool            // projects
	sessions map[memory.SessionKey]bool // stored ones
	alive    map[string]bool            // what tombstones of stored sessions are called
	// forgotten are sessions of the archive that were forgotten here.
	forgotten map[memory.SessionKey]bool
	batch     memory.Batch
	values    int
	bytes     int
}

// begin learns what is stored.
func (t *taking) begin() error {
	projects, err := t.Store.Projects()
	if err != nil {
		return err
	}
	t.stored, t.alive = map[string]bool{}, map[string]bool{}
	t.sessions, t.forgotten = map[memory.SessionKey]bool{}, map[memory.SessionKey]bool{}
	for _, p := range projects {
		t.stored[p.ID] = true
		sessions, err := t.Store.ProjectSessions(p.ID)
		if err != nil {
			return err
		}
		for _, x := range sessions {
			t.sessions[x.Key()] = true
			t.alive[memory.RecordID("n", x.Project, x.ID)] = true
		}
	}
	return nil
}

// take adds a line to the batch.
func (t *taking) take(l line) error {
	if clean, n := t.Writer.CleanJSON(l.Value); n > 0 {
		l.Value = clean
		t.out.Redacted++
	}
	value, err := t.check.decode(l)
	if err != nil {
		return err
	}
	isNew := true
	switch x := value.(type) {
	case memory.Project:
		if isNew = !t.stored[x.ID]; isNew {
			t.stored[x.ID] = true // a second line of it is known
			t.batch.Projects = append(t.batch.Projects, x)
		}
	case string:
		isNew = l.Kind == memory.ArchivedForgotten && !t.alive[x]
		if isNew {
			if isNew, err = t.isGone(x); err != nil {
				return err
			}
		}
		if isNew {
			t.batch.Tombstones = append(t.batch.Tombstones, x)
		}
	case memory.Session:
		dead, err := t.Store.Tombstoned(memory.RecordID("n", x.Project, x.ID))
		if err != nil {
			return err
		}
		if dead {
			t.forgotten[x.Key()] = true
			t.out.LeftOut++
		}
		if isNew = !dead && !t.sessions[x.Key()]; isNew || !dead && x.Private { // a stored one becomes private
			t.batch.Sessions = append(t.batch.Sessions, x)
		}
	case memory.Record:
		if x.Project == memory.OwnProject {
			return nil // in archives of versions that exported recalld's own tools; it enters them itself
		}
		if t.forgotten[memory.SessionKey{Project: x.Project, ID: x.Session}] {
			t.out.LeftOut++
			return nil
		}
		t.batch.Records = append(t.batch.Records, x)
		isNew = false // the commit says it
	case memory.ArchivedState:
		if t.forgotten[memory.SessionKey{Project: x.Project, ID: x.ID}] {
			return nil
		}
		key := memory.StateKey{Project: x.Project, Kind: x.Kind, ID: x.ID}
		if _, err := t.Store.State(key); memory.CodeOf(err) != memory.CodeNotFound {
			isNew = false
			break
		}
		t.batch.States = append(t.batch.States, memory.StateEdit{Key: key, Edit: func(old []byte) ([]byte, error) {
			if old != nil {
				return old, nil
			}
			return x.Value, nil
		}})
	case memory.Receipt:
		if t.forgotten[memory.SessionKey{Project: x.Project, ID: x.Session}] {
			return nil
		}
		if _, err := t.Store.Receipt(x.ID); memory.CodeOf(err) != memory.CodeNotFound {
			isNew = false
			break
		}
		t.batch.Receipts = append(t.batch.Receipts, x)
	}
	if isNew {
		t.out.Added[l.Kind]++
	}
	t.values++
	t.bytes += len(l.Value)
	if t.values >= batchValues || t.bytes >= batchBytes {
		return t.flush()
	}
	return nil
}

// isGone says that nothing has an id, and that it was not forgotten here.
func (t *taking) isGone(id string) (bool, error) {
	_, err := t.Store.Record(id)
	if err == nil {
		return false, nil
	}
	if memory.CodeOf(err) != memory.CodeNotFound {
		return false, err
	}
	dead, err := t.Store.Tombstoned(id)
	return !dead, err
}

// flush commits the batch.
func (t *taking) flush() error {
	b := t.batch
	t.batch, t.values, t.bytes = memory.Batch{}, 0, 0
	if len(b.Projects)+len(b.Tombstones)+len(b.Sessions)+len(b.Records)+len(b.States)+len(b.Receipts) == 0 {
		return nil
	}
	b.Import = true
	b.Merge = func(old, _ memory.Record) memory.Record { return old }
	b.MergeSession = func(old, _ memory.Session) (memory.Session, error) { return old, nil }
	done, err := t.Writer.Write(t.ctx, memory.Project{}, b)
	if err != nil {
		return err
	}
	t.out.Added[memory.ArchivedRecord] += len(b.Records) - len(done.Merged) - len(done.Left)
	t.out.LeftOut += len(done.Left)
	return nil
}
