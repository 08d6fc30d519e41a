package repofiles

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
)

// trust knows the repositories whose files may be read: the settings name them, or a user
// agreed. The author of a repository wrote its lesson logs, sessions and context files as
// well, and they reach every agent that works there; so nothing is read before consent.
// Consent is for a repository on disk, with its linked worktrees, and for its project.
// Another clone needs its own, because any folder can claim to be a clone; so does another
// repository in the same place. Consent is a state of the project and is forgotten with it.
type trust struct {
	opts     *Options
	settings []string

	// taking is held for reading while files are read, and for writing while consent is
	// revoked, so that nothing is stored after a revocation.
	taking sync.RWMutex

	mu sync.Mutex // guards what follows
	// given are the consents, by project and folder.
	given map[consentKey]consent
	// waiting are the files that are not read, by root.
	waiting map[string]*waitingFiles
	// noticed are the roots whose callers were informed.
	noticed map[string]bool
	// fresh are roots whose consent has changed since they were read last.
	fresh map[string]bool
}

// consentKey identifies a consent.
type consentKey struct{ project, folder string }

// waitingFiles are the files and folders of one repository that wait.
type waitingFiles struct {
	project        string // its name
	logs, sessions map[string]bool
	context        int
}

// consents is the state of a project.
type consents struct {
	Folders []consent `json:"folders"`
}

type consent struct {
	Folder string    `json:"folder"`
	At     time.Time `json:"at"`
	// Mark distinguishes the folder from another one put in its place. It is empty in
	// consents older than marks, and on a file system without any.
	Mark string `json:"mark,omitempty"`
}

// holds reports whether the folder is still the same.
func (c consent) holds() bool { return c.Mark == "" || c.Mark == project.MarkOf(c.Folder) }

// maxWaiting bounds the list of repositories that wait, maxWaitingFiles the files
// remembered of each.
const (
	maxWaiting      = 100
	maxWaitingFiles = 10_000
)

// newTrust reads the stored consents.
func newTrust(opts *Options) (*trust, error) {
	t := &trust{
		opts: opts, given: map[consentKey]consent{}, waiting: map[string]*waitingFiles{}, noticed: map[string]bool{}, fresh: map[string]bool{},
	}
	for _, s := range opts.Trusted {
		if real, err := fsx.Canonical(s); err == nil { // roots are free of symbolic links; of a pattern some part exists
			s = real
		}
		t.settings = append(t.settings, filepath.ToSlash(s))
	}
	known, err := opts.Store.Projects()
	if err != nil {
		return nil, fmt.Errorf("read consent: %w", err)
	}
	for _, p := range known {
		raw, err := opts.Store.State(memory.StateKey{Project: p.ID, Kind: memory.StateTrust})
		if memory.CodeOf(err) == memory.CodeNotFound {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read consent: %w", err)
		}
		for _, c := range readConsents(raw).Folders {
			t.given[consentKey{p.ID, c.Folder}] = c
		}
	}
	return t, nil
}

// readConsents decodes a state. An unreadable state is no consent.
func readConsents(raw []byte) (c consents) {
	if json.Unmarshal(raw, &c) != nil {
		return consents{}
	}
	return c
}

// keyOf returns the key of a repository: the folder with the git data of all its
// worktrees; without git, the folder itself.
func keyOf(id project.Identity) consentKey {
	folder := id.Root
	if id.CommonDir != "" {
		folder = id.CommonDir
	}
	return consentKey{id.Project.ID, folder}
}

