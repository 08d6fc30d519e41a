package cli

import (
	"bytes"
	"cmp"
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
ask a daemon that runs, and start none. That of bash needs the package bash-completion.`,
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
	completeFlag(c, flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
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
	})
}

// completeFlag completes a flag.
func completeFlag(c *cobra.Command, flag string, complete cobra.CompletionFunc) {
	must(c.RegisterFlagCompletionFunc(flag, complete))
}

// firstArgument completes the one argument of a command.
func firstArgument(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(c, args, typed)
	}
}

// fixed completes the one argument of a command from a list that needs no daemon.
func fixed(words func() []string) cobra.CompletionFunc {
	return firstArgument(func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return slices.DeleteFunc(words(), func(word string) bool { return !strings.HasPrefix(word, typed) }), cobra.ShellCompDirectiveNoFileComp
	})
}

// completeProjects completes a flag with the projects that the daemon knows.
func (a *App) completeProjects(c *cobra.Command, flag string) {
	completeFlag(c, flag, listed(a, service.Repos, noRequest, func(list *memory.RepoList) []string { return projectNames(list.Repos) }))
}

// projectNames are the projects of sandboxes as --project takes them: by their names; of
// several with one name, and where a name is not one line, by their ids, described by name
// and folder.
func projectNames(repos []memory.SandboxState) (names []string) {
	labels := render.ProjectLabels(repos)
	for _, r := range repos {
		name := cmp.Or(r.ProjectName, r.Project)
		if labels[r.Project] != name {
			name = cobra.CompletionWithDesc(r.Project, render.ShortLine(name+" in "+r.Root, 80))
		}
		names = append(names, name)
	}
	return names
}

// described is an id with what it is about.
func described(id, text string) string {
	return cobra.CompletionWithDesc(id, render.ShortLine(text, 60))
}

// completeLessons completes with the newest lessons, each with how it begins.
func (a *App) completeLessons() cobra.CompletionFunc {
	return listed(a, service.Lessons, func(project string) memory.LessonsRequest {
		return memory.LessonsRequest{Limit: completedLessons, Project: project, Caller: a.caller()}
	}, func(list *memory.LessonList) (names []string) {
		for _, l := range list.Lessons {
			names = append(names, described(l.ID, l.Text))
		}
		return names
	})
}

// completedLessons is how many lessons a completion offers: more are no choice.
const completedLessons = 100

// completeFolder completes the one argument of a command with the folders that are
// indexed, and with any folder where what is typed begins none of them.
func (a *App) completeFolder() cobra.CompletionFunc {
	indexed := listed(a, service.Repos, noRequest, func(list *memory.RepoList) (roots []string) {
		for _, r := range list.Repos {
			roots = append(roots, r.Root)
		}
		return roots
	})
	return firstArgument(func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if roots, directive := indexed(c, args, typed); len(roots) > 0 {
			return roots, directive
		}
		return nil, cobra.ShellCompDirectiveFilterDirs
	})
}

// completeAnyFolder completes the one argument of a command with folders.
var completeAnyFolder = firstArgument(cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))

// completeSessions completes with the newest sessions of the project, each with its goal.
func (a *App) completeSessions() cobra.CompletionFunc {
	return listed(a, service.Sessions, func(project string) memory.SessionsRequest {
		return memory.SessionsRequest{Limit: memory.MaxSessions, Project: project, Caller: a.caller()}
	}, func(list *memory.SessionList) (names []string) {
		for _, s := range list.Sessions {
			names = append(names, described(s.SessionID, s.Goal))
		}
		return names
	})
}

// completeFlowTags completes from the vocabulary in the settings.
func (a *App) completeFlowTags(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	cfg, _ := a.Config() // a completion does not complain
	return cfg.Sessions.FlowTags, cobra.ShellCompDirectiveNoFileComp
}

// completeReceipts completes with the newest receipts, each with what was asked.
func (a *App) completeReceipts() cobra.CompletionFunc {
	return listed(a, service.Receipts, func(project string) memory.ReceiptsRequest {
		return memory.ReceiptsRequest{Limit: memory.DefaultReceipts, Project: project, Caller: a.caller()}
	}, func(list *memory.ReceiptList) (names []string) {
		for _, r := range list.Receipts {
			names = append(names, described(r.ID, r.Request.Asked()))
		}
		return names
	})
}

// completeModels completes with the models that are there, or with those that are not, and
// with more words.
func (a *App) completeModels(missing bool, more ...string) cobra.CompletionFunc {
	return listed(a, service.Models, noRequest, func(list *memory.ModelList) []string {
		names := slices.Clone(more)
		for _, m := range list.Models {
			if (m.State == "missing") == missing {
				names = append(names, m.Name)
			}
		}
		return names
	})
}

// noRequest is for operations that are asked nothing.
func noRequest(string) service.None { return service.None{} }

// listed completes with the names in an answer of the daemon, leaving out the arguments that
// are there. The request is about the project that --project names, empty for the working
// folder's. A completion neither starts a daemon nor complains.
func listed[Request, Answer any](a *App, op service.Operation[Request, Answer], request func(project string) Request, names func(*Answer) []string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(c.Context(), completionDeadline)
		defer cancel()
		daemon, err := a.running(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer daemon.Close()
		project := ""
		if flag := c.Flags().Lookup("project"); flag != nil {
			project = flag.Value.String()
		}
		answer, err := op.Do(ctx, daemon, request(project))
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all := names(answer)
		slices.Sort(all)
		return slices.DeleteFunc(slices.Compact(all), func(name string) bool {
			id, _, _ := strings.Cut(name, "\t")
			return !strings.HasPrefix(name, typed) || slices.Contains(args, id)
		}), cobra.ShellCompDirectiveNoFileComp
	}
}

// must is for registrations that fail for unknown flags only.
func must(err error) {
	if err != nil {
		panic("cli: " + err.Error())
	}
}
