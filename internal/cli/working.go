package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// workingCommand shows what a session has come across.
func workingCommand(a *App) *cobra.Command {
	var r memory.WorkingContextRequest
	c := &cobra.Command{
		Use:   "working",
		Short: "Show what a session has come across",
		Long: `Show the working context of a session: the tools that it has found and used, the
entities that it has met, in their order, and the summary of its last compaction. It
is kept through turns and restarts until recalld compact clears it. With --json it is
what is stored, field by field.`,
		Example: "  recalld working\n  recalld working --session nightly-42 --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.which(c, &r.SessionRef); err != nil {
				return err
			}
			working, err := call(c, a, &r, service.WorkingContext)
			if err != nil {
				return err
			}
			return a.recorded(working, true, func(w io.Writer) { writeWorking(w, working) })
		},
	}
	a.whichFlags(c, &r.SessionRef)
	c.AddCommand(workingReportCommand(a))
	return c
}

// maxUses is how many tools a line of uses names.
const maxUses = 20

// useList counts the uses of tools, most used first.
func useList(uses []memory.ToolUse) string {
	uses = slices.Clone(uses)
	slices.SortStableFunc(uses, func(a, b memory.ToolUse) int { return cmp.Compare(b.Count, a.Count) })
	var parts []string
	for _, u := range uses[:min(len(uses), maxUses)] {
		parts = append(parts, fmt.Sprintf("%s %d× (last %s)", printable(u.String()), u.Count, timeText(u.LastUsed, "?")))
	}
	if more := len(uses) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, ", ")
}

// writeWorking leaves out what a session has none of. What contexts are changed by hand
// is told by recalld context.
func writeWorking(w io.Writer, k *memory.WorkingContext) {
	rows := [][]string{{"session", fmt.Sprintf("%s, version %d, %s", k.SessionID, k.Version, memory.Count(k.Turn, "turn"))}}
	for _, list := range []struct {
		name  string
		tools []memory.ToolRef
	}{{"discovered", k.DiscoveredTools}, {"used", k.UsedTools}} {
		if len(list.tools) > 0 {
			rows = append(rows, []string{list.name, toolList(list.tools)})
		}
	}
	if len(k.ToolUse) > 0 {
		rows = append(rows, []string{"uses", useList(k.ToolUse)})
	}
	if k.Compactions > 0 {
		rows = append(rows, []string{"compacted", fmt.Sprintf("%s, %s", memory.Count(k.Compactions, "time"), timeText(k.CompactedAt, "?"))})
	}
	table(w, rows)
	if len(k.Entities) > 0 {
		fmt.Fprintln(w)
		entities := [][]string{{"#", "ENTITY", "TYPE", "NAME"}}
		for i, e := range k.Entities {
			entities = append(entities, []string{strconv.Itoa(i + 1), foreignLine(e.ID, 40), foreignLine(e.Type, 20), foreignLine(e.Name, 60)})
		}
		fitTable(w, entities)
	}
	if k.Summary != "" {
		fmt.Fprintln(w, "\nSummary:")
		writeLines(w, "  ", k.Summary)
	}
}

// toolList writes tools in a line.
func toolList(tools []memory.ToolRef) string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = entryName(t.ServerName, t.ToolName)
	}
	return strings.Join(names, ", ")
}
