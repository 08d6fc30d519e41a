package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// entryTypes are what a catalogue holds, as they are typed.
var entryTypes = []string{string(memory.Rule), string(memory.Reference), string(memory.Tool)}

// entryArguments reads TYPE and NAME. A tool may be named as contexts show it,
// server:name.
func entryArguments(kind, name, server string) (memory.Ref, error) {
	ref := memory.Ref{Type: memory.Kind(kind), Name: name, ServerName: server}
	if ref.Type == memory.Tool && server == "" {
		before, after, ok := strings.Cut(name, ":")
		if !ok {
			return ref, memory.Invalid("name", "SERVER:NAME, or --server", "tool %s names no server", memory.Quote(name))
		}
		ref.ServerName, ref.Name = before, after
	}
	return ref, ref.Validate("")
}

// toolArgument reads server:name.
func toolArgument(field, text string) (memory.ToolRef, error) {
	server, name, ok := strings.Cut(text, ":")
	if !ok || server == "" || name == "" {
		return memory.ToolRef{}, memory.Invalid(field, "SERVER:NAME", "%s names no tool of a server", memory.Quote(text))
	}
	return memory.ToolRef{ServerName: server, ToolName: name}, nil
}

// entryName writes an entry as contexts show it: "filesystem:read_file" for a tool.
func entryName(server, name string) string { return printable(render.Name(server, name)) }

// completeEntries completes TYPE and NAME from the catalogue.
func (a *App) completeEntries(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return entryTypes, cobra.ShellCompDirectiveNoFileComp
	case 1:
		return a.completeNames(c, memory.Kind(args[0]), typed)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// modeText writes an include mode as contract 6 does.
func modeText(mode memory.Include) string {
	text := cmp.Or(string(mode), string(memory.IncludeAlways))
	return strings.ToUpper(text[:1]) + text[1:]
}
