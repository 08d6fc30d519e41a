package cli

import "github.com/spf13/cobra"

// resumeCommand lets indexing go on.
func resumeCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "resume [PATH]",
		Short: "Resume indexing",
		Long: `Resume indexing of the repository containing PATH; without PATH, all background work.
Changes made meanwhile are indexed. Print what is still paused.`,
		Example: "  recalld resume ~/src/service\n  recalld resume",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.pause(c, args, true)
		},
		ValidArgsFunction: a.completeFolder(),
	}
}
