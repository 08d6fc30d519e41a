package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// reposCommand lists the sandboxes.
func reposCommand(a *App) *cobra.Command {
	var skipped string
	var wide bool
	c := &cobra.Command{
		Use:   "repos",
		Short: "List indexed repositories",
		Long: `List every indexed folder: the state, size and age of its index, and below it the folder
and notes about it. With --wide, one long line each. With --skipped, walk one repository
and list the files that are left out, and why.

Files are split into chunks. The size is about what the index takes on disk; what
worktrees share is counted in each. A stale index may lag behind the disk.`,
		Example: "  recalld repos\n  recalld repos --wide\n  recalld repos --json\n  recalld repos --skipped .",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if skipped != "" {
				return answered(c, a, service.Skipped, memory.SkippedRequest{Path: a.absolute(skipped)}, writeSkipped)
			}
			return a.listRepos(c.Context(), wide)
		},
	}
	c.Flags().StringVar(&skipped, "skipped", "", "list what is left out of the repository of this folder")
	c.Flags().BoolVar(&wide, "wide", false, "one line for each, however long")
	must(c.MarkFlagDirname("skipped"))
	return c
}

func (a *App) listRepos(ctx context.Context, wide bool) error {
	list, err := ask(ctx, a, service.Repos, service.None{})
	if err != nil {
		return err
	}
	repos := orEmpty(list.Repos)
	var status *memory.Status // says what all of them take together
	if !a.json {
		if status, err = ask(ctx, a, service.Status, service.None{}); err != nil {
			return err
		}
	}
	return a.answer(map[string]any{"repos": repos}, func(w io.Writer) {
		if len(repos) == 0 {
			io.WriteString(w, "No repository is indexed yet. Run 'recalld up PATH' to index one.\n")
			return
		}
		if wide {
			render.Table(w, wideRows(repos, a.opts.Now()))
		} else {
			writeRepos(w, repos, a.opts.Now())
		}
		fmt.Fprintf(w, "\n%s\nIndex: %s\n", totalText(repos), indexSize(&status.Code))
		if status.Code.Paused {
			fmt.Fprintln(w, pausedText)
		}
	})
}

// pausedText says that all background work is paused.
const pausedText = "All background work is paused. Run 'recalld resume' to resume it."

// writeSkipped lists the files that are left out.
func writeSkipped(w io.Writer, list *memory.SkippedList) {
	if list.Total == 0 {
		fmt.Fprintf(w, "No file of %s is left out.\n", render.Printable(list.Root))
		return
	}
	rows := [][]string{{"REASON", "FILE"}}
	for _, f := range list.Files {
		rows = append(rows, []string{strings.ReplaceAll(f.Reason, "_", " "), render.Printable(f.Path)})
	}
	render.Table(w, rows)
	if more := list.Total - len(list.Files); more > 0 {
		fmt.Fprintf(w, "and %d more\n", more)
	}
	fmt.Fprintln(w, skippedText(list.Reasons))
}

// maxProjectName is how much of a project's name a table shows, in characters, so
// that the others stay in their columns.
const maxProjectName = 24

// writeRepos writes the table that repos and status share: a line of short columns
// for each sandbox, and below it the folder and what is to be known of it.
func writeRepos(w io.Writer, repos []memory.SandboxState, now time.Time) {
	rows := [][]string{{"PROJECT", "STATE", "FILES", "CHUNKS", "INDEX", "INDEXED"}}
	for _, r := range repos {
		rows = append(rows, []string{
			render.ShortLine(render.Printable(memory.ProjectLabel(r.ProjectName, r.Project)), maxProjectName), r.IndexState(),
			strconv.Itoa(r.Files), strconv.Itoa(r.Chunks), render.Bytes(r.IndexBytes), render.Ago(r.IndexedAt, now, "never"),
		})
	}
	var text strings.Builder
	render.Table(&text, rows)
	at := -1 // the heading
	for line := range strings.Lines(text.String()) {
		io.WriteString(w, line)
		if at >= 0 {
			fmt.Fprintf(w, "  %s\n", render.Printable(repos[at].Root))
			for _, remark := range remarks(repos[at], now) {
				fmt.Fprintf(w, "  %s\n", render.Printable(remark))
			}
		}
		at++
	}
}

