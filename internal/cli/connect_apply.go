package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/recalld/recalld/internal/connect"
	"github.com/recalld/recalld/internal/git"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
)

// chosenClients are the client that was named, or all that were found.
func (a *App) chosenClients(f *connectFlags, args []string) ([]connect.Client, error) {
	if !f.all {
		client, err := connect.Find(args[0])
		return []connect.Client{client}, err
	}
	found, _, err := a.foundClients(f)
	if err == nil && len(found) == 0 {
		err = &memory.Error{Code: memory.CodeNotFound, Field: "--all", Message: "no supported agent was found on this machine",
			Hint: "name one to connect it anyway: recalld connect CLIENT"}
	}
	return found, err
}

// connectOptions are the options that the flags ask for, for the user's scope.
func (a *App) connectOptions(f *connectFlags) connect.Options {
	setup := a.clientSetup()
	return connect.Options{Scope: connect.User, Server: connect.Server{Command: setup.Command, Args: setup.Args}, Program: setup.program,
		Toolsets: f.toolsets, NoHooks: f.noHooks, Prompts: f.prompts, Instructions: f.instructions}
}

// connectTarget is where to connect, and how.
func (a *App) connectTarget(f *connectFlags) (m connect.Machine, o connect.Options, err error) {
	if m, err = a.machine(); err != nil {
		return m, o, err
	}
	o = a.connectOptions(f)
	if f.project {
		o.Scope = connect.Project
		o.Dir, err = a.projectDir(f)
	}
	return m, o, err
}

// connectClients connects clients, or takes recalld out of them. If one of several cannot
// be connected, the others are.
func (a *App) connectClients(ctx context.Context, clients []connect.Client, f *connectFlags) error {
	machine, options, err := a.connectTarget(f)
	if err != nil {
		return err
	}
	plan := connect.Client.Connect
	if f.remove {
		plan = connect.Client.Disconnect
	}
	if !f.all { // what is wrong with its files is said before the server is started
		if _, err := plan(clients[0], machine, options); err != nil {
			return err
		}
	}
	tools := 0
	if !f.remove && !f.dryRun {
		if tools, err = a.checkServer(ctx, options); err != nil {
			return err
		}
	}
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	created := connect.OpenCreated(filepath.Join(cfg.Data, "connect.json"))
	var results []*connectResult
	var failed error
	for _, c := range clients {
		changes, err := plan(c, machine, options) // now, because clients share files such as AGENTS.md
		r := &connectResult{Client: c.Name, Scope: options.Scope, DryRun: f.dryRun, Tools: tools, Files: []fileResult{}}
		if !f.remove {
			setup := a.clientSetup()
			r.Server = &setup
			r.Note = c.Note(changes)
		}
		if err == nil {
			err = a.applyChanges(ctx, c, changes, machine, options, r, created)
		}
		if err != nil {
			failed = cmp.Or(failed, err)
			r.Error = memory.AsError(err)
		}
		results = append(results, r)
	}
	if !f.all && failed != nil {
		return failed
	}
	if f.script {
		if err := a.installScript(f, results[0]); err != nil {
			return err
		}
	}
	if !f.all {
		return a.answer(results[0], func(w io.Writer) { writeConnected(w, results[0], f) })
	}
	if err := a.answer(map[string]any{"clients": results}, func(w io.Writer) {
		for i, r := range results {
			if i > 0 {
				fmt.Fprintln(w)
			}
			writeConnected(w, r, f)
		}
	}); err != nil {
		return err
	}
	return failed
}

// checkServer starts the server as a client will.
func (a *App) checkServer(ctx context.Context, o connect.Options) (int, error) {
	tools, err := a.opts.Check(ctx, o.Started(), a.opts.Dir)
	if hint := a.clientSetup().Hint; err != nil && hint != "" {
		named := *memory.AsError(err)
		named.Hint = hint
		return 0, &named
	}
	return tools, err
}

