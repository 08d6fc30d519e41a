package indexer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// ProjectHoldings returns the ids of a project's records and the keys of its files, both
// sorted. It returns false before Load has ended.
func (x *Indexer) ProjectHoldings(project string) (memory.Holdings, bool) {
	var h memory.Holdings
	if !x.Loaded() {
		return h, false
	}
	x.mu.RLock()
	for n := range x.owners.projects.of(project) {
		if e := &x.owners.all[n]; e.file != nil {
			h.Files = append(h.Files, e.file.FileKey)
		} else {
			h.Records = append(h.Records, e.id)
		}
	}
	x.mu.RUnlock()
	slices.Sort(h.Records)
	slices.SortFunc(h.Files, compareFileKeys)
	return h, true
}

func compareFileKeys(a, b memory.FileKey) int {
	return cmp.Or(cmp.Compare(a.Sandbox, b.Sandbox), cmp.Compare(a.Path, b.Path))
}

// SessionHoldings returns the stored sessions with an id, of all projects, and the ids
// of their steps. The sessions are as Sessions returns them. It returns false before
// Load has ended.
func (x *Indexer) SessionHoldings(id string) ([]memory.SessionHoldings, bool) {
	if !x.Loaded() {
		return nil, false
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	var found []memory.SessionHoldings
	for project := range x.sessions.listed {
		s := x.sessions.sessions[memory.SessionKey{Project: project, ID: id}]
		if s != nil && s.stored {
			found = append(found, memory.SessionHoldings{Session: s.session, Steps: x.sessions.ids(s.steps)})
		}
	}
	slices.SortFunc(found, func(a, b memory.SessionHoldings) int { return strings.Compare(a.Session.Project, b.Session.Project) })
	return found, true
}
