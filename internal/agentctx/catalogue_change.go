package agentctx

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// maxBatch is how much text one batch holds, in bytes: a record, with its text and
// the entry, must fit a transaction of the store, which holds some 2 MB, with others.
const maxBatch = 1 << 20

// change is what a writer wants of a catalogue.
type change struct {
	project memory.Project
	request string // RequestID
	action  string // for the audit log
	entries []sourced
	servers []storedServer
	// replaces says that what a source has and is not among entries is removed.
	replaces func(source string) bool
	// imported says that what was forgotten stays so.
	imported bool
	secrets  int // that were taken out
	now      time.Time
	// first says that nothing was taken from the project's files before.
	first bool
}

// since is when what a source has now came to be. Files that are read for the first
// time were there before.
func (c *change) since(source string) time.Time {
	if c.first && isFile(source) {
		return time.Time{}
	}
	return c.now
}

// sourced is an entry with who registers it, and, once it is clean, its Text.
type sourced struct {
	memory.CatalogueEntry
	source string
	text   string
}

// errNothing says that there is nothing to be written.
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

// batch returns what is still to be written of a change, or as much of it as fits,
// and whether there is more.
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
		} else if holds(old, e) || isFile(e.source) && !isFile(old.Entry.Source) {
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
	_, changed, err := c.mergeServers(servers.servers)
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
	if !more {
		b.RequestID, b.DropRecords = c.request, gone
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

// mergeEntry keeps the place of an entry that was changed, and what came of it.
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

// now is when new entries are created: after all that are there, so that time and
// place in the request are the order of registration.
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

// holds says that a record is what registering the entry would make of it. Its text is
// compared as well: another version of recalld may find entries by another text.
func holds(r *memory.Record, e *sourced) bool {
	x := r.Entry
	return x.Source == e.source && x.Description == e.Description && x.Content == e.Content && x.Guidance == e.Guidance &&
		bytes.Equal(x.InputSchema, e.InputSchema) && x.Core == e.Core && x.Include == e.Include &&
		sameFlag(x.Enabled, e.Enabled) && r.Text == e.text
}

func recordOf(project string, e *sourced, ord int, now time.Time) memory.Record {
	return memory.Record{
		ID: EntryID(project, e.Ref), Kind: e.Type, Project: project, Created: now, Updated: now, Doc: memory.DocumentID(e.text), Text: e.text,
		Provenance: memory.ProvenanceOf(e.source),
		Entry: &memory.Entry{
			Name: e.Name, Server: e.ServerName, Source: e.source, Description: e.Description, Content: e.Content, Guidance: e.Guidance,
			InputSchema: e.InputSchema, Core: e.Core, Include: e.Include, Enabled: e.Enabled, Version: 1, Ord: ord,
		},
	}
}

// recordSize is about what a record takes in a transaction, in bytes.
func recordSize(r *memory.Record) int {
	const rest = 512 // names, times and keys
	e := r.Entry
	return len(r.Text) + len(e.Description) + len(e.Content) + len(e.Guidance) + len(e.InputSchema) + rest
}

// EntryID is the id of an entry's record: a letter for its type and a hash of project,
// server and name, so that it is the same whenever it is registered.
func EntryID(project string, ref memory.Ref) string {
	letter := map[memory.Kind]string{memory.Rule: "u", memory.Reference: "f", memory.Tool: "o"}[ref.Type]
	h := sha256.New()
	for _, s := range []string{project, ref.ServerName, ref.Name} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return letter + "-" + hex.EncodeToString(h.Sum(nil)[:8])
}