// allows reports whether the files of a repository may be taken in.
func (t *trust) allows(id project.Identity) bool {
	if t.configured(id.Root) {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c, ok := t.given[keyOf(id)]
	return ok && c.holds()
}

// configured reports whether the settings trust a folder, or one that it lies in.
func (t *trust) configured(root string) bool {
	for dir := filepath.ToSlash(root); ; dir = path.Dir(dir) {
		for _, s := range t.settings {
			if ok, _ := path.Match(s, dir); ok || s == dir {
				return true
			}
		}
		if dir == path.Dir(dir) {
			return false
		}
	}
}

// trusted returns the trusted repositories of a project among these roots.
func (t *trust) trusted(project string, roots []string) (trusted []string) {
	for _, root := range roots {
		if at, err := t.opts.Projects.Locate(root); err == nil && at.Project.ID == project && t.allows(at) {
			trusted = append(trusted, at.Root)
		}
	}
	return trusted
}

// wait lets change count the files of a repository that wait.
func (t *trust) wait(id project.Identity, change func(*waitingFiles)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.waiting[id.Root]
	if w == nil {
		if len(t.waiting) >= maxPlaces {
			return
		}
		w = &waitingFiles{logs: map[string]bool{}, sessions: map[string]bool{}}
	}
	w.project = id.Project.Name
	change(w)
	if len(w.logs)+len(w.sessions)+w.context == 0 {
		delete(t.waiting, id.Root)
		return
	}
	t.waiting[id.Root] = w
}

func note(files map[string]bool, file string) {
	if len(files) < maxWaitingFiles {
		files[file] = true
	}
}

// waits lists what waits, by root, the first maxWaiting.
func (t *trust) waits() []memory.WaitingFiles {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]memory.WaitingFiles, 0, len(t.waiting))
	for root, w := range t.waiting {
		list = append(list, w.state(root))
	}
	slices.SortFunc(list, func(a, b memory.WaitingFiles) int { return strings.Compare(a.Root, b.Root) })
	return list[:min(len(list), maxWaiting)]
}

func (w *waitingFiles) state(root string) memory.WaitingFiles {
	return memory.WaitingFiles{Root: root, ProjectName: w.project, Logs: len(w.logs), Sessions: len(w.sessions), ContextFiles: w.context}
}

// notice says, once for each repository, which of its files wait and what the user can do;
// it is empty if none do.
func (t *trust) notice(root string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.waiting[root]
	if w == nil || t.noticed[root] {
		return ""
	}
	t.noticed[root] = true
	return "Not read: " + w.state(root).Text() + " of this repository, because its author wrote them. Its user can agree with `recalld trust`."
}

// takeFresh returns the roots whose files are to be read again from their beginning.
func (t *trust) takeFresh() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	roots := slices.Collect(maps.Keys(t.fresh))
	clear(t.fresh)
	return roots
}

// forget drops the consents for projects that are no longer stored.
func (t *trust) forget() {
	known, err := t.opts.Store.Projects()
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for key := range t.given {
		if !slices.ContainsFunc(known, func(p memory.Project) bool { return p.ID == key.project }) {
			delete(t.given, key)
		}
	}
	clear(t.waiting)
}

// change stores a consent, or removes it.
func (t *trust) change(ctx context.Context, id project.Identity, roots []string, agreed bool) error {
	key := keyOf(id)
	added := consent{key.folder, time.Now().UTC().Truncate(time.Millisecond), project.MarkOf(key.folder)}
	action := "trust repository"
	if !agreed {
		action = "distrust repository"
	}
	_, err := t.opts.Ingest.Write(ctx, id.Project, memory.Batch{
		States: []memory.StateEdit{{
			Key: memory.StateKey{Project: key.project, Kind: memory.StateTrust},
			Edit: func(old []byte) ([]byte, error) {
				c := readConsents(old)
				c.Folders = slices.DeleteFunc(c.Folders, func(c consent) bool { return c.Folder == key.folder })
				if agreed {
					c.Folders = append(c.Folders, added)
				}
				if len(c.Folders) == 0 {
					return nil, nil
				}
				return json.Marshal(c)
			},
		}},
		Action: action, Detail: map[string]string{"project": key.project, "folder": key.folder},
	})
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if agreed {
		t.given[key] = added
	} else {
		delete(t.given, key)
	}
	for _, root := range append(roots, id.Root) {
		delete(t.waiting, root)
		delete(t.noticed, root)
		t.fresh[root] = true
	}
	return nil
}

