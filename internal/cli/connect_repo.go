package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/recalld/recalld/configs"
	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/git"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/source/lessonlog"
)

// connectRepository does what concerns the repository in which connect runs: it indexes it
// and offers to read its files. Outside of one there is nothing to do.
func (a *App) connectRepository(ctx context.Context, f *connectFlags) error {
	root, err := a.projectDir(f)
	if err != nil {
		if f.index {
			return err
		}
		return nil
	}
	if err := a.offerIndex(ctx, root, f.index); err != nil {
		return err
	}
	if err := a.offerSharing(root); err != nil {
		return err
	}
	return a.offerTrust(ctx, root)
}

// offerSharing asks once whether the lessons of a repository go into its git history. The
// answer is in its file info/exclude, where recalld finds it when it makes the folder.
func (a *App) offerSharing(root string) error {
	if !a.opts.Interactive || a.json {
		return nil
	}
	cfg, err := a.Config()
	if err != nil || !cfg.Lessons.Log || cfg.Lessons.Shared || filepath.IsAbs(cfg.Lessons.Dir) {
		return err
	}
	if _, err := os.Lstat(filepath.Join(root, cfg.Lessons.Dir)); !errors.Is(err, fs.ErrNotExist) {
		return nil // it is shared, or not, by what git knows of it
	}
	id, err := project.Identify(root)
	if err != nil || id.CommonDir == "" {
		return err
	}
	pattern := "/" + path.Clean(filepath.ToSlash(cfg.Lessons.Dir))
	if said, err := git.MentionsExclude(id.CommonDir, pattern); err != nil || said {
		return err
	}
	yes, err := a.confirm(fmt.Sprintf("\nLessons are also written to %s. Share them with your team, in git?", cfg.Lessons.Dir))
	if err != nil {
		return err
	}
	if yes {
		pattern = "!" + pattern
	}
	if err := git.Exclude(id.CommonDir, pattern); err != nil {
		return fmt.Errorf("keep the answer: %w", err)
	}
	return nil
}

// offerIndex queues a repository for indexing if that is wanted: a flag says so, or the
// user at the terminal, who is asked if it is not indexed yet.
func (a *App) offerIndex(ctx context.Context, root string, wanted bool) error {
	if !wanted {
		if !a.opts.Interactive || a.json {
			return nil
		}
		list, err := ask(ctx, a, service.Repos, service.None{})
		if err != nil {
			return err
		}
		if slices.ContainsFunc(list.Repos, func(r memory.SandboxState) bool { return r.Root == filepath.Clean(root) }) {
			return nil
		}
		yes, err := a.confirm(fmt.Sprintf("\n%s is not indexed: questions about its code find nothing. Index it in the background now?", render.Printable(root)))
		if err != nil || !yes {
			return err
		}
	}
	queued, err := ask(ctx, a, service.IndexRepo, memory.IndexRequest{Path: root})
	if err != nil {
		return err
	}
	if !a.json { // JSON has all in one value
		fmt.Fprintln(a.opts.Out)
		writeQueued(a.opts.Out, queued, nil)
	}
	return nil
}

// installScript puts the script for shells into the repository.
func (a *App) installScript(f *connectFlags, result *connectResult) error {
	dir, err := a.projectDir(f)
	if err != nil {
		return err
	}
	file := fileResult{What: "script", Path: filepath.Join(dir, filepath.FromSlash(lessonlog.ScriptPath)), Result: "unchanged"}
	if f.dryRun {
		if text, err := fsx.ReadFile(file.Path, int64(len(configs.LogScript))); err != nil || !bytes.Equal(text, configs.LogScript) {
			file.Result = "written"
		}
	} else {
		path, changed, err := lessonlog.InstallScript(dir)
		if err != nil {
			return err
		}
		if file.Path = path; changed {
			file.Result = "written"
		}
	}
	result.Files = append(result.Files, file)
	return nil
}
