package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/configs"
	"github.com/recalld/recalld/internal/connect"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/source/lessonlog"
)

// connectFlags are the flags of connect.
type connectFlags struct {
	dir                   string
	user, project         bool
	print, dryRun, remove bool
	hooks, noHooks        bool
	prompts, instructions bool
	script                bool
}

// connectResult is what connect did, or would do.
type connectResult struct {
	Client string        `json:"client,omitempty"`
	Scope  connect.Scope `json:"scope,omitempty"`
	// DryRun says that nothing was written.
	DryRun bool         `json:"dry_run,omitempty"`
	Server *clientSetup `json:"server,omitempty"`
	Files  []fileResult `json:"files"`
}

// fileResult is what became of one file.
type fileResult struct {
	What string `json:"what"`
	Path string `json:"path"`
	// Result is "unchanged", "written" or "removed"; in a dry run the last two
	// are what would have been.
	Result string `json:"result"`
	Backup string `json:"backup,omitempty"`
	Diff   string `json:"diff,omitempty"`
}

// connectCommand puts recalld into the settings of clients.
func connectCommand(a *App) *cobra.Command {
	var f connectFlags
	c := &cobra.Command{
		Use:   "connect [CLIENT]",
		Short: "Connect a coding agent",
		Long: `Add recalld to the settings of a coding agent: claude-code, codex, cursor, vscode,
gemini-cli, opencode or zed. Without CLIENT, list the agents on this machine and
whether they are connected.

The rest of a settings file stays as it is. The original is kept beside it, as
FILE.recalld-DATE-TIME.bak. Claude Code also gets hooks. They record sessions and
steps, and answer failures with lessons. A second run changes nothing. --remove
removes what was added.`,
		Example: `  recalld connect
  recalld connect claude-code --dry-run
  recalld connect claude-code --instructions --script
  recalld connect cursor --project --dir ~/src/service
  recalld connect codex --remove`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			if len(args) == 0 {
				return a.connectNone(c, &f)
			}
			client, err := connect.Find(args[0])
			if err != nil {
				return err
			}
			if err := a.connectClient(client, &f); err != nil || f.print || f.dryRun || f.remove {
				return err
			}
			root, err := a.projectDir(&f)
			if err != nil {
				return nil // in no repository
			}
			return a.offerTrust(c.Context(), root)
		},
		ValidArgsFunction: completeClients,
	}
	flags := c.Flags()
	flags.StringVar(&f.dir, "dir", "", "the project's folder, for --project and --script (default: the repository of the working folder)")
	flags.BoolVar(&f.user, "user", false, "connect it for every project of yours (default)")
	flags.BoolVar(&f.project, "project", false, "connect it for one project")
	flags.BoolVar(&f.print, "print", false, "print the lines to paste, and write nothing")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would change as a diff, and write nothing")
	flags.BoolVar(&f.remove, "remove", false, "remove recalld from the settings")
	flags.BoolVar(&f.hooks, "hooks", false, "install hooks where the client has them (default)")
	flags.BoolVar(&f.noHooks, "no-hooks", false, "do not change hooks")
	flags.BoolVar(&f.prompts, "prompts", false, "add a hook that recalls lessons for every prompt")
	flags.BoolVar(&f.instructions, "instructions", false, "tell the agent when to recall and remember, in its file of instructions")
	flags.BoolVar(&f.script, "script", false, "install "+lessonlog.ScriptPath+" in the repository")
	return c
}

// check refuses flags that contradict one another. The error of the library's own
// check has no type.
func (f *connectFlags) check(c *cobra.Command) error {
	for _, pair := range []struct {
		first, second string
		both          bool
	}{
		{"user", "project", f.user && f.project}, {"hooks", "no-hooks", f.hooks && f.noHooks},
		{"print", "dry-run", f.print && f.dryRun}, {"print", "remove", f.print && f.remove}, {"script", "remove", f.script && f.remove},
	} {
		if pair.both {
			return usageError(c, fmt.Errorf("--%s and --%s exclude each other", pair.first, pair.second))
		}
	}
	return nil
}

