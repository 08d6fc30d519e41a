package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/strict"
	"github.com/recalld/recalld/internal/service"
)

// catalogueFile is what a file of entries holds.
type catalogueFile struct {
	Entries []memory.CatalogueEntry `json:"entries"`
	Servers []memory.Server         `json:"servers"`
}

// catalogueRegisterCommand registers the entries of a file.
func catalogueRegisterCommand(a *App) *cobra.Command {
	var r memory.RegisterRequest
	c := &cobra.Command{
		Use:   "register FILE",
		Short: "Register rules, references and tools from a file",
		Long: `Register the rules, references and tools of a file of JSON, or with - of standard
input, as a host does through the API: {"entries": […], "servers": […]}. An entry
that is there is changed. With --replace, what the same source has registered before
and does not name now is removed.

  {"entries": [
     {"type": "rule", "name": "Errors", "content": "Wrap every error.", "include": "always"},
     {"type": "tool", "name": "read_file", "serverName": "filesystem",
      "description": "Read a file", "guidance": "Give paths relative to the root."}],
   "servers": [{"name": "filesystem", "include": "agent"}]}`,
		Example: "  recalld catalogue register entries.json\n  my-host --catalogue | recalld catalogue register - --source my-host --replace",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			text, err := a.readInput("file", args[0])
			if err != nil {
				return err
			}
			var file catalogueFile
			if err := strict.Decode(text, &file, "file"); err != nil {
				return err
			}
			r.Entries, r.Servers, r.Caller = file.Entries, file.Servers, a.caller()
			registered, err := call(c, a, &r, service.Register)
			if err != nil {
				return err
			}
			return a.answer(registered, func(w io.Writer) { writeRegistered(w, registered) })
		},
	}
	c.Flags().StringVar(&r.Source, "source", "", "who registers them (default: this command line)")
	c.Flags().BoolVar(&r.Replace, "replace", false, "remove what the source registered before and does not name now")
	a.projectFlag(c, &r.Project)
	return c
}

// writeRegistered says what became of a catalogue.
func writeRegistered(w io.Writer, r *memory.Registered) {
	fmt.Fprintf(w, "Catalogue of project %s: %d added, %d changed, %d unchanged, %d removed; %d in all\n",
		memory.ProjectLabel(r.ProjectName, r.Project), r.Added, r.Changed, r.Unchanged, r.Removed, r.Total)
	if r.JoinLater > 0 {
		fmt.Fprintf(w, "Always included from now on: %d; sessions that run hold them when they next start (recalld context add: at once)\n", r.JoinLater)
	}
	writeNotes(w, r.Redacted, "", "", "")
}
