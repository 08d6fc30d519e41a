package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/access"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/schema"
	"github.com/recalld/recalld/internal/service"
)

// ownTool is one of recalld's own tools, not yet bound to a server.
type ownTool struct {
	op   *service.Spec
	name string // the operation's, with the prefix before the names of knowledge tools
	in   schema.Schema
	handling
}

// allTools is the toolset of every tool.
const allTools = "all"

// toolsets are what the settings and HeaderToolsets name beside single tools: one
// or more groups that are listed from the start.
var toolsets = []struct {
	name   string
	groups []service.Group
}{
	{"core", []service.Group{service.Core}},
	{"knowledge", []service.Group{service.Knowledge}},
	{"history", []service.Group{service.History}},
	{"tasks", []service.Group{service.Tasks}},
	{"context", []service.Group{service.Catalogue, service.Contexts, service.Working, service.Ledger}},
	{"admin", []service.Group{service.Admin}},
}

// OwnServer is the name of the server under which recalld's own tools stand in its
// catalogue.
const OwnServer = "recalld"

// OwnTools returns recalld's own tools as entries of a catalogue, to be registered
// under memory.OwnProject. The prefix begins the names of the knowledge tools, as
// Options.KnowledgePrefix does.
func OwnTools(prefix string) []memory.CatalogueEntry {
	tools := ownTools(prefix, nil)
	entries := make([]memory.CatalogueEntry, len(tools))
	for i, t := range tools {
		entries[i] = memory.CatalogueEntry{
			Ref:         memory.Ref{Type: memory.Tool, Name: t.name, ServerName: OwnServer},
			Description: t.op.Description, InputSchema: t.in.Raw(), Core: t.op.Group == service.Core,
		}
	}
	return entries
}

// chooseTools returns the names of the tools that toolsets and names of single
// tools stand for. The core is among them whatever is chosen: without search_tools
// nothing else could be found.
func chooseTools(tools []ownTool, chosen []string) (map[string]bool, error) {
	names := map[string]bool{}
	take := func(of func(ownTool) bool) (any bool) {
		for _, t := range tools {
			if of(t) {
				names[t.name], any = true, true
			}
		}
		return any
	}
	take(func(t ownTool) bool { return t.op.Group == service.Core })
	for _, name := range chosen {
		var groups []service.Group
		for _, set := range toolsets {
			if set.name == name {
				groups = set.groups
			}
		}
		if !take(func(t ownTool) bool { return name == allTools || t.name == name || slices.Contains(groups, t.op.Group) }) {
			return nil, fmt.Errorf("no toolset or tool is called %q; there are %s", name, toolsetNames())
		}
	}
	return names, nil
}

// toolsetNames lists the toolsets for people.
func toolsetNames() string {
	var names strings.Builder
	for _, set := range toolsets {
		names.WriteString(set.name + ", ")
	}
	return names.String() + allTools + " and the names of tools"
}

// splitToolsets reads HeaderToolsets: names with commas between.
func splitToolsets(header string) []string {
	var names []string
	for name := range strings.SplitSeq(header, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// CheckToolsets returns an error that names what there is, for what is neither a toolset nor
// the name of a tool.
func CheckToolsets(prefix string, chosen []string) error {
	_, err := chooseTools(ownTools(prefix, nil), chosen)
	return err
}

// Operations returns the names of the operations that toolsets and names of tools stand for,
// sorted; the prefix begins the names of the knowledge tools. Other than in a list of tools,
// the core is not among them unless it is named. Operations that are no tools and that a
// policy can allow are named, too.
func Operations(prefix string, chosen []string) ([]string, error) {
	tools := ownTools(prefix, nil)
	named := map[string]bool{}
	for _, name := range chosen {
		if op := service.Find(name); op != nil && !op.IsTool() && access.Grantable(op) {
			named[op.Name] = true
			continue
		}
		all, err := chooseTools(tools, []string{name})
		if err != nil {
			return nil, err
		}
		core := name == allTools || name == string(service.Core)
		for _, t := range tools {
			if all[t.name] && (core || t.op.Group != service.Core || t.name == name) {
				named[t.op.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(named)), nil
}
