package agentctx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// maxBatch is the most text of one batch, in bytes: together with other records it must fit
// a transaction of the store, some 2 MB.
const maxBatch = 1 << 20

// change is a change of a catalogue.
type change struct {
	project memory.Project
	request string // RequestID
	action  string // for the audit log
	entries []sourcedEntry
	servers []storedServer
	// replaces reports whether the entries of a source that are not in the change are
	// removed.
	replaces func(source string) bool
	// imported keeps forgotten entries forgotten.
	imported bool
	secrets  int // that were taken out
	now      time.Time
	// first reports that no files of the project were read before.
	first bool
}

// since returns the time from which entries of a source apply. Files that are read for the
// first time existed before.
func (c *change) since(source string) time.Time {
	if c.first && isFile(source) {
		return time.Time{}
	}
	return c.now
}

// sourcedEntry is an entry with its source and, once it has no secrets, its Text.
type sourcedEntry struct {
	memory.CatalogueEntry
	source string
	text   string
}

// errNothing reports that nothing needs to be written.
var errNothing = errors.New("nothing to write")

// write carries out a change. The caller holds s.writing.
func (s *Catalogue) write(ctx context.Context, c *change) (*memory.Registered, error) {
	c.now = s.opts.now()
	out := &memory.Registered{Project: c.project.ID, ProjectName: c.project.Name, Redacted: c.secrets > 0}
	tried := map[string]bool{} // ids of earlier parts
	for {
		var more bool
		written, err := s.opts.Writer.WriteWith(ctx, c.project, func() (b memory.Batch, err error) {
			b, more, err = s.batch(c, tried)
			return b, err
		})
		if err != nil && !errors.Is(err, errNothing) {
			return nil, err
		}
		out.Added += len(written.Put) - len(written.Merged)
		out.Changed += len(written.Merged)
		out.Removed += written.Dropped
		out.Seq = max(out.Seq, written.Seq)
		if !more || written.Repeated {
			break
		}
	}
	out.Unchanged = len(c.entries) - out.Added - out.Changed
	items := s.Items(c.project.ID)
	out.Total = len(items)
	for i := range items {
		if e := &items[i]; out.Seq > 0 && e.Mode == memory.IncludeAlways && e.On && e.Since.Equal(c.now) {
			out.JoinLater++
		}
	}
	return out, nil
}

// batch returns the part of a change that is not written yet, as much as fits, and whether
// there is more.
func (s *Catalogue) batch(c *change, tried map[string]bool) (b memory.Batch, more bool, err error) {
	stored := s.byRef(c.project.ID)
	wanted := make(map[memory.Ref]bool, len(c.entries))
	now := s.now(stored)
	total, size := len(stored), 0
	for i := range c.entries {
		e := &c.entries[i]
		wanted[e.Ref] = true
		old, there := stored[e.Ref]
		if !there {
			total++
		} else if isUnchanged(old, e) || isFile(e.source) && !isFile(old.Entry.Source) {
			continue
		}
		r := recordOf(c.project.ID, e, i, now)
		r.Entry.Since = c.since(e.source)
		if tried[r.ID] || more {
			continue
		}
		if size += recordSize(&r); size > maxBatch && len(b.Records) > 0 {
			more = true
			continue
		}
		b.Records = append(b.Records, r)
	}
	var gone []string
	for ref, r := range stored {
		if !wanted[ref] && c.replaces(r.Entry.Source) {
			gone = append(gone, r.ID)
		}
	}
	if total -= len(gone); total > memory.MaxEntries && total > len(stored) {
		return b, false, memory.Invalid("entries", fmt.Sprintf("at most %d of a project", memory.MaxEntries), "there would be %d", total)
	}
	servers, err := s.serversOf(c.project.ID)
	if err != nil {
		return b, false, err
	}
	_, changed, err := c.mergeServers(servers)
	if err != nil {
		return b, false, err
	}
	for _, r := range b.Records {
		tried[r.ID] = true
		if !c.imported {
			b.DropTombstones = append(b.DropTombstones, r.ID)
		}
	}
	b.Merge, b.Import = mergeEntry, c.imported
	b.RequestID, b.Partial = c.request, more
	if !more {
		b.DropRecords = gone
		if changed {
			b.States = append(b.States, c.editServers(c.project.ID))
		}
	}
	if len(b.Records)+len(b.DropRecords)+len(b.States) == 0 && b.RequestID == "" {
		return b, false, errNothing
	}
	b.Action = c.action
	b.Detail = map[string]any{"project": c.project.ID, "entries": len(b.Records), "removed": len(b.DropRecords)}
	return b, more, nil
}

