package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// catalogueCommand lists the catalogue.
func catalogueCommand(a *App) *cobra.Command {
	var r memory.EntriesRequest
	var types []string
	c := &cobra.Command{
		Use:   "catalogue",
		Short: "List rules, references and tools",
		Long: `List the rules, references and tools that contexts are made of, in the order in
which they were registered, with their modes. always: in every context. manual: when a
host adds it. agent: when it is relevant. Hosts register them, and so do files of the
repository such as .recalld/context.yaml and AGENTS.md.`,
		Example: `  recalld catalogue
  recalld catalogue --types rule,reference --content
  recalld catalogue --server filesystem --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, t := range types {
				r.Types = append(r.Types, memory.Kind(t))
			}
			list, err := ask(c.Context(), a, service.Entries, r)
			if err != nil {
				return err
			}
			list.Entries, list.Servers = orEmpty(list.Entries), orEmpty(list.Servers)
			return a.recorded(list, len(list.Entries)+len(list.Servers) > 0, func(w io.Writer) { writeCatalogue(w, list, r.Content) })
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&types, "types", nil, "only rules, references or tools: rule,tool")
	flags.StringVar(&r.Server, "server", "", "only the tools of this server")
	flags.BoolVar(&r.Content, "content", false, "with texts, guidance and schemas")
	completeWords(c, "types", entryTypes...)
	a.projectFlag(c, &r.Project)
	c.AddCommand(movedCommands("catalogue")...)
	return c
}

// writeCatalogue lists entries, with their texts in full where these were asked for, and
// below them what was said of their servers.
func writeCatalogue(w io.Writer, list *memory.EntryList, content bool) {
	if len(list.Entries) == 0 && len(list.Servers) == 0 {
		fmt.Fprintf(w, "No matching entries in project %s. Hosts register them; run 'recalld call register_context' to register one yourself.\n",
			memory.ProjectLabel(list.ProjectName, list.Project))
		return
	}
	if content {
		for i := range list.Entries {
			if i > 0 {
				fmt.Fprintln(w)
			}
			writeEntry(w, &list.Entries[i])
		}
	} else if len(list.Entries) > 0 {
		render.FitTable(w, entryRows(list.Entries))
	}
	if len(list.Servers) > 0 {
		if len(list.Entries) > 0 {
			fmt.Fprintln(w)
		}
		rows := [][]string{{"SERVER", "MODE", "ENABLED"}}
		for _, s := range list.Servers {
			rows = append(rows, []string{render.ForeignLine(s.Name, 40), string(s.Include), enabledText(s.Enabled == nil || *s.Enabled)})
		}
		render.Table(w, rows)
	}
}

// entryRows are the lines of the table of entries.
func entryRows(entries []memory.EntryState) [][]string {
	rows := [][]string{{"TYPE", "NAME", "MODE", "ENABLED", "DESCRIPTION"}}
	for _, e := range entries {
		mode := string(e.Mode)
		if e.Core { // it is active whatever its mode
			mode += ", core"
		}
		rows = append(rows, []string{string(e.Type), render.ShortLine(entryName(e.ServerName, e.Name), 40), mode, enabledText(e.On),
			render.ForeignLine(cmp.Or(e.Description, e.Content), 200)})
	}
	return rows
}

// writeEntry writes an entry with all it says.
func writeEntry(w io.Writer, e *memory.EntryState) {
	fmt.Fprintf(w, "%s %s [%s] version %d", e.Type, entryName(e.ServerName, e.Name), modeText(e.Mode), e.Version)
	if !e.On {
		fmt.Fprint(w, ", disabled")
	}
	if e.Core {
		fmt.Fprint(w, ", core")
	}
	if e.Source != "" {
		fmt.Fprintf(w, ", from %s", render.Printable(e.Source))
	}
	fmt.Fprintln(w)
	for _, text := range []string{e.Description, e.Content, e.Guidance, string(e.InputSchema)} {
		render.WriteLines(w, "  ", text)
	}
}

func enabledText(on bool) string {
	if on {
		return "yes"
	}
	return "no"
}

// entryTypes are what a catalogue holds, as they are typed.
var entryTypes = []string{string(memory.Rule), string(memory.Reference), string(memory.Tool)}

// entryName writes an entry as contexts show it: "filesystem:read_file" for a tool.
func entryName(server, name string) string { return render.Printable(render.Name(server, name)) }

// modeText writes an include mode as contract 6 does.
func modeText(mode memory.Include) string {
	text := cmp.Or(string(mode), string(memory.IncludeAlways))
	return strings.ToUpper(text[:1]) + text[1:]
}
