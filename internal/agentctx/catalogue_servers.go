package agentctx

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// serverState is the state memory.StateServers of a project.
type serverState struct {
	Servers []storedServer `json:"servers"` // in the order in which they were registered
}

// storedServer is a server with who registered it.
type storedServer struct {
	memory.Server
	Source string `json:"source,omitempty"`
	// Since is as in memory.Entry.
	Since time.Time `json:"since,omitzero"`
}

// bare reports whether a server is named without settings.
func bare(s memory.Server) bool { return s.Include == "" && s.Enabled == nil }

func decodeServers(raw []byte) ([]storedServer, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var state serverState
	if err := json.Unmarshal(raw, &state); err != nil {
		return nil, memory.Errorf(memory.CodeCorrupt, "read settings of servers: %w", err)
	}
	return state.Servers, nil
}

// encodeServers returns nil for no servers: they need no state.
func encodeServers(servers []storedServer) ([]byte, error) {
	if len(servers) == 0 {
		return nil, nil
	}
	return json.Marshal(serverState{servers})
}

// mergeServers applies a change to the stored servers and reports whether anything
// changed. It does not modify its argument.
func (c *change) mergeServers(stored []storedServer) (merged []storedServer, changed bool, err error) {
	wanted := make(map[string][]string, len(c.servers)) // the sources that name it
	for _, s := range c.servers {
		wanted[s.Name] = append(wanted[s.Name], s.Source)
	}
	for _, s := range stored {
		if c.replaces(s.Source) && !slices.Contains(wanted[s.Name], s.Source) {
			changed = true
			continue
		}
		merged = append(merged, s)
	}
	at := make(map[string]int, len(merged)+len(c.servers))
	for i, s := range merged {
		at[s.Name] = i
	}
	set := make(map[string]bool, len(c.servers)) // by this change
	for _, s := range c.servers {
		i, there := at[s.Name]
		switch {
		case set[s.Name]:
			// The first of several files with settings counts.
			continue
		case !there:
			at[s.Name] = len(merged)
			if s.Since = c.since(s.Source); bare(s.Server) {
				s.Since = time.Time{}
			}
			merged, changed = append(merged, s), true
		case isFile(s.Source) && !isFile(merged[i].Source):
			// A host's settings stay.
		case bare(s.Server) && merged[i].Source != s.Source:
			// Naming a server changes none of its settings.
		case !sameServer(merged[i], s):
			if s.Since = merged[i].Since; s.Include != merged[i].Include || !sameFlag(s.Enabled, merged[i].Enabled) {
				s.Since = c.now
			}
			merged[i], changed = s, true
		}
		set[s.Name] = !bare(s.Server)
	}
	if len(merged) > memory.MaxServers && len(merged) > len(stored) {
		return nil, false, memory.Invalid("servers", fmt.Sprintf("at most %d of a project", memory.MaxServers), "there would be %d", len(merged))
	}
	return merged, changed, nil
}

// editServers is the change as an edit of the state.
func (c *change) editServers(project string) memory.StateEdit {
	return memory.StateEdit{Key: serverKey(project), Edit: func(old []byte) ([]byte, error) {
		stored, err := decodeServers(old)
		if err != nil {
			return nil, err
		}
		merged, _, err := c.mergeServers(stored)
		if err != nil {
			return nil, err
		}
		return encodeServers(merged)
	}}
}

func sameServer(a, b storedServer) bool {
	return a.Name == b.Name && a.Include == b.Include && sameFlag(a.Enabled, b.Enabled) && a.Source == b.Source
}

func sameFlag(a, b *bool) bool { return a == b || a != nil && b != nil && *a == *b }

func isFile(source string) bool { return strings.HasPrefix(source, memory.FilePrefix) }

func serverKey(project string) memory.StateKey {
	return memory.StateKey{Project: project, Kind: memory.StateServers}
}

// serversOf returns the servers of a project, in the order in which they were registered.
func (s *Catalogue) serversOf(project string) ([]storedServer, error) {
	raw, err := s.opts.Store.State(serverKey(project))
	switch {
	case memory.CodeOf(err) == memory.CodeNotFound:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read settings of servers: %w", err)
	}
	return decodeServers(raw)
}

func byName(servers []storedServer) map[string]storedServer {
	named := make(map[string]storedServer, len(servers))
	for _, s := range servers {
		named[s.Name] = s
	}
	return named
}
