package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
)

// ownSettings are the settings that every command itself uses: which daemon it asks, and
// whether it starts one.
var ownSettings = []string{"data", "socket", "daemon.autostart"}

// moreSettings are the settings that single commands use beside them; a name that ends in
// a dot includes all settings below it.
var moreSettings = map[string][]string{
	"doctor":  {"embedding."}, // it looks for Ollama itself
	"mcp":     {"log.level"},  // the bridge has a log of its own
	"restore": {"backup.dir"},
}

// withoutDaemon are the commands that neither ask a daemon nor start one for what --set
// could change.
var withoutDaemon = []string{"backup list", "backup verify", "completion", "connect", "man", "restore", "stop", "team add", "team init", "team remove", "token add", "token list", "token remove", "version"}

// begin notes which command runs, and refuses a --set that it would ignore whatever
// daemon there is.
func (a *App) begin(c *cobra.Command) error {
	a.runs = c
	if err := a.checkColour(); err != nil {
		return err
	}
	a.command = strings.Fields(strings.TrimPrefix(c.CommandPath(), "recalld"))
	name := strings.Join(a.command, " ") + " "
	if slices.ContainsFunc(withoutDaemon, func(of string) bool { return strings.HasPrefix(name, of+" ") }) {
		return a.refuseSettings()
	}
	return nil
}

// refuseSettings refuses a --set that is for the daemon: none is asked.
func (a *App) refuseSettings() error {
	if setting := a.foreignSetting(); setting != "" {
		return &memory.Error{Code: memory.CodeInvalidInput, Field: "--set", Message: setting + " has no effect on recalld " + a.command[0],
			Hint: "write it into the settings file and restart the daemon"}
	}
	return nil
}

// foreignSetting returns a setting given by --set that the command does not go by
// itself: it is for the daemon.
func (a *App) foreignSetting() string {
	own := ownSettings
	if len(a.command) > 0 {
		own = slices.Concat(own, moreSettings[a.command[0]])
	}
	for _, set := range a.set {
		name, _, _ := strings.Cut(set, "=")
		if !config.Removed(name) && !slices.ContainsFunc(own, func(o string) bool { return name == o || strings.HasSuffix(o, ".") && strings.HasPrefix(name, o) }) {
			return name
		}
	}
	return ""
}

// connect is Options.Connect for all commands. A daemon takes settings when it starts:
// one that runs already has its own, and --set would be ignored without a word.
func (a *App) connect(ctx context.Context, cfg config.Config, autostart bool) (Daemon, error) {
	setting := a.foreignSetting()
	if setting == "" || a.started {
		return a.opts.Connect(ctx, cfg, autostart)
	}
	running, err := a.opts.Connect(ctx, cfg, false)
	if err == nil {
		_ = running.Close() // idle connections only
		return nil, &memory.Error{Code: memory.CodeInvalidInput, Field: "--set", Limit: "settings for a daemon that is to be started",
			Message: "the daemon runs already with its own settings and would ignore " + setting,
			Hint:    "leave it out; or run 'recalld stop' and try again; or write it into the settings file and restart the daemon"}
	}
	if code := memory.CodeOf(err); !autostart || code != memory.CodeUnavailable && code != memory.CodeIncompatible {
		return nil, err
	}
	daemon, err := a.opts.Connect(ctx, cfg, true)
	a.started = err == nil
	return daemon, err
}
