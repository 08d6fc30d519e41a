package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// indexCommand queues a folder. It does not wait by default: indexing goes on in
// the daemon.
func indexCommand(a *App) *cobra.Command {
	var wait bool
	var changed []string
	c := &cobra.Command{
		Use:   "index [PATH]",
		Short: "Index a repository",
		Long: `Queue a repository for indexing in the background and answer at once with the
place in the queue. With --wait, show progress until it is done.`,
		Example: `  recalld index
  recalld index ~/src/service --wait
  recalld index --changed main.go,internal/x.go`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			folder, err := a.pathArgument(args)
			if err != nil {
				return err
			}
			request := memory.IndexRequest{Path: folder, ChangedFiles: changed}
			asked := a.opts.Now()
			queued, err := ask(c.Context(), a, service.IndexRepo, request)
			if err != nil {
				return err
			}
			if !wait {
				// A failed look-up is not reported: the repository is queued anyway.
				var repos []memory.SandboxState
				if list, err := ask(c.Context(), a, service.Repos, service.None{}); err == nil {
					repos = list.Repos
				}
				return a.answer(queued, func(w io.Writer) { writeQueued(w, queued, repos) })
			}
			state, err := a.waitIndexed(c.Context(), queued.Sandbox, asked)
			if err != nil {
				return err
			}
			took := a.opts.Now().Sub(asked)
			return a.answer(state, func(w io.Writer) { writeIndexed(w, state, took) })
		},
	}
	c.Flags().BoolVar(&wait, "wait", false, "wait until it is done and show progress")
	c.Flags().StringSliceVar(&changed, "changed", nil, "only these files, relative to the folder")
	c.ValidArgsFunction = completeAnyFolder
	return c
}

// writeQueued says that a run waits, and whether that is for long.
func writeQueued(w io.Writer, q *memory.IndexQueued, repos []memory.SandboxState) {
	fmt.Fprintf(w, "Queued %s (project %s), %s. Run 'recalld status' to watch it.\n",
		render.Printable(q.Root), memory.ProjectLabel(q.ProjectName, q.Project), q.Turn())
	at := slices.IndexFunc(repos, func(r memory.SandboxState) bool { return r.ID == q.Sandbox })
	if at < 0 {
		return
	}
	if err := paused(&repos[at]); err != nil {
		fmt.Fprintf(w, "It waits: %s; %s\n", err.Message, err.Hint)
	}
}

// pathArgument is the folder that was named, or the working folder. An empty name is refused
// for the reason of checkFlags.
func (a *App) pathArgument(args []string) (string, error) {
	switch {
	case len(args) == 0:
		return cmp.Or(a.opts.Dir, "."), nil // which the daemon says it cannot find
	case args[0] == "":
		return "", memory.Invalid("path", "a folder, or none", "is given and is empty")
	}
	return a.absolute(args[0]), nil
}

// maxIdle is how many looks in a row may find a run neither done nor waiting: a
// daemon that was started again knows of it a moment later.
const maxIdle = 20

// pausedError says that something is paused, and how to resume it.
func pausedError(what, resume string) *memory.Error {
	return &memory.Error{Code: memory.CodeConflict, Message: what + " is paused", Hint: "run " + resume + " to resume it"}
}

// paused returns a CodeConflict whose hint is the command that resumes indexing, and
// nil if the sandbox is not paused.
func paused(r *memory.SandboxState) *memory.Error {
	switch {
	case r.Paused:
		return pausedError("indexing of "+render.Printable(r.Root), render.CommandWith("recalld resume", r.Root))
	case r.Progress != nil && r.Progress.Phase == "paused": // and not by itself
		return pausedError("all background work", "'recalld resume'")
	}
	return nil
}

