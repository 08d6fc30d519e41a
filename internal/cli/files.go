package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// filesCommand asks the file-name index.
func filesCommand(a *App) *cobra.Command {
	var r memory.FilesRequest
	c := &cobra.Command{
		Use:   "files PATTERN...",
		Short: "Find files by name and by how they begin",
		Long: `Find files of a project by name, without a model: by words in the path or in the file's
first 100 characters, or by a glob over the path with *, ** and ?. Case is ignored. The
best match comes first, each with its language and its first line, as it is on disk now.
The default project is the working folder's.`,
		Example: `  recalld files retry client
  recalld files 'internal/**/*_test.go' --limit 100
  recalld files Dockerfile --project service --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r.Pattern = strings.Join(args, " ")
			list, err := ask(c.Context(), a, service.Files, r)
			if err != nil {
				return err
			}
			list.Files = orEmpty(list.Files)
			return a.recorded(list, len(list.Files) > 0, func(w io.Writer) { writeFiles(w, list) })
		},
	}
	a.projectFlag(c, &r.Project)
	countFlag(c, &r.Limit, "limit", "most files", 1, memory.MaxFilesListed, memory.DefaultFiles)
	return c
}

// writeFiles lists files, then how many there are of which those are the best, and
// what is not among them.
func writeFiles(w io.Writer, list *memory.FileList) {
	project := memory.ProjectLabel(list.ProjectName, list.Project)
	if list.Total == 0 {
		fmt.Fprintf(w, "No matching files in project %s.\n", project)
	} else {
		render.List(w, fileRows(list.Files))
		fmt.Fprintf(w, "%d of %s in project %s\n", len(list.Files), memory.Count(list.Total, "matching file"), project)
	}
	for _, reason := range slices.Sorted(maps.Keys(list.Withheld)) {
		fmt.Fprintf(w, "Not shown: %s, %s\n", memory.Count(list.Withheld[reason], "file"), strings.ReplaceAll(string(reason), "_", " "))
	}
	if list.Missing != "" {
		fmt.Fprintf(w, "Not all files are known: %s. Run 'recalld repos' to see more.\n", list.Missing)
	}
}

// minFirstLine is the least of a first line that is shown, however long the paths
// are, in cells.
const minFirstLine = 20

// fileRows are the lines of the table of files, as wide as a terminal as far as
// the paths allow. The folder is shown only if the files are in several worktrees or
// clones.
func fileRows(files []memory.FileMatch) [][]string {
	several := slices.ContainsFunc(files, func(f memory.FileMatch) bool { return f.Sandbox != files[0].Sandbox })
	width := 0
	rows := make([][]string, len(files))
	for i, f := range files {
		path := render.Printable(f.Path)
		if several {
			path = render.Printable(f.Sandbox) + "/" + path
		}
		rows[i] = []string{path, f.Lang}
		width = max(width, render.Width(path)+render.Width(f.Lang)+4)
	}
	for i, f := range files {
		first, _, _ := strings.Cut(strings.TrimSpace(f.Head), "\n")
		rows[i] = append(rows[i], render.ShortLine(render.Printable(first), max(render.TerminalWidth-width, minFirstLine)))
	}
	return rows
}
