package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/archive"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// shownProblems is how many problems of an import are listed; --json has all
// that the daemon reports.
const shownProblems = 20

// importCommand takes memories over from files. What cannot be read is listed
// and is no failure: a log may hold lines of a program that was cut off.
func importCommand(a *App) *cobra.Command {
	var r memory.ImportRequest
	var dry bool
	c := &cobra.Command{
		Use:   "import PATH",
		Short: "Import lessons and sessions from files",
		Long: `Import a lesson log (JSON lines), a folder of logs, a session's folder or a tree of
them. To import the same files again changes nothing. A line or file that cannot be
read is listed and skipped. Forgotten memories do not come back.

An archive of 'recalld export --all' is verified as a whole first; one that was cut or
changed is refused. What is known already stays as it is. With --dry-run it is only
verified. An archive speaks with your voice: import your own.`,
		Example: `  recalld import agent-knowledge/logs
  recalld import test-artifacts/llm-knowledge --json
  recalld import ~/old/lessons.jsonl --project demo
  recalld import memory.jsonl --dry-run`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := memory.Text("path", args[0], 1, memory.MaxPathText); err != nil {
				return err
			}
			r.Path = a.absolute(args[0])
			if dry || archive.Is(r.Path) {
				if r.Project != "" {
					return memory.Invalid("project", "no project", "an archive says itself what belongs to which project")
				}
				return a.importArchive(c, r.Path, dry)
			}
			shown := a.newProgress("files")
			shown.show("importing", 0, 0)
			imported, err := ask(c.Context(), a, service.Import, r)
			shown.done()
			if err != nil {
				return err
			}
			return a.answer(imported, func(w io.Writer) { writeImported(w, imported) })
		},
	}
	a.projectFlag(c, &r.Project)
	c.Flags().BoolVar(&dry, "dry-run", false, "only verify an archive, and say what is in it")
	c.AddCommand(importAgentsCommand(a))
	return c
}

func writeImported(w io.Writer, i *memory.Imported) {
	fmt.Fprintf(w, "Imported into project %s: %s, %s, %s", memory.ProjectLabel(i.ProjectName, i.Project),
		memory.Count(i.Lessons, "lesson"), memory.Count(i.Sessions, "session"), memory.Count(i.Steps, "step"))
	if i.Known > 0 {
		fmt.Fprintf(w, "; %d already known", i.Known)
	}
	if i.Forgotten > 0 {
		fmt.Fprintf(w, "; %d forgotten here stay out", i.Forgotten)
	}
	fmt.Fprintln(w)
	writeProblems(w, i.Problems, i.Skipped)
}

// writeProblems lists the first problems of all that were skipped.
func writeProblems(w io.Writer, problems []memory.ImportProblem, skipped int) {
	if skipped == 0 {
		return
	}
	fmt.Fprintf(w, "Skipped %d that could not be read:\n", skipped)
	listed := problems[:min(len(problems), shownProblems)]
	for _, p := range listed {
		place := p.File
		if p.Line > 0 {
			place = fmt.Sprintf("%s:%d", p.File, p.Line)
		}
		fmt.Fprintf(w, "  %s: %s\n", render.Printable(place), render.Printable(p.Message))
	}
	if more := skipped - len(listed); more > 0 {
		fmt.Fprintf(w, "  and %d more\n", more)
	}
}
