package code

import (
	"errors"
	"fmt"
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
