package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/eval"
	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/models"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/source/code"
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

// maxEvaluated is the size of the largest file of code in a set, in bytes.
const maxEvaluated = 16 << 20

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
	core *Core
	// recall ranks, and answers with the settings in force.
	recall, answers *recall.Service
	dir             string
	model           io.Closer // the Ollama embedder; nil if none
	// background is the name of the model that embeds after the write; empty if
	// none does.
	background string
	embedded   func(n int) // called by counted; only Settle embeds
	hits       int
	names      map[string][]string // of documents, by the id of their record or chunk
	records    map[string]string   // ids of lessons and steps, by project and name
	sandbox    memory.Sandbox      // of the code, if there is any
	codeRules  code.Options
	dropped    map[string]bool // files that Remove removed, by path
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
	e := &Evaluation{hits: partsPerDocument * opts.Depth, names: map[string][]string{}, records: map[string]string{}, dropped: map[string]bool{}, embedded: func(int) {}}
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
	core := CoreOptions{Dir: filepath.Join(e.dir, "store"), NoSync: true, Config: opts.Config, Background: background}
	if e.core, err = OpenCore(ctx, core); err != nil {
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
	e.codeRules = codeOptions(opts.Config.Index)
	e.codeRules.Workers, e.codeRules.Git = runtime.GOMAXPROCS(0), "none" // the folder of a set is no repository
	options := e.core.recallOptions(core)
	options.Corpus = part{e.core.Indexer, opts.Retriever, wanted}
	settings := *options.Settings
	settings.Deadline, settings.CodeDeadline = time.Minute, recall.MaxCodeDeadline // quality is measured here, not speed
	if opts.Retriever == EvalVector {
		settings.VectorWeight = 1 // alone, whatever its weight is beside words
	}
	options.Settings = &settings
	if e.answers, err = recall.New(options); err != nil {
		return err
	}
	ranks := settings
	ranks.Depth = e.hits
	options.Settings = &ranks
	e.recall, err = recall.New(options)
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

// Put implements eval.Engine.
func (e *Evaluation) Put(ctx context.Context, p memory.Project, docs []eval.Document) error {
	var references []memory.ReferenceDoc
	if _, err := e.core.Store.Commit(ctx, memory.Batch{Projects: []memory.Project{p}}); err != nil {
		return err
	}
	for _, d := range docs {
		var err error
		switch d.Kind {
		case memory.Lesson:
			err = e.remember(ctx, p, d)
		case memory.Step:
			err = e.recordStep(ctx, p, d)
		case memory.Chunk:
			err = e.findChunk(ctx, p, d)
		default:
			references = append(references, memory.ReferenceDoc{Name: d.ID, Title: d.Title, Text: d.Text})
		}
		if err != nil {
			return fmt.Errorf("document %q: %w", d.ID, err)
		}
	}
	return e.core.Ingest.PutReferences(ctx, p, references)
}

// remember writes a lesson. What follows the first line of its text is its command.
func (e *Evaluation) remember(ctx context.Context, p memory.Project, d eval.Document) error {
	lesson, command, _ := strings.Cut(d.Text, "\n")
	r, err := e.core.Ingest.Remember(ctx, memory.RememberRequest{
		Project: p.ID, Type: d.Metadata.Type, Context: d.Title, Lesson: lesson, Command: command,
		Tags: d.Metadata.Tags, SuccessRate: d.Metadata.SuccessRate,
	})
	if err == nil {
		e.written(p, d, r.ID)
	}
	return err
}

// recordStep writes a step of a session, which the first one opens.
func (e *Evaluation) recordStep(ctx context.Context, p memory.Project, d eval.Document) error {
	req := memory.RecordStepRequest{Project: p.ID, SessionID: d.Session, Open: true, Tool: memory.StepTool{Name: d.Tool}}
	req.Tool.Target, _ = json.Marshal(d.Target)
	if req.Outcome.OK = !d.Failed; d.Failed {
		req.Outcome.Error = &memory.StepError{Message: d.Text}
	} else {
		req.Observation, _ = json.Marshal(d.Text)
	}
	r, err := e.core.Ingest.RecordStep(ctx, req)
	if err == nil {
		e.written(p, d, r.ID)
	}
	return err
}

func (e *Evaluation) written(p memory.Project, d eval.Document, id string) {
	e.names[id] = append(e.names[id], d.ID)
	e.records[p.ID+"\n"+d.ID] = id
}

// findChunk finds the chunk that holds the line of a document.
func (e *Evaluation) findChunk(ctx context.Context, p memory.Project, d eval.Document) error {
	wrong := func(format string, args ...any) error {
		return &eval.InputError{File: filepath.Join(e.sandbox.Root, d.Path), Reason: fmt.Sprintf(format, args...)}
	}
	if e.sandbox.Root == "" {
		return wrong("the set has no folder code")
	}
	if e.dropped[d.Path] {
		delete(e.dropped, d.Path)
		if _, err := code.Index(ctx, e.sandbox, code.KnownFiles{}, []string{d.Path}, e.core.Ingest, e.codeRules); err != nil {
			return err
		}
	}
	text, err := fsx.ReadFile(filepath.Join(e.sandbox.Root, filepath.FromSlash(d.Path)), maxEvaluated)
	if err != nil {
		return wrong("cannot be read: %v", err)
	}
	before, after, found := strings.Cut(string(text), d.Text)
	if !found || strings.Contains(after, d.Text) {
		return wrong("does not hold %q once", d.Text)
	}
	sel := memory.Selection{Project: p.ID, Kinds: []memory.Kind{memory.Chunk}}
	chunks := e.core.Indexer.At(memory.CodeLocation{Path: d.Path, Line: strings.Count(before, "\n") + 1}, sel)
	if len(chunks) == 0 {
		return wrong("no chunk holds %q", d.Text)
	}
	at, err := e.core.Indexer.Location(chunks[0])
	if err != nil {
		return err
	}
	id := memory.ChunkID(at.Sandbox, at.Path, at.Chunk)
	if !slices.Contains(e.names[id], d.ID) {
		e.names[id] = append(e.names[id], d.ID)
	}
	return nil
}

// Code implements eval.Engine.
func (e *Evaluation) Code(ctx context.Context, p memory.Project, dir string) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	e.sandbox = memory.Sandbox{ID: "eval", Project: p.ID, Root: dir, RequestedAt: time.Now()}
	if err := e.core.Ingest.PutSandbox(ctx, p, e.sandbox); err != nil {
		return err
	}
	_, err = code.Index(ctx, e.sandbox, code.KnownFiles{}, nil, e.core.Ingest, e.codeRules)
	return err
}

