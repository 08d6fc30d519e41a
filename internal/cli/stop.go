package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
)

// closeTimeout is how long a daemon may take to close its store once it has
// drained.
const closeTimeout = 5 * time.Second

// stopped is what stop answers.
type stopped struct {
	// WasRunning is false when there was nothing to stop.
	WasRunning bool `json:"was_running"`
	PID        int  `json:"pid,omitempty"`
}

// stopCommand stops the daemon. Without one it succeeds: what was wanted is so.
func stopCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "Stop the daemon",
		Long: `Ask the daemon to drain and exit, and wait until it has. The next command that
needs it starts it again. Without a daemon there is nothing to do.`,
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
	daemon, err := a.opts.Connect(ctx, cfg, false)
	if memory.CodeOf(err) == memory.CodeUnavailable {
		return stopped{}, nil
	}
	if err != nil {
		return stopped{}, err
	}
	defer daemon.Close()
	result := stopped{WasRunning: true}
	// Only to say which process it was: a daemon that cannot tell its status
	// is stopped all the same.
	if status, err := daemon.Status(ctx); err == nil {
		result.PID = status.PID
	}
	if err := daemon.Stop(ctx); err != nil {
		return result, err
	}
	// It drains for as long as its settings allow, and then closes its store.
	ctx, cancel := context.WithTimeout(ctx, cfg.Daemon.DrainTimeout+closeTimeout)
	defer cancel()
	return result, daemon.WaitGone(ctx)
}