// Trust carries out service.Trust.
func (s *Service) Trust(ctx context.Context, req memory.TrustRequest) (*memory.TrustState, error) {
	out := &memory.TrustState{}
	if req.List && req.Path != "" {
		s.contextFiles.wait(req.Path)
	}
	if !req.List {
		id, err := s.locate(req)
		if err != nil {
			return nil, err
		}
		if out.Root = id.Root; req.Revoke {
			out.Removed, err = s.distrust(ctx, id)
		} else {
			err = s.agree(ctx, id)
		}
		if err != nil {
			return nil, err
		}
	}
	var err error
	if out.Trusted, err = s.trust.list(); err != nil {
		return nil, err
	}
	out.Waiting = s.trust.waits()
	return out, nil
}

// locate finds the repository that a request is about.
func (s *Service) locate(req memory.TrustRequest) (project.Identity, error) {
	dir := req.Path
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(req.Caller.Dir, dir)
	}
	if !filepath.IsAbs(dir) {
		return project.Identity{}, memory.Invalid("path", "an absolute folder", "%q is relative and the caller's folder is unknown", dir)
	}
	return s.opts.Projects.Locate(dir)
}

func (s *Service) agree(ctx context.Context, id project.Identity) error {
	if err := s.trust.change(ctx, id, s.rootsOf(id), true); err != nil {
		return err
	}
	s.roots.look(id.Root) // its project is stored now
	s.follower.wakeUp()
	return nil
}

// distrust takes consent back and removes what was read from the repository.
func (s *Service) distrust(ctx context.Context, id project.Identity) (removed int, err error) {
	if s.trust.configured(id.Root) {
		return 0, &memory.Error{Code: memory.CodeConflict, Field: "path",
			Message: fmt.Sprintf("the settings trust %s", id.Root), Hint: "take it out of sources.trusted, and start the daemon again"}
	}
	roots, err := s.roots.all()
	if err != nil {
		return 0, err
	}
	s.trust.taking.Lock()
	defer s.trust.taking.Unlock()
	if err := s.trust.change(ctx, id, s.rootsOf(id), false); err != nil {
		return 0, err
	}
	trusted := s.trust.trusted(id.Project.ID, roots)
	removed, err = s.opts.Ingest.Withdraw(ctx, id.Project.ID, s.opts.Store, func(p memory.Provenance) bool {
		if !filepath.IsAbs(p.Path) { // a context file, or what was stored before paths were
			return len(trusted) > 0
		}
		inLogs := filepath.IsAbs(s.opts.LessonDir) && inside(p.Path, s.opts.LessonDir)
		return inLogs || slices.ContainsFunc(trusted, func(root string) bool { return inside(p.Path, root) })
	})
	s.opts.Catalogue.Retake()
	return removed, err
}

// inside reports whether a file lies below a folder.
func inside(file, folder string) bool {
	relative, err := filepath.Rel(folder, file)
	return err == nil && filepath.IsLocal(relative)
}

// rootsOf are the roots that share a repository's consent: its worktrees.
func (s *Service) rootsOf(id project.Identity) []string {
	all, err := s.roots.all()
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(root string) bool {
		at, err := s.opts.Projects.Locate(root)
		return err != nil || keyOf(at) != keyOf(id)
	})
}

// list lists the trusted folders: first the settings, then the consents.
func (t *trust) list() ([]memory.TrustedFolder, error) {
	known, err := t.opts.Store.Projects()
	if err != nil {
		return nil, err
	}
	list := []memory.TrustedFolder{}
	for _, s := range t.settings {
		list = append(list, memory.TrustedFolder{Folder: filepath.FromSlash(s), Setting: true})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(list)
	for key, c := range t.given {
		if !c.holds() { // another repository has its place, or none
			continue
		}
		f := memory.TrustedFolder{Folder: key.folder, Project: key.project, At: c.At}
		if filepath.Base(f.Folder) == ".git" {
			f.Folder = filepath.Dir(f.Folder)
		}
		for _, p := range known {
			if p.ID == key.project {
				f.ProjectName = p.Name
			}
		}
		list = append(list, f)
	}
	slices.SortFunc(list[n:], func(a, b memory.TrustedFolder) int { return strings.Compare(a.Folder, b.Folder) })
	return list, nil
}
