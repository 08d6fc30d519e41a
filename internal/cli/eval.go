package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/daemon"
	"github.com/recalld/recalld/internal/eval"
	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// evalResult is what eval answers of one set.
type evalResult struct {
	*eval.Report
	Retriever string `json:"retriever"`
	Embedder  string `json:"embedder,omitempty"`
	Out       string `json:"out,omitempty"`
	// Seconds is how long all of it took.
	Seconds float64 `json:"seconds"`
}

// evalResults is what eval answers of several sets.
type evalResults struct {
	Sets []*evalResult `json:"sets"`
	// Macro are the means over the sets. Its number of queries is that of all sets.
	Macro eval.Metrics `json:"macro"`
}

// evalOptions are what the flags of eval say.
type evalOptions struct {
	sets  []string
	out   string
	split string
	run   eval.Options
	daemon.EvaluationOptions
}

// evalCommand measures retrieval on sets of the user's. It needs no daemon: each
// set has a store of its own, which is gone afterwards.
func evalCommand(a *App) *cobra.Command {
	var opts evalOptions
	c := &cobra.Command{
		Use:   "eval --set DIR…",
		Short: "Measure retrieval on sets of documents and questions",
		Long: `Measure how well the documents of sets are found. A set is a folder with

  corpus.jsonl      {"id", "title"?, "text", "group"?, "kind"?} a line
  queries.jsonl     {"id", "text", "group"?, "kind"?, "split"?} a line
  qrels.tsv         question, document and grade, with tabs between them
  unanswered.jsonl  further questions, which no document answers, if there are any
  code/             code to index and to ask for, or a link to its folder, if there is any

each file plain or with .gz. A document is a reference, or by its kind

  lesson  title is its context, the second line of text its command
  step    with session, tool, target and failed; text is what was seen, or the error
  chunk   what is indexed of the line of path, a file below code, that has text

The documents go through the write path into a store of their own, the questions
through the read path without thresholds, gates and budget. A question with a group
is asked over the documents of that group. Recall at 5 and 10, MRR at 10 and nDCG at
10 are printed. --out receives lines of question, document and score.

With --answers the questions are also asked as agents ask, with the settings in
force. It counts whether a right document was shown in full, as a line, not at all
although it is among the first ten (not shown), or neither (not found); and what is
shown for questions that no document answers.`,
		Example: "  recalld eval --set sets/mine --out mine.tsv\n  recalld eval --set sets/mine --set sets/other --answers\n  recalld eval --set sets/mine --retriever vector --embedder nomic-embed-text --out mine.tsv",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			results, err := a.eval(c.Context(), opts)
			if err != nil {
				return err
			}
			if len(results) == 1 {
				return a.answer(results[0], func(w io.Writer) { writeEval(w, results) })
			}
			return a.answer(evalResults{results, macro(results)}, func(w io.Writer) { writeEval(w, results) })
		},
	}
	c.Flags().StringArrayVar(&opts.sets, "set", nil, "folder of a set; can be repeated")
	c.Flags().StringVar(&opts.Retriever, "retriever", daemon.EvalHybrid, "lexical, vector or hybrid")
	c.Flags().StringVar(&opts.Embedder, "embedder", "builtin", "builtin, or a model on the Ollama server")
	c.Flags().IntVar(&opts.Depth, "depth", 100, "documents kept of each question")
	c.Flags().BoolVar(&opts.run.Answers, "answers", false, "count what answers show, too")
	c.Flags().BoolVar(&opts.run.Removed, "without-answers", false, "ask each question again with its right documents removed; implies --answers")
	c.Flags().StringVar(&opts.split, "split", "", "only questions of this split")
	c.Flags().StringVar(&opts.out, "out", "", "file that receives the run; of several sets, a folder for SET.tsv of each")
	must(c.MarkFlagDirname("set"))
	completeWords(c, "retriever", daemon.EvalLexical, daemon.EvalVector, daemon.EvalHybrid)
	return c
}

