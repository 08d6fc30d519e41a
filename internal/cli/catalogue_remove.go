package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// catalogueRemoveCommand removes an entry, or all of a source.
func catalogueRemoveCommand(a *App) *cobra.Command {
	var r memory.UnregisterRequest
	var server string
	c := &cobra.Command{
		Use:   "remove TYPE NAME | --source SOURCE",
		Short: "Remove a rule, reference or tool, or all of a source",
		Long: `Remove a rule, a reference or a tool from the catalogue, or all that a source has
registered. Old receipts still name it. What a file of the repository says comes
back with that file.`,
		Example: `  recalld catalogue remove rule "Error Handling"
  recalld catalogue remove tool filesystem:read_file
  recalld catalogue remove --source my-host`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 2 || len(args) == 0 && c.Flags().Changed("source") {
				return nil
			}
			return fmt.Errorf("name an entry by TYPE and NAME, or all of a source by --source")
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				ref, err := entryArguments(args[0], args[1], server)
				if err != nil {
					return err
				}
				r.Entries = []memory.Ref{ref}
			}
			r.Caller = a.caller()
			removed, err := call(c, a, &r, service.Unregister)
			if err != nil {
				return err
			}
			return a.answer(removed, func(w io.Writer) { writeRegistered(w, removed) })
		},
	}
	c.Flags().StringVar(&server, "server", "", "the tool's server")
	c.Flags().StringVar(&r.Source, "source", "", "remove all that this source has registered")
	a.projectFlag(c, &r.Project)
	c.ValidArgsFunction = a.completeEntries
	return c
}
