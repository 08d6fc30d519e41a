package cli

import (
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
)

// reposCommand lists the sandboxes.
func reposCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:     "repos",
		Short:   "List the repositories known",
		Long:    "List every folder that is indexed, with the state of its index.",
		Example: "  recalld repos\n  recalld repos --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			service, err := a.service(c.Context())
			if err != nil {
				return err
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