// mergeEntry keeps the creation time, the order and the verdicts of an entry that changes.
func mergeEntry(old, changed memory.Record) memory.Record {
	changed.Created, changed.Verdicts, changed.Extra = old.Created, old.Verdicts, old.Extra
	entry := *changed.Entry // the batch may be tried again
	if old.Entry != nil {
		entry.Version, entry.Ord = old.Entry.Version+1, old.Entry.Ord
		if entry.Include == old.Entry.Include && sameFlag(entry.Enabled, old.Entry.Enabled) {
			entry.Since = old.Entry.Since
		}
	}
	changed.Entry = &entry
	return changed
}

// now is the creation time of new entries: after all existing ones, so that entries are
// ordered by registration.
func (s *Catalogue) now(stored map[memory.Ref]*memory.Record) time.Time {
	now := s.opts.now()
	for _, r := range stored {
		if !now.After(r.Created) {
			now = r.Created.Add(time.Millisecond)
		}
	}
	return now
}

// byRef returns the entries of a project.
func (s *Catalogue) byRef(project string) map[memory.Ref]*memory.Record {
	records := s.opts.Records.Entries(project, memory.EntryKinds...)
	byRef := make(map[memory.Ref]*memory.Record, len(records))
	for i := range records {
		byRef[refOf(&records[i])] = &records[i]
	}
	return byRef
}

// isUnchanged reports whether registering the entry would not change its record. The text is
// compared too, because another version of recalld may make another one.
func isUnchanged(r *memory.Record, e *sourcedEntry) bool {
	x := r.Entry
	return x.Source == e.source && x.Description == e.Description && x.Content == e.Content && x.Guidance == e.Guidance &&
		bytes.Equal(x.InputSchema, e.InputSchema) && x.Core == e.Core && x.Include == e.Include &&
		sameFlag(x.Enabled, e.Enabled) && r.Text == e.text
}

func recordOf(project string, e *sourcedEntry, ord int, now time.Time) memory.Record {
	return memory.Record{
		ID: entryID(project, e.Ref), Kind: e.Type, Project: project, Created: now, Updated: now, Doc: memory.DocumentID(e.text), Text: e.text,
		Provenance: memory.ProvenanceOf(e.source),
		Entry: &memory.Entry{
			Name: e.Name, Server: e.ServerName, Source: e.source, Description: e.Description, Content: e.Content, Guidance: e.Guidance,
			InputSchema: e.InputSchema, Core: e.Core, Include: e.Include, Enabled: e.Enabled, Version: 1, Ord: ord,
		},
	}
}

// recordSize estimates the size of a record in a transaction, in bytes.
func recordSize(r *memory.Record) int {
	const rest = 512 // names, times and keys
	e := r.Entry
	return len(r.Text) + len(e.Description) + len(e.Content) + len(e.Guidance) + len(e.InputSchema) + rest
}

// entryID is the id of an entry's record: a letter for its type and a hash of project,
// server and name. It is the same at every registration.
func entryID(project string, ref memory.Ref) string {
	letter := map[memory.Kind]string{memory.Rule: "u", memory.Reference: "f", memory.Tool: "o"}[ref.Type]
	return memory.RecordID(letter, project, ref.ServerName, ref.Name)
}
