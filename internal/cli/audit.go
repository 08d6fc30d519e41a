package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// noted notes what a command has changed without the daemon, or has failed to, and returns
// why it failed.
func (a *App) noted(change string, ids []string, failed error) error {
	cfg, err := a.Config()
	if err == nil {
		err = logging.NoteCommand(cfg.Paths().Log, change, a.caller(), ids, failed)
	}
	if err != nil {
		fmt.Fprintf(a.opts.Err, "This is not in the audit log: %v\n", err)
	}
	return failed
}

// auditCommand lists who changed what.
func auditCommand(a *App) *cobra.Command {
	var r memory.AuditRequest
	var since string
	c := &cobra.Command{
		Use:   "audit",
		Short: "List who changed what",
		Long: `List what changed something, or was refused, newest first: when, which client (as it
names itself; its policy in brackets), in which session and folder, and the ids. It holds
no texts. Calls of the daemon are in it, and the commands that do without it: repair,
restore, token. The last 10 to 20 MB are kept, in audit.jsonl beside the log.`,
		Example: "  recalld audit\n  recalld audit --client codex-mcp-client --since 2d\n  recalld audit --operation forget --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if r.Since, err = parseSince("since", since, a.opts.Now()); err != nil {
				return err
			}
			return answered(c, a, service.Audit, r, func(w io.Writer, list *memory.AuditList) {
				if len(list.Changes) == 0 {
					fmt.Fprintln(w, "No changes.")
					return
				}
				rows := [][]string{{"TIME", "CLIENT", "OPERATION", "FOR", "IDS", "ERROR"}}
				for _, l := range list.Changes {
					where := cmp.Or(l.Session, l.Project, l.Dir)
					by := l.By()
					if l.NoDaemon {
						by += ", no daemon"
					}
					rows = append(rows, []string{l.At.UTC().Format("2006-01-02 15:04:05Z"), render.Printable(by), l.Operation, render.Printable(where),
						render.Printable(strings.Join(l.IDs, " ")), render.Printable(l.Error)})
				}
				render.Table(w, rows)
			})
		},
	}
	flags := c.Flags()
	countFlag(c, &r.Limit, "limit", "most changes", 1, 1000, 50)
	flags.StringVar(&r.Client, "client", "", "only this client's: the name that it gives, or that of its policy")
	flags.StringVar(&r.Operation, "operation", "", "only this operation")
	flags.StringVar(&since, "since", "", "nothing older: "+sinceUsage)
	flags.BoolVar(&r.Failed, "failed", false, "only what was refused or failed")
	for _, name := range []string{"client", "operation", "since"} {
		completeFlag(c, name, cobra.NoFileCompletions)
	}
	return c
}
