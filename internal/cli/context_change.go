package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// contextAddCommand adds an entry to a session's context.
func contextAddCommand(a *App) *cobra.Command {
	var r memory.ChangeContextRequest
	var server string
	var always bool
	c := &cobra.Command{
		Use:   "add TYPE NAME",
		Short: "Add a rule, reference or tool to a session",
		Long: `Add a rule, a reference or a tool of the catalogue to every context of a session,
whatever its own mode. Adding what is there changes nothing.`,
		Example: "  recalld context add rule \"Error Handling\"\n  recalld context add tool filesystem:read_file --session nightly-42\n  recalld context add reference \"API Documentation\" --always",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			ref, err := entryArguments(args[0], args[1], server)
			if err != nil {
				return err
			}
			mode := memory.IncludeManual
			if always {
				mode = memory.IncludeAlways
			}
			r.Add = []memory.ContextItem{{Ref: ref, IncludeMode: mode}}
			return a.changeContext(c, &r, "Added", "is there already", ref)
		},
	}
	c.Flags().BoolVar(&always, "always", false, "mark it as always included, not as added by hand")
	a.changeFlags(c, &r, &server)
	return c
}

// contextRemoveCommand takes an entry out of a session's context.
func contextRemoveCommand(a *App) *cobra.Command {
	var r memory.ChangeContextRequest
	var server string
	c := &cobra.Command{
		Use:     "remove TYPE NAME",
		Short:   "Take a rule, reference or tool out of a session",
		Long:    "Take a rule, a reference or a tool out of the contexts of a session, also one that is\nalways included elsewhere. The catalogue keeps it.",
		Example: "  recalld context remove rule \"Error Handling\"\n  recalld context remove tool read_file --server filesystem",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			ref, err := entryArguments(args[0], args[1], server)
			if err != nil {
				return err
			}
			r.Remove = []memory.Ref{ref}
			return a.changeContext(c, &r, "Removed", "is not there", ref)
		},
	}
	a.changeFlags(c, &r, &server)
	return c
}

// changeFlags adds the flags that add and remove share.
func (a *App) changeFlags(c *cobra.Command, r *memory.ChangeContextRequest, server *string) {
	c.Flags().StringVar(server, "server", "", "the tool's server")
	a.whichFlags(c, &r.SessionRef)
	c.ValidArgsFunction = a.completeEntries
}

// changeContext changes one entry and says what came of it.
func (a *App) changeContext(c *cobra.Command, r *memory.ChangeContextRequest, done, unchanged string, ref memory.Ref) error {
	if err := a.which(c, &r.SessionRef); err != nil {
		return err
	}
	held, err := call(c, a, r, service.ChangeContext)
	if err != nil {
		return orUnregistered(err)
	}
	if a.json {
		return a.answerContext(held)
	}
	return a.answer(held, func(w io.Writer) {
		if held.Changed {
			fmt.Fprintf(w, "%s %s %s; session %s holds %s, %s, %s\n", done, ref.Type, entryName(ref.ServerName, ref.Name),
				held.SessionID, memory.Count(len(held.Rules), "rule"), memory.Count(len(held.References), "reference"), memory.Count(len(held.Tools), "tool"))
			return
		}
		fmt.Fprintf(w, "Nothing changed: %s %s %s\n", ref.Type, entryName(ref.ServerName, ref.Name), unchanged)
	})
}

// orUnregistered tells where the entries are of which one was not found.
func orUnregistered(err error) error {
	e := memory.AsError(err)
	if e.Code != memory.CodeNotFound || e.Field == "sessionId" || e.Field == "project" {
		return err
	}
	named := *e
	named.Field, named.Hint = "name", "those there are: recalld catalogue" // there is one only
	return &named
}
