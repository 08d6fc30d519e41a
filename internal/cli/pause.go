package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// pauseCommand pauses indexing.
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
		ValidArgsFunction: a.completeFolder(),
	}
}

// pause pauses or resumes indexing, and prints what is paused then. No path
// means everything: unlike index, it is not about the folder one is in.
func (a *App) pause(c *cobra.Command, args []string, resume bool) error {
	request := memory.PauseRequest{Resume: resume}
	if len(args) > 0 {
		var err error
		if request.Path, err = a.pathArgument(args); err != nil {
			return err
		}
	}
	paused, err := ask(c.Context(), a, service.Pause, request)
	if memory.CodeOf(err) == memory.CodeNotFound {
		return orHint(err, "path", "run 'recalld repos' to list indexed folders")
	}
	if err != nil {
		return err
	}
	paused.Sandboxes = orEmpty(paused.Sandboxes)
	return a.answer(paused, func(w io.Writer) { writePaused(w, paused) })
}

// writePaused lists what is paused.
func writePaused(w io.Writer, p *memory.Paused) {
	if !p.All && len(p.Sandboxes) == 0 {
		fmt.Fprintln(w, "Nothing is paused now.")
		return
	}
	if p.All {
		fmt.Fprintln(w, pausedText)
	}
	for _, root := range p.Sandboxes {
		fmt.Fprintf(w, "Indexing of %s is paused. Run %s to resume it.\n", render.Printable(root), render.CommandWith("recalld resume", root))
	}
}
