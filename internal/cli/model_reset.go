package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

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
			return answered(c, a, service.ResetModel, service.None{}, func(w io.Writer, m *memory.BuiltinModel) {
				if m.InUse == m.Next {
					fmt.Fprintf(w, "The adapted model is gone; %s was in use already.\n", m.Next)
					return
				}
				fmt.Fprintf(w, "The adapted model is gone; %s takes its place.\n%s\n", m.Next, restartHint)
			})
		},
	}
}
