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

// trustCommand agrees to the files of a repository being read into the memory.
func trustCommand(a *App) *cobra.Command {
	var revoke, list bool
	c := &cobra.Command{
		Use:   "trust [PATH]",
		Short: "Let a repository's own lessons, sessions and rules be read",
		Long: `Agree that recalld reads the lesson logs, session folders and context files
(AGENTS.md, CLAUDE.md, .cursor/rules, .recalld/context.yaml) of the repository that
PATH lies in, the working folder by default, now and as they change. Whoever can write
to the repository writes what your agents read there. It is shown in that repository
alone, after what was told here, marked "` + memory.FollowedMark + `".

Its linked worktrees are trusted with it, other clones are not. --revoke takes the
consent back and removes from the memory what was read; the files stay as they are,
and are read again if you agree again. --list shows what is trusted and what waits.
The setting sources.trusted names folders to trust without asking.`,
		Example: "  recalld trust\n  recalld trust ~/src/service\n  recalld trust --revoke ~/src/service\n  recalld trust --list",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if list && (revoke || len(args) > 0) {
				return usageError(c, fmt.Errorf("--list takes neither PATH nor --revoke"))
			}
			request := memory.TrustRequest{List: list, Revoke: revoke, Caller: a.caller()}
			if !list {
				request.Path = a.pathArgument(args)
			}
			state, err := ask(c.Context(), a, service.Trust, request)
			if err != nil {
				return err
			}
			state.Trusted, state.Waiting = orEmpty(state.Trusted), orEmpty(state.Waiting)
			return a.answer(state, func(w io.Writer) { writeTrust(w, state, revoke) })
		},
		ValidArgsFunction: a.completeFolder,
	}
	c.Flags().BoolVar(&revoke, "revoke", false, "take the consent back, and remove what was read")
	c.Flags().BoolVar(&list, "list", false, "show what is trusted and what waits")
	return c
}

// writeTrust says what was agreed to, or lists what is trusted and what waits.
func writeTrust(w io.Writer, s *memory.TrustState, revoked bool) {
	switch {
	case s.Root != "" && revoked:
		fmt.Fprintf(w, "The files of %s are no longer read. %s from them removed from the memory; the files are as they were.\n",
			render.Printable(s.Root), memory.Count(s.Removed, "record"))
		return
	case s.Root != "":
		fmt.Fprintf(w, "The lesson logs, sessions and context files of %s are read from now on.\nTake that back with: recalld trust --revoke %s\n",
			render.Printable(s.Root), shellWord(s.Root))
		return
	}
	if len(s.Trusted) == 0 {
		fmt.Fprintln(w, "No repository's files are read.")
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
		fmt.Fprintln(w, "\nAgree with: recalld trust PATH")
	}
}

// waitingText says what of a repository waits, and how to agree.
func waitingText(x memory.WaitingFiles) string {
	return fmt.Sprintf("%s of %s are not read: they come from another author. Agree with: recalld trust %s",
		x.Text(), render.Printable(x.Root), shellWord(x.Root))
}

// waitingRows are those of status.
func waitingRows(waiting []memory.WaitingFiles) [][]string {
	const most = 5
	var rows [][]string
	for _, x := range waiting[:min(len(waiting), most)] {
		rows = append(rows, []string{"not read", waitingText(x)})
	}
	if more := len(waiting) - most; more > 0 {
		rows = append(rows, []string{"not read", fmt.Sprintf("files of %d more; see: recalld trust --list", more)})
	}
	return rows
}

// waitingIn returns what waits of the repository at a root, nil for nothing.
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
	if !a.opts.Interactive || a.json {
		return a.answerMore(func(w io.Writer) {
			fmt.Fprintf(w, "\nThe lesson logs, sessions and context files of %s are read once you agree: recalld trust %s\n", render.Printable(root), shellWord(root))
		})
	}
	waiting, err := a.waitingIn(ctx, root)
	if err != nil || waiting == nil {
		return err
	}
	yes, err := a.confirm(fmt.Sprintf("\n%s of %s are not read: they come from another author. Read them from now on?", waiting.Text(), render.Printable(root)))
	if err != nil || !yes {
		return err
	}
	_, err = ask(ctx, a, service.Trust, memory.TrustRequest{Path: root, Caller: a.caller()})
	return err
}

// answerMore adds to the text of an answer; JSON has all in one value.
func (a *App) answerMore(write func(io.Writer)) error {
	if !a.json {
		write(a.opts.Out)
	}
	return nil
}
