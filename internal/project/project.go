// Package project finds the repository that contains a folder, and its state, from git's
// files. It does not run git.
//
// A project is the identity of a repository: its normalised remote, or without one the
// folder that git keeps its data in. Worktrees and clones of one repository are therefore
// one project, if their histories have a commit in common: a remote alone is only a claim.
// A project named by its folder keeps its identity when it gets a remote and when the
// folder is moved: its place records the folder's path and mark. A sandbox is one folder of
// a project on disk: the top of a worktree. The git folder holds what belongs to one
// worktree, the common folder what all worktrees share. A folder without git is a separate
// project.
package project

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// Identity is the project, sandbox and git folders of a folder.
type Identity struct {
	Project memory.Project
	// Root is the sandbox's root: the top folder of the worktree, or the folder
	// itself when it has no git. It is absolute and free of symbolic links.
	Root string
	// GitDir and CommonDir are git's folders, empty without git. They differ
	// in a linked worktree only.
	GitDir    string
	CommonDir string

	// folderID is the project's id without its remote.
	folderID string
	// place is the folder that folderID is derived from.
	place memory.FolderRef
	// alone means that .git leads to a repository that is not the folder's own.
	alone bool
	// apart is why the folder is not part of the repository that its .git names.
	apart string
	// origins are the possible ids of the repository from which this one was cloned on
	// this machine, if that is gone.
	origins []string
}

// maxClones bounds a chain of local clones.
const maxClones = 8

// Identify finds the repository that contains dir. It returns CodeNotFound if dir does
// not exist, CodeInvalidInput if it is not a folder, *AboveError (CodeConflict) if dir is
// not in a repository but above some, CodeConflict if it is in a bare one, which has no
// files, and CodeForbidden for the home folder and the root of a file system, which are
// too large for one project.
func Identify(dir string) (Identity, error) {
	real, err := realFolder(dir)
	if err != nil {
		return Identity{}, err
	}
	if isWhole(real, realHome()) {
		return Identity{}, tooWide(real)
	}
	id, err := identifyReal(real, newProver(), func(string) bool { return false })
	if err != nil || id.GitDir != "" {
		return id, err
	}
	return id, refuseBare(real)
}

// refuseBare returns an error for a folder in, or at the top of, a bare repository.
func refuseBare(real string) error {
	for d := range upwards(real) {
		if isBare(d) {
			return &memory.Error{Code: memory.CodeConflict, Field: "path",
				Message: fmt.Sprintf("%s is a bare repository: it contains only git's own files", d),
				Hint:    "name a worktree or a clone of it"}
		}
	}
	return nil
}

// identifyReal is Identify for a folder without links in its path. If the folder is known
// as a project without git, it does not search for repositories below: that takes
// milliseconds in a large folder, on every query.
func identifyReal(real string, p *prover, known func(id string) bool) (Identity, error) {
	root, gitDir, err := findGit(real)
	if err != nil {
		return Identity{}, err
	}
	if gitDir == "" {
		if !known(idByFolder(real)) {
			if below := repositoriesBelow(real, searchRepos); len(below) > 0 {
				return Identity{}, &AboveError{Dir: real, Repos: below}
			}
		}
		return folderIdentity(real), nil
	}
	common, err := commonDir(gitDir)
	if err != nil {
		return Identity{}, err
	}
	id := Identity{Root: root, GitDir: gitDir, CommonDir: common}
	if id.apart = ownsGit(root, gitDir, common); id.apart != "" {
		id.alone = true // whatever its .git points to
		id.nameBy(filepath.Join(root, ".git"))
		return id, nil
	}
	id.find(p)
	return id, nil
}

// nameBy names the project by a folder alone.
func (id *Identity) nameBy(folder string) {
	name := filepath.Base(id.Root)
	id.folderID, id.place = idByFolder(folder), placeOf(folder)
	id.Project = memory.Project{ID: id.folderID, Name: name, Names: []string{name}, Apart: id.apart}
	if id.place.Mark != "" {
		id.Project.Place = id.place
	}
}

// folderIdentity returns the identity of a folder without git.
func folderIdentity(real string) Identity {
	id := Identity{Root: real}
	id.nameBy(real)
	return id
}

// SandboxID returns the id of the sandbox with this root, as Identify returns it.
func SandboxID(root string) string { return hashed("s-", foldCase(filepath.Clean(root))) }

