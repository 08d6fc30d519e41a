// Package cli is the command line: one file per command, named after it.
//
// Every command prints its answer on standard output, as text or with --json as JSON;
// errors and progress go to standard error, with --json as one JSON value each. A
// command that needs the daemon starts it. Exit codes are documented in exit.go and
// shown by `recalld help exit-codes`.
package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/buildinfo"
	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/connect"
	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// Daemon is the daemon as the commands see it.
type Daemon interface {
	service.Service
	// HTTP reaches the daemon's other endpoints, MCP for one.
	HTTP() *http.Client
	Close() error
}

// Options are what the commands work with. Zero values mean the process's own.
type Options struct {
	In       io.Reader
	Out, Err io.Writer
	// Dir is the working folder, empty if it was removed; Executable is
	// this program, Getenv its environment.
	Dir        string
	Executable string
	Getenv     func(string) string
	// Terminal says that Err is a terminal, where progress bars make sense, and
	// OutTerminal that Out is one: a person reads what is written, not a program.
	Terminal, OutTerminal bool
	// LookupEnv tells an empty variable from none; by default from Getenv, or the process's.
	LookupEnv func(string) (string, bool)
	// Size is the width and height of the terminal that Out is; by default asked of it.
	Size func() (width, height int)
	// Screen opens the terminal for the interactive search.
	Screen func() (tcell.Screen, error)
	// LookPath finds a program in PATH; exec.LookPath by default.
	LookPath func(string) (string, error)
	// Check starts the server of a client once and returns how many tools it lists;
	// connect.Check by default.
	Check func(ctx context.Context, s connect.Server, dir string) (int, error)
	// Interactive says that In is a terminal, where a question can be asked.
	Interactive bool
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Releases is the page of releases; default: the project's.
	Releases string
	// Poll is the pause between two looks at a task in the background; default
	// 150 ms.
	Poll time.Duration

	// Serve runs the daemon in this process until ctx ends; default: daemon.Serve.
	// autostarted says that a client started it and no service manager.
	Serve func(ctx context.Context, cfg config.Config, autostarted bool) error
	// Connect returns the daemon of a configuration, started if autostart is
	// set; default: client.Connect.
	Connect func(ctx context.Context, cfg config.Config, autostart bool) (Daemon, error)
	// Stop ends the daemon of a configuration, whatever its protocol, and returns
	// once it is gone; default: client.Stop.
	Stop func(ctx context.Context, cfg config.Config) (service.Greeting, error)
	// Greet asks the daemon of a configuration who it is, whatever its protocol, and
	// starts none; default: client.Greet.
	Greet func(ctx context.Context, cfg config.Config) (service.Greeting, error)
	// Window names the client that runs this program, as memory.Caller has it;
	// default: client.Window.
	Window func() string
}

// App is one run of the program: its options and the global flags.
type App struct {
	// opts.Out and opts.Err make visible what a terminal would act on. Every command
	// writes to them; progress bars alone draw on screen.
	opts   Options
	screen io.Writer
	out    io.Writer // what Out makes visible; only people writes to it

	colour  string // --color
	noPager bool

	json   bool
	piped  bool           // Out takes JSON whatever --json says: messages between programs
	source config.Sources // --data and --config
	set    []string       // --set, not taken apart yet

	runs    *cobra.Command // the command that runs, nil before
	command []string       // its words
	started bool           // the daemon has been started with the settings of this command line

	cfg     *config.Config // loaded once
	sources config.Sources // what it was loaded from
	daemon  Daemon         // connected once

	noticed sync.Once
	shown   string // the notice

	answers *bufio.Reader // In, for questions
}

// notice prints a notice of the daemon once. A program that reads messages finds it
// in them.
func (a *App) notice(text string) {
	if !a.piped {
		a.noticed.Do(func() {
			a.shown = text
			fmt.Fprintln(a.opts.Err, "recalld: "+text)
		})
	}
}

// Run runs one command line and returns the exit code.
func Run(ctx context.Context, args []string, opts Options) int {
	app, err := newApp(opts)
	if err == nil {
		root := app.root()
		root.SetArgs(append([]string{}, args...)) // nil would be the arguments of the process
		err = root.ExecuteContext(ctx)
		app.close()
	}
	defer app.flush()
	if err == nil {
		return ExitOK
	}
	if ctx.Err() != nil && !errors.Is(err, errReported) {
		return ExitInterrupted
	}
	if _, ours := errors.AsType[*memory.Error](err); !ours && (strings.HasPrefix(err.Error(), "unknown command") || strings.HasPrefix(err.Error(), "if any flags in the group")) { // cobra's own errors have no type
		err = usageError(app.runs, err)
	}
	// What is wrong with the usage may stand before a --json that is then not read.
	app.json = app.json || ExitCode(err) == ExitUsage && asksJSON(args)
	app.reportError(err)
	return ExitCode(err)
}

