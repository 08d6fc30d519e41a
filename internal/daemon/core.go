package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/internal/agentctx"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/githistory"
	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/ledger"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/redact"
	"github.com/recalld/recalld/internal/source/code"
	"github.com/recalld/recalld/internal/source/lessonlog"
	"github.com/recalld/recalld/internal/store"
	"github.com/recalld/recalld/worker"
)

// CoreOptions configure a Core.
type CoreOptions struct {
	// Dir is the store's folder. Required.
	Dir string
	// ReadDamaged opens a store that has lost something; see store.Options.
	ReadDamaged bool
	// NoSync leaves out the sync of every commit, for a store that may be lost.
	NoSync bool
	// MemTableSize is as in store.Options.
	MemTableSize int64
	// Config holds the settings of the queue, of recall and of redaction.
	Config config.Config
	// Builtin embeds at ingest. Default builtin.New(). Where the store was written with
	// another, the jobs of indexer.EmbedBuiltinJob make up for it.
	Builtin embedder.Embedder
	// Background is the embedder of a model that is filled by jobs, by the
	// model's name, "ollama/nomic-embed-text"; none if empty.
	Background map[string]embedder.Embedder
	// Stale says whether the code of a project may lag behind the disk; see
	// recall.Options. Nil is what the answer itself has seen.
	Stale func(project string, seen bool) bool
	// Missing says why the full index has not all code of a project; see
	// recall.Options. Nil is that it has.
	Missing func(project string) string
	// AuditFile and Summarizer are as in agentctx.TaskOptions and agentctx.ContextOptions.
	AuditFile  agentctx.AuditFile
	Summarizer agentctx.Summarizer
	// KeepReceipts is how long receipts are kept. Default: the setting.
	KeepReceipts time.Duration
	// QueryDeadline is how long a vector retriever may take. Default: recall's.
	QueryDeadline time.Duration
	// Version is that of the program; saved indexes of another are not used.
	Version string
	// Committed gets the changes of each commit after the indexes have them; nil for nobody.
	Committed func([]memory.Change)
	// Logger receives what goes wrong inside; nil discards it.
	Logger *slog.Logger
}

// Core is the two paths over one store, without transports and without
// background work: what serve runs, and what eval and tests run bare.
type Core struct {
	Store   *store.Store
	Indexer *indexer.Indexer
	// Gate lets background work through while no query runs.
	Gate   *worker.Gate
	Ingest *ingest.Service
	Recall *recall.Service
	// History has the commits of indexed folders; nil if they are not read.
	History  *githistory.Folders
	Projects *project.Resolver
	// Recorder resolves projects for questions, and records what they reveal.
	Recorder *project.Recorder
	Verifier *code.Verifier
	// What contexts are made of; see contexts.
	Working   *agentctx.Tasks
	Catalogue *agentctx.Catalogue
	Session   *agentctx.Contexts
	Ledger    *ledger.Ledger
	// QuoteFilter knows what was handed out; see Daemon.Recall.
	QuoteFilter *ingest.QuoteFilter
}