func (a *App) eval(ctx context.Context, opts evalOptions) (results []*evalResult, err error) {
	// What was asked for is looked at before anything is read or written.
	if len(opts.sets) == 0 {
		return nil, memory.Invalid("--set", "", "is required")
	}
	if opts.Config, err = a.Config(); err != nil {
		return nil, err
	}
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if opts.out != "" {
		folder := filepath.Dir(a.absolute(opts.out))
		if len(opts.sets) > 1 {
			folder = a.absolute(opts.out)
		}
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return nil, memory.Invalid("--out", "a file in a folder that exists; of several sets, a folder", "there is no folder %s", folder)
		}
	}
	opts.run.Depth, opts.run.Answers = opts.Depth, opts.run.Answers || opts.run.Removed
	var sets []*eval.Set
	outs := map[string]bool{}
	for _, dir := range opts.sets {
		set, err := eval.OpenSet(a.absolute(dir))
		if err == nil && opts.split != "" {
			err = set.Keep(opts.split)
		}
		if err != nil {
			return nil, inputError(err)
		}
		if outs[set.Name] {
			return nil, memory.Invalid("--set", "folders of different names", "two sets are called %s", set.Name)
		}
		outs[set.Name] = true
		sets = append(sets, set)
	}
	for _, set := range sets {
		out := opts.out
		if out != "" && len(sets) > 1 {
			out = filepath.Join(out, set.Name+".tsv")
		}
		result, err := a.evalSet(ctx, set, out, opts)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

// evalSet measures one set. out receives the run; empty for none.
func (a *App) evalSet(ctx context.Context, set *eval.Set, out string, opts evalOptions) (result *evalResult, err error) {
	start := a.opts.Now()
	engine, err := daemon.OpenEvaluation(ctx, opts.EvaluationOptions)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	progress := a.newProgress("done")
	defer progress.done()
	result = &evalResult{Retriever: opts.Retriever}
	if opts.Retriever != daemon.EvalLexical {
		result.Embedder = opts.Embedder
	}
	run := func(w io.Writer) error {
		opts.run.Out = w
		opts.run.Progress = func(phase string, done, total int) { progress.show(phase, int64(done), int64(total)) }
		result.Report, err = eval.Run(ctx, set, engine, opts.run)
		return inputError(err)
	}
	if out == "" {
		err = run(io.Discard)
	} else {
		result.Out = a.absolute(out)
		// The run is a file of the user's own, with the mode that others of theirs have.
		err = fsx.WriteFile(result.Out, 0o666, run)
	}
	result.Seconds = a.opts.Now().Sub(start).Round(time.Millisecond).Seconds()
	return result, err
}

// inputError has a line that cannot be used count as wrong input.
func inputError(err error) error {
	if bad, ok := errors.AsType[*eval.InputError](err); ok {
		return &memory.Error{Code: memory.CodeInvalidInput, Message: bad.Error(), Hint: "run 'recalld eval --help' to see what a set looks like", Cause: err}
	}
	return err
}

// macro is the mean over sets.
func macro(results []*evalResult) (m eval.Metrics) {
	for _, r := range results {
		m.Queries += r.Queries
		m.R5, m.R10, m.MRR10, m.NDCG10 = m.R5+r.R5, m.R10+r.R10, m.MRR10+r.MRR10, m.NDCG10+r.NDCG10
	}
	n := float64(len(results))
	m.R5, m.R10, m.MRR10, m.NDCG10 = m.R5/n, m.R10/n, m.MRR10/n, m.NDCG10/n
	return m
}

func writeEval(w io.Writer, results []*evalResult) {
	figure := func(x float64) string { return fmt.Sprintf("%.4f", x) }
	figures := func(m eval.Metrics) []string {
		return []string{fmt.Sprint(m.Queries), figure(m.R5), figure(m.R10), figure(m.MRR10), figure(m.NDCG10)}
	}
	rows := [][]string{{"SET", "RETRIEVER", "DOCUMENTS", "QUESTIONS", "R@5", "R@10", "MRR@10", "nDCG@10"}}
	for _, r := range results {
		by := r.Retriever
		if r.Embedder != "" {
			by += " (" + r.Embedder + ")"
		}
		rows = append(rows, append([]string{r.Set, by, fmt.Sprint(r.Documents)}, figures(r.Metrics)...))
	}
	if len(results) > 1 {
		rows = append(rows, append([]string{"macro", "", ""}, figures(macro(results))...))
	}
	render.Table(w, rows)
	writeAnswers(w, results)
	for _, r := range results {
		if r.Unjudged > 0 {
			fmt.Fprintf(w, "%s: %d questions are not judged and not in the means.\n", r.Set, r.Unjudged)
		}
		for _, reason := range slices.Sorted(maps.Keys(r.Degraded)) {
			fmt.Fprintf(w, "%s: degraded: %s (%d questions)\n", r.Set, reason, r.Degraded[reason])
		}
		if r.Out != "" {
			fmt.Fprintf(w, "Run: %s, %.1f s\n", r.Out, r.Seconds)
		}
	}
}

// writeAnswers writes what answers show: of questions with an answer, then of those without.
func writeAnswers(w io.Writer, results []*evalResult) {
	answerable := [][]string{{"ANSWERABLE", "WHICH", "QUESTIONS", "IN FULL", "A LINE", "NOT SHOWN", "NOT FOUND", "TOKENS"}}
	unanswerable := [][]string{{"UNANSWERABLE", "WHICH", "QUESTIONS", "SILENT", "LINES ONLY", "FULL TEXT", "TOKENS"}}
	for _, r := range results {
		for _, row := range r.Answers {
			of := cmp.Or(row.Split, string(row.Kind), "all")
			if c := row.Answerable; c.Questions > 0 {
				share := percent(c.Questions)
				answerable = append(answerable, []string{r.Set, of, fmt.Sprint(c.Questions), share(c.Full), share(c.Line), share(c.Ranked), share(c.Lost), fmt.Sprintf("%.0f", c.Tokens)})
			}
			for _, part := range []struct {
				mark string
				eval.Unanswerable
			}{{"", row.Unanswerable}, {", answers removed", row.Removed}} {
				if c := part.Unanswerable; c.Questions > 0 {
					share := percent(c.Questions)
					unanswerable = append(unanswerable, []string{r.Set, of + part.mark, fmt.Sprint(c.Questions), share(c.Silent), share(c.Lines), share(c.Full), fmt.Sprintf("%.0f", c.Tokens)})
				}
			}
		}
	}
	for _, table := range [][][]string{answerable, unanswerable} {
		if len(table) > 1 {
			fmt.Fprintln(w)
			render.Table(w, table)
		}
	}
}

// percent writes counts as shares of all.
func percent(all int) func(n int) string {
	return func(n int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(all)) }
}
