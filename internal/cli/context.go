package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// contextCommand holds the commands about contexts. Without a word more it shows
// what the session holds.
func contextCommand(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "context",
		Short: "Assemble, show and change contexts",
		Long: `Assemble the context of one request, show and change what a session holds in any
case, and look at what a request was given. Without a word more, show what the
session holds.`,
		Example: "  recalld context for \"How do I authenticate?\"\n  recalld context add rule \"Error Handling\"\n  recalld context turn",
		Args:    cobra.NoArgs,
	}
	a.showContext(c)
	c.AddCommand(contextForCommand(a), contextShowCommand(a), contextAddCommand(a), contextRemoveCommand(a), contextTurnCommand(a))
	return c
}

// contextShowCommand shows what a session holds.
func contextShowCommand(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "show",
		Short: "Show what a session holds",
		Long: `Show what is in every context of a session: the entries of the catalogue that are
always included, and those that were added by hand.`,
		Example: "  recalld context show\n  recalld context show --session nightly-42 --json",
		Args:    cobra.NoArgs,
	}
	a.showContext(c)
	return c
}

// showContext has a command show what a session holds.
func (a *App) showContext(c *cobra.Command) {
	var r memory.ContextRequest
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := a.which(c, &r.SessionRef); err != nil {
			return err
		}
		held, err := call(c, a, &r, service.SessionContext)
		if err != nil {
			return err
		}
		return a.answerContext(held)
	}
	a.whichFlags(c, &r.SessionRef)
}

// answerContext answers with what a session holds.
func (a *App) answerContext(held *memory.Context) error {
	held.Items, held.Rules, held.References, held.Tools = orEmpty(held.Items), orEmpty(held.Rules), orEmpty(held.References), orEmpty(held.Tools)
	return a.recorded(held, len(held.Items) > 0, func(w io.Writer) {
		fmt.Fprintf(w, "Session %s of project %s, version %d\n", held.SessionID, memory.ProjectLabel(held.ProjectName, held.Project), held.Version)
		if len(held.Items) == 0 {
			fmt.Fprintln(w, "Its context is empty. Add to it with: recalld context add TYPE NAME")
			return
		}
		for _, kind := range []struct {
			of    memory.Kind
			title string
		}{{memory.Rule, "Rules"}, {memory.Reference, "References"}, {memory.Tool, "Tools"}} {
			items := slices.DeleteFunc(slices.Clone(held.Items), func(i memory.ContextItem) bool { return i.Type != kind.of })
			if len(items) == 0 {
				continue
			}
			fmt.Fprintf(w, "%s (%d):\n", kind.title, len(items))
			for _, i := range items {
				fmt.Fprintf(w, "  • %s [%s]\n", entryName(i.ServerName, i.Name), modeText(i.IncludeMode))
			}
		}
	})
}
