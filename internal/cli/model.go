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
			shown := a.newProgress("")
			_, err := askLong(c.Context(), a, service.PullModel, memory.PullRequest{Name: args[0]}, shown, func(p memory.PullProgress) {
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

// modelShowCommand shows which built-in model is in use.
func modelShowCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "show",
		Short: "Show the built-in model in use",
		Long: `Show which built-in model is in use, the one inside the program or one that was
adapted from it, since when, and what it finds.`,
		Example: "  recalld model show\n  recalld model show --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			m, err := ask(c.Context(), a, service.BuiltinModel, service.None{})
			if err != nil {
				return err
			}
			return a.answer(m, func(w io.Writer) { writeBuiltin(w, m) })
		},
	}
}

func writeBuiltin(w io.Writer, m *memory.BuiltinModel) {
	rows := [][]string{{"in use", m.InUse}}
	if m.Next != m.InUse {
		rows = append(rows, []string{"next", m.Next + ", from the next start on (recalld stop)"})
	}
	if m.Adapted != nil {
		rows = append(rows, []string{"adapted", render.Time(m.Adapted.At, "?") + ", from " + m.Adapted.Base})
	}
	if m.Trouble != "" {
		rows = append(rows, []string{"trouble", m.Trouble})
	}
	if m.Running != nil {
		rows = append(rows, []string{"running", adaptingText(m.Running)})
	}
	render.Table(w, rows)
	if m.Adapted != nil {
		io.WriteString(w, "\n")
		writeAdaptation(w, m.Adapted)
	}
}

// adaptingText says how far an adaptation is.
func adaptingText(p *memory.AdaptProgress) string {
	return "adaptation, " + p.Phase + " " + memory.Percent(p.Done, p.Total)
}

// modelResetCommand takes an adaptation back.
func modelResetCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "reset",
		Short: "Go back to the built-in model as it was shipped",
		Long: `Remove the model that ` + "`recalld model adapt`" + ` made. From the next start of the daemon on
the one inside the program is used, and what is stored is embedded again by it.`,
		Example: "  recalld model reset",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			m, err := ask(c.Context(), a, service.ResetModel, service.None{})
			if err != nil {
				return err
			}
			return a.answer(m, func(w io.Writer) {
				if m.InUse == m.Next {
					fmt.Fprintf(w, "The adapted model is gone; %s was in use already.\n", m.Next)
					return
				}
				fmt.Fprintf(w, "The adapted model is gone; %s takes its place.\n%s\n", m.Next, restartHint)
			})
		},
	}
}
