package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// trustCommand lets recalld read the files of a repository into the memory.
func trustCommand(a *App) *cobra.Command {
	var revoke, list bool
	c := &cobra.Command{
		Use:   "trust [PATH]",
		Short: "Let a repository's own lessons, sessions and rules be read",
		Long: `Let recalld read the lesson logs, session folders and context files (AGENTS.md,
CLAUDE.md, .cursor/rules, .recalld/context.yaml) of the repository containing PATH (the
working folder by default), now and when they change. Everyone who can write to the
repository can then write texts that your agents read. These texts are shown only in that
repository, after your own memories, marked "` + memory.FollowedMark + `".

Its linked worktrees are trusted too, other clones are not. --revoke ends the trust and
removes what was read from the memory; the files stay. --list shows what is trusted and
what is not read yet. The setting sources.trusted names folders to trust without asking.`,
		Example: "  recalld trust\n  recalld trust ~/src/service\n  recalld trust --revoke ~/src/service\n  recalld trust --list",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if list && (revoke || len(args) > 0) {
				return usageError(c, fmt.Errorf("--list takes neither PATH nor --revoke"))
			}
			request := memory.TrustRequest{List: list, Revoke: revoke}
			if !list {
				var err error
				if request.Path, err = a.pathArgument(args); err != nil {
					return err
				}
			}
			state, err := ask(c.Context(), a, service.Trust, request)
			if err != nil {
				return err
			}
			state.Trusted, state.Waiting = orEmpty(state.Trusted), orEmpty(state.Waiting)
			return a.answer(state, func(w io.Writer) { writeTrust(w, state, revoke) })
		},
		ValidArgsFunction: a.completeFolder(),
	}
	c.Flags().BoolVar(&revoke, "revoke", false, "end the trust, and remove what was read from the memory")
	c.Flags().BoolVar(&list, "list", false, "show what is trusted and what is not read yet")
	return c
}

// writeTrust says what was agreed to, or lists what is trusted and what waits.
func writeTrust(w io.Writer, s *memory.TrustState, revoked bool) {
	switch {
	case s.Root != "" && revoked:
		fmt.Fprintf(w, "The files of %s are no longer read. %s from them removed from the memory; the files stay.\n",
			render.Printable(s.Root), memory.Count(s.Removed, "record"))
		return
	case s.Root != "":
		fmt.Fprintf(w, "The lesson logs, sessions and context files of %s are read from now on.\nRun %s to stop that.\n",
			render.Printable(s.Root), render.CommandWith("recalld trust --revoke", s.Root))
		return
	}
	if len(s.Trusted) == 0 {
		fmt.Fprintln(w, "No repository is trusted.")
	} else {
		rows := [][]string{{"TRUSTED", "PROJECT", "SINCE"}}
		for _, t := range s.Trusted {
			since := render.Time(t.At, "")
			if t.Setting {
				since = "sources.trusted in the settings"
			}
			rows = append(rows, []string{render.Printable(t.Folder), render.Printable(t.ProjectName), since})
		}
		render.Table(w, rows)
	}
	if len(s.Waiting) > 0 {
		fmt.Fprintln(w)
		rows := [][]string{{"NOT READ", "WHAT WAITS"}}
		for _, x := range s.Waiting {
			rows = append(rows, []string{render.Printable(x.Root), x.Text()})
		}
		render.Table(w, rows)
		fmt.Fprintln(w, "\nRun 'recalld trust PATH' to read them.")
	}
}

// waitingText says which files of a repository are not read, and how to agree.
func waitingText(x memory.WaitingFiles) string {
	return fmt.Sprintf("%s of %s, by another author. Run %s to read this.",
		x.Text(), render.Printable(x.Root), render.CommandWith("recalld trust", x.Root))
}

// addWaiting adds to the table of status what is not read.
func addWaiting(add func(name, text string), waiting []memory.WaitingFiles) {
	const most = 5
	for _, x := range waiting[:min(len(waiting), most)] {
		add("not read", waitingText(x))
	}
	if more := len(waiting) - most; more > 0 {
		add("not read", fmt.Sprintf("files of %d more; run 'recalld trust --list' to list them", more))
	}
}

// waitingIn returns the files of a repository that are not read, nil for none.
func (a *App) waitingIn(ctx context.Context, root string) (*memory.WaitingFiles, error) {
	state, err := ask(ctx, a, service.Trust, memory.TrustRequest{List: true, Path: root})
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(state.Waiting, func(x memory.WaitingFiles) bool { return x.Root == filepath.Clean(root) })
	if i < 0 {
		return nil, nil
	}
	return &state.Waiting[i], nil
}

// offerTrust asks on a terminal whether what waits of the repository at a root may be
// read, and says elsewhere how to agree.
func (a *App) offerTrust(ctx context.Context, root string) error {
	if a.json {
		return nil
	}
	waiting, err := a.waitingIn(ctx, root)
	if err != nil || waiting == nil {
		return err
	}
	if !a.opts.Interactive {
		fmt.Fprintf(a.opts.Out, "\nNot read: %s\n", waitingText(*waiting))
		return nil
	}
	yes, err := a.confirm(fmt.Sprintf("\nNot read, since another author wrote it: %s of %s. Read this from now on?", waiting.Text(), render.Printable(root)))
	if err != nil || !yes {
		return err
	}
	_, err = ask(ctx, a, service.Trust, memory.TrustRequest{Path: root})
	return err
}
