package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// narrowFlags choose the sessions and steps of a question. recall shares them with the
// commands about sessions and steps.
type narrowFlags struct {
	scope, session               string
	flowTag, tag, screen, branch string
	sinceHours                   int
	changed                      func(flag string) bool
}

// scopeFlags adds the flags of a scope; usual is what it is without them.
func (a *App) scopeFlags(c *cobra.Command, n *narrowFlags, usual string) {
	c.Flags().StringVar(&n.scope, "scope", "", fmt.Sprintf("sessions: all, current or a session's id (default %s)", usual))
	a.sessionFlag(c, &n.session, "only this session, by its id")
	completeWords(c, "scope", memory.ScopeAll, memory.ScopeCurrent)
	allowEmpty(c, "scope") // refused by its field's name
	n.changed = c.Flags().Changed
}

// filterFlags adds the flags of the filters.
func (a *App) filterFlags(c *cobra.Command, n *narrowFlags) {
	flags := c.Flags()
	flags.StringVar(&n.flowTag, "flow-tag", "", "only sessions with this flow tag")
	flags.StringVar(&n.tag, "tag", "", "only what has this tag")
	flags.StringVar(&n.screen, "screen", "", "only steps on this screen")
	flags.StringVar(&n.branch, "branch", "", "only sessions on this branch")
	flags.IntVar(&n.sinceHours, "since-hours", 0, fmt.Sprintf("only sessions of the last hours, 1–%d", memory.MaxSinceHours))
	completeFlag(c, "flow-tag", a.completeFlowTags)
	allowEmpty(c, "flow-tag", "tag", "screen", "branch") // refused by their fields' names
	n.changed = flags.Changed
}

// chosenScope returns the scope that was asked for, nil for the usual one.
func (n *narrowFlags) chosenScope() (*memory.Scope, error) {
	switch {
	case n.changed("session") && n.changed("scope"):
		return nil, memory.Invalid("session", "one of --scope and --session", "is given beside --scope")
	case n.changed("session"):
		return &memory.Scope{Session: n.session}, memory.Text("scope.sessionId", n.session, memory.MinSessionID, memory.MaxNameText)
	case !n.changed("scope"):
		return nil, nil
	case n.scope == memory.ScopeAll || n.scope == memory.ScopeCurrent:
		return &memory.Scope{Name: n.scope}, nil
	}
	// Anything but the two names is a session's id.
	return &memory.Scope{Session: n.scope}, memory.Text("scope.sessionId", n.scope, memory.MinSessionID, memory.MaxNameText)
}

// filters returns the filters that were given, nil for none. One that was given
// and is empty is an error: it would not narrow anything.
func (n *narrowFlags) filters() (*memory.StepFilters, error) {
	var f memory.StepFilters
	for _, t := range []struct {
		flag, field, value string
		to                 **string
	}{
		{"flow-tag", "flowTag", n.flowTag, &f.FlowTag}, {"tag", "tag", n.tag, &f.Tag},
		{"screen", "screen", n.screen, &f.Screen}, {"branch", "gitBranch", n.branch, &f.GitBranch},
	} {
		if !n.changed(t.flag) {
			continue
		}
		if err := memory.Text("filters."+t.field, t.value, 1, memory.MaxNameText); err != nil {
			return nil, err
		}
		*t.to = &t.value
	}
	if n.changed("since-hours") {
		if n.sinceHours < 1 || n.sinceHours > memory.MaxSinceHours {
			return nil, memory.Invalid("filters.sinceHours", fmt.Sprintf("1–%d", memory.MaxSinceHours), "%d is out of range", n.sinceHours)
		}
		f.SinceHours = &n.sinceHours
	}
	if f == (memory.StepFilters{}) {
		return nil, nil
	}
	return &f, nil
}

// orNewest asks, and once more about the newest session of the project if the current one was
// meant and there is none: a person has no session open as agents have. scope is that of the
// request; an error stays where it was given.
func orNewest[Answer any](ctx context.Context, a *App, project string, scope **memory.Scope, do func() (*Answer, error)) (*Answer, error) {
	answer, err := do()
	none, ok := errors.AsType[*memory.Error](err)
	if !ok || none.Code != memory.CodeInvalidInput || none.Field != "scope" || *scope != nil {
		return answer, err
	}
	list, failed := ask(ctx, a, service.Sessions, memory.SessionsRequest{Limit: 1, Project: project})
	if failed != nil || len(list.Sessions) == 0 {
		return answer, err
	}
	newest := list.Sessions[0].SessionID
	fmt.Fprintf(a.opts.Err, "%s; this is the newest of the project: %s\n", render.Printable(none.Message), render.Printable(newest))
	*scope = &memory.Scope{Session: newest}
	return do()
}

// writeIncomplete says that a search was not complete, and why.
func writeIncomplete(w io.Writer, incomplete bool, why string) {
	if incomplete {
		again := ""
		if memory.IsIncomplete(why) {
			again = " Ask again in a moment."
		}
		fmt.Fprintf(w, "Not everything was searched: %s.%s\n", render.ForeignLine(why, 200), again)
	}
}

// writeDegraded names the parts that are missing in an answer.
func writeDegraded(w io.Writer, parts []memory.Degraded) {
	for _, d := range parts {
		fmt.Fprintf(w, "Without %s: %s\n", d.Part, d.Reason)
	}
}
