package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/buildinfo"
	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/service"
)

// versionInfo is what version answers.
type versionInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Protocol int    `json:"protocol"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// Daemon is the daemon that runs, if one answers.
	Daemon *daemonVersion `json:"daemon,omitempty"`
	// Newest is the newest release, if it was asked for.
	Newest *newestVersion `json:"newest,omitempty"`
}

// daemonVersion is the version of a running daemon.
type daemonVersion struct {
	Version  string `json:"version"`
	Protocol int    `json:"protocol"`
	PID      int    `json:"pid"`
	// Note says how the daemon's version differs from this program's.
	Note string `json:"note,omitempty"`
}

// versionCommand needs neither settings nor daemon: it must work when they do not.
func versionCommand(a *App) *cobra.Command {
	check := false
	c := &cobra.Command{
		Use:   "version",
		Short: "Show this program's version",
		Long: `Show the version of this program and of the protocol it speaks with the daemon, and the
same of the daemon, if one runs. No daemon is started.

With --check it asks the project's page for the newest release, and says how to install it
where it is newer. Nothing else of recalld asks for one.`,
		Example: "  recalld version\n  recalld version --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			v := versionInfo{
				Version: buildinfo.Version(), Commit: buildinfo.Commit(), Protocol: service.Protocol, Go: runtime.Version(),
				Platform: runtime.GOOS + "/" + runtime.GOARCH, Daemon: a.daemonVersion(c.Context()),
			}
			if check {
				var err error
				if v.Newest, err = a.newest(c.Context()); err != nil {
					return err
				}
			}
			return a.answer(v, func(w io.Writer) { writeVersion(w, v) })
		},
	}
	c.Flags().BoolVar(&check, "check", false, "ask "+releases+" for the newest release")
	return c
}

func writeVersion(w io.Writer, v versionInfo) {
	fmt.Fprintf(w, "recalld %s (protocol %d, %s, %s)\n", v.Version, v.Protocol, v.Go, v.Platform)
	if d := v.Daemon; d != nil {
		fmt.Fprintf(w, "daemon  %s (protocol %d, pid %d)\n", d.Version, d.Protocol, d.PID)
		if d.Note != "" {
			fmt.Fprintln(w, "note:   "+d.Note)
		}
	}
	if n := v.Newest; n != nil {
		fmt.Fprintln(w, "newest  "+n.Version)
		if n.Newer {
			fmt.Fprintln(w, "upgrade "+n.Upgrade)
		}
	}
}

// daemonVersion asks a daemon that runs who it is; nil is that none answers.
func (a *App) daemonVersion(ctx context.Context) *daemonVersion {
	cfg, err := a.Config()
	if err != nil {
		return nil
	}
	g, err := a.opts.Greet(ctx, cfg)
	if err != nil {
		return nil
	}
	return &daemonVersion{Version: g.Version, Protocol: g.Protocol, PID: g.PID, Note: versionNote(buildinfo.Version(), g)}
}

// versionNote says how a daemon differs from this program, whose version is given. It is
// empty where it does not, or where one of the versions is unknown.
func versionNote(own string, daemon service.Greeting) string {
	switch {
	case daemon.Protocol > service.Protocol, daemon.Protocol == service.Protocol && buildinfo.Newer(daemon.Version, own):
		return "the daemon is newer than this program (" + own + "): update this program"
	case daemon.Protocol < service.Protocol, buildinfo.Newer(own, daemon.Version):
		return "the daemon is older than this program (" + own + "): the next command that needs it replaces it"
	}
	return ""
}

// greet asks the daemon of a configuration who it is.
func greet(ctx context.Context, cfg config.Config) (service.Greeting, error) {
	return client.Greet(ctx, client.Options{Socket: cfg.Paths().Socket})
}
