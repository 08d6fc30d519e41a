package ollama

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"
)

var (
	// ErrNotChatting is returned when a model cannot chat: it only embeds.
	ErrNotChatting = errors.New("ollama: the model cannot chat")
	// ErrTooLong is returned when a prompt is longer than a model's context, or its answer
	// longer than MaxAnswer tokens.
	ErrTooLong = errors.New("ollama: longer than the model's context")
)

// MaxAnswer is the most tokens in an answer of Chat.
const MaxAnswer = 4096

// minContext is the least context to load a model with. It is the server's default; another
// size would make the server reload the model.
const minContext = 4096

// Chat returns the answer of a model on the server to a message, with the system prompt
// system, which may be empty. It uses the likeliest answer, so that equal messages get
// equal answers, and leaves out the model's thinking. The errors are ErrNotChatting,
// ErrTooLong, ErrRemote, embedder.ErrModelNotFound, embedder.ErrUnavailable and ctx's. Set
// a deadline on ctx: loading a model takes time.
func (s *Server) Chat(ctx context.Context, name, system, user string) (string, error) {
	show, err := s.show(ctx, name)
	if err != nil {
		return "", err
	}
	// Servers too old to report capabilities refuse by themselves.
	if show.Capabilities != nil && !slices.Contains(show.Capabilities, model.CapabilityCompletion) {
		return "", fmt.Errorf("model %s: %w", name, ErrNotChatting)
	}
	req := &api.ChatRequest{Model: name, Truncate: new(false), Shift: new(false)}
	if system != "" {
		req.Messages = append(req.Messages, api.Message{Role: "system", Content: system})
	}
	req.Messages = append(req.Messages, api.Message{Role: "user", Content: user})
	size, err := contextFor(system+"\n"+user, contextOf(show))
	if err != nil {
		return "", fmt.Errorf("model %s: %w", name, err)
	}
	req.Options = map[string]any{"num_ctx": size, "num_predict": MaxAnswer, "temperature": 0, "seed": 1}
	if slices.Contains(show.Capabilities, model.CapabilityThinking) {
		req.Think = &api.ThinkValue{Value: false}
	}
	var answer strings.Builder
	var last api.ChatResponse
	err = s.api.Chat(ctx, req, func(part api.ChatResponse) error {
		answer.WriteString(part.Message.Content)
		last = part
		return nil
	})
	if err == nil && !last.Done {
		err = fmt.Errorf("the connection broke during the answer: %w", errDropped) // the client library takes a broken connection for the end
	}
	switch {
	case err != nil:
		if err = classify(ctx, err); errors.Is(err, errTooLong) {
			err = fmt.Errorf("%w: %w", ErrTooLong, err)
		}
		return "", fmt.Errorf("chat with model %s: %w", name, err)
	case last.DoneReason == "length":
		return "", fmt.Errorf("chat with model %s: the answer is too long: %w", name, ErrTooLong)
	}
	return answer.String(), nil
}

// contextFor returns the context, in tokens, for a prompt and its answer, at most the
// model's own; 0 means that it is not known. It adds a fifth, because the number of tokens
// is an estimate.
func contextFor(prompt string, most int) (int, error) {
	reads := estimate(prompt) * 6 / 5
	size := max(reads+MaxAnswer, minContext)
	if most > 0 {
		size = min(size, most)
		if reads >= most {
			return 0, fmt.Errorf("%w: about %d tokens, the limit is %d", ErrTooLong, reads, most)
		}
	}
	return size, nil
}
