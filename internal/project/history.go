package project

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/git"
	"github.com/recalld/recalld/internal/memory"
)

// Any address can be written into a .git/config. So a folder that names a known project
// by its remote, or by the folder that it was cloned from, belongs to it only if their
// histories have a commit in common. Both must hold the commit itself with its text: a
// name can be known to strangers, and objects borrowed from another folder prove nothing.
// All of it is read from git's files, with or without git.

// recheck is how long a result is cached: a fetch may change it.
const recheck = time.Minute

// maxVerdicts bounds the cached results and histories.
const maxVerdicts = 4096

// prover compares histories and caches the results. It is safe for concurrent use.
type prover struct {
	now func() time.Time

	mu        sync.Mutex // guards what follows
	verdicts  map[pair]verdict
	histories map[memory.FolderRef]history
}

// pair is two folders, or a folder and a project.
type pair struct {
	a, b memory.FolderRef
	id   string
}

type verdict struct {
	same  bool
	until time.Time
}

type history struct {
	commits []string
	until   time.Time
}

func newProver() *prover {
	return &prover{now: time.Now, verdicts: map[pair]verdict{}, histories: map[memory.FolderRef]history{}}
}

// decide returns the result for a pair, from the cache or by find. A folder without a mark
// may be another folder by now, so its results are not cached.
func (p *prover) decide(of pair, find func() bool) bool {
	keep := of.a.Mark != "" && (of.b == memory.FolderRef{} || of.b.Mark != "")
	p.mu.Lock()
	v, ok := p.verdicts[of]
	p.mu.Unlock()
	if keep && ok && p.now().Before(v.until) {
		return v.same
	}
	v = verdict{find(), p.now().Add(recheck)}
	if keep {
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.verdicts) >= maxVerdicts {
			clear(p.verdicts)
		}
		p.verdicts[of] = v
	}
	return v.same
}

// history returns commits that identify the history of a common folder.
func (p *prover) history(at memory.FolderRef) []string {
	p.mu.Lock()
	h, ok := p.histories[at]
	p.mu.Unlock()
	if ok && p.now().Before(h.until) {
		return h.commits
	}
	h = history{until: p.now().Add(recheck)}
	if objects, err := git.OpenObjects(at.Folder); err == nil {
		defer objects.Close()
		h.commits = objects.History(tips(at.Folder))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.histories) >= maxVerdicts {
		clear(p.histories)
	}
	p.histories[at] = h
	return h.commits
}

