package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/access"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/internal/mcp"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// clients is the list of clients of the settings' data folder.
func (a *App) clients() (*access.List, error) {
	cfg, err := a.Config()
	if err != nil {
		return nil, err
	}
	return access.OpenList(cfg.Paths().Clients), nil
}

// tokenAddCommand adds a client with a token and a policy of its own.
func tokenAddCommand(a *App) *cobra.Command {
	var p access.Policy
	var projects, tools []string
	c := &cobra.Command{
		Use:   "add NAME",
		Short: "Make a client with a token and a policy of its own",
		Long: `Make a client that may do less than you: only read, only see some projects, only call
some tools. Over TCP its token says who it is; the token is printed once and stored as a
hash. On the socket, start its bridge with 'recalld mcp --client NAME'. A daemon that runs
takes note at once. What administers the daemon, reaches files by name or opens the web
page is never allowed to such a client.`,
		Example: `  recalld token add ci --read-only
  recalld token add helper --projects shop,billing --tools core,knowledge
  recalld token add loop --rate 5 --concurrent 1`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			list, err := a.clients()
			if err != nil {
				return err
			}
			p.Name = args[0]
			if c.Flags().Changed("tools") {
				if p.Tools, err = a.operationsOf(tools); err != nil {
					return err
				}
			}
			if c.Flags().Changed("projects") {
				if p.Projects, err = a.projectsOf(c.Context(), projects); err != nil {
					return err
				}
			}
			token, err := list.Add(p, a.opts.Now())
			if err := a.noted(logging.ChangeTokenAdd, args, err); err != nil {
				return err
			}
			answer := map[string]any{"name": p.Name, "token": token, "policy": policyText(p)}
			return a.answer(answer, func(w io.Writer) {
				fmt.Fprintf(w, "Client %s: %s\nIts token, which is not shown again:\n%s\n", p.Name, policyText(p), token)
			})
		},
	}
	flags := c.Flags()
	flags.BoolVar(&p.ReadOnly, "read-only", false, "refuse what changes the memory")
	flags.StringSliceVar(&projects, "projects", nil, "the only projects that it may see, by name, id or folder (default: all)")
	flags.StringSliceVar(&tools, "tools", nil, "the only tools that it may call: toolsets or names (default: all)")
	countFlag(c, &p.Rate, "rate", "most calls a second", 1, access.MaxRate, "the setting limits.rate")
	countFlag(c, &p.Concurrent, "concurrent", "most calls at the same time", 1, access.MaxConcurrent, "the setting limits.concurrent")
	a.completeProjects(c, "projects")
	completeWords(c, "tools", config.Toolsets...)
	return c
}

// operationsOf returns the operations of toolsets and tools that a flag names.
func (a *App) operationsOf(chosen []string) ([]string, error) {
	cfg, err := a.Config()
	if err != nil {
		return nil, err
	}
	ops, err := mcp.Operations(cfg.MCP.Prefix, chosen)
	if err != nil {
		return nil, &memory.Error{Code: memory.CodeInvalidInput, Field: "--tools", Message: err.Error(), Cause: err}
	}
	return ops, nil
}

// projectsOf resolves the projects that a flag names: a policy has their ids, because a name
// can be given to another folder.
func (a *App) projectsOf(ctx context.Context, names []string) ([]access.Project, error) {
	var projects []access.Project
	for _, name := range names {
		if strings.TrimSpace(name) == "" {
			return nil, memory.Invalid("--projects", "names, ids or folders, with commas between", "one is empty")
		}
		if strings.ContainsRune(name, filepath.Separator) || name == "." {
			name = a.absolute(name)
		}
		window, err := ask(ctx, a, service.TaskWindow, memory.TaskWindowRequest{Project: name})
		if err != nil {
			return nil, err
		}
		projects = append(projects, access.Project{ID: window.Project, Name: window.ProjectName})
	}
	if len(projects) == 0 {
		return nil, memory.Invalid("--projects", "names, ids or folders, with commas between", "is empty, and would let the client see nothing")
	}
	return projects, nil
}

// policyText says in a line what a client may do.
func policyText(p access.Policy) string {
	var parts []string
	if p.ReadOnly {
		parts = append(parts, "only reads")
	}
	if len(p.Projects) > 0 {
		var names []string
		for _, x := range p.Projects {
			names = append(names, memory.ProjectLabel(x.Name, x.ID))
		}
		parts = append(parts, "only projects "+strings.Join(names, ", "))
	}
	if len(p.Tools) > 0 {
		parts = append(parts, "only "+strings.Join(p.Tools, ", "))
	}
	if p.Rate > 0 {
		parts = append(parts, strconv.Itoa(p.Rate)+" calls a second")
	}
	if p.Concurrent > 0 {
		parts = append(parts, strconv.Itoa(p.Concurrent)+" at a time")
	}
	if len(parts) == 0 {
		return "every tool, in every project"
	}
	return strings.Join(parts, "; ")
}

// tokenListCommand lists the clients.
func tokenListCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the clients with tokens of their own",
		Example: "  recalld token list\n  recalld token list --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			list, err := a.clients()
			if err != nil {
				return err
			}
			known, err := list.Clients()
			if err != nil {
				return err
			}
			known = append([]access.Policy{}, known...)
			for i := range known {
				known[i].TokenHash = "" // nobody needs it
			}
			return a.answer(map[string]any{"clients": known}, func(w io.Writer) {
				if len(known) == 0 {
					fmt.Fprintln(w, "No clients with tokens of their own.")
					return
				}
				rows := [][]string{{"CLIENT", "SINCE", "MAY"}}
				for _, p := range known {
					rows = append(rows, []string{p.Name, p.CreatedAt.UTC().Format(time.DateOnly), render.Printable(policyText(p))})
				}
				render.Table(w, rows)
			})
		},
	}
}

// tokenRemoveCommand ends a client's token.
func tokenRemoveCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME",
		Short:   "Remove a client: its token ends at once",
		Example: "  recalld token remove ci",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			list, err := a.clients()
			if err != nil {
				return err
			}
			if err := a.noted(logging.ChangeTokenRemove, args, list.Remove(args[0])); err != nil {
				return err
			}
			return a.answer(map[string]any{"removed": args[0]}, func(w io.Writer) { fmt.Fprintf(w, "Removed %s.\n", args[0]) })
		},
	}
}
