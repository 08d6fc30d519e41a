package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// toolsCommand searches the tools of a catalogue.
func toolsCommand(a *App) *cobra.Command {
	var r memory.SearchToolsRequest
	c := &cobra.Command{
		Use:   "tools QUERY...",
		Short: "Find tools by what they do",
		Long: `Find tools of the catalogue by what is to be done, best first. Where a session is
open they are active for it from then on, and the guidance of those that are new is
printed, once.`,
		Example: "  recalld tools read a file from disk\n  recalld tools --limit 3 --session nightly-42 send a message",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r.Query = strings.Join(args, " ")
			if err := counted(c, "limit", "limit", r.Limit, memory.MaxToolsFound); err != nil {
				return err
			}
			if err := a.which(c, &r.SessionRef); err != nil {
				return err
			}
			found, err := call(c, a, &r, service.SearchTools)
			if err != nil {
				return err
			}
			found.Tools = orEmpty(found.Tools)
			return a.recorded(found, len(found.Tools) > 0, func(w io.Writer) { writeTools(w, found) })
		},
	}
	c.Flags().IntVar(&r.Limit, "limit", 0, fmt.Sprintf("most tools, 1–%d (default %d)", memory.MaxToolsFound, memory.DefaultTools))
	c.Flags().BoolVar(&r.Own, "own", false, "recalld's own tools too")
	a.whichFlags(c, &r.SessionRef)
	return c
}

// writeTools lists tools and the guidance of those that are new, which the session is
// told only this once.
func writeTools(w io.Writer, m *memory.ToolMatches) {
	if len(m.Tools) == 0 && !m.Incomplete {
		fmt.Fprintf(w, "No tool of project %s fits. Those there are: recalld catalogue --types tool\n", memory.ProjectLabel(m.ProjectName, m.Project))
	} else if len(m.Tools) > 0 {
		rows := [][]string{{"TOOL", "RELEVANCE", "ACTIVE", "DESCRIPTION"}}
		for _, t := range m.Tools {
			active := enabledText(t.Active)
			if t.New {
				active = "new"
			}
			rows = append(rows, []string{shortText(entryName(t.ServerName, t.Name), 40), fmt.Sprintf("%.2f", t.Relevance), active, foreignLine(t.Description, 200)})
		}
		fitTable(w, rows)
	}
	if m.Guidance != "" {
		fmt.Fprintln(w)
		writeLines(w, "", m.Guidance)
	}
	writeIncomplete(w, m.Incomplete, m.Why)
	writeDegraded(w, m.Degraded)
}

// writeIncomplete says that a search was not complete, and why.
func writeIncomplete(w io.Writer, incomplete bool, why string) {
	if incomplete {
		again := ""
		if memory.IsIncomplete(why) {
			again = " Ask again in a moment."
		}
		fmt.Fprintf(w, "Not all could be searched: %s.%s\n", foreignLine(why, 200), again)
	}
}

// writeDegraded names the parts that did not take part.
func writeDegraded(w io.Writer, parts []memory.Degraded) {
	for _, d := range parts {
		fmt.Fprintf(w, "Without %s: %s\n", d.Part, d.Reason)
	}
}
