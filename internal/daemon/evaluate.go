package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/eval"
	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/models"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/worker"
)

// The retrievers that can be evaluated.
const (
	EvalLexical = "lexical"
	EvalVector  = "vector"
	EvalHybrid  = "hybrid"
)

// evalBuiltin names the built-in model among embedders.
const evalBuiltin = "builtin"

// EvaluationOptions say which part of the read path is evaluated.
type EvaluationOptions struct {
	// Config holds the settings of recall and of the Ollama server.
	Config config.Config
	// Retriever is EvalLexical, EvalVector or EvalHybrid, which is all of them
	// fused as recall does it.
	Retriever string
	// Embedder is "builtin" or the name of a model on the Ollama server, with
	// or without "ollama/" before it. A vector run uses that model alone; a
	// hybrid run of an Ollama model has the built-in one beside it, as recall
	// has.
	Embedder string
	// Depth is how many documents are wanted of a question.
	Depth int
}

// Validate fills in the default embedder. It returns CodeInvalidInput for a
// value out of its range.
func (o *EvaluationOptions) Validate() error {
	if !slices.Contains([]string{EvalLexical, EvalVector, EvalHybrid}, o.Retriever) {
		return memory.Invalid("retriever", "lexical, vector or hybrid", "unknown retriever %q", o.Retriever)
	}
	if o.Embedder == "" {
		o.Embedder = evalBuiltin
	}
	if o.Depth < 1 || o.Depth > eval.MaxDepth {
		return memory.Invalid("depth", fmt.Sprintf("1–%d", eval.MaxDepth), "%d is out of range", o.Depth)
	}
	return nil
}

// Evaluation is both paths over a store in a temporary folder.
type Evaluation struct {
	core   *Core
	recall *recall.Service
	dir    string
	model  io.Closer // the Ollama embedder; nil if none
	// background is the name of the model that embeds after the write; empty if
	// none does.
	background string
	embedded   func(n int) // called by counted; only Settle embeds
	hits       int
	names      map[string]string // of references, by the id of their record
}

var _ eval.Engine = (*Evaluation)(nil)

// partsPerDocument is how many hits are asked for each document wanted: those
// of a long document's other parts take places.
const partsPerDocument = 4

// OpenEvaluation opens an empty store in a folder of its own, which Close
// removes. It returns CodeInvalidInput for an option out of its range, and
// CodeUnavailable, CodeNotFound or CodeForbidden for an embedder that cannot be
// used.
func OpenEvaluation(ctx context.Context, opts EvaluationOptions) (*Evaluation, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	e := &Evaluation{hits: partsPerDocument * opts.Depth, names: map[string]string{}, embedded: func(int) {}}
	if err := e.open(ctx, opts); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *Evaluation) open(ctx context.Context, opts EvaluationOptions) error {
	background, wanted := map[string]embedder.Embedder{}, "vector/"+builtin.Name
	if opts.Embedder != evalBuiltin && opts.Retriever != EvalLexical {
		cfg := opts.Config.Embedding.Ollama
		cfg.Model = strings.TrimPrefix(opts.Embedder, "ollama/")
		m, err := models.NewOllama(ollamaOptions(cfg), false, slog.New(slog.DiscardHandler))
		if err != nil {
			return fmt.Errorf("open model %s: %w", opts.Embedder, models.Unavailable(err, opts.Config.Embedding.Ollama.URL))
		}
		e.model, e.background = m, m.Name()
		background[e.background] = counted{m.Embedder(), e}
		wanted = "vector/" + e.background
	}
	var err error
	if e.dir, err = os.MkdirTemp("", "recalld-eval-"); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	if e.core, err = OpenCore(ctx, CoreOptions{Dir: filepath.Join(e.dir, "store"), NoSync: true, Config: opts.Config, Background: background}); err != nil {
		return err
	}
	if err := e.core.Load(ctx); err != nil {
		return err
	}
	if e.background != "" {
		if _, err := e.core.Indexer.Attach(ctx, e.background); err != nil {
			return fmt.Errorf("reach model %s: %w", opts.Embedder, models.Unavailable(err, opts.Config.Embedding.Ollama.URL))
		}
	}
	settings := recallSettings(opts.Config.Recall)
	settings.Depth = e.hits
	settings.Deadline = time.Minute // quality is measured here, not speed
	if opts.Retriever == EvalVector {
		settings.VectorWeight = 1 // alone, whatever its weight is beside words
	}
	e.recall, err = recall.New(recall.Options{
		Corpus: part{e.core.Indexer, opts.Retriever, wanted}, Sessions: e.core.Indexer, Projects: e.core.Projects, Verifier: e.core.Verifier,
		Ledger: e.core.Store, Analyze: func(text string) index.Terms { return lexical.Analyze(text) }, Settings: &settings,
	})
	return err
}

