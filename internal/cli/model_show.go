package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

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
			return answered(c, a, service.BuiltinModel, service.None{}, writeBuiltin)
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