// newApp fills in what the options leave to the process.
func newApp(opts Options) (*App, error) {
	app := &App{opts: opts}
	o := &app.opts
	if o.In == nil {
		o.In = os.Stdin
		o.Interactive = isTerminal(os.Stdin)
	}
	if o.Out == nil {
		o.Out = os.Stdout
		o.OutTerminal = isTerminal(os.Stdout)
	}
	if o.Err == nil {
		o.Err = os.Stderr
		o.Terminal = isTerminal(os.Stderr)
	}
	app.screen, app.out = o.Err, o.Out
	app.colour = colourAuto
	if o.OutTerminal || o.Terminal {
		allowColours(os.Stdout, os.Stderr)
	}
	o.Out = render.NewWriter(o.Out, func() bool { return app.json || app.piped })
	o.Err = render.NewWriter(o.Err, func() bool { return app.json })
	if o.LookupEnv == nil && o.Getenv == nil {
		o.LookupEnv = os.LookupEnv
	}
	fill(&o.Getenv, os.Getenv)
	fill(&o.LookupEnv, func(name string) (string, bool) { text := o.Getenv(name); return text, text != "" })
	fill(&o.Screen, tcell.NewScreen)
	fill(&o.Now, time.Now)
	fill(&o.LookPath, exec.LookPath)
	fill(&o.Releases, releases)
	fill(&o.Check, connect.Check)
	fill(&o.Window, client.Window)
	fill(&o.Poll, 150*time.Millisecond)
	fill(&o.Connect, app.dial)
	fill(&o.Serve, app.serve)
	fill(&o.Stop, endDaemon)
	fill(&o.Greet, greet)
	if o.Dir == "" {
		// A working folder that was removed is none: most commands work without,
		// and the others say what they miss.
		o.Dir, _ = os.Getwd()
	}
	if o.Executable == "" {
		var err error
		if o.Executable, err = os.Executable(); err != nil {
			return app, fmt.Errorf("find this program: %w", err)
		}
	}
	return app, nil
}

// fill sets an option that is not set.
func fill[T any](option *T, usual T) {
	if reflect.ValueOf(option).Elem().IsZero() {
		*option = usual
	}
}

