package cli

import (
	"context"

	"github.com/recalld/recalld/internal/finder"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// finds says that the interactive search can be shown: a person is at a terminal that can
// place its cursor.
func (a *App) finds() bool {
	return a.opts.Interactive && a.opts.OutTerminal && !a.json && a.capable()
}

// find shows the interactive search. Settings that are wrong are told before the screen
// is taken.
func (a *App) find(ctx context.Context) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	screen, err := a.opts.Screen()
	if err != nil {
		return &memory.Error{Code: memory.CodeInternal, Message: "open terminal: " + err.Error(), Cause: err,
			Hint: "set TERM to another name, such as xterm-256color; all commands work without"}
	}
	// A notice of the daemon would be written across the screen; the next command shows it.
	a.piped = true
	return finder.Run(ctx, finder.Options{
		Screen: screen, Edit: a.edit, Caller: a.caller(), Keys: cfg.Search.Keys, Plain: !a.colours(), Now: a.opts.Now,
		Connect: func(ctx context.Context) (service.Service, error) { return a.service(ctx) },
	})
}
