package cli

import "github.com/spf13/cobra"

// resumeCommand lets indexing go on.
func resumeCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "resume [PATH]",
		Short: "Let indexing go on",
		Long: `Let indexing of the repository that PATH lies in go on; without PATH, all work in
the background. What changed meanwhile is made up for. Print what is still held.`,
		Example: "  recalld resume ~/src/service\n  recalld resume",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.pause(c, args, true)
		},
		ValidArgsFunction: a.completeFolder,
	}
}
