package repofiles

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"

	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/contextfile"
)

// contextFiles enters the context files of a caller's repository in the catalogue of its
// project. It looks at them when a call needs the catalogue; if nothing has changed, this
// costs a few times and sizes. Of two worktrees of one project, the last caller's counts.
type contextFiles struct {
	scanner   *contextfile.Scanner // nil if the settings say so
	catalogue Catalogue
	roots     *roots
	trust     *trust
	log       *slog.Logger

	mu sync.Mutex
	// logged are the problems that were logged, by repository; guarded by mu.
	logged map[string][]memory.ImportProblem
}

func newContextFiles(opts *Options, roots *roots, trust *trust) *contextFiles {
	c := &contextFiles{catalogue: opts.Catalogue, roots: roots, trust: trust, log: opts.Logger.With(logging.PartKey, "context"), logged: map[string][]memory.ImportProblem{}}
	if opts.ReadContext {
		c.scanner = contextfile.New()
	}
	return c
}

// take reads the context files of the named folder's repository, or of the caller's own.
// Errors are logged, and the catalogue stays as it was.
func (c *contextFiles) take(ctx context.Context, project string, caller memory.Caller) {
	dir := caller.Dir
	if filepath.IsAbs(project) {
		dir = project
	}
	if c.scanner == nil || dir == "" {
		return
	}
	id := c.roots.look(dir)
	if id == nil || dir != project && project != "" && project != id.Project.ID && !slices.Contains(id.Project.Names, project) {
		return
	}
	c.trust.taking.RLock()
	defer c.trust.taking.RUnlock()
	found, err := c.scanner.Scan(id.Root)
	if err != nil {
		c.log.Warn("the context files of a repository are not read", "root", id.Root, logging.ErrorKey, err)
		return
	}
	if !c.trust.allows(*id) {
		c.trust.wait(*id, func(w *waitingFiles) { w.context = len(found.Files) })
		c.drop(ctx, id.Project)
		return
	}
	c.warn(id.Root, found.Problems)
	if _, err := c.catalogue.TakeFiles(context.WithoutCancel(ctx), id.Project, found.Hash, found.Files); err != nil {
		c.log.Warn("the context files of a repository are not taken", "root", id.Root, logging.ErrorKey, err)
	}
}

// wait counts the context files of a repository that is not trusted, before the first
// call there.
func (c *contextFiles) wait(root string) {
	if c.scanner == nil {
		return
	}
	id, err := c.roots.projects.Locate(root)
	if err != nil || c.trust.allows(id) {
		return
	}
	if found, err := c.scanner.Scan(id.Root); err == nil {
		c.trust.wait(id, func(w *waitingFiles) { w.context = len(found.Files) })
	}
}

// untrusted is the hash of the files of a project without a trusted repository.
const untrusted = "nothing is trusted"

// drop removes the entries of files from the catalogue of a project without a trusted
// repository: they are older than the rule that a user has to agree.
func (c *contextFiles) drop(ctx context.Context, p memory.Project) {
	roots, err := c.roots.all()
	if err == nil && len(c.trust.trusted(p.ID, roots)) > 0 {
		return
	}
	if err == nil {
		_, err = c.catalogue.TakeFiles(context.WithoutCancel(ctx), p, untrusted, nil)
	}
	if err != nil {
		c.log.Warn("the context files of a repository stay in the catalogue", "project", p.ID, logging.ErrorKey, err)
	}
}

// mostLogged is how many problems of a repository are logged at once. Status keeps 20 errors of
// everything.
const mostLogged = 5

// warn logs new problems: as errors, like those of the follower.
func (c *contextFiles) warn(root string, problems []memory.ImportProblem) {
	problems = withoutSecrets(problems)
	c.mu.Lock()
	before := c.logged[root]
	c.logged[root] = problems
	c.mu.Unlock()
	added := slices.DeleteFunc(slices.Clone(problems), func(p memory.ImportProblem) bool {
		return slices.ContainsFunc(before, func(b memory.ImportProblem) bool { return b.File == p.File && b.Message == p.Message })
	})
	for _, p := range added[:min(len(added), mostLogged)] {
		p.File = filepath.Join(root, filepath.FromSlash(p.File))
		c.log.Error("skipped "+where(p), logging.ErrorKey, p.Message)
	}
	if more := len(added) - mostLogged; more > 0 {
		c.log.Error("skipped more in "+root, logging.ErrorKey, memory.Count(more, "other problem")+" of its context files")
	}
}