// part is a corpus of which only some retrievers answer.
type part struct {
	*indexer.Indexer
	retriever string
	vectors   string // the retriever that a vector run is of
}

// Sources leaves out the retrievers that are not evaluated.
func (p part) Sources() []index.Source {
	return slices.DeleteFunc(p.Indexer.Sources(), func(s index.Source) bool {
		switch p.retriever {
		case EvalLexical:
			return s.Name != lexical.Name
		case EvalVector:
			return s.Name != p.vectors
		}
		return false
	})
}

// counted tells the evaluation how many texts were embedded.
type counted struct {
	embedder.Embedder
	e *Evaluation
}

func (c counted) Embed(ctx context.Context, purpose embedder.Purpose, texts []string) ([][]float32, error) {
	vectors, err := c.Embedder.Embed(ctx, purpose, texts)
	if purpose == embedder.Document {
		c.e.embedded(len(texts))
	}
	return vectors, err
}

// PutReferences implements eval.Engine.
func (e *Evaluation) PutReferences(ctx context.Context, p memory.Project, docs []memory.ReferenceDoc) error {
	return e.core.Ingest.PutReferences(ctx, p, docs)
}

// Settle implements eval.Engine.
func (e *Evaluation) Settle(ctx context.Context, done func(n int)) error {
	if e.background == "" {
		return nil
	}
	e.embedded = done
	defer func() { e.embedded = func(int) {} }()
	for _, job := range e.core.Indexer.BackfillJobs() {
		if err := e.core.Indexer.Embed(ctx, worker.Job{Kind: job.Kind, Payload: job.Payload}); err != nil {
			return err
		}
	}
	return nil
}

// Rank implements eval.Engine. It must not be called from several goroutines.
func (e *Evaluation) Rank(ctx context.Context, project, query string) ([]eval.Hit, []memory.Degraded, error) {
	sel := memory.Selection{Project: project, Kinds: []memory.Kind{memory.Reference}}
	ranked, degraded := e.recall.Rank(ctx, query, sel, e.hits)
	hits := make([]eval.Hit, len(ranked))
	for i, r := range ranked {
		name, err := e.name(r.ID)
		if err != nil {
			return nil, nil, fmt.Errorf("read reference: %w", err)
		}
		hits[i] = eval.Hit{Document: name, Score: r.Score}
	}
	return hits, degraded, nil
}

// name returns the name of a reference. Names are kept: most references are
// found more than once.
func (e *Evaluation) name(record string) (string, error) {
	if name, ok := e.names[record]; ok {
		return name, nil
	}
	r, err := e.core.Store.Record(record)
	if err != nil {
		return "", err
	}
	if r.Reference == nil {
		return "", memory.Errorf(memory.CodeInternal, "record %s is not a reference", record)
	}
	e.names[record] = r.Reference.Name
	return r.Reference.Name, nil
}

// Close closes and removes the store.
func (e *Evaluation) Close() error {
	var errs []error
	if e.core != nil {
		errs = append(errs, e.core.Close())
	}
	if e.model != nil {
		errs = append(errs, e.model.Close())
	}
	if e.dir != "" {
		errs = append(errs, os.RemoveAll(e.dir))
	}
	return errors.Join(errs...)
}
