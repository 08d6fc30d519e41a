package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// pauseCommand holds indexing.
func pauseCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "pause [PATH]",
		Short: "Pause indexing",
		Long: `Pause indexing of the repository containing PATH, with its worktrees and clones; without
PATH, pause all background work. It stays paused through restarts, until recalld resume.
Existing results stay searchable but may be out of date. Print what is paused now.`,
		Example: "  recalld pause ~/src/service\n  recalld pause",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.pause(c, args, false)
		},
		ValidArgsFunction: a.completeFolder,
	}
}

// pause holds indexing, or lets it go on, and prints what is held then. No path
// means everything: unlike index, it is not about the folder one is in.
func (a *App) pause(c *cobra.Command, args []string, resume bool) error {
	request := memory.PauseRequest{Resume: resume, Caller: a.caller()}
	if len(args) > 0 {
		if args[0] == "" {
			return memory.Invalid("path", "a folder, or none for everything", "is given and is empty")
		}
		request.Path = a.absolute(args[0])
	}
	held, err := ask(c.Context(), a, service.Pause, request)
	if memory.CodeOf(err) == memory.CodeNotFound {
		return orHint(err, "path", "`recalld repos` lists what is indexed")
	}
	if err != nil {
		return err
	}
	held.Sandboxes = orEmpty(held.Sandboxes)
	return a.answer(held, func(w io.Writer) { writePaused(w, held) })
}

// writePaused lists what is held.
func writePaused(w io.Writer, p *memory.Paused) {
	if !p.All && len(p.Sandboxes) == 0 {
		fmt.Fprintln(w, "Nothing is held.")
		return
	}
	if p.All {
		fmt.Fprintln(w, "All work in the background is held. Let it go on with: recalld resume")
	}
	for _, root := range p.Sandboxes {
		fmt.Fprintf(w, "Indexing of %s is held. Let it go on with: recalld resume %s\n", render.Printable(root), shellWord(root))
	}
}
