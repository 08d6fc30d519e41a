package cli

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// lessonsCommand lists lessons.
func lessonsCommand(a *App) *cobra.Command {
	var r memory.LessonsRequest
	var since string
	c := &cobra.Command{
		Use:   "lessons",
		Short: "List lessons, newest first",
		Long: `List the lessons of a project, newest first. A lesson that names files or symbols, or
that was told with --anchor, is compared with them on disk. With --stale only lessons
are listed whose code changed since they were told, or is gone; with --pinned those that
'recalld mark' pinned; with --withdrawn those that were superseded or retracted.`,
		Example: `  recalld lessons
  recalld lessons --stale
  recalld lessons --tag ci --since 2w
  recalld lessons --project demo --limit 100 --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if r.Since, err = parseSince("since", since, a.opts.Now()); err != nil {
				return err
			}
			list, err := ask(c.Context(), a, service.Lessons, r)
			if err != nil {
				return err
			}
			list.Lessons = orEmpty(list.Lessons)
			return a.recorded(list, len(list.Lessons) > 0, func(w io.Writer) { writeLessons(w, list, &r, a.opts.Now()) })
		},
	}
	flags := c.Flags()
	a.projectFlag(c, &r.Project)
	flags.BoolVar(&r.Stale, "stale", false, "only lessons whose code changed or is gone")
	flags.BoolVar(&r.Pinned, "pinned", false, "only lessons that are pinned")
	flags.BoolVar(&r.Withdrawn, "withdrawn", false, "only lessons that were superseded or retracted")
	flags.StringVar(&r.Tag, "tag", "", "only what has this tag")
	flags.StringVar(&since, "since", "", "nothing older: "+sinceUsage)
	countFlag(c, &r.Limit, "limit", "most lessons", 1, memory.MaxLessonsListed, memory.DefaultLessons)
	return c
}

// writeLessons lists lessons; stale ones with their code and what can be done.
func writeLessons(w io.Writer, list *memory.LessonList, r *memory.LessonsRequest, now time.Time) {
	stale, total := r.Stale, list.Total
	if r.Withdrawn { // they are not among those in all
		total = list.Found
	}
	project := memory.ProjectLabel(list.ProjectName, list.Project)
	switch {
	case len(list.Lessons) > 0:
		render.List(w, lessonRows(list.Lessons, stale, now, cells(w, 80)))
	case r.Withdrawn || r.Tag != "" || !r.Since.IsZero():
		fmt.Fprintf(w, "No matching lessons in project %s.\n", project)
	case stale:
		fmt.Fprintf(w, "No stale lessons in project %s.\n", project)
	case r.Pinned && list.Total > 0:
		fmt.Fprintf(w, "No pinned lessons in project %s. Run 'recalld mark ID --pinned' to pin one.\n", project)
	default:
		fmt.Fprintln(w, "No lessons yet. Run 'recalld remember' to keep one.")
	}
	switch {
	case stale && len(list.Lessons) > 0:
		fmt.Fprintf(w, "%d of %s in project %s. Run 'recalld forget ID' to remove one, 'recalld remember --supersedes ID LESSON' to replace it.\n",
			list.Stale, memory.Count(list.Total, "lesson"), project)
	case total > len(list.Lessons) && len(list.Lessons) > 0 && !stale:
		fmt.Fprintf(w, "%d of %s in project %s\n", len(list.Lessons), memory.Count(total, "lesson"), project)
	}
	if list.Unread > 0 {
		fmt.Fprintf(w, "The code of %s could not be read.\n", memory.Count(list.Unread, "more lesson"))
	}
}

func lessonRows(lessons []memory.Item, stale bool, now time.Time, most int) [][]string {
	rows := [][]string{{"LESSON", "AGE", "SUCCESS", "CODE", "TEXT"}}
	for _, l := range lessons {
		code, rate := cmp.Or(string(memory.WorstAnchor(l.Anchors)), "-"), cmp.Or(l.SuccessRate, "-")
		rows = append(rows, []string{l.ID, render.Age(now.Sub(l.CreatedAt)), rate, code, followedText(l.Provenance) + render.ShortLine(l.Text, most)})
		for _, anchor := range l.Anchors {
			if stale && anchor.State.Outdated() {
				rows = append(rows, []string{"", "", "", "", "  " + render.ShortLine(anchor.String(), 120)})
			}
		}
	}
	return rows
}
