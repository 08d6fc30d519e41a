package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/strict"
	"github.com/recalld/recalld/internal/service"
)

// workingReportCommand reports used tools and entities.
func workingReportCommand(a *App) *cobra.Command {
	var r memory.ReportRequest
	var tools, entities []string
	c := &cobra.Command{
		Use:   "report",
		Short: "Report tools that were used and entities that were met",
		Long: `Add tools that a session has used, and entities that it has met, to its working
context, as a host does with the results of its tools. An entity with a known id
replaces it in its place. --clear-discovered takes away the tools that were found.`,
		Example: `  recalld working report --tool shop:get_order --entity '{"id": "order-17", "type": "order", "data": {"total": 12.5}}'
  recalld working report --clear-discovered`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, text := range tools {
				tool, err := toolArgument("tool", text)
				if err != nil {
					return err
				}
				r.UsedTools = append(r.UsedTools, tool)
			}
			for _, text := range entities {
				var entity memory.Entity
				if err := strict.Field([]byte(text), &entity, "entity"); err != nil {
					return err
				}
				r.Entities = append(r.Entities, entity)
			}
			if err := a.which(c, &r.SessionRef); err != nil {
				return err
			}
			working, err := call(c, a, &r, service.Report)
			if err != nil {
				return err
			}
			return a.answer(working, func(w io.Writer) {
				fmt.Fprintf(w, "Session %s has %s discovered, %d used, and %s; version %d\n", working.SessionID,
					memory.Count(len(working.DiscoveredTools), "tool"), len(working.UsedTools), countOf(len(working.Entities), "entity", "entities"), working.Version)
			})
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&tools, "tool", nil, "a tool that was used, SERVER:NAME; may be given several times")
	flags.StringArrayVar(&entities, "entity", nil, `an entity that was met, {"id", "type"?, "name"?, "data"?}; may be given several times`)
	flags.BoolVar(&r.ClearDiscovered, "clear-discovered", false, "take away the tools that were found")
	a.whichFlags(c, &r.SessionRef)
	return c
}
