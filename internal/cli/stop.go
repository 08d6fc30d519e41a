package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// stopped is what stop answers.
type stopped struct {
	// WasRunning is false when there was nothing to stop.
	WasRunning bool `json:"was_running"`
	PID        int  `json:"pid,omitempty"`
}

// stopCommand stops the daemon. Without a daemon it succeeds.
func stopCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "Stop the daemon",
		Long: `Stop the daemon and wait until it has exited. It completes what it has begun. The next
command that needs it starts it again. A daemon of another version is stopped too. If
no daemon runs, stop does nothing.`,
		Example: "  recalld stop",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			result, err := a.stop(c.Context())
			if err != nil {
				return err
			}
			return a.answer(result, func(w io.Writer) {
				if !result.WasRunning {
					fmt.Fprintln(w, "No daemon is running.")
					return
				}
				fmt.Fprintf(w, "Stopped the daemon (pid %d).\n", result.PID)
			})
		},
	}
}

// stop asks a daemon that runs to end and waits for it, so that a script may
// touch the data folder right after.
func (a *App) stop(ctx context.Context) (stopped, error) {
	cfg, err := a.Config()
	if err != nil {
		return stopped{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, config.StopTimeout)
	defer cancel()
	who, err := a.opts.Stop(ctx, cfg)
	if memory.CodeOf(err) == memory.CodeUnavailable && who.PID == 0 && !client.MayNotOpen(err) {
		return stopped{}, nil // nothing answers
	}
	return stopped{WasRunning: true, PID: who.PID}, err
}

// endDaemon stops the daemon of a configuration over its socket, or over that of its former
// settings.
func endDaemon(ctx context.Context, cfg config.Config) (service.Greeting, error) {
	paths := cfg.Paths()
	who, err := client.Stop(ctx, client.Options{Socket: paths.Socket, Lock: paths.Lock})
	if memory.CodeOf(err) != memory.CodeUnavailable || who.PID != 0 {
		return who, err
	}
	// The record of an owner that has ended may name the socket of another daemon.
	if former := ownerSocket(paths); former != "" && former != paths.Socket && client.Held(paths.Lock) {
		return client.Stop(ctx, client.Options{Socket: former, Lock: paths.Lock})
	}
	return who, err
}
