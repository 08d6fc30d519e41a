package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/recalld/recalld/internal/memory"
)

// Directory lists the known projects and their indexed folders.
type Directory interface {
	Projects() ([]memory.Project, error)
	Sandboxes() ([]memory.Sandbox, error)
}

// Resolver finds the project that a caller means.
type Resolver struct {
	known  Directory
	proofs *prover
}

// NewResolver returns a resolver over the known projects.
func NewResolver(known Directory) *Resolver { return &Resolver{known, newProver()} }

// Resolve returns the project named by its id, one of its names, or a folder of it;
// without a name, the project of the caller's folder. known tells whether the project is
// stored; a stored project may have got a new name, see Stored. It returns CodeNotFound,
// with similar names, for an unknown name, CodeConflict for a name of several projects,
// CodeInvalidInput without name and folder, and the errors of Identify.
func (r *Resolver) Resolve(ctx context.Context, name string, caller memory.Caller) (memory.Project, bool, error) {
	id, old, err := r.resolve(ctx, name, caller)
	return id.Project, old, err
}

// ResolveRepo is Resolve, and returns the name of the caller's default repository
// (contract 2): the one that contains its folder, or the project's own if the folder is
// missing or outside of the project.
func (r *Resolver) ResolveRepo(ctx context.Context, name string, caller memory.Caller) (p memory.Project, repo string, err error) {
	id, _, err := r.resolve(ctx, name, caller)
	if err != nil {
		return memory.Project{}, "", err
	}
	root := id.Root
	if name != "" { // it may be of another folder than the caller's
		root = ""
		if filepath.IsAbs(caller.Dir) { // the daemon's own folder must not count
			if own, err := r.Locate(caller.Dir); err == nil && own.Project.ID == id.Project.ID {
				root = own.Root
			}
		}
	}
	if root == "" {
		return id.Project, id.Project.Name, nil
	}
	return id.Project, filepath.Base(root), nil
}

// resolve is Resolve, and returns the folder by which the project was found.
func (r *Resolver) resolve(ctx context.Context, name string, caller memory.Caller) (id Identity, old bool, err error) {
	known, err := r.known.Projects()
	if err != nil {
		return Identity{}, false, fmt.Errorf("list projects: %w", err)
	}
	if name != "" && !isPath(name) {
		if i := slices.IndexFunc(known, func(p memory.Project) bool { return p.ID == name }); i >= 0 {
			return Identity{Project: known[i]}, true, nil
		}
		p, err := named(known, name)
		return Identity{Project: p}, err == nil, err
	}
	dir := name
	if dir == "" {
		dir = caller.Dir
	} else if caller.Dir != "" && !filepath.IsAbs(dir) {
		dir = filepath.Join(caller.Dir, dir)
	}
	if dir == "" {
		return Identity{}, false, &memory.Error{
			Code: memory.CodeInvalidInput, Field: "project", Message: "no project is given and the caller's folder is unknown",
			Hint: "name a project or a folder of it",
		}
	}
	switch { // the daemon's own folder must not count
	case filepath.IsAbs(dir):
	case name == "":
		return Identity{}, false, memory.Invalid(callerDir, "an absolute folder", "the folder %q is relative", dir)
	default:
		return Identity{}, false, memory.Invalid("project", "a name, an id or an absolute folder",
			"the folder %q is relative and the caller's is unknown", dir)
	}
	if err := ctx.Err(); err != nil { // what follows reads the disk
		return Identity{}, false, err
	}
	if id, err = r.ofFolder(dir, known); err != nil {
		field := callerDir
		if name != "" {
			field = "project"
		}
		return Identity{}, false, inField(field, err)
	}
	if err := ctx.Err(); err != nil { // comparing histories may take long
		return Identity{}, false, err
	}
	id.Project, old = r.join(known, id)
	return id, old, nil
}

// callerDir is the field with the caller's folder.
const callerDir = "caller.dir"

// inField is an error about the folder in a field of a request: what it calls a path is
// something else. An AboveError is known by its field, and stays as it is.
func inField(field string, err error) error {
	if _, above := errors.AsType[*AboveError](err); above {
		return err
	}
	e, ok := errors.AsType[*memory.Error](err)
	if !ok || e.Field != "path" {
		return err
	}
	named := *e
	named.Field, named.Hint = field, cmp.Or(e.Hint, "name a project, or a folder that exists")
	return &named
}

