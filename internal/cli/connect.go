package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/connect"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/source/lessonlog"
)

// connectFlags are the flags of connect.
type connectFlags struct {
	dir                   string
	all                   bool
	user, project         bool
	print, dryRun, remove bool
	hooks, noHooks        bool
	prompts, instructions bool
	script, index         bool
	toolsets              []string
}

// connectResult is what connect did, or would do.
type connectResult struct {
	Client string        `json:"client,omitempty"`
	Scope  connect.Scope `json:"scope,omitempty"`
	// DryRun says that nothing was written.
	DryRun bool         `json:"dry_run,omitempty"`
	Server *clientSetup `json:"server,omitempty"`
	// Tools is how many tools the server listed when it was started to check it.
	Tools int          `json:"tools,omitempty"`
	Files []fileResult `json:"files"`
	// Note is what the user has to do before the hooks run.
	Note string `json:"note,omitempty"`
	// Error says why this client of several was left as it was.
	Error *memory.Error `json:"error,omitempty"`
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
		Long: render.Fold("Add recalld to the settings of a coding agent: "+strings.Join(clientNames(), ", ")+".", 86) + `Without CLIENT, list the agents on this machine, found in PATH or by their folders, and
whether they are connected; --all connects every one of them.

The server is started once before anything is written: if it does not answer, connect
says why and changes nothing. The rest of a settings file stays as it is. The original
is kept beside it, as FILE.recalld-DATE-TIME.bak, three of them at most. Clients with
hooks get these, too. They record sessions and steps, and answer failures with lessons.
A second run changes nothing. --remove removes what was added; an otherwise unchanged
file becomes what it was, byte for byte.`,
		Example: `  recalld connect
  recalld connect --all --index
  recalld connect claude-code --dry-run
  recalld connect claude-code --instructions --script
  recalld connect cursor --project --dir ~/src/service
  recalld connect codex --toolsets all
  recalld connect codex --remove`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if f.all && len(args) > 0 {
				return usageError(c, errors.New("--all takes no client"))
			}
			if c.Flags().Changed("toolsets") {
				if _, err := a.withToolsets(f.toolsets); err != nil {
					return err
				}
			}
			if len(args) == 0 && !f.all {
				return a.connectNone(c, &f)
			}
			clients, err := a.chosenClients(&f, args)
			if err != nil {
				return err
			}
			if f.print {
				return a.printSnippets(clients[0], &f)
			}
			if err := a.connectClients(c.Context(), clients, &f); err != nil || f.dryRun || f.remove {
				return err
			}
			return a.connectRepository(c.Context(), &f)
		},
		ValidArgsFunction: fixed(describedClients),
	}
	flags := c.Flags()
	flags.StringVar(&f.dir, "dir", "", "the project's folder, for --project and --script (default: the repository of the working folder)")
	flags.BoolVar(&f.all, "all", false, "connect every agent that was found on this machine")
	flags.BoolVar(&f.user, "user", false, "connect it for every project of yours (default)")
	flags.BoolVar(&f.project, "project", false, "connect it for one project")
	flags.BoolVar(&f.print, "print", false, "print the lines to paste, and write nothing")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would change as a diff, and write nothing")
	flags.BoolVar(&f.remove, "remove", false, "remove recalld from the settings")
	flags.BoolVar(&f.hooks, "hooks", false, "install hooks where the client has them (default)")
	flags.BoolVar(&f.noHooks, "no-hooks", false, "do not change hooks")
	flags.BoolVar(&f.prompts, "prompts", false, "add a hook that recalls lessons for every prompt")
	flags.BoolVar(&f.instructions, "instructions", false, "tell the agent when to recall and remember, in its file of instructions")
	flags.StringSliceVar(&f.toolsets, "toolsets", nil, "tools shown from the start, for agents that ignore a changed list, as Codex does: "+strings.Join(config.Toolsets, ", "))
	completeWords(c, "toolsets", config.Toolsets...)
	flags.BoolVar(&f.index, "index", false, "index the repository too (at a terminal it asks)")
	flags.BoolVar(&f.script, "script", false, "install "+lessonlog.ScriptPath+" in the repository")
	for _, pair := range [][]string{{"user", "project"}, {"hooks", "no-hooks"}, {"print", "dry-run"}, {"print", "remove"}, {"script", "remove"}, {"print", "all"}, {"index", "remove"}, {"index", "dry-run"}} {
		c.MarkFlagsMutuallyExclusive(pair...)
	}
	return c
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
	for _, flag := range []string{"user", "print", "dry-run", "remove", "hooks", "no-hooks", "prompts", "instructions", "toolsets", "index"} {
		if c.Flags().Changed(flag) {
			needs := "a client or --all"
			if flag == "print" { // one client's lines
				needs = "a client"
			}
			return usageError(c, fmt.Errorf("--%s needs %s: %s", flag, needs, strings.Join(clientNames(), ", ")))
		}
	}
	return a.listClients(f)
}

func describedClients() (names []string) {
	for _, c := range connect.Clients() {
		names = append(names, cobra.CompletionWithDesc(c.Name, c.Title))
	}
	return names
}

func clientNames() []string {
	var names []string
	for _, c := range connect.Clients() {
		names = append(names, c.Name)
	}
	return names
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
	return connect.Machine{OS: runtime.GOOS, Home: home, Getenv: a.opts.Getenv, LookPath: a.opts.LookPath}, nil
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