// OpenCore opens the store and puts both paths over it. Writes work at once;
// until Load has returned, recall answers that it is loading. It returns the
// errors of store.Open, and CodeCorrupt for a damaged built-in model.
func OpenCore(ctx context.Context, opts CoreOptions) (*Core, error) {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Builtin == nil {
		opts.Builtin = builtin.New()
	}
	if opts.Committed == nil {
		opts.Committed = func([]memory.Change) {}
	}
	c := &Core{Verifier: code.NewVerifier(), QuoteFilter: ingest.NewQuoteFilter(), Gate: worker.NewGate()}
	var err error
	c.Indexer, err = indexer.New(indexer.Options{
		Builtin: opts.Builtin, ChunkText: c.Verifier.Document, NoFileNames: !opts.Config.Index.Light, Gate: c.Gate, Version: opts.Version, Logger: opts.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("make indexer: %w", err)
	}
	for name, e := range opts.Background {
		c.Indexer.Expect(name, e)
	}
	c.Store, err = store.Open(store.Options{
		Dir: opts.Dir, NoSync: opts.NoSync, MemTableSize: opts.MemTableSize, ReadDamaged: opts.ReadDamaged, Analyze: analyzeRecord, Logger: opts.Logger,
		Apply: func(changes []memory.Change) {
			c.Indexer.Apply(changes)
			opts.Committed(changes)
		},
		Follow: c.Indexer.Follow, Asked: c.Gate.Asked,
		KeepReceipts: cmp.Or(opts.KeepReceipts, time.Duration(opts.Config.Receipts.RetentionDays)*24*time.Hour),
		Queue:        worker.ScheduleOptions{Depth: opts.Config.Queue.Depth, Merge: mergePayloads},
	})
	if err != nil {
		return nil, err
	}
	// Before the first write, which may come before Load has opened the collections.
	own, err := opts.Builtin.Model(ctx)
	if err == nil {
		err = c.Store.OpenCollection(ctx, own.Collection(), nil)
	}
	if err != nil {
		return nil, errors.Join(builtinFailed(err), c.Store.Close())
	}
	if err := c.paths(ctx, opts); err != nil {
		return nil, errors.Join(err, c.Store.Close())
	}
	return c, nil
}

// builtinFailed is the error of a built-in model that cannot be used.
func builtinFailed(err error) error {
	err = fmt.Errorf("open built-in collection: %w", err)
	if !errors.Is(err, builtin.ErrDamaged) {
		return err
	}
	return &memory.Error{
		Code: memory.CodeCorrupt, Message: err.Error(), Cause: err,
		Hint: "install recalld again: its file is not as it was built. What is remembered is not touched",
	}
}

// paths makes the write path and the read path over the open store, and what contexts
// are made of over these.
func (c *Core) paths(ctx context.Context, opts CoreOptions) error {
	clean, cleanValue := redact.Redact, redact.Value
	if !opts.Config.Redact.Enabled {
		clean, cleanValue = nil, nil
	}
	c.Recorder = project.NewRecorder(c.Store, opts.Logger)
	c.Projects = c.Recorder.Resolver
	labels, err := ingest.NewLabels(labelRules(opts.Config.Sessions.Labels))
	if err != nil {
		return fmt.Errorf("make write path: %w", err)
	}
	c.Ingest, err = ingest.New(ctx, ingest.Options{
		Committer: c.Store, Projects: c.Projects, Sessions: c.Store, Records: c.Store,
		Analyze: indexer.Analyze, Embedder: opts.Builtin, Held: c.Indexer.Held, Redact: clean, RedactValue: cleanValue,
		Labels: labels, FlowTags: opts.Config.Sessions.FlowTags, Git: project.Head,
		LineHash: lessonlog.Hash, QuoteFilter: c.QuoteFilter, Gate: c.Gate,
		Anchors: func(ctx context.Context, q memory.AnchorQuery) ([]memory.Anchor, error) {
			return c.Recall.FindAnchors(ctx, q)
		},
	})
	if err != nil {
		return fmt.Errorf("make write path: %w", err)
	}
	if opts.Config.Index.History {
		c.History = githistory.New("git", opts.Logger)
	}
	if c.Recall, err = recall.New(c.recallOptions(opts)); err != nil {
		return fmt.Errorf("make read path: %w", err)
	}
	return c.contexts(opts)
}

// recallOptions are the options of the read path over the store.
func (c *Core) recallOptions(opts CoreOptions) recall.Options {
	settings := recallSettings(opts.Config.Recall)
	settings.Full = opts.Config.Index.Full
	settings.Deadline = cmp.Or(opts.QueryDeadline, settings.Deadline)
	var names recall.FileNames
	if opts.Config.Index.Light {
		names = c.Indexer
	}
	clean := redact.Redact
	if !opts.Config.Redact.Enabled {
		clean = nil
	}
	var commits recall.History
	if c.History != nil {
		commits = c.History
	}
	return recall.Options{
		History: commits, Embedder: opts.Builtin,
		Corpus: c.Indexer, Sessions: c.Indexer, Current: c.Store, Projects: c.Recorder, Verifier: c.Verifier, Ledger: c.Store,
		Analyze: lexical.Analyze,
		Content: lexical.Content,
		Names:   c.Projects.Names,
		Anchors: c.Verifier, Roots: c.roots, Relative: c.relative,
		Turn:     func(k memory.SessionKey) int { return c.Session.Turn(k) },
		ReadOnly: c.readOnly, Redact: clean, Stale: opts.Stale, FileNames: names, Missing: opts.Missing, Lost: c.Store.Damage, Settings: &settings, Logger: opts.Logger,
	}
}

// roots returns the folders in which code of a project is looked for: the one that
// contains dir if the project has it, else all that are known, the indexed ones first.
func (c *Core) roots(project, dir string) []string {
	var roots []string
	if boxes, err := c.Store.ProjectSandboxes(project); err == nil {
		for _, box := range boxes {
			if box.GoneAt.IsZero() {
				roots = append(roots, box.Root)
			}
		}
	}
	if known, err := c.Store.Projects(); err == nil {
		for _, p := range known {
			for _, root := range p.Roots {
				if p.ID == project && !slices.Contains(roots, root) {
					roots = append(roots, root)
				}
			}
		}
	}
	own := ""
	for _, root := range roots { // worktrees may lie in one another
		if len(root) > len(own) && strings.HasPrefix(dir+string(filepath.Separator), root+string(filepath.Separator)) {
			own = root
		}
	}
	if own == "" && filepath.IsAbs(dir) { // it may not be known yet, or be reached through a link
		if id, err := c.Projects.Locate(dir); err == nil && id.Project.ID == project {
			own = id.Root
		}
	}
	if own != "" {
		return []string{own}
	}
	return roots
}

// relative returns an absolute path, which may lead through links, from the top of the folder
// of a project that contains it: of the caller's, or of another, as of a second worktree.
func (c *Core) relative(project, dir, path string) (rel string, inside bool) {
	spellings := []string{path}
	if real, err := fsx.Canonical(path); err == nil {
		spellings = append(spellings, real)
	}
	roots := slices.Concat(c.roots(project, dir), c.roots(project, ""))
	for _, path := range spellings {
		for _, root := range roots {
			if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
				return filepath.ToSlash(rel), true
			}
		}
	}
	return "", false
}

