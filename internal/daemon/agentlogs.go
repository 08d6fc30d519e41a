package daemon

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/recalld/recalld/internal/agentimport"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
)

// newAgentLogs makes what imports the logs of agents.
func (d *Daemon) newAgentLogs(paths config.Paths) {
	home, getenv := d.opts.home, func(string) string { return "" }
	if home == "" {
		home, _ = os.UserHomeDir() // without a home there are no logs
		getenv = os.Getenv
	}
	d.agentLogs = agentimport.New(agentimport.Options{
		Ingest: d.core.Ingest, Projects: d.core.Projects, Session: d.core.Store.Session, Home: home, Getenv: getenv,
		State: filepath.Join(paths.Data, "agent-logs.json"), Logger: d.log, Clock: time.Now,
	})
}

// ImportAgents carries out service.ImportAgents.
func (d *Daemon) ImportAgents(ctx context.Context, req memory.AgentImportRequest, progress func(memory.AgentImportProgress)) (*memory.AgentImported, error) {
	defer d.garbage.during(&d.garbage.waited)()
	return d.agentLogs.Import(ctx, req, progress)
}