// waitIndexed shows progress until the sandbox has been indexed, or has failed
// to be, after it was asked for. The error is CodeNotFound when the sandbox was
// forgotten meanwhile or its folder is gone, CodeUnavailable when its run gave way
// to others, CodeConflict when it is paused.
func (a *App) waitIndexed(ctx context.Context, sandbox string, asked time.Time) (*memory.SandboxState, error) {
	shown := a.newProgress("files")
	defer shown.done()
	var run *memory.IndexWait
	for idle := 0; ; {
		list, err := ask(ctx, a, service.Repos, service.None{})
		if err != nil {
			return nil, err
		}
		repos := list.Repos
		at := slices.IndexFunc(repos, func(r memory.SandboxState) bool { return r.ID == sandbox })
		if at < 0 {
			return nil, &memory.Error{Code: memory.CodeNotFound, Field: "path", Message: "the repository was forgotten while it was indexed"}
		}
		r := repos[at]
		if run == nil {
			run = memory.NewIndexWait(asked, &r)
		}
		if p := r.Progress; p != nil {
			shown.show(p.Phase, int64(p.FilesDone), int64(p.FilesTotal))
		}
		// An older run's end says nothing about this one.
		switch {
		case run.Indexed(&r) && missing(r.Root):
			// Its files went while they were read, one after the other.
			return nil, &memory.Error{Code: memory.CodeNotFound, Field: "path", Message: fmt.Sprintf("the folder %s vanished while it was indexed", render.Printable(r.Root)),
				Hint: "its files are not shown; when it is back, run " + render.CommandWith("recalld index", r.Root)}
		case run.Indexed(&r):
			return &r, nil
		case run.Failed(&r):
			return nil, runError(&r)
		case !r.GoneAt.IsZero() && missing(r.Root):
			return nil, &memory.Error{Code: memory.CodeNotFound, Field: "path", Message: fmt.Sprintf("the folder %s is missing", render.Printable(r.Root)),
				Hint: "its index is kept for a day; when it is back, run " + render.CommandWith("recalld index", r.Root)}
		case paused(&r) != nil:
			return nil, paused(&r)
		case r.Progress != nil:
			idle = 0
		case idle == maxIdle:
			return nil, &memory.Error{Code: memory.CodeUnavailable, Message: fmt.Sprintf("indexing %s gave way to other work", render.Printable(r.Root)),
				Hint: "ask again; the setting queue.depth says how much may wait"}
		default:
			idle++
		}
		select {
		case <-time.After(a.opts.Poll):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// runError says why a run failed, and what can be done.
func runError(r *memory.SandboxState) error {
	e := &memory.Error{Code: memory.CodeInternal, Message: fmt.Sprintf("indexing %s failed: %s", render.Printable(r.Root), render.Printable(r.LastError)),
		Hint: "it is tried again in the background; run 'recalld status' to watch it"}
	if missing(r.Root) {
		e.Code, e.Hint = memory.CodeNotFound, "the folder is gone; when it is back, run "+render.CommandWith("recalld index", r.Root)
	}
	return e
}

// missing says that there is no such folder, which commands can see: they run on
// the daemon's machine.
func missing(folder string) bool {
	_, err := os.Stat(folder)
	return errors.Is(err, fs.ErrNotExist)
}

// writeIndexed says what an indexing run came to, and how long it was waited for:
// the state's last run may be a second look, which found nothing to do.
func writeIndexed(w io.Writer, r *memory.SandboxState, took time.Duration) {
	fmt.Fprintf(w, "Indexed %s (project %s): %s, %s, %s in %s\n", render.Printable(r.Root), memory.ProjectLabel(r.ProjectName, r.Project),
		memory.Count(r.Files, "file"), memory.Count(r.Chunks, "chunk"), render.Bytes(r.Bytes), took.Round(time.Millisecond))
	if r.Note != "" {
		fmt.Fprintf(w, "Note: %s\n", render.Printable(noteText(r)))
	}
	if text := skippedText(r.Skipped); text != "" {
		fmt.Fprintf(w, "%s Run %s to list them.\n", text, render.CommandWith("recalld repos --skipped", r.Root))
	}
}

// skippedText says how many files were left out and why, the most frequent
// reason first; empty when none was.
func skippedText(reasons map[string]int) string {
	names := slices.SortedFunc(maps.Keys(reasons), func(a, b string) int {
		return cmp.Or(reasons[b]-reasons[a], strings.Compare(a, b))
	})
	total := 0
	parts := make([]string, len(names))
	for i, name := range names {
		total += reasons[name]
		parts[i] = fmt.Sprintf("%d %s", reasons[name], strings.ReplaceAll(name, "_", " "))
	}
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("Left out %s: %s.", memory.Count(total, "file"), strings.Join(parts, ", "))
}
