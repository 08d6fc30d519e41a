package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// completionDeadline bounds what a completion may ask the daemon: a person
// holds the tab key down meanwhile.
const completionDeadline = 300 * time.Millisecond

// shells are those that cobra writes scripts for.
var shells = []string{"bash", "fish", "powershell", "zsh"}

// completionCommand prints a script.
func completionCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion script of a shell",
		Long: `Print the script by which bash, fish, powershell or zsh complete commands, flags,
settings, projects, models, backups and the ids of lessons, sessions and receipts. They
ask a daemon that runs, and start none.`,
		Example: `  source <(recalld completion bash)
  recalld completion zsh > "${fpath[1]}/_recalld"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && slices.Contains(shells, args[0]) {
				return nil
			}
			return fmt.Errorf("%q is not one of the shells %s", strings.Join(args, " "), strings.Join(shells, ", "))
		},
		ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			var script bytes.Buffer
			var err error
			switch root := c.Root(); args[0] {
			case "bash":
				err = root.GenBashCompletionV2(&script, true)
			case "fish":
				err = root.GenFishCompletion(&script, true)
			case "powershell":
				err = root.GenPowerShellCompletionWithDesc(&script)
			case "zsh":
				err = root.GenZshCompletion(&script)
			}
			if err != nil {
				return fmt.Errorf("write completion script: %w", err)
			}
			return a.answer(map[string]string{"shell": args[0], "script": script.String()}, func(w io.Writer) {
				_, _ = script.WriteTo(w) // a broken pipe ends the program anyway
			})
		},
	}
}

// completeWords completes a flag from a fixed list; of a flag that takes several words
// with commas between, the last one, leaving out those that are there.
func completeWords(c *cobra.Command, flag string, words ...string) {
	_, several := c.Flags().Lookup(flag).Value.(pflag.SliceValue)
	must(c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := ""
		if several {
			before = typed[:strings.LastIndexByte(typed, ',')+1]
		}
		given := strings.Split(before, ",")
		var offered []string
		for _, word := range words {
			if strings.HasPrefix(before+word, typed) && !slices.Contains(given, word) {
				offered = append(offered, before+word)
			}
		}
		return offered, cobra.ShellCompDirectiveNoFileComp
	}))
}

// completeProjects completes a flag with the projects that the daemon knows.
func (a *App) completeProjects(c *cobra.Command, flag string) {
	must(c.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return a.ask(c, typed, func(ctx context.Context, d Daemon) (names []string) {
			repos, err := service.Repos.Do(ctx, d, service.None{})
			if err != nil {
				return nil
			}
			return projectNames(repos.Repos)
		})
	}))
}

// projectNames are the projects of sandboxes as --project takes them: by their names; of
// several with one name by their ids, described by name and folder.
func projectNames(repos []memory.SandboxState) (names []string) {
	ids := map[string]map[string]bool{} // by name
	for _, r := range repos {
		label := memory.ProjectLabel(r.ProjectName, r.Project)
		if ids[label] == nil {
			ids[label] = map[string]bool{}
		}
		ids[label][r.Project] = true
	}
	for _, r := range repos {
		label := memory.ProjectLabel(r.ProjectName, r.Project)
		if len(ids[label]) > 1 {
			label = cobra.CompletionWithDesc(r.Project, render.ShortLine(label+" in "+r.Root, 80))
		}
		names = append(names, label)
	}
	return names
}

// completeLessons completes any number of arguments with the newest lessons, each with
// how it begins, leaving out those that are there.
func (a *App) completeLessons(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.ask(c, typed, func(ctx context.Context, d Daemon) (names []string) {
		list, err := service.Lessons.Do(ctx, d, memory.LessonsRequest{Limit: completedLessons, Project: typedProject(c), Caller: a.caller()})
		if err != nil {
			return nil
		}
		for _, l := range list.Lessons {
			if !slices.Contains(args, l.ID) {
				names = append(names, cobra.CompletionWithDesc(l.ID, render.ShortLine(l.Text, 60)))
			}
		}
		return names
	})
}

// completedLessons is how many lessons a completion offers: more are no choice.
const completedLessons = 100

// typedProject is the project that --project names before what is completed; without
// it the working folder's is meant.
func typedProject(c *cobra.Command) string {
	if flag := c.Flags().Lookup("project"); flag != nil {
		return flag.Value.String()
	}
	return ""
}

// completeFolder completes the one argument of a command with the folders that are
// indexed, and with any folder where what is typed begins none of them.
func (a *App) completeFolder(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	roots, directive := a.ask(c, typed, func(ctx context.Context, d Daemon) (roots []string) {
		repos, err := service.Repos.Do(ctx, d, service.None{})
		if err != nil {
			return nil
		}
		for _, r := range repos.Repos {
			roots = append(roots, r.Root)
		}
		return roots
	})
	if len(roots) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return roots, directive
}

// completeAnyFolder completes the one argument of a command with folders.
func completeAnyFolder(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeSessions completes a flag with the newest sessions of the project, each
// with its goal.
func (a *App) completeSessions(c *cobra.Command, flag string) {
	must(c.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return a.completeSession(c, nil, typed)
	}))
}

// completeSession completes the one argument of a command in the same way.
func (a *App) completeSession(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.ask(c, typed, func(ctx context.Context, d Daemon) (names []string) {
		list, err := service.Sessions.Do(ctx, d, memory.SessionsRequest{Limit: memory.MaxSessions, Project: typedProject(c), Caller: a.caller()})
		if err != nil {
			return nil
		}
		for _, s := range list.Sessions {
			names = append(names, cobra.CompletionWithDesc(s.SessionID, render.ShortLine(s.Goal, 60)))
		}
		return names
	})
}

// completeFlowTags completes a flag from the vocabulary in the settings.
func (a *App) completeFlowTags(c *cobra.Command, flag string) {
	must(c.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		cfg, err := a.Config()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return cfg.Sessions.FlowTags, cobra.ShellCompDirectiveNoFileComp
	}))
}

// completeModels completes with the models that are known and not yet there.
func (a *App) completeModels(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.ask(c, typed, func(ctx context.Context, d Daemon) (names []string) {
		models, err := service.Models.Do(ctx, d, service.None{})
		if err != nil {
			return nil
		}
		for _, m := range models.Models {
			if m.State == "missing" {
				names = append(names, m.Name)
			}
		}
		return names
	})
}

// completeReceipt completes the one argument of a command with the newest receipts,
// each with what was asked.
func (a *App) completeReceipt(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.ask(c, typed, func(ctx context.Context, d Daemon) (names []string) {
		list, err := service.Receipts.Do(ctx, d, memory.ReceiptsRequest{Limit: memory.DefaultReceipts, Project: typedProject(c), Caller: a.caller()})
		if err != nil {
			return nil
		}
		for _, r := range list.Receipts {
			names = append(names, cobra.CompletionWithDesc(r.ID, render.ShortLine(r.Request.Asked(), 60)))
		}
		return names
	})
}

// completeEmbedders completes a flag with the models that embed, and with none.
func (a *App) completeEmbedders(c *cobra.Command, flag string) {
	must(c.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return a.ask(c, typed, func(ctx context.Context, d Daemon) []string {
			models, err := service.Models.Do(ctx, d, service.None{})
			if err != nil {
				return nil
			}
			names := []string{"none"}
			for _, m := range models.Models {
				if m.State != "missing" {
					names = append(names, m.Name)
				}
			}
			return names
		})
	}))
}

// ask asks a daemon that runs; a completion neither starts one nor complains.
func (a *App) ask(c *cobra.Command, typed string, names func(context.Context, Daemon) []string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(c.Context(), completionDeadline)
	defer cancel()
	daemon, err := a.running(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer daemon.Close()
	all := names(ctx, daemon)
	slices.Sort(all)
	all = slices.DeleteFunc(slices.Compact(all), func(name string) bool { return !strings.HasPrefix(name, typed) })
	return all, cobra.ShellCompDirectiveNoFileComp
}

// must is for registrations that fail for unknown flags only.
func must(err error) {
	if err != nil {
		panic("cli: " + err.Error())
	}
}