// readOnly says why nothing can be stored for now.
func (c *Core) readOnly() string {
	if trouble := c.Store.Trouble(); trouble != nil {
		return memory.AsError(trouble).Message
	}
	return ""
}

// Load fills the indexes from the store; once it returns, recall finds all that
// was stored.
func (c *Core) Load(ctx context.Context) error { return c.Indexer.Load(ctx, c.Store) }

// diskGrace is how long Close waits for looks at a disk that hangs. They use nothing
// that is closed, so they may stay behind.
const diskGrace = time.Second

// Close ends what the indexes still ask of models and closes the store. Nothing
// may use the core any more.
func (c *Core) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), diskGrace)
	defer cancel()
	_ = c.Recall.Close(ctx) // what is late stays behind
	c.Recorder.Close()
	if c.History != nil {
		c.History.Close()
	}
	c.Indexer.Close()
	return c.Store.Close()
}

// labelRules are the rules of the file as the write path takes them.
func labelRules(rules []config.LabelRule) []ingest.LabelRule {
	out := make([]ingest.LabelRule, len(rules))
	for i, r := range rules {
		out[i] = ingest.LabelRule(r)
	}
	return out
}

// recallSettings are the settings of the file as recall takes them.
func recallSettings(c config.Recall) recall.Settings {
	s := recall.DefaultSettings()
	s.Limit, s.MaxTokens = c.Limit, c.MaxTokens
	s.Chunks, s.ChunkBytes = c.CodeResults, int(c.CodeSize)
	s.CodeDeadline = c.CodeDeadline
	for kind, threshold := range c.MinRelevance.Map() {
		s.MinRelevance[memory.Kind(kind)] = threshold
	}
	return s
}
