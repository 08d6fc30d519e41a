package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// recallCommand asks a question. It prints the daemon's own text, so that people
// and agents read the same.
func recallCommand(a *App) *cobra.Command {
	r := memory.RecallRequest{Format: memory.FormatText}
	var n narrowFlags
	var filters memory.Filters
	var kinds []string
	var since string
	var minRelevance float64
	var ids bool
	c := &cobra.Command{
		Use:   "recall QUERY...",
		Short: "Ask for lessons, steps and code",
		Long: `Search the memory of a project by words and by meaning. The default project is the
working folder's. If nothing is relevant, recall says so and exits with 0. With -, read
the question from standard input: a log or the output of a test may be long.`,
		Example: `  recalld recall "npm EACCES"
  recalld recall --kinds chunk --lang go where are retries scheduled
  recalld recall --tag ci --since 2026-01-01 --limit 10 flaky tests
  go test ./... 2>&1 | recalld recall -
  recalld recall --kinds step --flow-tag send --branch main confirm button`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r.Query = strings.Join(args, " ")
			if r.Query == "-" {
				text, err := a.readInput("query")
				if err != nil {
					return err
				}
				// A log may hold bytes that are no text.
				r.Query = strings.ReplaceAll(strings.ToValidUTF8(string(text), "\uFFFD"), "\x00", " ")
			}
			for _, kind := range kinds {
				r.Kinds = append(r.Kinds, memory.Kind(kind))
			}
			r.MinRelevance = given(c, "min-relevance", minRelevance)
			var err error
			if r.Scope, _, err = n.narrow(); err != nil {
				return err
			}
			filters.FlowTag, filters.Tag, filters.Screen, filters.GitBranch, filters.SinceHours = n.flowTag, n.tag, n.screen, n.branch, n.sinceHours
			if filters.Since, err = parseSince("filters.since", since, a.opts.Now()); err != nil {
				return err
			}
			if filters != (memory.Filters{}) {
				r.Filters = &filters
			}
			answer, err := ask(c.Context(), a, service.Recall, r)
			if err != nil {
				return err
			}
			// A text that is JSON says itself what it is.
			titles := slices.ContainsFunc(answer.Withheld, func(w memory.Withheld) bool { return w.Title != "" })
			stored := (len(answer.Items) > 0 || titles) && (a.json || r.Format != memory.FormatJSON)
			text, below := a.answerText(r, answer)
			return a.recordedAbove(answer, stored, below, func(w io.Writer) {
				io.WriteString(w, text)
				if r.Explain && r.Format == memory.FormatText {
					fmt.Fprintln(w)
					render.Explain(w, answer)
				}
				if ids && len(answer.Items) > 0 {
					fmt.Fprintln(w)
					render.List(w, idRows(answer.Items))
				}
			})
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&kinds, "kinds", nil, "kinds to look for (default lesson,step,chunk,task; blockers come with tasks)")
	a.projectFlag(c, &r.Project)
	flags.StringVar(&r.Repo, "repo", "", "only this repository's lessons")
	countFlag(c, &r.Limit, "limit", "most items", 1, memory.MaxLimit, memory.DefaultLimit)
	countFlag(c, &r.MaxTokens, "max_tokens", "most tokens", memory.MinTokens, memory.MaxTokens, memory.DefaultTokens)
	flags.Float64Var(&minRelevance, "min-relevance", 0, "lowest relevance, 0–1 (default 0.75 for code, 0.5 for lessons and steps)")
	flags.StringVar((*string)(&r.Format), "format", string(memory.FormatText), "text, json or markdown")
	flags.BoolVar(&ids, "ids", false, "print the ids below the answer, for forget")
	flags.BoolVar(&r.Explain, "explain", false, "draw why each item ranks where it does, and what is near and not shown")
	flags.StringVar(&filters.Lang, "lang", "", "only code in this language")
	flags.StringVar(&filters.Path, "path", "", "only code under this path prefix or glob")
	flags.StringVar(&since, "since", "", "nothing older: "+sinceUsage)
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "kind" { // as it is said of one
			name = "kinds"
		}
		return pflag.NormalizedName(name)
	})
	a.scopeFlags(c, &n, memory.ScopeAll)
	a.filterFlags(c, &n)
	completeWords(c, "kinds", "lesson", "step", "chunk", "task", "reference", "rule", "tool")
	completeWords(c, "format", "text", "json", "markdown")
	return c
}

// idRows are the lines of the table of ids.
func idRows(items []memory.Item) [][]string {
	rows := [][]string{{"ID", "KIND", "TEXT"}}
	for _, i := range items {
		rows = append(rows, []string{i.ID, string(i.Kind), render.ShortLine(cmp.Or(i.Source.Path, i.Text), 60)})
	}
	return rows
}

// answerText is the text of an answer: for a person at a terminal with the relevance of
// every item, elsewhere the daemon's own, without the explanation if that is drawn; below is
// what stands outside of its frame.
func (a *App) answerText(r memory.RecallRequest, answer *memory.RecallResponse) (text, below string) {
	plain := r.Format == memory.FormatText
	if width, _ := a.size(); width > 0 && plain {
		return render.ForPeople(answer, width), ""
	}
	if r.Explain && plain {
		own := *answer
		render.Answer(&own, memory.RecallRequest{Format: memory.FormatText, MaxTokens: memory.MaxTokens})
		answer = &own
	}
	text, below = render.SplitFence(answer.Text)
	text = strings.TrimRight(text, "\n") + "\n"
	if len(answer.Items) == 0 && plain {
		text = render.InCommands(text)
	}
	return text, below
}
