package cli

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// taskDoneCommand reports a completed task.
func taskDoneCommand(a *App) *cobra.Command {
	var r memory.CompleteTaskRequest
	var report, at string
	var valid, requires bool
	c := &cobra.Command{
		Use:   "done ID",
		Short: "Report a task that was completed",
		Long: `Report a task that was completed, well or, with --valid=false, not. What it was
for is kept only if it requires context, as --requires-context or the settings of
the project and its type say. A task that is reported again replaces what was.`,
		Example: `  recalld task done task-041
  recalld task done task-042 --type feature --requires-context --intent "Implement user authentication" --valid=false
  recalld task done task-043 --report '{"valid": true, "tests": 12}'`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if r.ValidationReport, err = reportFlags(c, report, valid); err != nil {
				return err
			}
			if r.CompletedAt, err = parseSince("completed_at", at, a.opts.Now()); err != nil {
				return err
			}
			r.TaskID, r.RequiresContext, r.Caller = args[0], givenBool(c, "requires-context", requires), a.caller()
			kept, err := call(c, a, &r, service.CompleteTask)
			if err != nil {
				return err
			}
			return a.answer(kept, func(w io.Writer) { writeKept(w, "done", kept) })
		},
	}
	flags := c.Flags()
	flags.StringVar(&r.TaskType, "type", "", "the type of task, by which settings may differ")
	flags.StringVar(&r.Intent, "intent", "", "what it was for, in a sentence")
	flags.StringVar(&r.Summary, "summary", "", "what came of it (default: made from the report)")
	flags.StringVar(&report, "report", "", `how it was validated, a JSON object whose "valid" says success`)
	flags.BoolVar(&valid, "valid", true, "it went well, in the place of a report; --valid=false if not")
	flags.BoolVar(&requires, "requires-context", false, "keep intent and summary (default: as the settings say)")
	flags.StringVar(&at, "at", "", "when it was (default: now): "+sinceUsage)
	allowEmpty(c, "intent", "summary", "type")
	a.projectFlag(c, &r.Project)
	return c
}

// reportFlags returns the report that was given, or one that says no more than how
// it went.
func reportFlags(c *cobra.Command, report string, valid bool) (json.RawMessage, error) {
	given, err := objectFlag(c, "report", report)
	switch {
	case err != nil:
		return nil, err
	case given == nil && valid: // working memory wants a report of every task
		return json.RawMessage(`{"valid":true}`), nil
	case given == nil:
		return json.RawMessage(`{"valid":false}`), nil
	case c.Flags().Changed("valid"):
		return nil, memory.Invalid("valid", "one of --report and --valid", "is given beside --report")
	}
	return given, nil
}
