// Package models keeps the embedding models in use: it attaches them to the indexer while
// they can be reached, backfills their collections by jobs, and lists and pulls models of
// the Ollama server. Package adaptation trains the built-in one.
package models

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/worker"
)

// Model is an embedding model whose collection is filled by jobs. The built-in model is
// not one of them: it embeds every write at once.
type Model interface {
	// Name is the model's name as collections have it: "ollama/nomic-embed-text".
	Name() string
	Embedder() embedder.Embedder
	// Attach opens the model's collection in the indexer, if the model can be reached.
	// It is called from time to time: a model may go, come back, and change.
	Attach(context.Context, *indexer.Indexer) error
	Close() error
}

// Embedders are the models' embedders, by the names of their models.
func Embedders(models []Model) map[string]embedder.Embedder {
	all := map[string]embedder.Embedder{}
	for _, m := range models {
		all[m.Name()] = m.Embedder()
	}
	return all
}

// Options configure a Service.
type Options struct {
	// Models are those with background jobs. Ollama is the one of them on the Ollama
	// server; nil if it is not used, and Unused may say why.
	Models []Model
	Ollama *Ollama
	Unused string
	// Adapted is the name of the built-in model in use if it was adapted.
	Adapted string

	Indexer *indexer.Indexer
	Queue   worker.Queue
	Logger  *slog.Logger
	// Absent and Present are how often models are looked at while one is absent, and
	// while all are there. Default 15 s and one minute.
	Absent, Present time.Duration
}

// Service keeps models attached and backfills their collections.
type Service struct {
	opts    Options
	poke    chan struct{} // see Look
	served  *backfill     // of Options.Models
	builtin *backfill     // of the built-in model, where another one has embedded before
}

// New returns a service. Use must be called before its jobs run.
func New(opts Options) *Service {
	opts.Absent, opts.Present = cmp.Or(opts.Absent, 15*time.Second), cmp.Or(opts.Present, time.Minute)
	return &Service{
		opts: opts, poke: make(chan struct{}, 1),
		served:  newBackfill(indexer.EmbedJob, opts.Indexer, opts.Queue, opts.Logger),
		builtin: newBackfill(indexer.EmbedBuiltinJob, opts.Indexer, opts.Queue, opts.Logger),
	}
}

func (s *Service) backfills() []*backfill { return []*backfill{s.served, s.builtin} }

// Handlers are the handlers of the jobs, by kind.
func (s *Service) Handlers() map[string]worker.Handler {
	all := map[string]worker.Handler{}
	for _, b := range s.backfills() {
		all[b.kind] = b.embed
	}
	return all
}

// Use sets the pool that runs the jobs.
func (s *Service) Use(pool *worker.Pool) {
	for _, b := range s.backfills() {
		b.pool = pool
	}
}

// Pause ends the backfills in progress and holds them until Resume.
func (s *Service) Pause() {
	for _, b := range s.backfills() {
		b.hold(holdPaused)
	}
}

// Resume takes a pause back.
func (s *Service) Resume(ctx context.Context) {
	for _, b := range s.backfills() {
		b.release(ctx, holdPaused)
	}
}

// Begin prepares the backfills before the pool starts: the models' one is held until a
// model is attached, the built-in model's is queued.
func (s *Service) Begin(ctx context.Context) {
	if len(s.opts.Models) > 0 {
		s.served.hold(holdNoModel)
	}
	s.builtin.ask(ctx)
}

// Run attaches the models until ctx ends, and queues the jobs that fill their collections.
// While no model can be reached, it holds these jobs. It returns at once without models.
func (s *Service) Run(ctx context.Context) {
	if len(s.opts.Models) == 0 {
		return
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.poke:
		case <-timer.C:
		}
		var absent []string
		for _, m := range s.opts.Models {
			if m.Attach(ctx, s.opts.Indexer) != nil { // the model logs its errors
				absent = append(absent, m.Name())
			}
		}
		s.served.without(absent)
		if len(absent) == len(s.opts.Models) {
			s.served.hold(holdNoModel)
		} else {
			s.served.ask(ctx)
			s.served.release(ctx, holdNoModel)
		}
		next := s.opts.Present
		if len(absent) > 0 {
			next = s.opts.Absent
		}
		timer.Reset(next)
	}
}

// Look has Run look at the models soon.
func (s *Service) Look() {
	select {
	case s.poke <- struct{}{}:
	default: // a look is due already
	}
}

// Close closes the models. Jobs must have ended.
func (s *Service) Close() error { return Close(s.opts.Models) }

// Close closes models that no service has.
func Close(models []Model) error {
	var err error
	for _, m := range models {
		err = errors.Join(err, m.Close())
	}
	return err
}
