package cli

import (
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

// evalResult is what eval answers.
type evalResult struct {
	*eval.Report
	Retriever string `json:"retriever"`
	Embedder  string `json:"embedder,omitempty"`
	Out       string `json:"out,omitempty"`
	// Seconds is how long all of it took.
	Seconds float64 `json:"seconds"`
}

// evalCommand measures retrieval on a set of the user's. It needs no daemon: the
// set has a store of its own, which is gone afterwards.
func evalCommand(a *App) *cobra.Command {
	var set, out string
	var opts daemon.EvaluationOptions
	c := &cobra.Command{
		Use:   "eval --set DIR --out FILE",
		Short: "Measure retrieval on a set of documents and questions",
		Long: `Measure how well the documents of a set are found. A set is a folder with

  corpus.jsonl   {"id", "title"?, "text", "group"?} a line
  queries.jsonl  {"id", "text", "group"?} a line
  qrels.tsv      question, document and grade, with tabs between them

each plain or with .gz. The documents go through the write path into a store of
their own, the questions through the read path without thresholds, gates and budget.
A question with a group is asked over the documents of that group. FILE receives
lines of question, document and score; recall at 5 and 10, MRR at 10 and nDCG at
10 are printed.`,
		Example: "  recalld eval --set sets/mine --out mine.tsv\n  recalld eval --set sets/mine --retriever vector --embedder nomic-embed-text --out mine.tsv",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			result, err := a.eval(c.Context(), set, out, opts)
			if err != nil {
				return err
			}
			return a.answer(result, func(w io.Writer) { writeEval(w, result) })
		},
	}
	c.Flags().StringVar(&set, "set", "", "folder of the set")
	c.Flags().StringVar(&opts.Retriever, "retriever", daemon.EvalHybrid, "lexical, vector or hybrid")
	c.Flags().StringVar(&opts.Embedder, "embedder", "builtin", "builtin, or a model on the Ollama server")
	c.Flags().IntVar(&opts.Depth, "depth", 100, "documents kept of each question")
	c.Flags().StringVar(&out, "out", "", "file that receives the run")
	return c
}

func (a *App) eval(ctx context.Context, dir, out string, opts daemon.EvaluationOptions) (result *evalResult, err error) {
	start := a.opts.Now()
	// What was asked for is looked at before anything is read or written.
	for _, flag := range []struct{ name, value string }{{"--set", dir}, {"--out", out}} {
		if flag.value == "" {
			return nil, memory.Invalid(flag.name, "", "is required")
		}
	}
	out = a.absolute(out)
	if info, err := os.Stat(filepath.Dir(out)); err != nil || !info.IsDir() {
		return nil, memory.Invalid("--out", "a file in a folder that exists", "there is no folder %s", filepath.Dir(out))
	}
	if opts.Config, err = a.Config(); err != nil {
		return nil, err
	}
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	set, err := eval.OpenSet(a.absolute(dir))
	if err != nil {
		return nil, inputError(err)
	}
	engine, err := daemon.OpenEvaluation(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	progress := a.newProgress("done")
	result = &evalResult{Retriever: opts.Retriever, Out: out}
	if opts.Retriever != daemon.EvalLexical {
		result.Embedder = opts.Embedder
	}
	// The run is a file of the user's own, with the mode that others of theirs have.
	err = fsx.WriteFile(out, 0o666, func(w io.Writer) error {
		result.Report, err = eval.Run(ctx, set, engine, eval.Options{
			Depth: opts.Depth, Out: w,
			Progress: func(phase string, done, total int) { progress.show(phase, int64(done), int64(total)) },
		})
		return inputError(err)
	})
	progress.done()
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

func writeEval(w io.Writer, r *evalResult) {
	by := r.Retriever
	if r.Embedder != "" {
		by += " (" + r.Embedder + ")"
	}
	figure := func(x float64) string { return fmt.Sprintf("%.4f", x) }
	render.Table(w, [][]string{
		{"SET", "RETRIEVER", "DOCUMENTS", "QUESTIONS", "R@5", "R@10", "MRR@10", "nDCG@10"},
		{r.Set, by, fmt.Sprint(r.Documents), fmt.Sprint(r.Queries), figure(r.R5), figure(r.R10), figure(r.MRR10), figure(r.NDCG10)},
	})
	if r.Unjudged > 0 {
		fmt.Fprintf(w, "%d questions are not judged and not in the means.\n", r.Unjudged)
	}
	for _, reason := range slices.Sorted(maps.Keys(r.Degraded)) {
		fmt.Fprintf(w, "Degraded: %s (%d questions)\n", reason, r.Degraded[reason])
	}
	fmt.Fprintf(w, "Run: %s, %.1f s\n", r.Out, r.Seconds)
}
