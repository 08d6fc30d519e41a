package cli

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// modelCommand holds the commands about models.
func modelCommand(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:     "model",
		Short:   "List, download and adapt embedding models",
		Long:    "List, download or adapt embedding models. Lists them by default. adapt trains the\nbuilt-in model further on your own code and lessons.",
		Example: "  recalld model list\n  recalld model pull nomic-embed-text\n  recalld model adapt",
		Args:    cobra.NoArgs,
	}
	list := modelListCommand(a)
	c.RunE = list.RunE
	c.AddCommand(list, modelPullCommand(a), modelShowCommand(a), modelAdaptCommand(a), modelResetCommand(a))
	return c
}

// modelListCommand lists what embeds now and what could.
func modelListCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the models",
		Example: "  recalld model list",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := ask(c.Context(), a, service.Models, service.None{})
			if err != nil {
				return err
			}
			models := orEmpty(list.Models)
			return a.answer(map[string]any{"models": models}, func(w io.Writer) {
				rows := [][]string{{"MODEL", "STATE", "WIDTH", "NOTE"}}
				for _, m := range models {
					width := ""
					if m.Dim > 0 {
						width = strconv.Itoa(m.Dim)
					}
					rows = append(rows, []string{m.Name, m.State, width, m.Note})
				}
				render.Table(w, rows)
			})
		},
	}
}

// modelPullCommand has the daemon's Ollama fetch a model: it may run elsewhere
// than this command.
func modelPullCommand(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:     "pull NAME",
		Short:   "Download a model with the Ollama server",
		Example: "  recalld model pull nomic-embed-text",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			_, err := askLong(c.Context(), a, service.PullModel, memory.PullRequest{Name: args[0]}, "", func(shown *progress, p memory.PullProgress) {
				shown.show(p.Status, p.Completed, p.Total)
			})
			if err != nil {
				return err
			}
			return a.answer(map[string]string{"model": args[0], "state": "available"}, func(w io.Writer) {
				fmt.Fprintf(w, "Model %s is available.\n", args[0])
			})
		},
	}
	c.ValidArgsFunction = firstArgument(a.completeModels(true))
	return c
}
