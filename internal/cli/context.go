package cli

import "github.com/spf13/cobra"

// contextCommand holds the command that assembles a context. What only hosts do with
// contexts is in recalld call.
func contextCommand(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:     "context",
		Short:   "Assemble the context of one request",
		Long:    "Assemble the context of one request, as hosts do. Hosts register and change entries\nwith the operations of recalld call.",
		Example: "  recalld context for \"How do I authenticate?\"",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(contextForCommand(a))
	c.AddCommand(movedCommands("context")...)
	return c
}
