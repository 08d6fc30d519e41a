package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/configs"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/mcp"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// configCommand reads and changes the settings file. It starts no daemon.
func configCommand(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Show and change settings",
		Long: `Show and change the settings. They are in one file; variables of the environment and
--set override it. A daemon that runs takes changes when it is started again.`,
		Example: "  recalld config list\n  recalld config set log.level debug",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(configListCommand(a), configGetCommand(a), configSetCommand(a), configEditCommand(a))
	return c
}

func configListCommand(a *App) *cobra.Command {
	var changed bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List settings with their values and where these are from",
		Long: `List every setting with its value, its default and where the value is from: default,
file, environment or flag.`,
		Example: "  recalld config list\n  recalld config list --changed",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			list, file, err := a.settingsList()
			if err != nil {
				return err
			}
			shown := slices.DeleteFunc(list, func(s config.Setting) bool { return changed && s.Source == config.FromDefault })
			return a.answer(map[string]any{"file": file, "settings": shown}, func(w io.Writer) { writeSettings(w, shown, file) })
		},
	}
	c.Flags().BoolVar(&changed, "changed", false, "only settings that the file, the environment or a flag sets")
	return c
}

// settingsList returns all settings and the path of the file.
func (a *App) settingsList() ([]config.Setting, string, error) {
	if _, err := a.Config(); err != nil { // tells what is wrong, with a hint
		return nil, "", err
	}
	list, err := config.List(a.sources)
	if err != nil {
		return nil, "", err
	}
	file, _, err := config.FindFile(a.sources)
	return list, file, err
}

func writeSettings(w io.Writer, list []config.Setting, file string) {
	if len(list) > 0 {
		rows := [][]string{{"SETTING", "SOURCE", "DEFAULT", "VALUE"}}
		for _, s := range list {
			source := s.Source
			if s.Source == config.FromEnv {
				source = s.At
			}
			usual := render.ForeignLine(s.Default, 24)
			if s.Source == config.FromDefault {
				usual = ""
			}
			rows = append(rows, []string{s.Name, render.Printable(source), usual, render.Printable(s.Value)})
		}
		render.Table(w, rows)
		fmt.Fprintln(w)
	}
	if _, err := os.Stat(file); err != nil {
		fmt.Fprintf(w, "There is no settings file yet; 'recalld config set' makes %s\n", render.Printable(file))
		return
	}
	fmt.Fprintf(w, "File: %s\n", render.Printable(file))
}

func configGetCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:               "get SETTING",
		Short:             "Print the value of a setting",
		Long:              "Print the value of a setting as it is in force for commands that are started now.",
		Example:           "  recalld config get log.level",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: fixed(config.Names),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := a.setting(args[0])
			if err != nil {
				return err
			}
			return a.answer(s, func(w io.Writer) { fmt.Fprintln(w, s.Value) })
		},
	}
}

// setting returns a setting by its name.
func (a *App) setting(name string) (config.Setting, error) {
	list, _, err := a.settingsList()
	if err != nil {
		return config.Setting{}, err
	}
	i := slices.IndexFunc(list, func(s config.Setting) bool { return s.Name == name })
	if i < 0 {
		return config.Setting{}, &memory.Error{Code: memory.CodeInvalidInput, Field: "SETTING", Message: "there is no setting " + memory.Quote(name), Hint: nearSettings(name)}
	}
	return list[i], nil
}

// nearSettings is the hint for a setting that does not exist.
func nearSettings(name string) string {
	return memory.NearNames(name, config.Names()) + "; 'recalld config list' lists all"
}

// settingChanged is what config set answers.
type settingChanged struct {
	Setting config.Setting `json:"setting"`
	File    string         `json:"file"`
	// Restart says that a daemon runs which does not go by the new value yet.
	Restart bool `json:"restart"`
}

func configSetCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "set SETTING VALUE",
		Short: "Change a setting in the file",
		Long: `Change a setting in the settings file, which is made if there is none. The value is
checked first; comments and layout of the file stay. Lists are written with commas.`,
		Example:           "  recalld config set log.level debug\n  recalld config set sandboxes ~/src,~/work",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: fixed(config.Names),
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.refuseSettings(); err != nil {
				return err
			}
			file, text, err := a.settingsFile()
			if err != nil {
				return err
			}
			edited, err := config.Edit(text, args[0], args[1])
			if err != nil {
				hint := "run 'recalld config list' to list the settings; configs/recalld.yaml explains them"
				if _, ok := errors.AsType[*config.FileError](err); ok {
					hint = "run 'recalld config edit' to mend " + file
				} else if !slices.Contains(config.Names(), args[0]) {
					hint = nearSettings(args[0])
				}
				return &memory.Error{Code: memory.CodeInvalidInput, Message: err.Error(), Hint: hint, Cause: err}
			}
			restart := config.OfDaemon(args[0]) && a.daemonRuns(c.Context()) // on the socket of the former settings
			if err := a.writeSettingsFile(file, edited); err != nil {
				return err
			}
			changed, err := a.setting(args[0])
			if err != nil {
				return err
			}
			result := settingChanged{changed, file, restart}
			return a.answer(result, func(w io.Writer) {
				fmt.Fprintf(w, "%s is now %s in %s\n", args[0], memory.Quote(args[1]), render.Printable(file))
				if result.Setting.Source == config.FromEnv {
					fmt.Fprintf(w, "warning: %s in the environment overrides it\n", result.Setting.At)
				}
				writeRestart(w, result.Restart)
			})
		},
	}
}

// writeRestart says how a daemon that runs takes new settings.
func writeRestart(w io.Writer, running bool) {
	if running {
		fmt.Fprintln(w, "The daemon still runs with the former settings: run 'recalld stop', and the next command starts it with the new ones.")
	}
}

// daemonRuns says whether a daemon of these settings answers. None is started.
func (a *App) daemonRuns(ctx context.Context) bool {
	running, err := a.running(ctx)
	if err != nil {
		return false
	}
	_ = running.Close() // nothing was asked
	return true
}

// settingsFile returns the settings file and its text, empty if there is none yet.
func (a *App) settingsFile() (string, []byte, error) {
	file, _, err := config.FindFile(a.configSources())
	if err == nil && file == "" {
		err = errors.New("the home folder is not known: HOME is not set; name a file with --config")
	}
	if err != nil {
		return "", nil, err
	}
	text, err := fsx.ReadFile(file, config.MaxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, fmt.Errorf("read settings: %w", err)
	}
	return file, text, nil
}

// writeSettingsFile writes the file whole or not at all. It refuses what is wrong only with the
// variables and the disk, a file as data folder say, unless the settings are wrong already.
func (a *App) writeSettingsFile(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("create folder of settings: %w", err)
	}
	if _, wrong := a.Config(); wrong == nil {
		if err := a.checkSettings(filepath.Dir(file), text); err != nil {
			return &memory.Error{Code: memory.CodeInvalidInput, Message: err.Error(), Hint: "the settings file stays as it was", Cause: err}
		}
	}
	file = resolved(file) // a link to a file that is kept elsewhere stays one
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	if err := fsx.WriteBytes(file, mode, text); err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	a.cfg = nil // read again
	return nil
}

// checkSettings loads a text as the settings file, from another file of its folder, to which
// paths in it may be relative.
func (a *App) checkSettings(dir string, text []byte) error {
	draft, err := os.CreateTemp(dir, ".recalld-*.yaml")
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name())
	_, err = draft.Write(text)
	if err := errors.Join(err, draft.Close()); err != nil {
		return err
	}
	source := a.sources
	source.File = draft.Name()
	cfg, err := config.Load(source)
	if err != nil || !slices.ContainsFunc(cfg.MCP.Toolsets, func(name string) bool { return !slices.Contains(config.Toolsets, name) }) {
		return err
	}
	// The names of tools package mcp alone knows: the daemon would not start.
	if err := mcp.CheckToolsets(cfg.MCP.Prefix, cfg.MCP.Toolsets); err != nil {
		return &config.Error{Field: "mcp.toolsets", Message: err.Error()}
	}
	return nil
}

func configEditCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "edit",
		Short: "Edit the settings file",
		Long: `Open the settings file in $VISUAL or $EDITOR. What you write is checked before it takes
the place of the file; if it is not valid, or the file was changed meanwhile, it is kept
beside the file, and the file stays as it is. A file that is not there begins with every
setting in a comment.`,
		Example: "  recalld config edit",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.refuseSettings(); err != nil {
				return err
			}
			return a.editSettings(c.Context())
		},
	}
}

