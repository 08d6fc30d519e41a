package agentctx

import (
	"context"
	"fmt"
	"sync"

	"github.com/recalld/recalld/internal/memory"
)

// TakeFiles makes what files have in a project's catalogue what these files have; the
// entries of files that are not among them are removed. Of two files that have the
// same entry the first one's is taken, a host's own entry stays, and what was
// forgotten stays so. What has a secret in its name or path is passed over and logged.
//
// hash names what was read: the same hash as the last time for the project costs
// nothing, unless the catalogue was changed by hand since; an empty one is never the
// same. Nil and no error are returned then, also for what was refused the last time.
// Atomicity is that of Register, and so are the errors.
func (s *Catalogue) TakeFiles(ctx context.Context, project memory.Project, hash string, files []memory.FileEntries) (*memory.Registered, error) {
	if s.taken.is(project.ID, hash) { // a request of an agent does not wait for a host that registers
		return nil, nil
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	before := s.taken.retakes()
	out, err := s.takeFiles(ctx, project, files)
	if err == nil || memory.CodeOf(err) == memory.CodeInvalidInput {
		s.taken.set(project.ID, hash, before)
	}
	if err != nil {
		return nil, fmt.Errorf("take files: %w", err)
	}
	return out, nil
}

// Retake has TakeFiles compare again, whatever the hash: something was forgotten.
func (s *Catalogue) Retake() { s.taken.forgetAll() }

// takeFiles is TakeFiles with s.writing held.
func (s *Catalogue) takeFiles(ctx context.Context, project memory.Project, files []memory.FileEntries) (*memory.Registered, error) {
	c := &change{project: project, action: "take entries of files", imported: true, replaces: isFile, first: !s.taken.knows(project.ID)}
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
				c.entries = append(c.entries, sourced{CatalogueEntry: e, source: source})
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

// secretIn says that one of the names holds a secret, and logs which file has it, not
// what it is.
func (s *Catalogue) secretIn(path string, names ...string) bool {
	for _, name := range names {
		if _, n := s.opts.Writer.Clean(name, memory.MaxNameText); n > 0 {
			file, _ := s.opts.Writer.Clean(path, memory.MaxPathText)
			s.opts.Logger.Warn("passed over a file, entry or server with a secret in its name", "file", file)
			return true
		}
	}
	return false
}

// takenFiles names, by project, what was last taken from files.
type takenFiles struct {
	mu     sync.Mutex // guards what follows
	hashes map[string]string
	again  int // how often all were to be taken again
}

func (t *takenFiles) is(project, hash string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return hash != "" && t.hashes[project] == hash
}

// knows says that the files of a project were looked at before.
func (t *takenFiles) knows(project string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.hashes[project]
	return ok
}

func (t *takenFiles) retakes() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.again
}

// set keeps a hash, unless all were to be taken again since there were so many retakes:
// what was taken may have been forgotten in between.
func (t *takenFiles) set(project, hash string, retakes int) {
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

func (t *takenFiles) forget(project string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.hashes, project)
}

func (t *takenFiles) forgetAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.hashes)
	t.again++
}
