package code

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/git"
)

// maxPathspecs is the most paths that one call of git is given.
const maxPathspecs = 200

// walkGit walks the files that git tracks, or would by its ignore rules.
func (w *walker) walkGit(root string, only []string) error {
	if w.opts.Git == "none" {
		return git.ErrNotAsked
	}
	w.View = "git"
	var err error
	w.outputs, err = trackedOutputs(w.ctx, root, w.opts, only)
	w.slow = errors.Is(err, git.ErrSlow) // what git tracks in folders for output will not be seen
	w.Incomplete = w.slow
	if only == nil {
		return w.listGit(root, nil)
	}
	for first := 0; first < len(only); first += maxPathspecs {
		err := w.listGit(root, only[first:min(len(only), first+maxPathspecs)])
		if first > 0 && errors.Is(err, git.ErrNotAsked) {
			return fmt.Errorf("list the rest of the files: %v", err) // some have been visited
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// listGit runs git once and judges the files that it lists.
func (w *walker) listGit(root string, only []string) error {
	warned, err := git.List(w.ctx, w.opts.Git, root, git.Files.Within(w.opts.GitLimit), only, func(name string) error {
		// Git lists a folder if it is a separate repository.
		if nested, ok := strings.CutSuffix(name, "/"); ok {
			w.skip(nested, SkipNested)
			return nil
		}
		return w.file(name)
	})
	// Git warns about folders that it cannot open and continues.
	w.Incomplete = w.Incomplete || warned
	return err
}

// outputDirs are the folders that tools write to, of which some repositories keep sources.
var outputDirs = []string{"build", "dist", "out", "target"}

// inOutput says that a path leads through such a folder.
func inOutput(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if slices.Contains(outputDirs, part) {
			return true
		}
	}
	return false
}

// trackedOutputs returns the files that git tracks in folders for output, and their folders:
// they are sources, whatever the folder is called. Of a walk of some files and folders it asks
// only for these, unless they are many. Without an answer the folders are skipped.
func trackedOutputs(ctx context.Context, root string, opts *Options, only []string) (map[string]bool, error) {
	if !slices.ContainsFunc(outputDirs, opts.skipDir) {
		return nil, nil
	}
	if only != nil {
		only = slices.DeleteFunc(slices.Clone(only), func(name string) bool {
			if inOutput(name) {
				return false
			}
			info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name)))
			return err != nil || !info.IsDir() // a folder may have one for output in it
		})
		switch {
		case len(only) == 0:
			return nil, nil
		case len(only) > maxPathspecs:
			only = nil
		}
	}
	return listTracked(ctx, root, opts, git.Tracked, only, inOutput)
}

// listTracked lists files of a call of git with their folders, those that are wanted, or none
// if git fails.
func listTracked(ctx context.Context, root string, opts *Options, call git.Call, only []string, wanted func(name string) bool) (map[string]bool, error) {
	tracked := map[string]bool{}
	_, err := git.List(ctx, opts.Git, root, call.Within(opts.GitLimit), only, func(name string) error {
		if !wanted(name) {
			return nil
		}
		for ; name != "." && name != "" && !tracked[name] && len(tracked) < maxTracked; name = path.Dir(name) {
			tracked[name] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return tracked, nil
}
