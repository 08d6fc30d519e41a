package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// exportCommand writes a project's memories to files.
func exportCommand(a *App) *cobra.Command {
	var r memory.ExportRequest
	var all bool
	c := &cobra.Command{
		Use:   "export DIR",
		Short: "Write lessons and sessions to files",
		Long: `Write a project's lessons as logs, one file for every repository, and its sessions
as a tree, into a folder that is empty or does not exist. The same memories always
give the same files, and recalld import takes them back.

With --all DIR is a new file: everything remembered of all projects as JSON lines,
an archive: lessons with their history, sessions and steps, tasks, blockers, catalogues,
contexts, receipts, verdicts, what was forgotten, and the settings in force. Code is not
in it: it is indexed again.`,
		Example: "  recalld export /tmp/demo-memory\n  recalld export backup --project demo\n  recalld export --all memory.jsonl",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := memory.Text("path", args[0], 1, memory.MaxPathText); err != nil {
				return err
			}
			if args[0] == "-" { // it would be a file or folder of this name
				return memory.Invalid("path", "a new file with --all, else a new folder", "an export is not written to standard output")
			}
			if all {
				return a.exportAll(c, args[0])
			}
			r.Path = a.absolute(args[0])
			shown := a.newProgress("files")
			shown.show("exporting", 0, 0)
			exported, err := ask(c.Context(), a, service.Export, r)
			shown.done()
			if err != nil {
				return err
			}
			return a.answer(exported, func(w io.Writer) {
				fmt.Fprintf(w, "Exported project %s to %s: %s, %s, %s in %s\n", memory.ProjectLabel(exported.ProjectName, exported.Project), exported.Path,
					memory.Count(exported.Lessons, "lesson"), memory.Count(exported.Sessions, "session"), memory.Count(exported.Steps, "step"),
					memory.Count(exported.Files, "file"))
				if n := exported.LeftOut; n > 0 {
					fmt.Fprintf(w, "Left out: %s superseded by lessons that no longer exist\n", memory.Count(n, "lesson"))
				}
			})
		},
	}
	a.projectFlag(c, &r.Project)
	c.Flags().BoolVar(&all, "all", false, "everything, of all projects, to one file")
	c.MarkFlagsMutuallyExclusive("all", "project")
	return c
}

func (a *App) exportAll(c *cobra.Command, path string) error {
	archive, err := askLong(c.Context(), a, service.ExportAll, memory.ArchiveRequest{Path: a.absolute(path)}, "lines", showArchive)
	if err != nil {
		return err
	}
	return a.answer(archive, func(w io.Writer) {
		fmt.Fprintf(w, "Exported to %s: %s, %s\n", render.Printable(archive.Path), archiveCounts(archive.Counts), render.Bytes(archive.Bytes))
	})
}

// importArchive takes an archive in.
func (a *App) importArchive(c *cobra.Command, path string, dry bool) error {
	archive, err := askLong(c.Context(), a, service.ImportAll, memory.ArchiveRequest{Path: path, DryRun: dry}, "lines", showArchive)
	if err != nil {
		return err
	}
	return a.answer(archive, func(w io.Writer) {
		fmt.Fprintf(w, "An archive of %s (recalld %s): %s\n", render.Time(archive.CreatedAt, "?"), render.Printable(archive.Version), archiveCounts(archive.Counts))
		if dry {
			fmt.Fprintln(w, "It is whole. Nothing was imported.")
			return
		}
		fmt.Fprintf(w, "New: %s. What was known stays as it is.\n", archiveCounts(archive.Added))
		if archive.LeftOut > 0 {
			fmt.Fprintf(w, "Left out: %s forgotten here\n", memory.Count(archive.LeftOut, "record"))
		}
		if archive.Redacted > 0 {
			fmt.Fprintf(w, "Secrets were removed from %s\n", memory.Count(archive.Redacted, "line"))
		}
		fmt.Fprintln(w, "Settings, folders of projects and what was agreed to are not taken over: they belong to the machine.")
	})
}

func showArchive(shown *progress, p memory.ArchiveProgress) {
	shown.show(p.Phase, int64(p.Done), int64(p.Total))
}

// archiveCounts lists what an archive holds.
func archiveCounts(counts map[memory.ArchiveKind]int) string {
	var parts []string
	for _, kind := range []memory.ArchiveKind{memory.ArchivedProject, memory.ArchivedSession, memory.ArchivedRecord, memory.ArchivedStateOf, memory.ArchivedReceipt} {
		if n := counts[kind]; n > 0 {
			parts = append(parts, memory.Count(n, string(kind)))
		}
	}
	if n := counts[memory.ArchivedForgotten]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d forgotten", n))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
