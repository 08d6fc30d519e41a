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
	// ErrNotChatting is returned when a model that is to chat cannot: it only embeds.
	ErrNotChatting = errors.New("ollama: the model cannot chat")
	// ErrTooLong is returned when a model cannot read all of a prompt, or does not come
	// to the end of its answer in MaxAnswer tokens.
	ErrTooLong = errors.New("ollama: longer than the model's context")
)

// MaxAnswer is how many tokens an answer of Chat may have.
const MaxAnswer = 4096

// minContext is the context that a model is loaded with at least, as the server does by
// itself; another size of context loads it anew.
const minContext = 4096

// Chat has a model of the server answer a message, after what system tells it; system
// may be empty. The answer is the likeliest, so that the same message is answered alike,
// and without what a model thinks aloud. The errors are ErrNotChatting, ErrTooLong,
// ErrRemote, embedder.ErrModelNotFound, embedder.ErrUnavailable and ctx's, which also
// bounds how long it takes: loading a model takes its time.
func (s *Server) Chat(ctx context.Context, name, system, user string) (string, error) {
	show, err := s.show(ctx, name)
	if err != nil {
		return "", err
	}
	// Servers before capabilities were told refuse by themselves.
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
		err = fmt.Errorf("the answer breaks off: %w", errDropped) // which the client library takes for its end
	}
	switch {
	case err != nil:
		if err = classify(ctx, err); errors.Is(err, errTooLong) {
			err = fmt.Errorf("%w: %w", ErrTooLong, err)
		}
		return "", fmt.Errorf("chat with model %s: %w", name, err)
	case last.DoneReason == "length":
		return "", fmt.Errorf("chat with model %s: the answer has no end: %w", name, ErrTooLong)
	}
	return answer.String(), nil
}

// contextFor returns the context, in tokens, that a model needs for a prompt and its
// answer, at most what it has; 0 is that this is not known. A fifth is added, for the
// estimate is no count.
func contextFor(prompt string, most int) (int, error) {
	reads := estimate(prompt) * 6 / 5
	size := max(reads+MaxAnswer, minContext)
	if most > 0 {
		size = min(size, most)
		if reads >= most {
			return 0, fmt.Errorf("%w: some %d tokens, of %d", ErrTooLong, reads, most)
		}
	}
	return size, nil
}
