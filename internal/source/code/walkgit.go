package code

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/project"
)

// errNoGit is returned when git cannot be asked: there is none, or it refuses
// the repository. Nothing was visited then.
var errNoGit = errors.New("git was not asked")

// maxPathspecs is how many paths one call of git is given.
const maxPathspecs = 200

// walkGit walks the files that git lists: those it tracks, and those that it
// would, as its ignore rules say.
func (w *walker) walkGit(root string, only []string) error {
	if w.opts.Git == "none" {
		return errNoGit
	}
	git, err := exec.LookPath(w.opts.Git)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoGit, err)
	}
	w.View = "git"
	if only == nil {
		return w.listGit(git, root, nil)
	}
	for first := 0; first < len(only); first += maxPathspecs {
		if err := w.listGit(git, root, only[first:min(len(only), first+maxPathspecs)]); err != nil {
			return err
		}
	}
	return nil
}

// listGit runs git once and judges the files as it names them.
func (w *walker) listGit(git, root string, only []string) error {
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	// A repository's config may name a program that watches it (fsmonitor);
	// listing files is no reason to run what a repository brings along.
	args := []string{"-c", "core.fsmonitor=false", "--literal-pathspecs",
		"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}
	cmd := exec.CommandContext(ctx, git, append(args, only...)...)
	cmd.Dir = root
	cmd.Env = project.GitEnv()
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &limited{w: &stderr, left: 4 << 10}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("%w: %w", errNoGit, err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: %w", errNoGit, err)
	}
	seen, walkErr := w.listed(bufio.NewReaderSize(out, 64<<10))
	if walkErr != nil {
		cancel() // git may still be writing
	}
	err = cmd.Wait()
	switch {
	case walkErr != nil:
		return walkErr
	case w.ctx.Err() != nil:
		return w.ctx.Err()
	case err != nil && seen == 0:
		return fmt.Errorf("%w: %w: %s", errNoGit, err, bytes.TrimSpace(stderr.Bytes()))
	case err != nil:
		return fmt.Errorf("list files by git: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	// Git warns of folders that it cannot open, and goes on.
	if stderr.Len() > 0 {
		w.Incomplete = true
	}
	return nil
}

// listed judges every file of a listing and counts them. An unmerged file is
// listed once for each of its versions.
func (w *walker) listed(out *bufio.Reader) (seen int, err error) {
	last := ""
	for {
		name, err := out.ReadString(0)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return seen, err
		}
		name = strings.TrimSuffix(name, "\x00")
		if name == last {
			continue
		}
		last = name
		seen++
		// A folder is listed when it is a repository of its own.
		if nested, ok := strings.CutSuffix(name, "/"); ok {
			w.skip(nested, SkipNested)
			continue
		}
		if err := w.file(name); err != nil {
			return seen, err
		}
	}
}

// limited writes as much as is left and swallows the rest.
type limited struct {
	w    io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	if _, err := l.w.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}
