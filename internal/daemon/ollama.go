package daemon

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
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/redact"
)

const (
	// ollamaAbsent and ollamaPresent are how often the server is looked at while
	// it does not answer and while it does.
	ollamaAbsent  = 15 * time.Second
	ollamaPresent = time.Minute
	// reachTimeout is how long it may take to list its models.
	reachTimeout = 10 * time.Second
)

// ollamaModel is the model on the Ollama server. The server may go and come back, and
// the model may be exchanged for another one of its name.
type ollamaModel struct {
	cfg config.Ollama
	log *slog.Logger
	// cooldown is how long embedders made from now on leave a failing server
	// alone; zero is their default.
	cooldown time.Duration

	mu    sync.Mutex // guards what follows
	embed *ollama.Embedder
	err   error // of the last look; nil when the model is there

	// digest is what the server last called the model's files; only attach uses it.
	digest string
}

// newOllamaModel makes no connection yet. The error is ollama.ErrRemote or one
// of the settings.
func newOllamaModel(cfg config.Ollama, log *slog.Logger) (*ollamaModel, error) {
	m := &ollamaModel{cfg: cfg, log: log.With(attrPart, "ollama"), err: embedder.ErrUnavailable}
	return m, m.renew()
}

// name is the model's name as spaces have it.
func (m *ollamaModel) name() string { return "ollama/" + strings.TrimSuffix(m.cfg.Model, ":latest") }

// renew makes a new embedder, which takes whatever model the server has now.
func (m *ollamaModel) renew() error {
	e, err := ollama.New(ollama.Options{
		ServerOptions: m.server(),
		Model:         m.cfg.Model, Prefixes: prefixes(m.cfg.Prefixes), BatchSize: m.cfg.Batch, MaxConcurrency: m.cfg.Concurrency,
		Timeout: m.cfg.Timeout, KeepAlive: m.cfg.KeepAlive, Cooldown: m.cooldown, Logger: m.log,
	})
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

func (m *ollamaModel) server() ollama.ServerOptions {
	return ollama.ServerOptions{BaseURL: m.cfg.URL, AllowRemote: m.cfg.AllowRemote}
}

// current returns the embedder as the indexer is to use it, and what keeps it
// from working.
func (m *ollamaModel) current() (embedder.Embedder, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return attached{m}, m.err
}

// attached embeds with whatever embedder the model has at the time, so that one
// that was replaced is not asked any more. A space that was filled with another
// model is let go as soon as the change is seen.
type attached struct{ m *ollamaModel }

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
	if a.m.cfg.AllowRemote {
		texts = slices.Clone(texts)
		for i := range texts {
			texts[i], _ = redact.Redact(texts[i])
		}
	}
	return a.embedder().Embed(ctx, purpose, texts)
}

// embedder implements model.
func (m *ollamaModel) embedder() embedder.Embedder { return attached{m} }

// attach implements model. A model whose weights have changed is attached anew.
func (m *ollamaModel) attach(ctx context.Context, x *indexer.Indexer) error {
	name := ""
	err := m.reach(ctx)
	if err == nil {
		name, err = x.Attach(ctx, m.name())
	} else if ctx.Err() == nil {
		x.Missed(m.name(), err)
	}
	if errors.Is(err, ollama.ErrModelChanged) {
		m.log.Warn("the model has changed; its collection is filled anew")
		if err = m.renew(); err == nil {
			name, err = x.Attach(ctx, m.name())
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	m.told(name, err)
	return err
}

// reach asks the server for its models: an embedder answers for its model from
// memory until a request fails, and a text to embed would have the server load
// the model every time. When the model's files are others than at the last look,
// or gone, the embedder is made anew, which asks who the model is.
func (m *ollamaModel) reach(ctx context.Context) error {
	s, err := ollama.NewServer(m.server())
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
		if "ollama/"+info.Name == m.name() {
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

// told logs a change: a server that is away for days is said once.
func (m *ollamaModel) told(space string, err error) {
	m.mu.Lock()
	before := m.err
	m.err = err
	m.mu.Unlock()
	switch {
	case err == nil && before != nil:
		m.log.Info("model attached", "space", space)
	case err == nil || before != nil && before.Error() == err.Error():
	case m.cfg.Enabled == config.OllamaOn:
		m.log.Error("model is not available", "model", m.cfg.Model, attrError, err)
	default:
		m.log.Info("model is not available", "model", m.cfg.Model, attrError, err)
	}
}

func (m *ollamaModel) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.embed.Close()
}

func prefixes(table map[string]config.Prefix) ollama.Prefixes {
	out := make(ollama.Prefixes, len(table))
	for family, p := range table {
		out[family] = ollama.Prefix{Query: p.Query, Document: p.Document}
	}
	return out
}

// serverTrouble says in a person's words why a server, or its model, cannot be
// used; the chain of causes is for the log.
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
	return plainCause(err.Error())
}

// plainCause leaves out what says no more than that there is an error.
func plainCause(text string) string {
	short := strings.ReplaceAll(text, embedder.ErrUnavailable.Error()+": ", "")
	if short == embedder.ErrUnavailable.Error() {
		return "not reached yet"
	}
	return short
}