// root returns the command tree.
func (a *App) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "recalld",
		Short: "A memory daemon for coding agents",
		Long: `recalld remembers lessons, steps and code for coding agents and answers with a
short context that is verified, ranked and within a token budget.

Begin with: recalld up .
On a terminal, recalld alone opens the interactive search.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if a.finds() {
				return a.find(c.Context())
			}
			return c.Help()
		},
		Version: buildinfo.Version(),
		// Errors are reported in one place, with their hint; a page of usage
		// would hide them.
		SilenceErrors: true,
		SilenceUsage:  true,
		// A command of our own, with an example and --json like the others.
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetIn(a.opts.In)
	root.SetOut(a.opts.Out)
	root.SetErr(a.opts.Err)
	root.SetFlagErrorFunc(usageError)
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		if err := a.begin(c); err != nil {
			return err
		}
		return checkFlags(c, args)
	}
	flags := root.PersistentFlags()
	flags.BoolVar(&a.json, "json", false, "answer as JSON")
	flags.StringVar(&a.colour, "color", colourAuto, "colours: auto (on a terminal), always or never")
	flags.BoolVar(&a.noPager, "no-pager", false, "never show a long answer in $PAGER")
	flags.StringVar(&a.source.Data, "data", "", "data folder (default $RECALLD_DATA, else the platform's)")
	flags.StringVar(&a.source.File, "config", "", "settings file (default $RECALLD_CONFIG, else the platform's)")
	flags.StringArrayVar(&a.set, "set", nil, "override a setting: --set log.level=debug")
	must(root.RegisterFlagCompletionFunc("color", cobra.FixedCompletions([]string{colourAuto, colourAlways, colourNever}, cobra.ShellCompDirectiveNoFileComp)))
	root.SetVersionTemplate("recalld {{.Version}}\n")
	if width, _ := a.size(); width > 0 {
		root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", fmt.Sprintf(".FlagUsagesWrapped %d ", width)))
	}
	usual := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		_ = a.people(func(w io.Writer) { // a broken pipe ends the program anyway
			out := c.OutOrStdout()
			c.SetOut(w)
			usual(c, args)
			c.SetOut(out)
		})
	})
	a.addGroups(root)
	root.AddCommand(exitCodesTopic(), environmentTopic())
	wrapArgErrors(root)
	return root
}

// Config returns the settings, which are loaded at the first call.
func (a *App) Config() (config.Config, error) {
	if a.cfg != nil {
		return *a.cfg, nil
	}
	source := a.configSources()
	source.Set = map[string]string{}
	for _, setting := range a.set {
		name, value, ok := strings.Cut(setting, "=")
		if !ok || name == "" {
			return config.Config{}, memory.Invalid("--set", "setting=value", "%q names no setting with a value", setting)
		}
		source.Set[name] = value
	}
	cfg, err := config.Load(source)
	if err != nil {
		return config.Config{}, &memory.Error{Code: memory.CodeInvalidInput, Message: err.Error(), Hint: settingsHint(source, err), Cause: err}
	}
	a.cfg, a.sources = &cfg, source
	return cfg, nil
}

// settingsHint says where to mend settings that are wrong: in --set or in a variable if
// they are right without it, else in the file, if there is one.
func settingsHint(source config.Sources, err error) string {
	file, named, findErr := config.FindFile(source)
	if named && errors.Is(err, fs.ErrNotExist) {
		return "--config or RECALLD_CONFIG names it; without them there need not be one"
	}
	const inFile = "run 'recalld config edit' to mend the file; configs/recalld.yaml explains the settings"
	if errors.Is(err, fs.ErrPermission) {
		return "make it readable for your user, or name another file with --config"
	}
	if _, ok := errors.AsType[*config.FileError](err); ok {
		return inFile // which may be large, and is not read again
	}
	if e, ok := errors.AsType[*config.Error](err); ok && e.Field == "data" {
		return "name another folder with --data, with RECALLD_DATA or in the settings file"
	}
	rest := source
	rest.Set = nil
	if _, err := config.Load(rest); err == nil {
		return "change what --set says; 'recalld config list' lists the settings"
	}
	rest.Getenv = func(name string) string {
		if strings.HasPrefix(name, "RECALLD_") && name != "RECALLD_CONFIG" {
			return ""
		}
		return source.Getenv(name)
	}
	if _, err := config.Load(rest); err == nil {
		return "change the variable of this setting; 'recalld help environment' says how it is named"
	}
	if _, err := os.Stat(file); findErr != nil || err != nil {
		return "" // there is no file to mend
	}
	return inFile
}

// configSources say where settings are read from, without those of --set.
func (a *App) configSources() config.Sources {
	source := a.source
	source.Getenv = a.opts.Getenv
	source.Dir = cmp.Or(source.Dir, a.opts.Dir)
	return source
}

// service returns the daemon, which is started if none runs.
func (a *App) service(ctx context.Context) (Daemon, error) {
	if a.daemon != nil {
		return a.daemon, nil
	}
	cfg, err := a.Config()
	if err != nil {
		return nil, err
	}
	daemon, err := a.connect(ctx, cfg, cfg.Daemon.Autostart)
	if err != nil {
		return nil, err
	}
	a.daemon = daemon
	return daemon, nil
}

// running returns the daemon only if it runs already. The caller closes it.
func (a *App) running(ctx context.Context) (Daemon, error) {
	cfg, err := a.Config()
	if err != nil {
		return nil, err
	}
	return a.connect(ctx, cfg, false)
}

// dial connects to the daemon over its socket.
func (a *App) dial(ctx context.Context, cfg config.Config, autostart bool) (Daemon, error) {
	paths := cfg.Paths()
	options := client.Options{
		Socket: paths.Socket, Version: buildinfo.Version(), StartLock: paths.StartLock, Log: paths.Log,
		Notice: a.notice,
	}
	if autostart {
		// The folders must be there, and private, before the daemon's log and
		// socket go into them.
		if err := paths.Prepare(); err != nil {
			if _, ok := errors.AsType[*config.Error](err); ok {
				// Not the caller's fault: the script log_memory.sh then writes to the log alone.
				code := memory.CodeUnavailable
				if fsx.RefusesWrites(err) {
					code = memory.CodeReadOnly
				}
				err = &memory.Error{Code: code, Message: err.Error(), Hint: settingsHint(a.sources, err), Cause: err}
			}
			return nil, err
		}
		options.Command = a.serveCommandLine(cfg)
	}
	c, err := client.Connect(ctx, options)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// serveCommandLine starts a daemon with the settings of this command line. The
// daemon runs in another folder, so --dir says what relative paths are relative to.
func (a *App) serveCommandLine(cfg config.Config) []string {
	line := []string{a.opts.Executable, "serve", "--autostarted", "--data", cfg.Data}
	if a.opts.Dir != "" {
		line = append(line, "--dir", a.opts.Dir)
	}
	if a.source.File != "" {
		line = append(line, "--config", a.absolute(a.source.File))
	}
	for _, setting := range a.set {
		line = append(line, "--set", setting)
	}
	return line
}

// close closes the connection, if a command made one.
func (a *App) close() {
	if a.daemon != nil {
		// Idle connections only: nothing is lost when that fails.
		_ = a.daemon.Close()
	}
}

// flush writes the end of what a command has written, should that end within a
// character.
func (a *App) flush() {
	for _, w := range []io.Writer{a.opts.Out, a.opts.Err} {
		_ = w.(*render.Writer).Flush() // nothing more can be done
	}
}

// caller is who asks: this command line, in this folder.
func (a *App) caller() memory.Caller {
	return memory.Caller{Dir: a.opts.Dir, Client: client.Name}
}
