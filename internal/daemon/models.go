package daemon

import (
	"context"
	"time"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/internal/indexer"
)

// model is an embedding model whose collection is filled by jobs. The built-in model is
// not one of them: it embeds every write at once.
type model interface {
	// name is the model's name as collections have it: "ollama/nomic-embed-text".
	name() string
	embedder() embedder.Embedder
	// attach opens the model's collection in the indexer, if the model can be reached.
	// It is called from time to time: a model may go, come back, and change.
	attach(context.Context, *indexer.Indexer) error
	close() error
}

// newModels lists the models that the settings ask for, beside the built-in one. A new
// embedder is added here.
func (d *Daemon) newModels() []model {
	list := d.opts.models
	if m := d.newOllama(); m != nil {
		list = append(list, m)
	}
	return list
}

// newOllama makes the model on the Ollama server; nil if it is not used.
func (d *Daemon) newOllama() *ollamaModel {
	cfg := d.opts.Config.Embedding.Ollama
	if cfg.Unused != "" {
		d.note("Ollama is not used: " + cfg.Unused)
	}
	if cfg.Unused != "" || !cfg.Used() {
		return nil
	}
	var err error
	if d.model, err = newOllamaModel(cfg, d.log); err != nil {
		// The daemon works without the server too.
		d.log.Error("Ollama is not used", attrPart, "ollama", attrError, err)
		d.model = nil
		return nil
	}
	d.model.cooldown = d.opts.pauses.cooldown
	return d.model
}

// local is a model in this process, which is always there.
type local struct {
	model string // its name
	embed embedder.Embedder
}

func (m local) name() string                { return m.model }
func (m local) embedder() embedder.Embedder { return m.embed }
func (m local) close() error                { return nil }

func (m local) attach(ctx context.Context, x *indexer.Indexer) error {
	_, err := x.Attach(ctx, m.model)
	return err
}

// embedders are the models' embedders, by the names of their models.
func embedders(models []model) map[string]embedder.Embedder {
	all := map[string]embedder.Embedder{}
	for _, m := range models {
		all[m.name()] = m.embedder()
	}
	return all
}

// keepAttached attaches the models until ctx ends, and queues the jobs that fill their
// collections. While no model can be reached, it holds these jobs.
func (d *Daemon) keepAttached(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.poke:
		case <-timer.C:
		}
		var absent []string
		for _, m := range d.models {
			if m.attach(ctx, d.core.Indexer) != nil { // the model logs its errors
				absent = append(absent, m.name())
			}
		}
		if d.served.without(absent); len(absent) == len(d.models) {
			d.served.hold(holdNoModel)
		} else {
			d.served.ask(ctx)
			d.served.release(ctx, holdNoModel)
		}
		next := d.opts.pauses.present
		if len(absent) > 0 {
			next = d.opts.pauses.absent
		}
		timer.Reset(next)
	}
}

// look attaches the models soon.
func (d *Daemon) look() {
	select {
	case d.poke <- struct{}{}:
	default: // a look is due already
	}
}
