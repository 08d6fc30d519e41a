package agentctx

import (
	"context"
	"fmt"
	"sync"

	"github.com/recalld/recalld/internal/memory"
)

// TakeFiles makes the file entries of a project's catalogue equal to the entries of these
// files, and removes the entries of other files. The first of several files with one entry counts,
// entries of hosts stay, and forgotten entries stay forgotten. Names and paths with secrets
// are skipped and logged.
//
// hash identifies the content of the files. The same hash as last time is a no-op that
// returns nil, also if it was refused then, unless the catalogue was changed by hand since.
// An empty hash always reads. Errors and atomicity are as in Register.
func (s *Catalogue) TakeFiles(ctx context.Context, project memory.Project, hash string, files []memory.FileEntries) (*memory.Registered, error) {
	if s.taken.is(project.ID, hash) { // a request of an agent does not wait for a host that registers
		return nil, nil
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	known, before := s.taken.state(project.ID)
	out, err := s.takeFiles(ctx, project, files, known)
	if err == nil || memory.CodeOf(err) == memory.CodeInvalidInput {
		s.taken.set(project.ID, hash, before)
	}
	if err != nil {
		return nil, fmt.Errorf("take files: %w", err)
	}
	return out, nil
}

// Retake makes the next TakeFiles compare again whatever the hash, because something was
// forgotten.
func (s *Catalogue) Retake() { s.taken.forgetAll() }

// takeFiles is TakeFiles with s.writing held. known reports that files were read before.
func (s *Catalogue) takeFiles(ctx context.Context, project memory.Project, files []memory.FileEntries, known bool) (*memory.Registered, error) {
	c := &change{project: project, action: "take entries of files", imported: true, replaces: isFile, first: !known}
	for _, r := range s.byRef(project.ID) {
		c.first = c.first && !isFile(r.Entry.Source)
	}
	seen := map[memory.Ref]bool{}
	for _, f := range files {
		if s.secretIn(f.Path, f.Path) {
			continue
		}
		source := memory.FilePrefix + f.Path
		for i, e := range f.Entries {
			if err := e.Validate(fmt.Sprintf("%s: entries[%d].", f.Path, i)); err != nil {
				return nil, err
			}
			if !seen[e.Ref] && !s.secretIn(f.Path, e.Name, e.ServerName) {
				seen[e.Ref] = true
				c.entries = append(c.entries, sourcedEntry{CatalogueEntry: e, source: source})
			}
		}
		for i, x := range f.Servers {
			if err := x.Validate(fmt.Sprintf("%s: servers[%d].", f.Path, i)); err != nil {
				return nil, err
			}
			if !s.secretIn(f.Path, x.Name) {
				c.servers = append(c.servers, storedServer{Server: x, Source: source})
			}
		}
	}
	if err := s.clean(c); err != nil {
		return nil, err
	}
	return s.write(ctx, c)
}

// secretIn reports whether one of the names contains a secret, and logs the file but not the
// name.
func (s *Catalogue) secretIn(path string, names ...string) bool {
	for _, name := range names {
		if _, n := s.opts.Writer.Clean(name, memory.MaxNameText); n > 0 {
			file, _ := s.opts.Writer.Clean(path, memory.MaxPathText)
			s.opts.Logger.Warn("skipped a file, entry or server with a secret in its name", "file", file)
			return true
		}
	}
	return false
}

// maxCached bounds the projects whose hashes are kept.
const maxCached = 256

// readFiles has the hashes of the files that were read last, by project.
type readFiles struct {
	mu     sync.Mutex // guards what follows
	hashes map[string]string
	again  int // how often all were to be taken again
}

func (t *readFiles) is(project, hash string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return hash != "" && t.hashes[project] == hash
}

// state reports whether the files of a project were read before, and how often Retake was
// called.
func (t *readFiles) state(project string) (known bool, retakes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, known = t.hashes[project]
	return known, t.again
}

// set stores a hash, unless Retake was called since: what was read may have been forgotten
// in between.
func (t *readFiles) set(project, hash string, retakes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.again != retakes {
		return
	}
	if t.hashes == nil || len(t.hashes) >= maxCached {
		t.hashes = map[string]string{}
	}
	t.hashes[project] = hash
}

func (t *readFiles) forget(project string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.hashes, project)
}

func (t *readFiles) forgetAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.hashes)
	t.again++
}