// applyChanges carries out the changes of one client, all or none.
func (a *App) applyChanges(ctx context.Context, c connect.Client, changes []connect.Change, m connect.Machine, o connect.Options, r *connectResult, created *connect.Created) error {
	type step struct {
		change connect.Change
		done   connect.Applied
	}
	var steps []step
	for _, change := range changes {
		file := fileResult{What: change.What, Path: change.Path, Result: "unchanged"}
		switch {
		case change.None():
		case change.After == nil:
			file.Result = "removed"
		default:
			file.Result = "written"
		}
		if r.DryRun {
			file.Diff = change.Diff()
			r.Files = append(r.Files, file)
			continue
		}
		var byClient func() bool
		if r.Server != nil {
			byClient = c.ByClient(ctx, m, o, change)
		}
		done, err := connect.Apply(change, a.opts.Now(), created, byClient)
		if err != nil {
			for i := len(steps) - 1; i >= 0; i-- {
				err = errors.Join(err, connect.Undo(steps[i].change, steps[i].done, created))
			}
			r.Files = []fileResult{}
			return err
		}
		steps = append(steps, step{change, done})
		if file.Backup = done.Backup; file.Backup != "" && o.Scope == connect.Project {
			excludeBackups(o.Dir, file.Backup)
		}
		r.Files = append(r.Files, file)
	}
	return nil
}

// excludeBackups lists the backups of a file in a repository in its info/exclude. Without
// that they show in git status, which is no reason to fail.
func excludeBackups(dir, backup string) {
	id, err := project.Identify(dir)
	if err != nil || id.CommonDir == "" {
		return
	}
	name, err := filepath.Rel(id.Root, backup)
	file, _, ok := strings.Cut(filepath.ToSlash(name), ".recalld-")
	if err != nil || !ok || !filepath.IsLocal(name) {
		return
	}
	_ = git.Exclude(id.CommonDir, "/"+file+".recalld-*.bak")
}

// printSnippets prints what goes into each file.
func (a *App) printSnippets(c connect.Client, f *connectFlags) error {
	m, o, err := a.connectTarget(f)
	if err != nil {
		return err
	}
	setup := a.clientSetup()
	snippets, err := c.Snippets(m, o)
	if err != nil {
		return err
	}
	return a.answer(map[string]any{"client": c.Name, "server": setup, "snippets": snippets}, func(w io.Writer) {
		for i, s := range snippets {
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "%s, in %s:\n\n%s\n", s.What, s.Path, s.Text)
		}
		if setup.Hint != "" {
			fmt.Fprintf(w, "\n%s\n", setup.Hint)
		}
	})
}

// writeConnected says what became of every file.
func writeConnected(w io.Writer, r *connectResult, f *connectFlags) {
	changed := false
	for _, file := range r.Files {
		changed = changed || file.Result != "unchanged"
		switch {
		case file.Diff != "":
			fmt.Fprint(w, file.Diff)
		case file.Result == "unchanged" && f.remove:
			fmt.Fprintf(w, "%s: not in %s\n", file.What, file.Path)
		case file.Result == "unchanged":
			fmt.Fprintf(w, "%s: already in %s\n", file.What, file.Path)
		case r.DryRun:
			fmt.Fprintf(w, "%s: would be %s: %s\n", file.What, file.Result, file.Path)
		default:
			fmt.Fprintf(w, "%s: %s %s\n", file.What, file.Result, file.Path)
		}
		if file.Backup != "" {
			fmt.Fprintf(w, "  before: %s\n", file.Backup)
		}
	}
	switch {
	case r.Error != nil && f.remove:
		fmt.Fprintf(w, "%s stays as it is: %s\n", r.Client, r.Error.Message)
	case r.Error != nil:
		fmt.Fprintf(w, "%s is not connected: %s\n", r.Client, r.Error.Message)
	case r.Client == "" || r.DryRun && changed:
	case f.remove && changed:
		fmt.Fprintf(w, "\n%s is no longer connected. Restart it.\n", r.Client)
	case f.remove:
		fmt.Fprintf(w, "\n%s was not connected.\n", r.Client)
	case changed:
		fmt.Fprintf(w, "\n%s is connected. Restart it, then ask it something that recalld knows.\n", r.Client)
	default:
		fmt.Fprintf(w, "\n%s is already connected.\n", r.Client)
	}
	if r.Note != "" {
		fmt.Fprintln(w, r.Note)
	}
	if r.Server != nil && r.Server.Hint != "" {
		fmt.Fprintf(w, "\n%s\n", r.Server.Hint)
	}
}
