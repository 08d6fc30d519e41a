package project

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// Bounds of the search below a folder. Projects usually lie two or three folders deep;
// the bound on folders keeps the search short on a network drive.
const (
	searchDepth   = 3
	searchRepos   = 20
	searchFolders = 5000
)

// notSearched are folders that contain other people's repositories, or none.
var notSearched = []string{"node_modules", "vendor", "target", "dist", "build", "venv", "__pycache__"}

// AboveError is returned for a folder that is not in a repository but has some below it.
// It wraps an error with memory.CodeConflict.
type AboveError struct {
	Dir string
	// Repos are the roots found, sorted, at most 20 of them.
	Repos []string
}

const contains = " is not in a repository, but contains "

func (e *AboveError) Error() string {
	return fmt.Sprintf("%s%s%d: %s", e.Dir, contains, len(e.Repos), strings.Join(e.Repos, ", "))
}

// IsAbove says that an error is an AboveError, as a client gets it from the daemon: with its
// code, field and message alone.
func IsAbove(e *memory.Error) bool { return e.Field == "path" && strings.Contains(e.Message, contains) }

// Unwrap returns the error with its code.
func (e *AboveError) Unwrap() error {
	return &memory.Error{Code: memory.CodeConflict, Field: "path", Message: e.Error(), Hint: "name one of them"}
}

// Below returns the roots of at most most repositories below a folder, or the folder
// itself if it is one.
func Below(dir string, most int) []string {
	if isRepository(dir) {
		return []string{dir}
	}
	return repositoriesBelow(dir, most)
}

// repositoriesBelow searches breadth first, so that the nearest repositories are found
// first. It skips folders that cannot be read.
func repositoriesBelow(dir string, most int) []string {
	var repos []string
	level := []string{dir}
	looked := 0
	for depth := 0; depth < searchDepth && len(level) > 0; depth++ {
		var next []string
		for _, d := range level {
			entries, err := os.ReadDir(d)
			if err != nil {
				continue
			}
			for _, e := range entries {
				if !e.IsDir() || isPassedOver(e.Name()) {
					continue
				}
				if looked++; looked > searchFolders {
					return sorted(repos)
				}
				child := filepath.Join(d, e.Name())
				if !isRepository(child) {
					next = append(next, child)
					continue
				}
				if repos = append(repos, child); len(repos) == most {
					return sorted(repos)
				}
			}
		}
		level = next
	}
	return sorted(repos)
}

// isRepository reports whether a folder is the top of a repository. A worktree whose
// repository is missing counts; a folder that cannot be read does not.
func isRepository(dir string) bool {
	gitDir, err := gitDirOf(dir)
	return gitDir != "" || errors.Is(err, errNoRepository)
}

func sorted(paths []string) []string {
	slices.Sort(paths)
	return paths
}

// LooksInto reports whether Below searches a folder, named relative to its start, with
// slashes. At the greatest depth it only checks whether folders are repositories.
func LooksInto(name string) bool {
	parts := strings.Split(name, "/")
	return len(parts) <= searchDepth && !slices.ContainsFunc(parts, isPassedOver)
}

// isPassedOver reports whether a folder is skipped because of its name.
func isPassedOver(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains(notSearched, name)
}
