package project

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// join finds the known project that a folder belongs to. It is the first of these:
//
//   - the project named by the folder's remote, if it is known by that remote and their
//     histories have a commit in common;
//   - the project whose folder this is, by its mark, here or before it was moved here;
//   - the project named by this path, unless its own folder was moved away and still
//     exists: the new folder in its place is a separate project;
//   - the project that was moved here before another folder took its place;
//   - the project that the folder was, by its mark, before a repository was made in it;
//   - the only project that recorded this folder, while git's config cannot be read;
//   - for clones: the project that got the remote later. Of two repositories that got the
//     same remote each stays a separate project, so that neither loses its memories;
//   - the project of the folder on this machine that it was cloned from and that is gone.
//
// A clone, too, must have a commit in common with its origin, else it is a separate
// project.
func (r *Resolver) join(known []memory.Project, id Identity) (p memory.Project, old bool) {
	p, old = r.find(known, &id)
	if id.GitDir != "" && !id.alone {
		r.proofs.addFolder(&p, id.place)
	}
	return p, old
}

func (r *Resolver) find(known []memory.Project, id *Identity) (p memory.Project, old bool) {
	own := id.Project
	find := func(same func(memory.Project) bool) int { return slices.IndexFunc(known, same) }
	belongs := func(k memory.Project) bool { return r.proofs.belongs(id, k, r.known.Sandboxes) }
	// A project that got its remote later is still named by its folder.
	if own.ID != id.folderID {
		if i := find(func(k memory.Project) bool { return k.ID == own.ID }); i >= 0 {
			if belongs(known[i]) {
				return id.joined(known[i]), true
			}
			own.ID, own.Name, own.Place = id.folderID, filepath.Base(id.Root), memory.FolderRef{}
			own.Names = []string{own.Name} // nor does it get the other's name
			own.Apart = fmt.Sprintf("it has the remote %s, but no commit in common with the project %s of that remote", own.Remote, known[i].ID)
			if id.place.Mark != "" {
				own.Place = id.place
			}
			id.Project = own
		}
	}
	before := sync.OnceValue(id.beforeGit)
	for _, same := range []func(memory.Project) bool{
		func(k memory.Project) bool { return isFolderOf(id.place, k) },
		func(k memory.Project) bool { return k.ID == id.folderID && !id.tookPlaceOf(k) },
		func(k memory.Project) bool { return k.Place.Folder != "" && k.Place.Folder == id.place.Folder },
		func(k memory.Project) bool { return isFolderOf(before(), k) },
	} {
		if i := find(same); i >= 0 {
			p = id.joined(known[i])
			if id.place.Mark != "" {
				p.Place = id.place
			}
			p.Apart = own.Apart
			return p, true
		}
	}
	if own.Remote == "" && id.configUnread() {
		var recorded []memory.Project
		for _, k := range known {
			if isMember(k, id.place) {
				recorded = append(recorded, k)
			}
		}
		if len(recorded) == 1 {
			return id.joined(recorded[0]), true
		}
	}
	for _, same := range []func(memory.Project) bool{
		func(k memory.Project) bool { return own.Remote != "" && k.Remote == own.Remote && belongs(k) },
		func(k memory.Project) bool { return slices.Contains(id.origins, k.ID) && belongs(k) },
	} {
		if i := find(same); i >= 0 {
			return id.joined(known[i]), true
		}
	}
	if own.ID == id.folderID && find(func(k memory.Project) bool { return k.ID == own.ID }) >= 0 {
		own.ID = hashed("p-", "folder", foldCase(id.place.Folder), id.place.Mark)
		if i := find(func(k memory.Project) bool { return k.ID == own.ID }); i >= 0 {
			return id.joined(known[i]), true
		}
	}
	return own, false
}

// joined returns a known project with the names and remote of the folder. A remote that
// was removed stays, because clones may have it.
func (id *Identity) joined(k memory.Project) memory.Project {
	p := withNames(k, id.Project.Names)
	p.Remote = cmp.Or(id.Project.Remote, k.Remote)
	return p
}

// configUnread reports whether there is a config of git that cannot be read, so that the remote
// is not known.
func (id *Identity) configUnread() bool {
	if id.CommonDir == "" {
		return false
	}
	_, err := fsx.ReadFile(filepath.Join(id.CommonDir, "config"), maxConfig)
	return err != nil && !fsx.IsGone(err)
}

// maxConfig is how much of git's config is read, in bytes.
const maxConfig = 1 << 20

// isFolderOf reports whether a place is the last folder of a project, at the same path or
// moved. A folder that still exists at the other path, by a second mount for instance, was
// not moved.
func isFolderOf(place memory.FolderRef, k memory.Project) bool {
	return place.Mark != "" && k.Place.Mark == place.Mark && (k.Place.Folder == place.Folder || !isThere(k.Place))
}

// beforeGit is the place that named the folder's project before it had a repository: the
// folder itself. It is empty if git keeps its data elsewhere.
func (id *Identity) beforeGit() memory.FolderRef {
	if id.CommonDir != filepath.Join(id.Root, ".git") {
		return memory.FolderRef{}
	}
	return placeOf(id.Root)
}

// tookPlaceOf reports whether the folder took the path of a project whose own folder was
// moved and still exists.
func (id *Identity) tookPlaceOf(k memory.Project) bool {
	return k.Place.Mark != "" && k.Place.Folder != id.place.Folder && isThere(k.Place)
}
