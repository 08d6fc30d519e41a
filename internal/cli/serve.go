package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/buildinfo"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/daemon"
)

// serveCommand runs the daemon in this process. It never connects to one: the
// lock on the data folder decides who serves it.
func serveCommand(a *App) *cobra.Command {
	var autostarted bool
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon in the foreground",
		Long: `Run the daemon until it is stopped. Other commands start it by themselves; run it
yourself under a service manager or to watch it start. With --json it logs JSON.`,
		Example: "  recalld serve\n  recalld serve --set log.level=debug --set tcp.enabled=true",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if a.json {
				// Last, so that the flag wins over a --set.
				a.set = append(a.set, "log.format=json")
			}
			cfg, err := a.Config()
			if err != nil {
				return err
			}
			return a.opts.Serve(c.Context(), cfg, autostarted)
		},
	}
	c.Flags().BoolVar(&autostarted, "autostarted", false, "started by a client, not by a person")
	c.Flags().StringVar(&a.source.Dir, "dir", "", "what relative paths of flags and of the environment are relative to")
	for _, internal := range []string{"autostarted", "dir"} {
		must(c.Flags().MarkHidden(internal))
	}
	return c
}

// serve runs the daemon. One that a client started has the log file as its
// output already.
func (a *App) serve(ctx context.Context, cfg config.Config, autostarted bool) error {
	sources := a.sources
	opts := daemon.Options{Config: cfg, Version: buildinfo.Version(), Autostarted: autostarted, Reload: func() (config.Config, error) { return config.Load(sources) }}
	if !autostarted {
		opts.Console = a.opts.Err
	}
	return daemon.Serve(ctx, opts)
}
