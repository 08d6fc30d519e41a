package daemon

import (
	"fmt"

	"github.com/recalld/recalld/internal/agentctx"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/ledger"
)

// contexts makes the services of tasks, catalogue, contexts and ledger over the two paths.
func (c *Core) contexts(opts CoreOptions) (err error) {
	cfg := opts.Config
	ports := agentctx.Ports{Writer: c.Ingest, Projects: c.Projects, Records: c.Indexer, Store: c.Store, Logger: opts.Logger}
	c.Working, err = agentctx.NewTasks(agentctx.TaskOptions{Ports: ports, AuditFile: opts.AuditFile, Settings: taskSettings(cfg.Tasks)})
	if err != nil {
		return fmt.Errorf("make tasks: %w", err)
	}
	if c.Catalogue, err = agentctx.NewCatalogue(ports); err != nil {
		return fmt.Errorf("make catalogue: %w", err)
	}
	settings := contextSettings(cfg.Context)
	c.Session, err = agentctx.NewContexts(agentctx.ContextOptions{
		Ports: ports, Sessions: c.Ingest, Receipts: c.Store, Catalogue: c.Catalogue, Recall: c.Recall, Tasks: c.Working,
		Summarizer: opts.Summarizer, SummaryTimeout: cfg.Context.SummaryTimeout, Settings: settings,
	})
	if err != nil {
		return fmt.Errorf("make contexts: %w", err)
	}
	c.Ledger, err = ledger.New(ledger.Options{
		Store: c.Store, Writer: c.Ingest, Projects: c.Projects, Sessions: c.Ingest, Recall: c.Recall, Catalogue: c.Catalogue,
		Summary: c.Session.ThenSummary, Choice: ledger.Choice{TopK: settings.TopK, TopN: settings.TopN, IncludeScore: settings.IncludeScore},
	})
	if err != nil {
		return fmt.Errorf("make ledger: %w", err)
	}
	return nil
}

// taskSettings are the settings of the file as working memory takes them.
func taskSettings(c config.Tasks) agentctx.TaskSettings {
	s := agentctx.TaskSettings{Window: c.Window, RequiresContext: c.RequiresContext}
	for _, o := range c.Overrides {
		s.Overrides = append(s.Overrides, agentctx.TaskOverride(o))
	}
	return s
}

// contextSettings are the settings of the file as contexts take them.
func contextSettings(c config.Context) agentctx.AssemblySettings {
	return agentctx.AssemblySettings{
		MaxTokens: c.MaxTokens, TopK: c.TopK, TopN: c.TopN, IncludeScore: c.IncludeScore, KeepTurns: c.KeepTurns,
	}
}
