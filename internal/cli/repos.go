package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
)

// reposCommand lists the sandboxes.
func reposCommand(a *App) *cobra.Command {
	var skipped string
	c := &cobra.Command{
		Use:   "repos",
		Short: "List the repositories known",
		Long: `List every folder that is indexed, with the state of its index. With --skipped,
walk over one repository and list the files that are left out, and why.`,
		Example: "  recalld repos\n  recalld repos --json\n  recalld repos --skipped .",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			service, err := a.service(c.Context())
			if err != nil {
				return err
			}
			if skipped != "" {
				list, err := service.Skipped(c.Context(), memory.SkippedRequest{Path: a.absolute(skipped), Caller: a.caller()})
				if err != nil {
					return err
				}
				return a.answer(list, func(w io.Writer) { writeSkipped(w, list) })
			}
			repos, err := service.Repos(c.Context())
			if err != nil {
				return err
			}
			if repos == nil {
				repos = []memory.SandboxState{} // JSON says [], not null
			}
			return a.answer(map[string]any{"repos": repos}, func(w io.Writer) {
				if len(repos) == 0 {
					io.WriteString(w, "No repository is indexed yet. Index one with: recalld up PATH\n")
					return
				}
				table(w, repoRows(repos))
			})
		},
	}
	c.Flags().StringVar(&skipped, "skipped", "", "list what is left out of the repository of this folder")
	must(c.MarkFlagDirname("skipped"))
	return c
}

// writeSkipped lists the files that are left out.
func writeSkipped(w io.Writer, list *memory.SkippedList) {
	if list.Total == 0 {
		fmt.Fprintf(w, "Nothing of %s is left out.\n", list.Root)
		return
	}
	rows := [][]string{{"REASON", "FILE"}}
	for _, f := range list.Files {
		rows = append(rows, []string{strings.ReplaceAll(f.Reason, "_", " "), f.Path})
	}
	table(w, rows)
	if more := list.Total - len(list.Files); more > 0 {
		fmt.Fprintf(w, "and %d more\n", more)
	}
	fmt.Fprintln(w, skippedText(list.Reasons))
}

// repoRows are the lines of the table that repos and status share.
func repoRows(repos []memory.SandboxState) [][]string {
	rows := [][]string{{"PROJECT", "STATE", "FILES", "CHUNKS", "SIZE", "INDEXED", "FOLDER"}}
	for _, r := range repos {
		rows = append(rows, []string{
			memory.ProjectLabel(r.ProjectName, r.Project), r.IndexState(), strconv.Itoa(r.Files), strconv.Itoa(r.Chunks),
			bytesText(r.Bytes), timeText(r.IndexedAt, "never"), r.Root,
		})
	}
	return rows
}
