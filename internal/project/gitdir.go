package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// maxGitFile bounds the small files that git keeps a path in.
const maxGitFile = 64 << 10

// errNoRepository is the cause of the error for a worktree whose repository is
// missing.
var errNoRepository = errors.New("project: the repository of the worktree is missing")

// findGit climbs from a folder to the first one that holds a repository. The home folder
// and the root of the file system never count, so that dotfiles kept in git do not
// include every folder below. It returns empty strings if there is no repository.
func findGit(dir string) (root, gitDir string, err error) {
	for d := range upwards(dir) {
		gitDir, err := gitDirOf(d)
		if err != nil {
			return "", "", err
		}
		if gitDir != "" {
			return d, gitDir, nil
		}
	}
	return "", "", nil
}

// gitDirOf returns the git folder of a worktree's top folder: its .git folder, or the one
// that its .git file names. It is empty if dir has neither.
func gitDirOf(dir string) (string, error) {
	path := filepath.Join(dir, ".git")
	info, err := os.Stat(path)
	if fsx.IsGone(err) {
		return "", nil
	}
	if err != nil {
		return "", memory.Errorf(memory.CodeInvalidInput, "look at git folder: %w", err)
	}
	if info.IsDir() {
		// An empty .git folder, which some tools leave behind, is not a repository. One of ours
		// that may not be entered is: else the folder would be another project until it may be.
		if !isGitDir(path) && !(isClosed(path) && fsx.IsOwn(info)) {
			return "", nil
		}
		return realPath(path)
	}
	text, err := readSmall(path)
	if err != nil {
		return "", memory.Errorf(memory.CodeInvalidInput, "read git file: %w", err)
	}
	target, ok := strings.CutPrefix(text, "gitdir:")
	if !ok {
		return "", nil
	}
	target = resolveIn(dir, strings.TrimSpace(target))
	if !isGitDir(target) {
		return "", &memory.Error{Code: memory.CodeConflict, Field: "path",
			Message: fmt.Sprintf("%s names %s, which is not a git folder", path, target),
			Hint:    "if the repository was moved, git worktree repair restores the links of its worktrees",
			Cause:   errNoRepository}
	}
	return realPath(target)
}

// commonDir returns the folder that all worktrees of a repository share.
func commonDir(gitDir string) (string, error) {
	text, err := readSmall(filepath.Join(gitDir, "commondir"))
	if errors.Is(err, fs.ErrNotExist) || isClosed(gitDir) {
		return gitDir, nil
	}
	if err != nil {
		return "", fmt.Errorf("read git's commondir: %w", err)
	}
	return realPath(resolveIn(gitDir, text))
}

// isGitDir reports whether a folder is one of git's: it has a HEAD, as the git
// folder of a linked worktree does too.
func isGitDir(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, "HEAD"))
	return err == nil && !info.IsDir()
}

// isClosed reports whether a folder may not be entered.
func isClosed(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "HEAD"))
	return errors.Is(err, fs.ErrPermission)
}

// isBare reports whether a folder looks like the top of a bare repository to git: a HEAD
// beside objects and refs.
func isBare(dir string) bool {
	if !isGitDir(dir) {
		return false
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// resolveIn makes a path that git wrote, with slashes everywhere, absolute.
func resolveIn(dir, path string) string {
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

func realPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) { // it existed a moment ago
		return "", &memory.Error{Code: memory.CodeNotFound, Field: "path", Cause: err, Message: fmt.Sprintf("the git folder %s no longer exists", path)}
	}
	if err != nil {
		return "", fmt.Errorf("resolve git folder: %w", err)
	}
	return real, nil
}

// readSmall reads a file of one short text, without the space around it.
func readSmall(path string) (string, error) {
	b, err := fsx.ReadFile(path, maxGitFile)
	return strings.TrimSpace(string(b)), err
}
