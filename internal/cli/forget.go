package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// forgetCommand removes memories. A whole project wants a yes: there is no way back.
// A person is asked; a script, which a question would stop, says --yes.
func forgetCommand(a *App) *cobra.Command {
	var r memory.ForgetRequest
	var yes bool
	c := &cobra.Command{
		Use:   "forget [ID...]",
		Short: "Remove memories for good",
		Long: `Remove records by id, or a project with all it holds, for good: records, terms,
vectors and the text of receipts. A session's id removes it with its steps. It says
what may still hold the text. Ids are printed by remember, by sessions and by recall
--ids, and are in every answer with --json; the beginning that an answer shows is enough.
On a terminal it asks before it removes a project; elsewhere, and with --json, say --yes.`,
		Example: `  recalld forget l-4f2a9c
  recalld forget --project old-service --yes`,
		RunE: func(c *cobra.Command, args []string) error {
			r.IDs = args
			if err := memory.Check(&r); err != nil {
				return err
			}
			unsure := r.Project != "" && !yes
			if unsure {
				p, err := a.knownProject(c.Context(), r.Project) // a mistyped name is refused before it is asked about
				if err != nil {
					return err
				}
				label := render.Printable(memory.ProjectLabel(p.Name, p.ID))
				if !a.opts.Interactive || a.json {
					return &memory.Error{Code: memory.CodeInvalidInput, Field: "project",
						Message: fmt.Sprintf("everything of project %s would be removed for good", label),
						Hint:    "say --yes if you mean it"}
				}
				sure, err := a.confirmForget(c.Context(), p.ID, label)
				if err != nil || !sure {
					return err
				}
				r.Project = p.ID
			}
			gone, err := ask(c.Context(), a, service.Forget, r)
			if err != nil {
				return err
			}
			err = a.answer(gone, func(w io.Writer) {
				fmt.Fprintf(w, "Forgotten: %s, %s, %s", memory.Count(gone.Records, "record"), memory.Count(gone.Files, "file"), memory.Count(gone.Documents, "text"))
				if gone.Sessions > 0 {
					fmt.Fprint(w, ", ", memory.Count(gone.Sessions, "session"))
				}
				fmt.Fprintln(w)
				for _, id := range gone.Unknown {
					fmt.Fprintf(w, "%s was not found: no record and no session has this id, or it is the beginning of several or has under 8 characters\n", render.Printable(id))
				}
				if gone.Note != "" {
					fmt.Fprintln(w, gone.Note)
				}
			})
			if len(gone.Unknown) > 0 { // one mistyped id is no success: its text is still there
				err = errors.Join(err, errNothing)
			}
			return err
		},
	}
	c.Flags().StringVar(&r.Project, "project", "", "remove this project, by id or name, with all it holds")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	a.completeProjects(c, "project")
	c.ValidArgsFunction = a.completeLessons()
	return c
}

// knownProject returns the id and the name of a project that something is remembered of. A
// folder has an id also where nothing is: nobody knows it by that.
func (a *App) knownProject(ctx context.Context, named string) (memory.Project, error) {
	list, err := ask(ctx, a, service.Lessons, memory.LessonsRequest{Project: named, Limit: 1})
	if err != nil {
		return memory.Project{}, err
	}
	p := memory.Project{ID: list.Project, Name: list.ProjectName}
	_, err = ask(ctx, a, service.Lessons, memory.LessonsRequest{Project: p.ID, Limit: 1})
	if memory.CodeOf(err) == memory.CodeNotFound {
		err = &memory.Error{Code: memory.CodeNotFound, Field: "project", Message: "nothing is remembered of project " + p.Name}
	}
	return p, err
}

// confirmForget says what is known of a project and asks whether it is to be
// removed. Anything but a yes, the end of the input included, leaves it alone.
func (a *App) confirmForget(ctx context.Context, project, label string) (bool, error) {
	known, err := ask(ctx, a, service.Repos, service.None{})
	if err != nil {
		return false, err
	}
	repos := slices.DeleteFunc(known.Repos, func(r memory.SandboxState) bool { return r.Project != project })
	fmt.Fprintf(a.opts.Err, "Everything of project %s will be removed for good: lessons, sessions with their steps, and the index of code.\n", label)
	for _, r := range repos {
		fmt.Fprintf(a.opts.Err, "  %s: %s, %s\n", render.Printable(r.Root), memory.Count(r.Files, "file"), memory.Count(r.Chunks, "chunk"))
	}
	yes, err := a.confirm("The files on disk stay. Go on?")
	if err == nil && !yes {
		fmt.Fprintln(a.opts.Err, "Nothing was removed.")
	}
	return yes, err
}