// wideRows are the lines of the table with everything in columns.
func wideRows(repos []memory.SandboxState, now time.Time) [][]string {
	rows := [][]string{{"PROJECT", "STATE", "FILES", "CHUNKS", "SIZE", "INDEX", "INDEXED", "RUN", "USED", "PRUNED", "WATCH", "FOLDER", "REMARK"}}
	for _, r := range repos {
		remarks := trouble(r, now)
		if r.Note != "" {
			remarks = append(remarks, noteText(&r))
		}
		rows = append(rows, []string{
			render.Printable(memory.ProjectLabel(r.ProjectName, r.Project)), r.IndexState(), strconv.Itoa(r.Files), strconv.Itoa(r.Chunks),
			render.Bytes(r.Bytes), render.Bytes(r.IndexBytes), render.Ago(r.IndexedAt, now, "never"), r.LastRun.Duration().Round(time.Millisecond).String(),
			render.Ago(r.UsedAt, now, "never"), strconv.Itoa(r.Pruned), r.Watch, render.Printable(r.Root), render.Printable(strings.Join(remarks, "; ")),
		})
	}
	return rows
}

// remarks returns the lines below a sandbox: what the columns do not show.
func remarks(r memory.SandboxState, now time.Time) []string {
	out := trouble(r, now)
	if r.Pruned > 0 {
		out = append(out, memory.Count(r.Pruned, "file")+" pruned, found by name only")
	}
	if text := render.PolledText(&r); text != "" {
		out = append(out, text)
	}
	if r.Note != "" {
		out = append(out, noteText(&r))
	}
	return out
}

// maxNote bounds what is shown of a note, in characters: git says in as much what
// it refuses and what to do.
const maxNote = 400

// noteText says how the files of a sandbox were found if not as usual.
func noteText(r *memory.SandboxState) string {
	return "files were found by ignore files alone: " + render.ShortLine(r.Note, maxNote)
}

// trouble says why the index of a sandbox is not up to date, with the next step.
func trouble(r memory.SandboxState, now time.Time) []string {
	var out []string
	if !r.GoneAt.IsZero() {
		out = append(out, render.GoneText(&r))
	}
	if r.Paused {
		out = append(out, "indexing is paused; run "+render.CommandWith("recalld resume", r.Root)+" to resume it")
	}
	if r.GoneAt.IsZero() && r.Failed() { // else that is why it failed
		out = append(out, fmt.Sprintf("failed %s: %s", render.Ago(r.LastErrorAt, now, "?"), r.LastError))
	}
	if n := r.Skipped["unreadable"]; n > 0 && r.GoneAt.IsZero() {
		out = append(out, memory.Count(n, "file")+" cannot be read; run "+render.CommandWith("recalld repos --skipped", r.Root)+" to list them")
	}
	return out
}

// totalText sums the table up.
func totalText(repos []memory.SandboxState) string {
	projects := map[string]bool{}
	files, chunks, size := 0, 0, int64(0)
	for _, r := range repos {
		projects[r.Project] = true
		files, chunks, size = files+r.Files, chunks+r.Chunks, size+r.Bytes
	}
	return fmt.Sprintf("%s of %s: %s, %s, %s of text", memory.Count(len(repos), "folder"), memory.Count(len(projects), "project"),
		memory.Count(files, "file"), memory.Count(chunks, "chunk"), render.Bytes(size))
}

// indexSize says what the index of all code takes, and may take.
func indexSize(c *memory.CodeState) string {
	if c.MaxBytes > 0 {
		return fmt.Sprintf("%s of %s", render.Bytes(c.IndexBytes), render.Bytes(c.MaxBytes))
	}
	return render.Bytes(c.IndexBytes)
}