// Named returns the project that has a name, which is not tried as an id or a folder: for
// text that others wrote. It returns the errors of Resolve.
func (r *Resolver) Named(name string) (memory.Project, error) {
	known, err := r.known.Projects()
	if err != nil {
		return memory.Project{}, fmt.Errorf("list projects: %w", err)
	}
	return named(known, name)
}

// Locate is Identify with the project that Resolve returns for the folder.
func (r *Resolver) Locate(dir string) (Identity, error) {
	known, err := r.known.Projects()
	if err != nil {
		return Identity{}, fmt.Errorf("list projects: %w", err)
	}
	id, err := r.ofFolder(dir, known)
	if err == nil {
		id.Project, _ = r.join(known, id)
	}
	return id, err
}

// Stored reports whether a project is stored with its remote, all its names and its
// place, so that nothing must be written.
func (r *Resolver) Stored(p memory.Project) (bool, error) {
	known, err := r.known.Projects()
	if err != nil {
		return false, fmt.Errorf("list projects: %w", err)
	}
	return slices.ContainsFunc(known, func(k memory.Project) bool { return k.ID == p.ID && !isNew(k, p) }), nil
}

// ofFolder is Identify, except that a home folder or a file system's root without
// repositories is a project as well. An agent started there may store lessons, and
// refusing would lose them; indexing is refused, since it would take hours.
func (r *Resolver) ofFolder(dir string, known []memory.Project) (Identity, error) {
	real, err := realFolder(dir)
	if err != nil {
		return Identity{}, err
	}
	if isWhole(real, realHome()) {
		if below := repositoriesBelow(real, searchRepos); len(below) > 0 {
			return Identity{}, &AboveError{Dir: real, Repos: below}
		}
		return folderIdentity(real), nil
	}
	return identifyReal(real, r.proofs, func(id string) bool {
		return slices.ContainsFunc(known, func(p memory.Project) bool { return p.ID == id })
	})
}

// isPath reports whether a name is a path.
func isPath(name string) bool {
	return name == "." || name == ".." || strings.ContainsAny(name, `/\`)
}

// named returns the project with a name, else with one whose accents are composed in another
// way: systems do that differently in names of folders.
func named(known []memory.Project, name string) (memory.Project, error) {
	found := slices.DeleteFunc(slices.Clone(known), func(p memory.Project) bool { return p.Name != name && !slices.Contains(p.Names, name) })
	if len(found) == 0 {
		same := func(own string) bool { return norm.NFC.String(own) == norm.NFC.String(name) }
		found = slices.DeleteFunc(slices.Clone(known), func(p memory.Project) bool { return !same(p.Name) && !slices.ContainsFunc(p.Names, same) })
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return memory.Project{}, &memory.Error{
			Code: memory.CodeNotFound, Field: "project", Message: "no project is called " + memory.Quote(name),
			Hint: cmp.Or(memory.NearNames(name, names(known)), "no project is known yet; index one with `recalld up PATH`"),
		}
	}
	ids := make([]string, len(found))
	for i, p := range found {
		ids[i] = p.ID
		if len(p.Roots) > 0 {
			ids[i] += " (" + p.Roots[0] + ")"
		} else if p.Remote != "" {
			ids[i] += " (" + p.Remote + ")"
		}
	}
	return memory.Project{}, &memory.Error{
		Code: memory.CodeConflict, Field: "project", Message: fmt.Sprintf("%d projects have the name %q", len(found), name),
		Hint: "use an id: " + strings.Join(ids, ", "),
	}
}

// isNew reports whether p has a remote, name, place, folder or history that known does
// not have.
func isNew(known, p memory.Project) bool {
	if known.Apart != p.Apart || !slices.Equal(known.Folders, p.Folders) || !slices.Equal(known.History, p.History) {
		return true
	}
	return known.Remote != p.Remote || p.Place != (memory.FolderRef{}) && known.Place != p.Place || slices.ContainsFunc(p.Names, func(n string) bool { return !slices.Contains(known.Names, n) })
}

// withNames adds names to a known project, after its own.
func withNames(known memory.Project, names []string) memory.Project {
	known.Names = slices.Clone(known.Names)
	for _, n := range names {
		if !slices.Contains(known.Names, n) {
			known.Names = append(known.Names, n)
		}
	}
	return known
}

// Names returns the names of all known projects.
func (r *Resolver) Names() []string {
	known, err := r.known.Projects()
	if err != nil {
		return nil // they are for a hint
	}
	return names(known)
}

func names(known []memory.Project) (all []string) {
	for _, p := range known {
		all = append(append(all, p.Name), p.Names...)
	}
	return all
}
