// Package recall is the read path: it answers a question with a few verified,
// ranked and explained memories.
//
//	candidates → fuse → relevance floor → rank → gates and budget → receipt
//
// It also answers what sessions and steps there were, from a shelf of them.
//
// Vocabulary. A candidate is a document that a retriever found. Its relevance
// is how surely it has to do with the question, by words and vectors together and on
// a scale that means the same for every question (see Calibration); what lies below the floor of its kind
// is withheld. Its match is its fused score, 1 for the best candidate of the
// question: it orders what is relevant, times bounded factors; what tells of the
// very error that a question quotes comes before it, and so does code that was
// mentioned: asked for by a name that it declares or a place that it is at. A gate reads
// the text of code again and lets only that text through which is on disk now.
//
// Every stage but the gates is a pure function over hits, so that an answer can
// be explained and replayed.
package recall

import (
	"context"
	"log/slog"
	"path"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// Corpus is what is searched.
type Corpus interface {
	// Sources returns the retrievers, those that cannot take part included.
	Sources() []index.Source
	// Select turns a selection into the documents that may be returned and
	// those whose statistics count.
	Select(sel memory.Selection) (allow, universe *roaring.Bitmap)
	// Candidates returns what of a document a selection allows.
	Candidates(doc uint32, sel memory.Selection) []memory.Candidate
	// Seq is the number of the last change that is found.
	Seq() uint64
	// Record and Location read what a candidate names. CodeNotFound when it
	// was replaced meanwhile.
	Record(id string) (memory.Record, error)
	// IDs returns the ids of records that begin with a prefix, in order, at most some.
	IDs(prefix string, most int) []string
	// Selected says whether a selection allows a record.
	Selected(id string, sel memory.Selection) bool
	// Repo says whether a record, recalled or not, speaks of a repository of this name.
	// Repos returns the names of those that the records of a selection speak of.
	Repo(name string) bool
	Repos(sel memory.Selection) []string
	// ChunksByPrefix returns the code of a selection whose ids begin with a prefix. It reads
	// every file of the project.
	ChunksByPrefix(ctx context.Context, prefix string, sel memory.Selection) ([]memory.ChunkRef, error)
	Location(c memory.Candidate) (memory.Location, error)
	// Definitions returns the documents of a selection that declare a name; where
	// some are declared in what the name says, those alone.
	Definitions(name memory.Name, sel memory.Selection) []memory.Definition
	// At returns the chunks of a selection at a place, those of the file that fits
	// best first; without a line all of the file, in order.
	At(place memory.CodeLocation, sel memory.Selection) []memory.Candidate
}

// Projects finds the project that a caller means.
type Projects interface {
	// Resolve returns the project of an id, a name or a folder, or of the
	// caller's folder when none is named, and whether it is known already.
	Resolve(ctx context.Context, project string, caller memory.Caller) (p memory.Project, known bool, err error)
}

// Ledger keeps receipts.
type Ledger interface {
	EnqueueReceipt(memory.Receipt)
	Receipt(id string) (memory.Receipt, error)
}

// Options configure the read path. Corpus, Sessions, Projects, Verifier, Ledger and
// Analyze are required; the zero value of another field is its default.
type Options struct {
	Corpus   Corpus
	Sessions Sessions
	Projects Projects
	Verifier memory.Verifier
	Ledger   Ledger
	// Analyze turns text into terms as the lexical index does; it finds the
	// best lines of a chunk and near-duplicates.
	Analyze func(text string) index.Terms
	// Content returns those of a question's terms that say what it is about.
	// Default: all.
	Content func(question index.Terms) index.Terms
	// Names returns the names of all projects, for the hint of an error about an unknown
	// one. Default: none.
	Names func() []string
	// FileNames finds files by their names and by how they begin, where the full index
	// cannot answer for code. Nil: there is none.
	FileNames FileNames
	// Missing says in a few words why the full index has not all code of a project,
	// "not indexed yet"; empty when it has. Default: it has.
	Missing func(project string) string
	// Lost returns what the store has lost; see memory.StoreDamage. Every search is
	// incomplete then. Default: nothing.
	Lost func() *memory.StoreDamage
	// ReadOnly says in a few words why nothing can be stored for now; empty when it can.
	// Default: it can.
	ReadOnly func() string
	// Current finds the session that the scope "current" means, and that receipts
	// are of, where the caller does not say its own. Default: there is none.
	Current Current
	// Turn returns the turn that a session is at, see memory.Receipt. Default: 0.
	Turn func(memory.SessionKey) int
	// Redact takes secrets out of what is shown. Default: nothing.
	Redact func(text string) (string, int)
	// Stale says whether the code of a project may lag behind the disk. Seen
	// says that this answer has met code that does.
	Stale func(project string, seen bool) bool
	// Settings are the user's choices; nil is DefaultSettings.
	Settings    *Settings
	Calibration Calibration
	Clock       func() time.Time
	Logger      *slog.Logger
}

func (o *Options) validate() error {
	for field, missing := range map[string]bool{
		"corpus": o.Corpus == nil, "shelf": o.Sessions == nil, "projects": o.Projects == nil, "verifier": o.Verifier == nil,
		"ledger": o.Ledger == nil, "analyze": o.Analyze == nil,
	} {
		if missing {
			return memory.Invalid(field, "", "recall needs it")
		}
	}
	if o.Content == nil {
		o.Content = func(question index.Terms) index.Terms { return question }
	}
	if o.Redact == nil {
		o.Redact = func(text string) (string, int) { return text, 0 }
	}
	if o.Stale == nil {
		o.Stale = func(_ string, seen bool) bool { return seen }
	}
	if o.Names == nil {
		o.Names = func() []string { return nil }
	}
	if o.Lost == nil {
		o.Lost = func() *memory.StoreDamage { return nil }
	}
	if o.Missing == nil {
		o.Missing = func(string) string { return "" }
	}
	if o.ReadOnly == nil {
		o.ReadOnly = func() string { return "" }
	}
	if o.Turn == nil {
		o.Turn = func(memory.SessionKey) int { return 0 }
	}
	if o.Settings == nil {
		o.Settings = new(DefaultSettings())
	}
	if o.Calibration.Version == "" {
		o.Calibration = ShippedCalibration()
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o.Settings.validate()
}

// Service is the read path. It is safe for concurrent use.
type Service struct {
	opts     Options
	settings Settings
	gates    *gates
}

// New returns a read path.
func New(opts Options) (*Service, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Service{opts: opts, settings: *opts.Settings, gates: newGates(opts.Verifier)}, nil
}

// outdated says that a chunk was withheld because the disk has moved on.
func outdated(w memory.Withheld) bool { return w.Reason == memory.Gone || w.Reason == memory.Changed }

// Receipt returns what the ledger holds of an answer.
func (s *Service) Receipt(_ context.Context, id string) (*memory.Receipt, error) {
	r, err := s.opts.Ledger.Receipt(id)
	if err != nil {
		return nil, err
	}
	return &r, nil
}

// Rank returns what a question finds, in order, with floor, ranking factors,
// gates and budget off: what evaluation measures. Records that share a text
// follow one another with the same score.
func (s *Service) Rank(ctx context.Context, query string, sel memory.Selection, limit int) ([]Ranked, []memory.Degraded) {
	found := s.candidates(ctx, query, sel)
	out := make([]Ranked, 0, limit)
	for _, c := range found.candidates {
		for _, place := range append([]memory.Candidate{c.Candidate}, c.others...) {
			if len(out) == limit {
				return out, found.degraded
			}
			out = append(out, Ranked{ID: place.ID, Score: c.fused, Relevance: c.relevance, Scores: c.retrievers()})
		}
	}
	return out, found.degraded
}

// Ranked is one hit of Rank.
type Ranked struct {
	ID        string
	Score     float64
	Relevance float64
	Scores    map[string]memory.RetrieverScore
}

// withBlockers are kinds with blockers beside tasks: who asks for one wants to know of
// the other.
func withBlockers(kinds []memory.Kind) []memory.Kind {
	if !slices.Contains(kinds, memory.Task) || slices.Contains(kinds, memory.Blocker) {
		return kinds
	}
	return append(slices.Clone(kinds), memory.Blocker)
}

// selection turns a request into what is searched.
func selection(req memory.RecallRequest, project string, now time.Time) (memory.Selection, error) {
	sel := memory.Selection{
		Kinds: withBlockers(req.Kinds), Project: project,
		// Named, a project is searched alone; the caller's own comes first
		// and lets other projects' lessons follow, marked.
		// A repository's lessons are meant wherever they were written.
		AllLessons: req.Project == "",
	}
	if f := req.Filters; f != nil {
		if _, err := path.Match(f.Path, ""); err != nil {
			return sel, memory.Invalid("filters.path", "a folder, a file, or a pattern with *, ** and ?", "%q is no pattern", f.Path)
		}
		sel.Lang, sel.Path, sel.Tag, sel.Since = f.Lang, f.Path, f.Tag, f.Since
		sel.Steps = memory.SessionFilter{FlowTag: f.FlowTag, Tag: f.Tag, Screen: f.Screen, GitBranch: f.GitBranch}
		if f.SinceHours > 0 {
			// Of a step it is its session's age that counts.
			sel.Steps.Since = now.Add(-time.Duration(f.SinceHours) * time.Hour)
			if sel.Steps.Since.After(sel.Since) {
				sel.Since = sel.Steps.Since
			}
		}
	}
	return sel, nil
}
