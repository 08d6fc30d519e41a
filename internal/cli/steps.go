package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// stepsCommand searches steps.
func stepsCommand(a *App) *cobra.Command {
	var r memory.SearchStepsRequest
	var n narrowFlags
	c := &cobra.Command{
		Use:   "steps QUERY...",
		Short: "Search the steps of sessions",
		Long: `Search the steps of a project's sessions by words and by meaning, best first. Ask
for a tool, a screen, a file or button, or the words of an error. Filters choose
sessions before any step is ranked.`,
		Example: `  recalld steps confirm button disabled
  recalld steps "npm test" --branch main --since-hours 24
  recalld steps --session mm-20260115-abc EACCES`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r.Query = strings.Join(args, " ")
			var err error
			if r.Scope, r.Filters, err = n.narrow(); err != nil {
				return err
			}
			found, err := ask(c.Context(), a, service.SearchSteps, r)
			if err != nil {
				return err
			}
			found.Matches = orEmpty(found.Matches)
			return a.recorded(found, len(found.Matches) > 0, func(w io.Writer) {
				switch {
				case len(found.Matches) > 0:
					render.List(w, stepRows(found.Matches, cells(w, wideSteps)))
				case !found.Incomplete:
					fmt.Fprintln(w, "No matching steps.")
				}
				writeIncomplete(w, found.Incomplete, found.Why)
			})
		},
	}
	a.projectFlag(c, &r.Project)
	countFlag(c, &r.Limit, "limit", "most steps", 1, memory.MaxMatches, memory.DefaultMatches)
	a.scopeFlags(c, &n, memory.ScopeAll)
	a.filterFlags(c, &n)
	return c
}

// narrow returns the scope and the filters that were given.
func (n *narrowFlags) narrow() (*memory.Scope, *memory.StepFilters, error) {
	scope, err := n.chosenScope()
	if err != nil {
		return nil, nil, err
	}
	filters, err := n.filters()
	return scope, filters, err
}

// wideSteps is the least width at which steps are listed with screen and session.
const wideSteps = 120

// narrowCell is the width of target and end below that: the step, which comes last, has them too.
const narrowCell = 18

// stepRows are the lines of the table of steps in a terminal of some width.
func stepRows(steps []memory.StepView, width int) [][]string {
	rows := [][]string{{"TIME", "TOOL", "TARGET", "ENDED", "SCREEN", "SESSION", "STEP"}}
	for _, s := range steps {
		rows = append(rows, []string{
			render.Time(s.Timestamp, ""), render.ShortLine(s.Tool, 30), render.ShortLine(s.Target, 40), endedText(s.StepEnd), render.ShortLine(s.Screen, 30), s.SessionID, followedText(s.Provenance) + render.ShortLine(s.Snippet, 200),
		})
	}
	if width < wideSteps {
		for i, row := range rows {
			row[2], row[3] = render.ShortLine(row[2], narrowCell), render.ShortLine(row[3], narrowCell)
			rows[i] = slices.Delete(row, 4, 6)
		}
	}
	return rows
}

// endedText says how a step ended: "ok", "failed", "failed: EACCES".
func endedText(e memory.StepEnd) string {
	switch {
	case e.OK:
		return "ok"
	case e.Error == nil:
		return "failed"
	}
	return "failed: " + render.ShortLine(cmp.Or(e.Error.Code, e.Error.Message), 40)
}

// followedText marks what is from the repository's files.
func followedText(p *memory.Provenance) string {
	if p == nil || !p.Followed() {
		return ""
	}
	return memory.FollowedMark + " "
}
