package mcp

import (
	"context"
	"fmt"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/render"
)

// requireArguments refuses a prompt without its required arguments, as an error of the protocol.
// mcp-go has its code only where it knows no prompt by a name, so the name becomes such a one.
func (s *Server) requireArguments(ctx context.Context, _ any, request *mcpgo.GetPromptRequest) {
	prompt := s.mcp.ListPrompts()[request.Params.Name]
	w := writerOf(ctx)
	if prompt == nil || w == nil {
		return
	}
	for _, a := range prompt.Prompt.Arguments {
		if a.Required && strings.TrimSpace(request.Params.Arguments[a.Name]) == "" {
			w.fault = fmt.Sprintf("the prompt %s needs the argument %s", prompt.Prompt.Name, a.Name)
			request.Params.Name += " " // no prompt has a space
			return
		}
	}
}

// addPrompts adds what people call by a command of their client, such as /recall.
func (s *Server) addPrompts() {
	for _, p := range []struct {
		name, title, description, text string
		argument, about                string
		required                       bool
	}{
		{"recall", "Recall", "Ask the project's memory.", "Ask recalld with the tool recall, and answer from what it returns. Say so if nothing is relevant. The question:\n\n",
			"question", "An error message, a task or a name.", true},
		{"what-did-we-learn", "What did we learn?", "Keep the lessons of this conversation.", "Look back at this conversation. For each error that took more than one attempt, each solution that worked and each pattern that can be used again, ask recall whether it is known; if not, store it with remember, in a sentence with the command that worked. Say with feedback which recalled answers worked or failed. Then list what you stored.",
			"topic", "What to look at; default: all of it.", false},
		{"hand-over", "Hand over", "Leave the task so that another agent can go on.", "Hand this task over to whoever goes on with it. Store with remember what was learned and is not known yet. With call_tool, call complete_task for what is done and block_task for what cannot go on, each with its reason. Then write in at most ten lines what was done, what comes next, and what is open, with files and commands.",
			"task", "The task; default: the one of this conversation.", false},
	} {
		prompt := mcpgo.NewPrompt(p.name, mcpgo.WithPromptDescription(p.description))
		prompt.Title = p.title
		prompt.Arguments = []mcpgo.PromptArgument{{Name: p.argument, Description: p.about, Required: p.required}}
		s.mcp.AddPrompt(prompt, func(_ context.Context, request mcpgo.GetPromptRequest) (*mcpgo.GetPromptResult, error) {
			text := p.text
			if given := request.Params.Arguments[p.argument]; given != "" {
				if !p.required {
					text += "\n\nIt is about: "
				}
				text += render.Visible(given)
			}
			return mcpgo.NewGetPromptResult(p.description, []mcpgo.PromptMessage{mcpgo.NewPromptMessage(mcpgo.RoleUser, mcpgo.NewTextContent(text))}), nil
		})
	}
}
