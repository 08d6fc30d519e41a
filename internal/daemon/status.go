package daemon

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/access"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/models"
	"github.com/recalld/recalld/internal/service"
)

// maxProjects bounds the sandboxes that status lists; Repos has all.
const maxProjects = 200

// The states of a daemon.
const (
	stateLoading  = "loading"
	stateReady    = "ready"
	stateDraining = "draining"
)

// Status carries out service.Status.
func (d *Daemon) Status(ctx context.Context) (*memory.Status, error) {
	paths := d.opts.Config.Paths()
	repos, err := d.sandboxes.Repos(ctx)
	if err != nil {
		d.log.Error("sandboxes cannot be read", attrPart, "daemon", attrError, err)
	}
	// Before the bound, so that a client's own are not crowded out by what it may not see.
	repos = slices.DeleteFunc(repos, func(r memory.SandboxState) bool { return !access.Sees(ctx, r.Project) })
	s := &memory.Status{
		Version: d.opts.Version, Protocol: service.Protocol, PID: os.Getpid(),
		Data: paths.Data, Socket: paths.Socket, TCP: d.tcp,
		State: d.state(), StartedAt: d.started.UTC(),
		Records: withoutOwn(d.core.Store.Counts(), d.core.Indexer), Documents: d.core.Indexer.Documents(), Seq: d.core.Store.Seq(),
		RSSBytes: residentBytes(), LiveBytes: int64(heldBytes()), Goroutines: runtime.NumGoroutine(), DiskBytes: d.core.Store.DiskSize(),
		Projects: repos[:min(len(repos), maxProjects)], ProjectsTotal: len(repos), Collections: d.core.Indexer.Collections(),
		Notes: slices.Concat(d.notes, d.apart(), d.outdatedSettings()), Damage: d.core.Store.Damage(), Errors: d.errors.Latest(), Adapting: d.adaptation.Running(),
		Waiting: d.files.Waiting(),
	}
	if trouble := d.core.Store.Trouble(); trouble != nil {
		s.ReadOnly = trouble.Error()
	}
	s.BackupError, _ = d.backupError.Load().(string)
	if note := d.memoryNote(); note != "" {
		s.Notes = append(s.Notes, note)
	}
	if trouble := d.adaptation.Trouble(); trouble != "" {
		s.Notes = append(s.Notes, trouble)
	}
	for i := range s.Collections {
		s.Collections[i].Error = models.PlainCause(s.Collections[i].Error)
	}
	q := d.core.Store.Queue().Stats()
	s.Queue = memory.QueueState{Waiting: q.Waiting, Running: q.Running, Dead: q.Dead, Dropped: q.Dropped, ByKind: map[string]int{}}
	for kind, n := range q.ByKind {
		if n.Waiting+n.Running > 0 {
			s.Queue.ByKind[kind] = n.Waiting + n.Running
		}
	}
	if s.Code, err = d.sandboxes.Counts(); err != nil {
		d.log.Error("sandboxes cannot be counted", attrPart, "daemon", attrError, err)
	}
	s.Code.Waiting = q.ByKind[indexJob].Waiting
	d.codeQueries.Fill(&s.Code)
	s.Savings = d.savings.State()
	s.Hooks = d.hookEvents()
	return s, nil
}

// withoutOwn takes recalld's own tools out of the numbers of records by kind: no user
// registered them.
func withoutOwn[K ~string](counts map[K]int, x *indexer.Indexer) map[K]int {
	kind := K(memory.Tool)
	if counts[kind] -= len(x.Entries(memory.OwnProject, memory.Tool)); counts[kind] <= 0 {
		delete(counts, kind)
	}
	return counts
}

// maxApart bounds the notes about projects that are apart.
const maxApart = 10

// apart says which folders are projects of their own although their .git names
// another repository, and why.
func (d *Daemon) apart() []string {
	projects, err := d.core.Store.Projects()
	if err != nil {
		d.log.Error("projects cannot be read", attrPart, "daemon", attrError, err)
		return nil
	}
	var notes []string
	for _, p := range projects {
		if p.Apart != "" && len(notes) < maxApart {
			notes = append(notes, fmt.Sprintf("%s is a project of its own: %s", memory.ProjectLabel(p.Name, p.ID), p.Apart))
		}
	}
	return notes
}

func (d *Daemon) state() string {
	select {
	case <-d.draining:
		return stateDraining
	default:
	}
	if !d.core.Indexer.Loaded() {
		return stateLoading
	}
	return stateReady
}

// outdatedSettings says which settings are not those that a daemon started now would have.
// The daemon keeps what it started with: indexes, models and listeners depend on it.
func (d *Daemon) outdatedSettings() []string {
	if d.opts.Reload == nil {
		return nil
	}
	now, err := d.opts.Reload()
	if err != nil {
		return []string{fmt.Sprintf("the settings are no longer valid, and the daemon keeps those that it started with: %v", err)}
	}
	if changed := config.Changed(d.opts.Config, now); len(changed) > 0 {
		return []string{"changed since the daemon started, and not in force before it is started again ('recalld stop' ends it): " + strings.Join(changed, ", ")}
	}
	return nil
}