// editSettings has the user edit a copy until it is valid, or is left.
func (a *App) editSettings(ctx context.Context) error {
	file, before, err := a.settingsFile()
	if err != nil {
		return err
	}
	draft := file + ".draft"
	if from, kept := keptDraft(draft, before); kept {
		before = from
	} else if err := newDraft(draft, before); err != nil {
		return err
	}
	for {
		if err := a.edit(draft, 0); err != nil {
			return err
		}
		edited, err := fsx.ReadFile(draft, config.MaxFile)
		if err != nil {
			return fmt.Errorf("read draft of settings: %w", err)
		}
		wrong := config.Check(edited)
		if wrong == nil {
			return a.takeDraft(ctx, file, draft, before, edited)
		}
		if a.opts.Interactive && !a.json {
			fmt.Fprintf(a.opts.Err, "%v\n", wrong)
			if again, err := a.confirm("Edit it again?"); err != nil || again {
				if err != nil {
					return err
				}
				continue
			}
		}
		return &memory.Error{Code: memory.CodeInvalidInput, Message: "the settings stay as they were: " + wrong.Error(),
			Hint: "what you wrote is kept in " + draft + "; run 'recalld config edit' to go on with it", Cause: wrong}
	}
}

// fromFile is what is added to the name of a draft for the text that the file had when the draft
// began: a draft may be kept for long, and 'recalld config set' run meanwhile.
const fromFile = ".from"

// newDraft begins a draft of a file with the text before.
func newDraft(draft string, before []byte) error {
	text := before
	if len(text) == 0 {
		text = commentedSettings()
	}
	err := os.MkdirAll(filepath.Dir(draft), 0o700)
	if err == nil {
		err = os.WriteFile(draft+fromFile, before, 0o600)
	}
	if err == nil {
		err = os.WriteFile(draft, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write draft of settings: %w", err)
	}
	return nil
}

// keptDraft says whether there is a draft in which something was written, and the text of the
// file that it began with. now is the text of the file.
func keptDraft(draft string, now []byte) (from []byte, kept bool) {
	text, err := fsx.ReadFile(draft, config.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	from, unknown := fsx.ReadFile(draft+fromFile, config.MaxFile)
	if unknown != nil { // an older version has not written it
		return now, true
	}
	return from, err != nil || settingsChanged(from, text)
}

// settingsChanged says whether a draft that began with the text before was changed.
func settingsChanged(before, edited []byte) bool {
	return string(before) != string(edited) && (len(before) > 0 || string(edited) != string(commentedSettings()))
}

// takeDraft puts an edited text in the place of the file, and removes the draft.
func (a *App) takeDraft(ctx context.Context, file, draft string, before, edited []byte) error {
	changed, restart := settingsChanged(before, edited), false
	if changed {
		restart = a.daemonRuns(ctx) // on the socket of the former settings
		// 'recalld config set' may have run while the editor was open, or while a draft was kept.
		_, now, err := a.settingsFile()
		if err != nil {
			return err
		}
		if string(now) != string(before) && string(now) != string(edited) {
			if err := os.WriteFile(draft+fromFile, now, 0o600); err != nil {
				return fmt.Errorf("write draft of settings: %w", err)
			}
			return &memory.Error{Code: memory.CodeConflict, Message: "the settings file was changed while you edited it, and stays as it is now",
				Hint: "what you wrote is kept in " + draft + "; 'recalld config edit' goes on with it: add to it what is new in " + file + ", which it replaces"}
		}
		if err := a.writeSettingsFile(file, edited); err != nil {
			return err
		}
	}
	_ = os.Remove(draft) // it only is asked for again
	_ = os.Remove(draft + fromFile)
	result := struct {
		File    string `json:"file"`
		Changed bool   `json:"changed"`
		Restart bool   `json:"restart"`
	}{file, changed, restart}
	return a.answer(result, func(w io.Writer) {
		if !changed {
			fmt.Fprintln(w, "Nothing was changed.")
			return
		}
		fmt.Fprintf(w, "Changed %s\n", render.Printable(file))
		writeRestart(w, result.Restart)
	})
}

// commentedSettings is the documented settings file with every line in a comment.
func commentedSettings() []byte {
	var b strings.Builder
	for line := range strings.Lines(string(configs.YAML)) {
		if line != "\n" && !strings.HasPrefix(line, "#") {
			b.WriteString("#")
		}
		b.WriteString(line)
	}
	return []byte(b.String())
}