// idByFolder returns the id of a project that is named by its folder.
func idByFolder(folder string) string { return hashed("p-", "folder", foldCase(folder)) }

// find sets the project. A clone of a folder on this machine belongs to the project of
// that folder, so its remotes are followed until one is elsewhere, there is none, or the
// two have no commit in common.
func (id *Identity) find(p *prover) {
	own := filepath.Base(id.Root)
	key, name := "", own
	remote, at, where := "", id.CommonDir, id.Root
	for range maxClones {
		r := parseRemote(readRemote(filepath.Join(at, "config")))
		if r.key != "" {
			key, name, remote = r.key, r.name(), r.key
			break
		}
		if r.path == "" {
			break
		}
		if !filepath.IsAbs(r.path) {
			r.path = filepath.Join(where, r.path)
		}
		root, common, ok := localRepository(r.path)
		if !ok {
			for _, folder := range []string{filepath.Join(r.path, ".git"), r.path, r.path + ".git"} {
				id.origins = append(id.origins, idByFolder(filepath.Clean(folder)))
			}
		}
		if !ok || common == at {
			break
		}
		if !p.sharedFolders(placeOf(at), placeOf(common)) {
			id.apart = fmt.Sprintf("it names %s as the origin of its clone, but has no commit in common with it", root)
			break
		}
		at, where = common, root
		name = filepath.Base(where)
	}
	id.folderID, id.place = idByFolder(at), placeOf(at)
	id.Project = memory.Project{ID: id.folderID, Name: name, Names: []string{name}, Remote: remote, Apart: id.apart}
	if key != "" {
		id.Project.ID = hashed("p-", key)
	} else if id.place.Mark != "" {
		id.Project.Place = id.place
	}
	if own != name {
		id.Project.Names = append(id.Project.Names, own)
	}
}

// localRepository finds the repository at a local path that a remote names: a worktree,
// its .git folder, or a bare repository.
func localRepository(path string) (root, common string, ok bool) {
	real, err := realFolder(path)
	if err != nil {
		return "", "", false
	}
	if gitDir, err := gitDirOf(real); err == nil && gitDir != "" {
		if common, err := commonDir(gitDir); err == nil {
			return real, common, true
		}
	}
	return filepath.Clean(strings.TrimSuffix(real, ".git")), real, isGitDir(real)
}

// realFolder makes dir absolute and resolves its symbolic links.
func realFolder(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", memory.Errorf(memory.CodeInvalidInput, "resolve folder %q: %w", dir, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return "", &memory.Error{Code: memory.CodeNotFound, Field: "path", Cause: err,
			Message: fmt.Sprintf("there is no folder %s", abs)}
	}
	if err != nil {
		return "", memory.Errorf(memory.CodeInvalidInput, "resolve folder %q: %w", dir, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", memory.Errorf(memory.CodeNotFound, "look at folder: %w", err)
	}
	if !info.IsDir() {
		e := memory.Invalid("path", "a folder", "%s is not a folder", real)
		e.Hint = "name the folder that contains it"
		return "", e
	}
	return real, nil
}

// upwards yields a folder and those above it, up to the home folder or the root of the
// file system, which do not count.
func upwards(real string) iter.Seq[string] {
	return func(yield func(string) bool) {
		home := realHome() // once: it reads the disk
		for d := real; !isWhole(d, home) && yield(d); d = filepath.Dir(d) {
		}
	}
}

// isWhole reports whether a folder is the home folder or the root of a file system.
func isWhole(real, home string) bool {
	return filepath.Dir(real) == real || home != "" && foldCase(home) == foldCase(real)
}

// realHome returns the home folder without links in its path, empty if there is none.
func realHome() string {
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return ""
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return ""
	}
	return home
}

func tooWide(real string) error {
	return &memory.Error{Code: memory.CodeForbidden, Field: "path",
		Message: fmt.Sprintf("%s is the home folder or the root of a file system, which is too large for one project", real),
		Hint:    "name a repository or a folder below it"}
}

// foldCase makes paths comparable on file systems that ignore case.
func foldCase(path string) string {
	if runtime.GOOS == "windows" {
		return strings.ToLower(filepath.ToSlash(path))
	}
	return path
}

// hashed returns a prefix and 64 bits of the SHA-256 of the parts: short, and unique for
// any number of repositories that one person has.
func hashed(prefix string, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return prefix + hex.EncodeToString(sum[:8])
}
