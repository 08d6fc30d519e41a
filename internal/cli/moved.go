package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// moved are the commands that only programs called, each with the operation that
// recalld call has in its place, and a request.
var moved = map[string]struct {
	op      *service.Spec
	request string
}{
	"catalogue register": {service.Register.Spec, `- < entries.json`},
	"catalogue remove":   {service.Unregister.Spec, `'{"entries": [{"type": "rule", "name": "NAME"}]}'`},
	"compact":            {service.Compact.Spec, `'{"summary": "TEXT"}'`},
	"context add":        {service.ChangeContext.Spec, `'{"add": [{"type": "rule", "name": "NAME", "includeMode": "manual"}]}'`},
	"context remove":     {service.ChangeContext.Spec, `'{"remove": [{"type": "rule", "name": "NAME"}]}'`},
	"context show":       {service.SessionContext.Spec, ``},
	"context turn":       {service.ContextOf.Spec, `'{"turn": 1}'`},
	"session start":      {service.StartSession.Spec, `'{"goal": "TEXT"}'`},
	"session end":        {service.EndSession.Spec, ``},
	"step":               {service.RecordStep.Spec, `'{"tool": {"name": "NAME"}, "outcome": {"ok": true}}'`},
	"task block":         {service.BlockTask.Spec, `'{"task_id": "ID", "reason": "TEXT"}'`},
	"task done":          {service.CompleteTask.Spec, `'{"task_id": "ID", "validation_report": {"valid": true}}'`},
	"task history":       {service.TaskHistory.Spec, ``},
	"task load":          {service.LoadTasks.Spec, `'{"state": {"completed_tasks": []}}'`},
	"task unblock":       {service.UnblockTask.Spec, `'{"task_id": "ID"}'`},
	"tools":              {service.SearchTools.Spec, `'{"query": "TEXT"}'`},
	"working":            {service.WorkingContext.Spec, ``},
	"working report":     {service.Report.Spec, `'{"usedTools": [{"serverName": "SERVER", "toolName": "NAME"}]}'`},
}

// movedCommands are hidden commands that say what took their place.
func movedCommands(parent string) []*cobra.Command {
	first := map[string]bool{}
	var all []*cobra.Command
	for path := range moved {
		word, ok := path, parent == ""
		if parent != "" {
			word, ok = strings.CutPrefix(path, parent+" ")
		}
		word, _, _ = strings.Cut(word, " ")
		if !ok || first[word] || parent == "" && (word == "context" || word == "catalogue") {
			continue
		}
		first[word] = true
		all = append(all, &cobra.Command{
			Use: word, Hidden: true, DisableFlagParsing: true,
			RunE: func(_ *cobra.Command, args []string) error { return movedError(strings.Fields(parent+" "+word), args) },
		})
	}
	return all
}

// movedError names what took the place of a command, or of one below it.
func movedError(command, args []string) error {
	path := strings.Join(command, " ")
	if len(args) > 0 {
		if _, ok := moved[path+" "+args[0]]; ok {
			path += " " + args[0]
		}
	}
	to, ok := moved[path]
	if !ok {
		return &memory.Error{Code: memory.CodeInvalidInput, Message: "there is no command recalld " + path, Hint: "run 'recalld call' to list the operations"}
	}
	return &memory.Error{Code: memory.CodeInvalidInput, Message: "recalld " + path + " is now an operation of recalld call",
		Hint: strings.TrimSpace("recalld call " + to.op.Name + " " + to.request)}
}
