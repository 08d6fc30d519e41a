package cli

import "github.com/spf13/cobra"

// group is commands that the help lists together.
type group struct {
	id, title string
	commands  []func(*App) *cobra.Command
}

// groups lists every command, in the order of the help.
var groups = []group{
	{"memory", "Memory:", []func(*App) *cobra.Command{recallCommand, showCommand, rememberCommand, lessonsCommand, markCommand, forgetCommand, receiptsCommand, feedbackCommand, replayCommand, importCommand, exportCommand, trustCommand, teamCommand}},
	{"code", "Code:", []func(*App) *cobra.Command{indexCommand, filesCommand, reposCommand, pauseCommand, resumeCommand}},
	{"sessions", "Sessions and what was done:", []func(*App) *cobra.Command{sessionsCommand, stepsCommand, lastCommand, summarizeCommand, tasksCommand}},
	{"contexts", "Contexts:", []func(*App) *cobra.Command{contextCommand, catalogueCommand}},
	{"daemon", "Daemon and clients:", []func(*App) *cobra.Command{upCommand, uiCommand, statusCommand, doctorCommand, configCommand, auditCommand, backupCommand, restoreCommand, connectCommand, mcpCommand, hookCommand, tokenCommand, callCommand, serveCommand, stopCommand, modelCommand, evalCommand, versionCommand, completionCommand, manCommand}},
}

// addGroups adds every command to the root, in its group, and help to the last one.
func (a *App) addGroups(root *cobra.Command) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, command := range g.commands {
			c := command(a)
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	root.AddCommand(movedCommands("")...)
	help := helpCommand()
	help.GroupID = "daemon"
	root.SetHelpCommand(help)
}
