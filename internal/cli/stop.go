package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
)

// stopped is what stop answers.
type stopped struct {
	// WasRunning is false when there was nothing to stop.
	WasRunning bool `json:"was_running"`
	PID        int  `json:"pid,omitempty"`
}

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

func (a *App) stop(ctx context.Context) (stopped, error) {
	daemon, err := a.running(ctx)
	if memory.CodeOf(err) == memory.CodeUnavailable {
		return stopped{}, nil
	}
	if err != nil {
		return stopped{}, err
	}
	defer daemon.Close()
	result := stopped{WasRunning: true}
	if status, err := daemon.Status(ctx); err == nil {
		result.PID = status.PID
	}
	if err := daemon.Stop(ctx); err != nil {
		return result, err
	}
	return result, a.waitGone(ctx, daemon)
}

// waitGone waits until the daemon answers no more: it drains for as long as its
// settings allow, and then some.
func (a *App) waitGone(ctx context.Context, daemon Daemon) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.Daemon.DrainTimeout+5*time.Second,
		memory.Errorf(memory.CodeUnavailable, "the daemon is still draining"))
	defer cancel()
	for {
		if _, err := daemon.Status(ctx); err != nil && ctx.Err() == nil {
			return nil
		}
		if !pause(ctx, a.opts.Poll) {
			return context.Cause(ctx)
		}
	}
}

// pause waits; it returns false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
