package repofiles

import (
	"slices"
	"sync"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/store"
)

// maxPlaces bounds the callers' folders that are held in memory.
const maxPlaces = 4096

// roots are the repositories whose logs and session folders are followed: the indexed
// ones, and the ones that calls came from. The store remembers them with their projects.
type roots struct {
	store    *store.Store
	projects *project.Recorder

	mu sync.Mutex
	// places are callers' folders, so that a question does not look at them again;
	// guarded by mu.
	places map[string]location
}

// location is where a caller's folder lies. Its root is empty where that is no
// repository, or several.
type location struct {
	root    string
	project string // by id
	// kept says that the store knows the root, or that it is being recorded.
	kept bool
}

func newRoots(opts *Options) *roots {
	return &roots{store: opts.Store, projects: opts.Projects, places: map[string]location{}}
}

// see notices the folder of a call.
func (r *roots) see(dir string) {
	r.mu.Lock()
	at, known := r.places[dir]
	r.mu.Unlock()
	if known && (at.kept || at.root == "" || !r.isStored(at.project)) {
		return
	}
	r.look(dir)
}

// look finds out where a folder lies now, and makes the store remember it in the
// background. It returns nil for a folder that cannot be a sandbox; its caller gets an
// error elsewhere.
func (r *roots) look(dir string) *project.Identity {
	if dir == "" {
		return nil
	}
	id, err := r.projects.Locate(dir)
	if err != nil {
		r.keep(dir, location{})
		return nil
	}
	at := location{root: id.Root, project: id.Project.ID}
	r.mu.Lock()
	before := r.places[dir]
	r.mu.Unlock()
	if before.kept && before.root == at.root && before.project == at.project {
		return &id
	}
	at.kept = r.isStored(at.project)
	r.keep(dir, at)
	if at.kept {
		r.projects.Record(id.Project, id.Root, func(recorded bool) { r.recorded(dir, at, recorded) })
	}
	return &id
}

// recorded notes whether the store knows a location, unless it has changed meanwhile.
func (r *roots) recorded(dir string, at location, recorded bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.places[dir] == at {
		at.kept = recorded
		r.places[dir] = at
	}
}

// rootOf returns the repository of a folder that was looked at, empty for others.
func (r *roots) rootOf(dir string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.places[dir].root
}

func (r *roots) keep(dir string, at location) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.places) >= maxPlaces {
		clear(r.places)
	}
	r.places[dir] = at
}

// isStored reports whether a project is stored. It costs no more than a list in memory.
func (r *roots) isStored(id string) bool {
	known, err := r.store.Projects()
	return err == nil && slices.ContainsFunc(known, func(p memory.Project) bool { return p.ID == id })
}

// forget drops the places in memory: a project has been forgotten, with its folders.
func (r *roots) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.places)
}

// all lists the repositories, sorted. Some may be gone.
func (r *roots) all() ([]string, error) {
	sandboxes, err := r.store.Sandboxes()
	if err != nil {
		return nil, err
	}
	known, err := r.store.Projects()
	if err != nil {
		return nil, err
	}
	var list []string
	for _, b := range sandboxes {
		list = append(list, b.Root)
	}
	for _, p := range known {
		list = append(list, p.Roots...)
	}
	r.mu.Lock()
	for _, at := range r.places {
		if at.root != "" {
			list = append(list, at.root)
		}
	}
	r.mu.Unlock()
	slices.Sort(list)
	return slices.Compact(list), nil
}
