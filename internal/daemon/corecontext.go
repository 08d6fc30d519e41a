package daemon

import (
	"fmt"

	"github.com/recalld/recalld/internal/agentctx"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/ledger"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// contexts puts what contexts are made of over the two paths.
func (c *Core) contexts(opts CoreOptions) (err error) {
	cfg := opts.Config
	tasks := taskSettings(cfg.Tasks)
	c.Working, err = agentctx.NewTasks(agentctx.TaskOptions{
		Writer: c.Ingest, Projects: c.Projects, Shelf: c.Indexer, Store: c.Store, Tokens: render.Tokens, Loaded: c.Indexer.Loaded,
		AuditFile: opts.AuditFile, Settings: &tasks, Logger: opts.Logger,
	})
	if err != nil {
		return fmt.Errorf("make working memory: %w", err)
	}
	c.Catalogue, err = agentctx.NewCatalogue(agentctx.CatalogueOptions{
		Writer: c.Ingest, Shelf: c.Indexer, States: c.Store, Projects: c.Projects, Logger: opts.Logger,
	})
	if err != nil {
		return fmt.Errorf("make catalogue: %w", err)
	}
	settings := contextSettings(cfg.Context)
	c.Session, err = agentctx.NewContexts(agentctx.ContextOptions{
		Projects: c.Projects, Sessions: c.Ingest, States: c.Store, Writer: c.Ingest, Catalogue: c.Catalogue, Matcher: c.Recall,
		Receipts: c.Store, Steps: c.Recall, Summarizer: opts.Summarizer, SummaryTimeout: cfg.Context.SummaryTimeout,
		KeepTurns: cfg.Context.KeepTurns, Logger: opts.Logger,
		Assembly: agentctx.Assembly{
			Memories: c.Recall, Tasks: c.Working, Ledger: c.Store, Shelf: c.Indexer, Settings: &settings,
			LeaveOut: func(p memory.Project, taskType string) bool { return c.Working.Settings(p, taskType).LeaveOut },
		},
	})
	if err != nil {
		return fmt.Errorf("make contexts: %w", err)
	}
	c.Ledger, err = ledger.New(ledger.Options{
		Store: c.Store, Writer: c.Ingest, Projects: c.Projects, Sessions: c.Ingest, Clean: c.Ingest.Clean,
		Texts: c.Recall, Summary: c.Session.ThenSummary,
	})
	if err != nil {
		return fmt.Errorf("make ledger: %w", err)
	}
	c.Replay, err = ledger.NewReplayer(ledger.ReplayOptions{
		Asker: c.Recall, Ledger: c.Store, Projects: c.Projects, Sessions: c.Ingest, Catalogue: c.Catalogue,
		Taken: ledger.Taken{TopK: settings.TopK, TopN: settings.TopN, IncludeScore: settings.IncludeScore},
	})
	if err != nil {
		return fmt.Errorf("make replay: %w", err)
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
		MaxTokens: c.MaxTokens, TopK: c.TopK, TopN: c.TopN, IncludeScore: c.IncludeScore,
		Shares: map[memory.Kind]float64{
			memory.Rule: c.Shares.Rule, memory.Reference: c.Shares.Reference, memory.Tool: c.Shares.Tool,
			memory.Lesson: c.Shares.Lesson, memory.Step: c.Shares.Step, memory.Chunk: c.Shares.Chunk,
		},
	}
}
