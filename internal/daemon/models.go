package daemon

import (
	"time"

	"github.com/recalld/recalld/embedder/ollama"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/models"
)

// newModels lists the models that the settings ask for, beside the built-in one, and the
// one of them on the Ollama server. A new embedder is added here.
func (d *Daemon) newModels() ([]models.Model, *models.Ollama) {
	list := d.opts.models
	server := d.newOllama()
	if server != nil {
		list = append(list, server)
	}
	return list, server
}

// newOllama makes the model on the Ollama server; nil if it is not used.
func (d *Daemon) newOllama() *models.Ollama {
	cfg := d.opts.Config.Embedding.Ollama
	if cfg.Unused != "" {
		d.note("Ollama is not used: " + cfg.Unused)
	}
	if cfg.Unused != "" || !cfg.Used() {
		return nil
	}
	opts := ollamaOptions(cfg)
	opts.Cooldown = d.opts.pauses.cooldown
	m, err := models.NewOllama(opts, cfg.Enabled == config.OllamaOn, d.log)
	if err != nil {
		// The daemon works without the server too.
		d.log.Error("Ollama is not used", attrPart, "ollama", attrError, err)
		return nil
	}
	return m
}

// ollamaOptions are the settings of the file as the embedder takes them.
func ollamaOptions(c config.Ollama) ollama.Options {
	prefixes := ollama.DefaultPrefixes()
	for family, p := range c.Prefixes {
		prefixes[family] = ollama.Prefix{Query: p.Query, Document: p.Document}
	}
	return ollama.Options{
		ServerOptions: ollama.ServerOptions{BaseURL: c.URL, AllowRemote: c.AllowRemote},
		Model:         c.Model, Prefixes: prefixes, Timeout: c.Timeout,
		KeepAlive: 5 * time.Minute, // the default of an Ollama server
	}
}
