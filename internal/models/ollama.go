package models

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/ollama"
	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/internal/redact"
)

// reachTimeout is how long the server may take to list its models.
const reachTimeout = 10 * time.Second

// Ollama is the model on the Ollama server. The server may go and come back, and the
// model may be replaced by another one of its name.
type Ollama struct {
	opts     ollama.Options
	required bool
	log      *slog.Logger

	mu    sync.Mutex // guards what follows
	embed *ollama.Embedder
	err   error // of the last look; nil when the model is there

	// digest is what the server last called the model's files; only Attach uses it.
	digest string
}

// NewOllama makes no connection yet. required has an absence logged as an error. The error
// is ollama.ErrRemote or one of the options.
func NewOllama(opts ollama.Options, required bool, log *slog.Logger) (*Ollama, error) {
	m := &Ollama{opts: opts, required: required, log: log.With(logging.PartKey, "ollama"), err: embedder.ErrUnavailable}
	m.opts.Logger = m.log
	return m, m.renew()
}

// Name implements Model.
func (m *Ollama) Name() string { return "ollama/" + strings.TrimSuffix(m.opts.Model, ":latest") }

// renew makes a new embedder, which takes whatever model the server has now.
func (m *Ollama) renew() error {
	e, err := ollama.New(m.opts)
	if err != nil {
		return err
	}
	m.mu.Lock()
	old := m.embed
	m.embed = e
	m.mu.Unlock()
	if old != nil {
		return old.Close()
	}
	return nil
}

// absence is why the model could not be used at the last look; nil if it could.
func (m *Ollama) absence() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// attached embeds with the embedder that the model has at the time, so that a replaced
// one is not asked any more. A collection that was filled with another model is dropped
// as soon as the change is seen.
type attached struct{ m *Ollama }

var _ embedder.Embedder = attached{}

func (a attached) embedder() *ollama.Embedder {
	a.m.mu.Lock()
	defer a.m.mu.Unlock()
	return a.m.embed
}

// Model implements embedder.Embedder.
func (a attached) Model(ctx context.Context) (embedder.Model, error) { return a.embedder().Model(ctx) }

// Embed implements embedder.Embedder. It takes the secrets out of what may leave
// this machine: documents have lost theirs already, questions have not.
func (a attached) Embed(ctx context.Context, purpose embedder.Purpose, texts []string) ([][]float32, error) {
	if a.m.opts.AllowRemote {
		texts = slices.Clone(texts)
		for i := range texts {
			texts[i], _ = redact.Redact(texts[i])
		}
	}
	return a.embedder().Embed(ctx, purpose, texts)
}

// Embedder implements Model.
func (m *Ollama) Embedder() embedder.Embedder { return attached{m} }

// Attach implements Model. A model whose weights have changed is attached anew.
func (m *Ollama) Attach(ctx context.Context, x *indexer.Indexer) error {
	name := ""
	err := m.reach(ctx)
	if err == nil {
		name, err = x.Attach(ctx, m.Name())
	} else if ctx.Err() == nil {
		x.Missed(m.Name(), err)
	}
	if errors.Is(err, ollama.ErrModelChanged) {
		m.log.Warn("the model has changed; its collection is filled anew")
		if err = m.renew(); err == nil {
			name, err = x.Attach(ctx, m.Name())
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	m.note(name, err)
	return err
}

// reach asks the server for its models: an embedder answers for its model from
// memory until a request fails, and a text to embed would have the server load
// the model every time. When the model's files are others than at the last look,
// or gone, the embedder is made anew, which asks who the model is.
func (m *Ollama) reach(ctx context.Context) error {
	s, err := ollama.NewServer(m.opts.ServerOptions)
	if err != nil {
		return err
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	installed, err := s.List(ctx)
	if err != nil {
		return err
	}
	digest := ""
	for _, info := range installed {
		if "ollama/"+info.Name == m.Name() {
			digest = info.Digest
		}
	}
	if digest == m.digest {
		return nil
	}
	if err := m.renew(); err != nil {
		return err
	}
	m.digest = digest
	return nil
}

// note logs a change: a server that is away for days is logged once.
func (m *Ollama) note(collection string, err error) {
	m.mu.Lock()
	before := m.err
	m.err = err
	m.mu.Unlock()
	switch {
	case err == nil && before != nil:
		m.log.Info("model attached", "space", collection)
	case err == nil || before != nil && before.Error() == err.Error():
	case m.required:
		m.log.Error("model is not available", "model", m.opts.Model, logging.ErrorKey, err)
	default:
		m.log.Info("model is not available", "model", m.opts.Model, logging.ErrorKey, err)
	}
}

// Close implements Model.
func (m *Ollama) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.embed.Close()
}

// Summarizer has a chat model of the same server write summaries.
func (m *Ollama) Summarizer(model string) Summarizer { return Summarizer{m.opts.ServerOptions, model} }

// Summarizer writes summaries; it implements agentctx.Summarizer.
type Summarizer struct {
	server ollama.ServerOptions
	model  string
}

// Summarize implements agentctx.Summarizer. It takes the secrets out of what may leave this
// machine, as attached does. Each call has a connection of its own: there are minutes between
// two compactions.
func (c Summarizer) Summarize(ctx context.Context, prompt string) (text, model string, err error) {
	if c.server.AllowRemote {
		prompt, _ = redact.Redact(prompt)
	}
	s, err := ollama.NewServer(c.server)
	if err != nil {
		return "", "", fmt.Errorf("reach the Ollama server: %w", err)
	}
	defer s.Close()
	text, err = s.Chat(ctx, c.model, "", prompt)
	return text, "ollama/" + c.model, err
}

// serverTrouble says for people why a server, or its model, cannot be used; the chain of
// causes is for the log.
func serverTrouble(err error, url string) string {
	timeout, _ := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, embedder.ErrModelNotFound):
		return "the Ollama server does not have the model"
	case errors.Is(err, ollama.ErrRemote):
		return fmt.Sprintf("the Ollama server %s is not on this machine", url)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("no Ollama server answers at %s", url)
	case errors.Is(err, context.DeadlineExceeded), timeout != nil && timeout.Timeout():
		return fmt.Sprintf("the Ollama server at %s does not answer in time", url)
	}
	return PlainCause(err.Error())
}

// PlainCause removes from an error what says only that there is an error.
func PlainCause(text string) string {
	short := strings.ReplaceAll(text, embedder.ErrUnavailable.Error()+": ", "")
	if short == embedder.ErrUnavailable.Error() {
		return "not reached yet"
	}
	return short
}
