package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// recallFlags are the flags of recall. Those whose zero means something else
// than "not given" have a flag that says whether they were.
type recallFlags struct {
	narrowFlags
	kinds                              []string
	project, repo, format              string
	lang, path, since                  string
	limit, maxTokens                   int
	minRelevance                       float64
	explain, ids                       bool
	limitSet, maxTokensSet, minimumSet bool
}

// recallCommand asks a question. It prints the daemon's own text, so that people
// and agents read the same.
func recallCommand(a *App) *cobra.Command {
	var f recallFlags
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
			f.limitSet, f.maxTokensSet = c.Flags().Changed("limit"), c.Flags().Changed("max-tokens")
			f.minimumSet = c.Flags().Changed("min-relevance")
			query := strings.Join(args, " ")
			if query == "-" {
				text, err := a.readInput("query")
				if err != nil {
					return err
				}
				// A log may hold bytes that are no text.
				query = strings.ReplaceAll(strings.ToValidUTF8(string(text), "\uFFFD"), "\x00", " ")
			}
			request, err := f.request(query, a.opts.Now())
			if err != nil {
				return err
			}
			request.Caller = a.caller()
			answer, err := ask(c.Context(), a, service.Recall, request)
			if err != nil {
				return err
			}
			// A text that is JSON says itself what it is.
			stored := len(answer.Items) > 0 && (a.json || request.Format != memory.FormatJSON)
			return a.recorded(answer, stored, func(w io.Writer) {
				io.WriteString(w, a.answerText(&f, answer))
				if f.draws() {
					fmt.Fprintln(w)
					render.Explain(w, answer)
				}
				if f.ids && len(answer.Items) > 0 {
					fmt.Fprintln(w)
					render.List(w, idRows(answer.Items))
				}
			})
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.kinds, "kinds", nil, "kinds to look for (default lesson,step,chunk,task; blockers come with tasks)")
	a.projectFlag(c, &f.project)
	flags.StringVar(&f.repo, "repo", "", "only this repository's lessons")
	flags.IntVar(&f.limit, "limit", 0, fmt.Sprintf("most items, 1–%d (default %d)", memory.MaxLimit, memory.DefaultLimit))
	flags.IntVar(&f.maxTokens, "max-tokens", 0, fmt.Sprintf("most tokens, %d–%d (default %d)", memory.MinTokens, memory.MaxTokens, memory.DefaultTokens))
	flags.Float64Var(&f.minRelevance, "min-relevance", 0, "lowest relevance, 0–1 (default 0.75 for code, 0.5 for lessons and steps)")
	flags.StringVar(&f.format, "format", string(memory.FormatText), "text, json or markdown")
	flags.BoolVar(&f.ids, "ids", false, "print the ids below the answer, for forget")
	flags.BoolVar(&f.explain, "explain", false, "draw why each item ranks where it does, and what is near and not shown")
	flags.StringVar(&f.lang, "lang", "", "only code in this language")
	flags.StringVar(&f.path, "path", "", "only code under this path prefix or glob")
	flags.StringVar(&f.since, "since", "", "nothing older: "+sinceUsage)
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "kind" { // as it is said of one
			name = "kinds"
		}
		return pflag.NormalizedName(name)
	})
	a.scopeFlags(c, &f.narrowFlags, memory.ScopeAll)
	a.filterFlags(c, &f.narrowFlags)
	completeWords(c, "kinds", "lesson", "step", "chunk", "task", "reference", "rule", "tool")
	completeWords(c, "format", "text", "json", "markdown")
	return c
}

// idRows are the lines of the table of ids.
func idRows(items []memory.Item) [][]string {
	rows := [][]string{{"ID", "KIND", "TEXT"}}
	for _, i := range items {
		text := i.Text
		if i.Source.Path != "" {
			text = i.Source.Path
		}
		rows = append(rows, []string{i.ID, string(i.Kind), render.ShortLine(text, 60)})
	}
	return rows
}

// answerText is the text of an answer: for a person at a terminal with the relevance of
// every item, elsewhere the daemon's own.
func (a *App) answerText(f *recallFlags, answer *memory.RecallResponse) string {
	if width, _ := a.size(); width > 0 && f.format == string(memory.FormatText) {
		return render.ForPeople(answer, width)
	}
	text := strings.TrimRight(render.Bare(f.text(answer)), "\n") + "\n"
	if len(answer.Items) == 0 && f.format == string(memory.FormatText) {
		text = render.InCommands(text)
	}
	return text
}

// draws says that the explanation is drawn below the answer.
func (f *recallFlags) draws() bool { return f.explain && f.format == string(memory.FormatText) }

// text is the text of an answer, without the explanation if that is drawn.
func (f *recallFlags) text(answer *memory.RecallResponse) string {
	if !f.draws() {
		return answer.Text
	}
	plain := *answer
	render.Answer(&plain, memory.RecallRequest{Format: memory.FormatText, MaxTokens: memory.MaxTokens})
	return plain.Text
}

// request turns flags into a question. A zero that was spelled out is refused
// here, because the service takes it for the default.
func (f *recallFlags) request(query string, now time.Time) (memory.RecallRequest, error) {
	r := memory.RecallRequest{
		Query: query, Project: f.project, Repo: f.repo,
		Format: memory.Format(f.format), Explain: f.explain,
	}
	for _, kind := range f.kinds {
		r.Kinds = append(r.Kinds, memory.Kind(kind))
	}
	if f.limitSet {
		r.Limit = f.limit
	}
	if f.maxTokensSet {
		r.MaxTokens = f.maxTokens
	}
	if f.limitSet && f.limit == 0 {
		return r, memory.Invalid("limit", fmt.Sprintf("1–%d", memory.MaxLimit), "0 is out of range")
	}
	if f.maxTokensSet && f.maxTokens == 0 {
		return r, memory.Invalid("max_tokens", fmt.Sprintf("%d–%d", memory.MinTokens, memory.MaxTokens), "0 is out of range")
	}
	if f.minimumSet {
		r.MinRelevance = &f.minRelevance
	}
	var err error
	if r.Scope, err = f.chosenScope(); err != nil {
		return r, err
	}
	filters := memory.Filters{Lang: f.lang, Path: f.path}
	chosen, err := f.filters()
	if err != nil {
		return r, err
	}
	if chosen != nil { // what was not given is empty here
		filters.FlowTag, filters.Tag, filters.Screen = f.flowTag, f.tag, f.screen
		filters.GitBranch, filters.SinceHours = f.branch, f.sinceHours
	}
	if filters.Since, err = parseSince("filters.since", f.since, now); err != nil {
		return r, err
	}
	if filters != (memory.Filters{}) {
		r.Filters = &filters
	}
	return r, nil
}