// tips returns the commits of the main references of a common folder.
func tips(common string) []string {
	head, _ := readSmall(filepath.Join(common, "HEAD")) // it is empty if it cannot be read
	found := []string{objectName(head)}
	current, _ := symref(head)
	for _, ref := range []string{current, "refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master", "refs/remotes/origin/main", "refs/remotes/origin/master"} {
		found = append(found, readRef(common, common, ref))
	}
	var ids []string
	for _, id := range found {
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// sharedFolders reports whether two common folders have a commit in common.
func (p *prover) sharedFolders(a, b memory.FolderRef) bool {
	if a.Folder == b.Folder {
		return true
	}
	return p.decide(pair{a: a, b: b}, func() bool {
		return p.holds(b, tips(a.Folder), a) || p.holds(a, tips(b.Folder), b) || // most often
			p.holds(b, p.history(a), memory.FolderRef{}) || p.holds(a, p.history(b), memory.FolderRef{})
	})
}

// holds reports whether a folder has one of some commits, and another folder, if given,
// too.
func (p *prover) holds(at memory.FolderRef, commits []string, other memory.FolderRef) bool {
	objects, err := git.OpenObjects(at.Folder)
	if err != nil {
		return false
	}
	defer objects.Close()
	var others *git.Objects
	if other.Folder != "" {
		if others, err = git.OpenObjects(other.Folder); err != nil {
			return false
		}
		defer others.Close()
	}
	return slices.ContainsFunc(commits, func(id string) bool { return objects.Has(id) && (others == nil || others.Has(id)) })
}

// belongs reports whether a folder that claims a known project belongs to it: it was
// accepted before, or it has a commit in common with the stored history of the project or
// with another folder of it.
func (p *prover) belongs(id *Identity, k memory.Project, sandboxes func() ([]memory.Sandbox, error)) bool {
	at := id.place
	if isMember(k, at) || k.Place.Mark != "" && k.Place == at {
		return true
	}
	return p.decide(pair{a: at, id: k.ID}, func() bool {
		if p.holds(at, k.History, memory.FolderRef{}) {
			return true
		}
		folders := slices.Clone(k.Folders)
		if k.Place.Folder != "" {
			folders = append(folders, k.Place)
		}
		if len(folders) == 0 && len(k.History) == 0 {
			// An earlier version, which compared only the remote, stored it. Its folders
			// stay members.
			roots := slices.Clone(k.Roots)
			if boxes, err := sandboxes(); err == nil {
				for _, b := range boxes {
					if b.Project == k.ID {
						roots = append(roots, b.Root)
					}
				}
			}
			if slices.Contains(roots, id.Root) {
				return true
			}
			folders = sameRemote(roots, k.Remote)
		}
		return slices.ContainsFunc(folders, func(f memory.FolderRef) bool { return isThere(f) && p.sharedFolders(at, f) })
	})
}

// sameRemote returns the common folders of the repositories among some roots that have
// a remote.
func sameRemote(roots []string, key string) []memory.FolderRef {
	var folders []memory.FolderRef
	for _, root := range roots {
		gitDir, err := gitDirOf(root)
		if err != nil || gitDir == "" {
			continue
		}
		common, err := commonDir(gitDir)
		if err == nil && key != "" && parseRemote(readRemote(filepath.Join(common, "config"))).key == key {
			folders = append(folders, placeOf(common))
		}
	}
	return folders
}

// isMember reports whether a folder, here or moved here, is recorded as part of a
// project.
func isMember(k memory.Project, at memory.FolderRef) bool {
	return at.Mark != "" && slices.ContainsFunc(k.Folders, func(f memory.FolderRef) bool {
		return f.Mark == at.Mark && (f.Folder == at.Folder || !isThere(f))
	})
}

// maxHistory bounds the commits that are stored for a project.
const maxHistory = 64

// addFolder records a folder of a project, and commits that identify its history. It
// changes nothing if the folder is recorded.
func (p *prover) addFolder(k *memory.Project, at memory.FolderRef) {
	if at.Mark == "" {
		if len(k.History) == 0 {
			k.History = bounded(p.history(at))
		}
		return
	}
	known := slices.ContainsFunc(k.Folders, func(f memory.FolderRef) bool { return f == at })
	if known && len(k.History) > 0 {
		return
	}
	if !known {
		// Folders that are gone, or were moved here, make room.
		folders := slices.DeleteFunc(slices.Clone(k.Folders), func(f memory.FolderRef) bool { return f.Mark == at.Mark || f.Folder == at.Folder })
		if len(folders) >= memory.MaxRoots {
			folders = slices.DeleteFunc(folders, func(f memory.FolderRef) bool { return !isThere(f) })
		}
		if len(folders) >= memory.MaxRoots {
			return // it is compared again next time
		}
		k.Folders = append(folders, at)
	}
	commits := slices.Clone(k.History)
	for _, id := range p.history(at) {
		if !slices.Contains(commits, id) {
			commits = append(commits, id)
		}
	}
	k.History = bounded(commits)
}

func bounded(commits []string) []string { return commits[:min(len(commits), maxHistory)] }

// ownsGit returns why a worktree's git folder is not its own, "" if it is: it lies in the
// worktree, or git has recorded there that the worktree is its. A .git file or link can
// lead to any repository.
func ownsGit(root, gitDir, common string) (why string) {
	if gitDir != common {
		back, err := readSmall(filepath.Join(gitDir, "gitdir"))
		if err == nil && filepath.Dir(gitDir) == filepath.Join(common, "worktrees") && sameFile(resolveIn(gitDir, back), filepath.Join(root, ".git")) {
			return ""
		}
		return fmt.Sprintf("its .git leads to the repository %s, which does not list it as a worktree; run `git worktree repair %s` there", common, root)
	}
	if rel, err := filepath.Rel(root, gitDir); err == nil && filepath.IsLocal(rel) {
		return ""
	}
	if at, ok := git.ReadConfig(filepath.Join(common, "config")).Get("core", "worktree"); ok && sameFile(resolveIn(gitDir, at), root) {
		return "" // a submodule
	}
	return fmt.Sprintf("its .git leads to %s, whose setting core.worktree names another folder", gitDir)
}

func sameFile(a, b string) bool {
	ai, err := os.Stat(a)
	if err != nil {
		return false
	}
	bi, err := os.Stat(b)
	return err == nil && os.SameFile(ai, bi)
}
