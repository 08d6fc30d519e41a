package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// compactCommand starts a session's working context anew.
func compactCommand(a *App) *cobra.Command {
	var r memory.CompactRequest
	var transcript string
	c := &cobra.Command{
		Use:   "compact",
		Short: "Start a session's working context anew, with a summary",
		Long: `Store a summary of what a session did and clear the tools that it has found and used
and the entities that it has met, in one go. The summary says what was done, with
names and ids, and names no tool; one that does is refused. Without a summary a local
chat model writes it from --transcript, if the setting context.summary_model names one.`,
		Example: `  recalld compact --summary "Order 17 was refunded; the customer prefers e-mail. Next: the invoice."
  recalld compact --summary - < summary.txt
  recalld compact --transcript conversation.txt --keep-turns 5`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if r.Summary == "-" && transcript == "-" {
				return memory.Invalid("transcript", "one of --summary - and --transcript -", "both are to come from standard input")
			}
			// A transcript is a file, because it is long; a summary is typed, or piped in.
			for _, t := range []struct {
				field, file string
				to          *string
			}{{"summary", onlyDash(r.Summary), &r.Summary}, {"transcript", transcript, &r.Transcript}} {
				if t.file == "" {
					continue
				}
				text, err := a.readInput(t.field, t.file)
				if err != nil {
					return err
				}
				*t.to = string(text)
			}
			if err := counted(c, "keep-turns", "keepTurns", r.KeepTurns, maxKeepTurns); err != nil {
				return err
			}
			if err := a.which(c, &r.SessionRef); err != nil {
				return err
			}
			compacted, err := call(c, a, &r, service.Compact)
			if err != nil {
				return err
			}
			compacted.ActiveTools = orEmpty(compacted.ActiveTools)
			return a.recorded(compacted, a.json || compacted.Model != "", func(w io.Writer) { writeCompacted(w, compacted) })
		},
	}
	flags := c.Flags()
	flags.StringVar(&r.Summary, "summary", "", "what was done, or - for standard input")
	flags.StringVar(&transcript, "transcript", "", "file of the conversation, or -, for a chat model to sum up")
	flags.IntVar(&r.KeepTurns, "keep-turns", 0, fmt.Sprintf("recent turns that the host is to keep, 1–%d (default %d)", maxKeepTurns, memory.DefaultKeepTurns))
	a.whichFlags(c, &r.SessionRef)
	return c
}

// maxKeepTurns is the limit of memory.CompactRequest.
const maxKeepTurns = 100

// onlyDash returns "-" for "-": any other text is the summary itself.
func onlyDash(text string) string {
	if text == "-" {
		return text
	}
	return ""
}

// writeCompacted says what is gone. A summary is shown only if a model wrote it: the
// caller knows its own.
func writeCompacted(w io.Writer, k *memory.Compacted) {
	fmt.Fprintf(w, "Session %s starts anew, version %d: %s and %s cleared, keep the last %s\n", k.SessionID, k.Version,
		memory.Count(k.ClearedTools, "tool"), countOf(k.ClearedEntities, "entity", "entities"), memory.Count(k.KeepTurns, "turn"))
	if len(k.ActiveTools) > 0 {
		fmt.Fprintf(w, "Active: %s\n", toolList(k.ActiveTools))
	}
	if k.Model != "" {
		fmt.Fprintf(w, "\nSummary by %s:\n", k.Model)
		writeLines(w, "  ", k.Summary)
	}
	writeNotes(w, k.Redacted, "", "", "")
}
