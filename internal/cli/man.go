package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/recalld/recalld/internal/buildinfo"
	"github.com/recalld/recalld/internal/memory"
)

// manCommand writes the manual pages. The library that comes with cobra would do, but it
// brings two parsers of Markdown, which every hook would load at its start.
func manCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:     "man FOLDER",
		Short:   "Write the manual pages",
		Long:    "Write a manual page for every command into a folder, for packages: recalld.1,\nrecalld-recall.1 and so on.",
		Example: "  recalld man ./man/man1",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if args[0] == "" {
				return memory.Invalid("folder", "a folder", "is given and is empty")
			}
			folder := a.absolute(args[0])
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return fmt.Errorf("create folder of manual pages: %w", err)
			}
			var written []string
			for _, of := range append([]*cobra.Command{c.Root()}, below(c.Root())...) {
				name := pageName(of) + ".1"
				if err := os.WriteFile(filepath.Join(folder, name), []byte(manualPage(of)), 0o644); err != nil {
					return fmt.Errorf("write manual page: %w", err)
				}
				written = append(written, name)
			}
			return a.answer(map[string]any{"folder": folder, "pages": written}, func(w io.Writer) {
				fmt.Fprintf(w, "%s in %s\n", memory.Count(len(written), "manual page"), folder)
			})
		},
		ValidArgsFunction: completeAnyFolder,
	}
}

// pageName is the name of a command's page.
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// below lists the commands below one that help lists, and those below them.
func below(c *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			all = append(append(all, sub), below(sub)...)
		}
	}
	return all
}

// manualPage writes a command's help as a page of the manual.
func manualPage(c *cobra.Command) string {
	c.InitDefaultHelpFlag()
	var b strings.Builder
	name := pageName(c)
	// No date: the same program writes the same pages.
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"recalld %s\" \"recalld\"\n", roff(strings.ToUpper(name)), roff(buildinfo.Version()))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(strings.ToLower(c.Short[:1])+c.Short[1:]))
	if c.Runnable() {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(c.UseLine()))
	}
	fmt.Fprintf(&b, ".SH DESCRIPTION\n")
	for line := range strings.Lines(c.Long) {
		switch bare := strings.TrimRight(line, "\n"); {
		case bare == "":
			b.WriteString(".PP\n")
		case strings.HasPrefix(bare, " "):
			b.WriteString(".br\n" + roff(bare) + "\n")
		default:
			b.WriteString(roff(bare) + "\n")
		}
	}
	manualFlags(&b, "OPTIONS", c.NonInheritedFlags())
	manualFlags(&b, "OPTIONS OF ALL COMMANDS", c.InheritedFlags())
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(c.Example))
	}
	var others []string
	see := func(other *cobra.Command) { others = append(others, ".BR "+roff(pageName(other))+" (1)") }
	if c.HasParent() {
		see(c.Parent())
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			see(sub)
		}
	}
	if len(others) > 0 {
		b.WriteString(".SH SEE ALSO\n" + strings.Join(others, ",\n") + "\n")
	}
	return b.String()
}

func manualFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		word, usage := pflag.UnquoteUsage(f)
		if word != "" {
			name += " " + word
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(name), roff(usage))
	})
}

// roff escapes a text: a backslash, a minus, and a line that would be a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
