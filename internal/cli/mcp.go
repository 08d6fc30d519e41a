package cli

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/mcp"
	"github.com/recalld/recalld/internal/memory"
)

// mcpCommand runs the bridge. It connects at the client's first message and not
// before, so that a client sees it start at once.
func mcpCommand(a *App) *cobra.Command {
	var toolsets []string
	var readOnly bool
	var client string
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Speak MCP over standard input and output",
		Long: `Join an MCP client's standard input and output to the daemon, which is started
if none runs and again if it goes away. MCP clients run this; logs go to standard
error. Clients are shown a few tools at first, and the others once search_tools has
found them; --toolsets shows more from the start, for clients that do not take note
of a changed list: the words of the setting mcp.toolsets, or names of tools.

With --read-only, an agent that is not trusted to write can ask and not store. With
--client, it may do what 'recalld token add' has allowed to the client of that name.`,
		Example: `  recalld mcp
  recalld mcp --toolsets all
  recalld mcp --toolsets knowledge,tasks,index_repo
  recalld mcp --client helper
  {"mcpServers": {"recalld": {"command": "recalld", "args": ["mcp"]}}}`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			a.piped = true
			cfg, err := a.Config()
			if err != nil {
				return err
			}
			if c.Flags().Changed("toolsets") {
				if cfg, err = a.withToolsets(toolsets); err != nil {
					return err
				}
			}
			var level slog.Level
			if err := level.UnmarshalText([]byte(cfg.Log.Level)); err != nil {
				level = slog.LevelInfo
			}
			var last Daemon // of the present connection
			defer func() {
				if last != nil {
					_ = last.Close() // idle connections only
				}
			}()
			return mcp.RunBridge(c.Context(), mcp.BridgeOptions{
				In: a.opts.In, Out: a.opts.Out, Dir: a.opts.Dir, Window: a.opts.Window(), Toolsets: toolsets, ReadOnly: readOnly, Client: client,
				Logger: slog.New(slog.NewTextHandler(a.opts.Err, &slog.HandlerOptions{Level: level})),
				// Called again whenever the daemon has gone away, never twice at once.
				Connect: func(ctx context.Context) (*http.Client, error) {
					daemon, err := a.connect(ctx, cfg, cfg.Daemon.Autostart)
					if err != nil {
						return nil, err
					}
					if last != nil {
						_ = last.Close()
					}
					last = daemon
					return daemon.HTTP(), nil
				},
			})
		},
	}
	c.Flags().StringSliceVar(&toolsets, "toolsets", nil, "tools shown from the start: "+strings.Join(config.Toolsets, ", ")+" (default: as the setting says)")
	completeWords(c, "toolsets", config.Toolsets...)
	c.Flags().StringVar(&client, "client", "", "hold to the policy of this client of 'recalld token list'")
	completeFlag(c, "client", cobra.NoFileCompletions)
	c.Flags().BoolVar(&readOnly, "read-only", false, "refuse calls that change something, and do not show their tools")
	return c
}

// withToolsets returns the settings with the toolsets of a flag. It returns
// CodeInvalidInput for what is neither a toolset nor the name of a tool.
func (a *App) withToolsets(toolsets []string) (config.Config, error) {
	cfg, err := a.Config()
	if err != nil {
		return cfg, err
	}
	cfg.MCP.Toolsets = toolsets
	if err = cfg.Validate(); err == nil {
		err = mcp.CheckToolsets(cfg.MCP.Prefix, toolsets) // it alone knows the tools
	}
	if err != nil {
		return cfg, &memory.Error{Code: memory.CodeInvalidInput, Field: "--toolsets", Message: err.Error(), Cause: err}
	}
	return cfg, nil
}
