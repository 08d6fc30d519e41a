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

// The bounds of the search below a folder. A person's projects lie two or three
// folders deep; the number of folders keeps a network drive from hanging it.
const (
	searchDepth   = 3
	searchRepos   = 20
	searchFolders = 5000
)

// notSearched are folders that hold other people's repositories, or none.
var notSearched = []string{"node_modules", "vendor", "target", "dist", "build", "venv", "__pycache__"}

// AboveError is returned when a folder lies in no repository but above some. It
// wraps an error of memory.CodeConflict.
type AboveError struct {
	Dir string
	// Repos are the roots found, sorted, at most 20 of them.
	Repos []string
}

func (e *AboveError) Error() string {
	return fmt.Sprintf("%s lies in no repository but above %d: %s", e.Dir, len(e.Repos), strings.Join(e.Repos, ", "))
}

// Unwrap gives the error as the outside sees it.
func (e *AboveError) Unwrap() error {
	return &memory.Error{Code: memory.CodeConflict, Field: "path", Message: e.Error(), Hint: "name one of them"}
}

// Below returns the roots of the repositories that lie below a folder, at most
// as many as asked for, and the folder itself if it is one.
func Below(dir string, most int) []string {
	if isRepository(dir) {
		return []string{dir}
	}
	return repositoriesBelow(dir, most)
}

// repositoriesBelow searches breadth first, so that the nearest repositories
// are found when there are more than are listed. Folders that cannot be read
// are passed over.
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
// repository is missing is one all the same; a folder that cannot be looked
// into is not.
func isRepository(dir string) bool {
	gitDir, err := gitDirOf(dir)
	return gitDir != "" || errors.Is(err, errNoRepository)
}

func sorted(paths []string) []string {
	slices.Sort(paths)
	return paths
}

// LooksInto reports whether Below looks for repositories in a folder, named relative
// to the one that it starts from, with slashes. It is in the last ones only to see
// whether they are repositories.
func LooksInto(name string) bool {
	parts := strings.Split(name, "/")
	return len(parts) <= searchDepth && !slices.ContainsFunc(parts, isPassedOver)
}

// isPassedOver reports whether a folder is not searched, because of its name.
func isPassedOver(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains(notSearched, name)
}