func completeClients(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, c := range connect.Clients() {
		names = append(names, cobra.CompletionWithDesc(c.Name, c.Title))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// connectNone installs the script alone, or lists the clients.
func (a *App) connectNone(c *cobra.Command, f *connectFlags) error {
	if f.script {
		result := &connectResult{DryRun: f.dryRun}
		if err := a.installScript(f, result); err != nil {
			return err
		}
		return a.answer(result, func(w io.Writer) { writeConnected(w, result, f) })
	}
	for _, flag := range []string{"user", "print", "dry-run", "remove", "hooks", "no-hooks", "prompts", "instructions"} {
		if c.Flags().Changed(flag) {
			return usageError(c, fmt.Errorf("--%s needs a client: %s", flag, strings.Join(clientNames(), ", ")))
		}
	}
	return a.listClients(f)
}

func clientNames() []string {
	var names []string
	for _, c := range connect.Clients() {
		names = append(names, c.Name)
	}
	return names
}

// clientState is how one client stands.
type clientState struct {
	Client    string           `json:"client"`
	Title     string           `json:"title"`
	Installed bool             `json:"installed"`
	Parts     []connect.Status `json:"parts"`
}

// listClients lists the clients and how they stand, in both scopes where the
// working folder is in a project.
func (a *App) listClients(f *connectFlags) error {
	machine, err := a.machine()
	if err != nil {
		return err
	}
	options := connect.Options{Scope: connect.User, Server: a.clientSetup().server()}
	scopes := []connect.Options{options}
	if dir, err := a.projectDir(f); err == nil {
		options.Scope, options.Dir = connect.Project, dir
		scopes = append(scopes, options)
	} else if f.project || f.dir != "" {
		return err
	}
	var all []clientState
	for _, c := range connect.Clients() {
		state := clientState{Client: c.Name, Title: c.Title, Installed: c.Installed(machine), Parts: []connect.Status{}}
		for _, o := range scopes {
			parts, err := c.Status(machine, o)
			if err != nil {
				return err
			}
			state.Parts = append(state.Parts, parts...)
		}
		all = append(all, state)
	}
	return a.answer(map[string]any{"clients": all}, func(w io.Writer) { writeClients(w, all) })
}

// writeClients shows the clients that are installed or connected.
func writeClients(w io.Writer, all []clientState) {
	rows := [][]string{{"CLIENT", "SCOPE", "PART", "STATE", "FILE"}}
	for _, c := range all {
		for _, p := range c.Parts {
			// A project needs no settings of its own: the user's serve it.
			missing := p.State == connect.NotConnected
			if missing && (!c.Installed || p.Scope == connect.Project) {
				continue
			}
			rows = append(rows, []string{c.Client, string(p.Scope), p.What, string(p.State), p.Path})
		}
	}
	if len(rows) == 1 {
		fmt.Fprintf(w, "No supported client was found on this machine. Supported: %s.\nRun 'recalld connect CLIENT' to connect one anyway.\n", strings.Join(clientNames(), ", "))
		return
	}
	render.Table(w, rows)
	fmt.Fprintln(w, "\nRun 'recalld connect CLIENT' to connect one.")
}

// connectClient connects one client, or takes recalld out of it.
func (a *App) connectClient(c connect.Client, f *connectFlags) error {
	machine, err := a.machine()
	if err != nil {
		return err
	}
	setup := a.clientSetup()
	options := connect.Options{Scope: connect.User, Server: setup.server(), NoHooks: f.noHooks, Prompts: f.prompts, Instructions: f.instructions}
	if f.project {
		options.Scope = connect.Project
		if options.Dir, err = a.projectDir(f); err != nil {
			return err
		}
	}
	if f.print {
		return a.printSnippets(c, machine, options, setup)
	}
	plan := connect.Client.Connect
	if f.remove {
		plan = connect.Client.Disconnect
	}
	changes, err := plan(c, machine, options)
	if err != nil {
		return err
	}
	result := &connectResult{Client: c.Name, Scope: options.Scope, DryRun: f.dryRun}
	if !f.remove {
		result.Server = &setup
	}
	for _, change := range changes {
		file := fileResult{What: change.What, Path: change.Path, Result: "unchanged"}
		switch {
		case change.None():
		case change.After == nil:
			file.Result = "removed"
		default:
			file.Result = "written"
		}
		if f.dryRun {
			file.Diff = change.Diff()
		} else {
			applied, err := connect.Apply(change, a.opts.Now())
			if err != nil {
				return err
			}
			file.Backup = applied.Backup
		}
		result.Files = append(result.Files, file)
	}
	if f.script {
		if err := a.installScript(f, result); err != nil {
			return err
		}
	}
	return a.answer(result, func(w io.Writer) { writeConnected(w, result, f) })
}

// printSnippets prints what goes into each file.
func (a *App) printSnippets(c connect.Client, m connect.Machine, o connect.Options, setup clientSetup) error {
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
	if r.Server != nil && r.Server.Hint != "" {
		fmt.Fprintf(w, "\n%s\n", r.Server.Hint)
	}
}

// installScript puts the script for shells into the repository.
func (a *App) installScript(f *connectFlags, result *connectResult) error {
	dir, err := a.projectDir(f)
	if err != nil {
		return err
	}
	file := fileResult{What: "script", Path: filepath.Join(dir, filepath.FromSlash(lessonlog.ScriptPath)), Result: "unchanged"}
	if f.dryRun {
		if text, err := os.ReadFile(file.Path); err != nil || !bytes.Equal(text, configs.LogScript) {
			file.Result = "written"
		}
	} else {
		path, changed, err := lessonlog.InstallScript(dir)
		if err != nil {
			return err
		}
		if file.Path = path; changed {
			file.Result = "written"
		}
	}
	result.Files = append(result.Files, file)
	return nil
}

// server is the setup as the client's files have it.
func (s clientSetup) server() connect.Server {
	return connect.Server{Command: s.Command, Args: s.Args}
}

// machine is this one.
func (a *App) machine() (connect.Machine, error) {
	home := a.opts.Getenv("HOME")
	if runtime.GOOS == "windows" {
		home = cmp.Or(a.opts.Getenv("USERPROFILE"), home)
	}
	if home == "" {
		return connect.Machine{}, memory.Errorf(memory.CodeNotFound, "the home folder is not known: HOME is not set")
	}
	return connect.Machine{OS: runtime.GOOS, Home: home, Getenv: a.opts.Getenv}, nil
}

// projectDir is the top of the repository that --dir, or the working folder, lies
// in.
func (a *App) projectDir(f *connectFlags) (string, error) {
	dir := a.opts.Dir
	if f.dir != "" {
		dir = a.absolute(f.dir)
	}
	identity, err := project.Identify(dir)
	if err != nil {
		return "", err
	}
	return identity.Root, nil
}
