package daemon

import (
	"context"
	"fmt"

	"github.com/recalld/recalld/embedder/ollama"
	"github.com/recalld/recalld/internal/agentctx"
)

// chatModel has a chat model of the Ollama server write summaries.
type chatModel struct {
	server *ollamaModel
	name   string
}

var _ agentctx.Summarizer = chatModel{}

// Summarize implements session.Summarizer. A connection of its own for each: there are
// minutes between two compactions.
func (c chatModel) Summarize(ctx context.Context, prompt string) (text, model string, err error) {
	s, err := ollama.NewServer(c.server.server())
	if err != nil {
		return "", "", fmt.Errorf("reach the Ollama server: %w", err)
	}
	defer s.Close()
	text, err = s.Chat(ctx, c.name, "", prompt)
	return text, "ollama/" + c.name, err
}