// Remove implements eval.Engine.
func (e *Evaluation) Remove(ctx context.Context, p memory.Project, docs []eval.Document) error {
	var b memory.Batch
	for _, d := range docs {
		switch d.Kind {
		case memory.Chunk:
			if err := e.core.Ingest.DropFile(ctx, e.sandbox.ID, d.Path); err != nil {
				return err
			}
			e.dropped[d.Path] = true
		case memory.Reference:
			for part := 0; ; part++ {
				id := ingest.ReferenceID(p, d.ID, part)
				if _, err := e.core.Store.Record(id); memory.CodeOf(err) == memory.CodeNotFound {
					break
				} else if err != nil {
					return err
				}
				b.DropRecords = append(b.DropRecords, id)
			}
		default:
			b.DropRecords = append(b.DropRecords, e.records[p.ID+"\n"+d.ID])
		}
	}
	_, err := e.core.Store.Commit(ctx, b)
	return err
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
func (e *Evaluation) Rank(ctx context.Context, project string, kinds []memory.Kind, query string) ([]eval.Hit, []memory.Degraded, error) {
	ranked, degraded := e.recall.Rank(ctx, query, memory.Selection{Project: project, Kinds: kinds}, e.hits)
	hits := make([]eval.Hit, 0, len(ranked))
	for _, r := range ranked {
		names, err := e.documents(r.ID)
		if err != nil {
			return nil, nil, err
		}
		for _, name := range names {
			hits = append(hits, eval.Hit{Document: name, Score: r.Score})
		}
	}
	return hits, degraded, nil
}

// Answer implements eval.Engine.
func (e *Evaluation) Answer(ctx context.Context, project string, kinds []memory.Kind, query string) (eval.Answer, error) {
	a, _, err := e.answers.Ask(ctx, memory.RecallRequest{Query: query, Kinds: kinds, Project: project}, recall.AskOptions{})
	if err != nil {
		return eval.Answer{}, err
	}
	out := eval.Answer{Tokens: a.Tokens}
	for _, item := range a.Items {
		names, err := e.documents(item.ID)
		if err != nil {
			return out, err
		}
		out.Items = append(out.Items, eval.Shown{Documents: names, Line: item.Strength == memory.Maybe})
	}
	return out, nil
}

// documents returns the names of the documents of a record or chunk: of code that is no
// document its id. Names are kept: most references are found more than once.
func (e *Evaluation) documents(id string) ([]string, error) {
	if names, ok := e.names[id]; ok {
		return names, nil
	}
	names := []string{id}
	if !strings.HasPrefix(id, "c-") {
		r, err := e.core.Store.Record(id)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", id, err)
		}
		if r.Reference != nil {
			names[0] = r.Reference.Name
		}
	}
	e.names[id] = names
	return names, nil
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
