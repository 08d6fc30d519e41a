package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// contextForCommand assembles the context of one message. Only the text goes to
// standard output, so that a script can put it into a prompt. The counts go to standard
// error.
func contextForCommand(a *App) *cobra.Command {
	var r memory.AssembleRequest
	var score float64
	var requires bool
	c := &cobra.Command{
		Use:   "for MESSAGE...",
		Short: "Assemble the context of one request",
		Long: `Assemble the context of one message. With -, read the message from standard input.
The context holds the entries of the session, then what is relevant to the message
(rules, references, tools, lessons, steps and code, each within its share of the
budget), and the last tasks. It counts as a turn of the session and leaves a receipt:
run 'recalld receipts' to see it.`,
		Example: `  recalld context for "How do I authenticate?"
  recalld context for --session nightly-42 --max-tokens 2000 --top-n 3 fix the login
  recalld context for --requires-context=false bump the version > prompt.md`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r.Message = strings.Join(args, " ")
			if r.Message == "-" {
				text, err := a.readInput("message")
				if err != nil {
					return err
				}
				r.Message = string(text)
			}
			r.IncludeScore, r.RequiresContext = given(c, "include-score", score), given(c, "requires-context", requires)
			if err := checkSession(c, r.SessionID); err != nil {
				return err
			}
			assembled, err := ask(c.Context(), a, service.Assemble, r)
			if err != nil {
				return err
			}
			assembled.Items, assembled.Memories, assembled.Withheld = orEmpty(assembled.Items), orEmpty(assembled.Memories), orEmpty(assembled.Withheld)
			assembled.ActiveTools, assembled.Record.Items = orEmpty(assembled.ActiveTools), orEmpty(assembled.Record.Items)
			// A program reads all of it from the answer; what goes to standard error is JSON
			// there, and an error.
			if a.json {
				return a.recorded(assembled, true, nil)
			}
			text := assembled.Text // which fences what is not the host's own
			if a.opts.OutTerminal {
				text = render.Bare(text)
			}
			if text = strings.TrimRight(text, "\n"); text != "" {
				fmt.Fprintln(a.opts.Out, text)
			}
			fmt.Fprintf(a.opts.Err, "Turn %d of session %s: %s, %s, %d withheld; %d of %d tokens; receipt %s\n", assembled.Turn, assembled.SessionID,
				memory.Count(len(assembled.Items), "entry"), memory.Count(len(assembled.Memories), "memory"), len(assembled.Withheld),
				assembled.Tokens, assembled.MaxTokens, assembled.Receipt)
			writeIncomplete(a.opts.Err, assembled.Incomplete, assembled.Why)
			writeDegraded(a.opts.Err, assembled.Degraded)
			return nil
		},
	}
	flags := c.Flags()
	flags.BoolVar(&r.Schemas, "schemas", false, "with --json, answer with the schemas of all active tools")
	flags.StringVar(&r.TaskType, "task-type", "", "the type of the task that it is for, by which settings may differ")
	flags.BoolVar(&requires, "requires-context", false, "with =false, leave out history and code (default: as the settings say)")
	countFlag(c, &r.TopK, "topK", "matches considered", 1, memory.MaxTopK, memory.DefaultTopK)
	countFlag(c, &r.TopN, "topN", "matches taken", 1, memory.MaxTopN, memory.DefaultTopN)
	flags.Float64Var(&score, "include-score", 0, fmt.Sprintf("relevance from which a match is always taken, 0–1 (default %v)", memory.DefaultIncludeScore))
	countFlag(c, &r.MaxTokens, "max_tokens", "most tokens", memory.MinBudget, memory.MaxBudget, memory.DefaultBudget)
	flags.BoolVar(&r.NoSearch, "no-search", false, "nothing by relevance: what the session holds and the last tasks")
	allowEmpty(c, "task-type")
	a.sessionFlag(c, &r.SessionID, "the session's id (default: the current one)")
	a.projectFlag(c, &r.Project)
	return c
}
