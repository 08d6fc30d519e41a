// Package recall is the read path: it answers a question with a few verified, ranked and
// explained memories. It also lists sessions and steps.
//
// A question goes through these stages, in order (see stages):
//
//	retrieve →
//	fuse →
//	resolve →
//	records alone →
//	named →
//	neighbours →
//	define first →
//	title →
//	exact errors →
//	look up →
//	files →
//	strength →
//	rank →
//	lessons first →
//	both sides →
//	own versions →
//	budget →
//	fill →
//	file names →
//	share →
//	more code →
//	lines →
//	late code →
//	answer →
//	write →
//	receipt
//
// The read path writes nothing itself. Its receipt goes into the ledger's queue. What a
// question reveals about its project, such as a new remote of a known repository, is
// recorded in the background by project.Recorder, which is waited for at the end.
//
// Files. ask.go begins a run and stages.go lists its stages. Most stages are in a file of
// their name; of the others,
//
//   - retrieve, fuse and resolve are in candidates.go,
//   - define first in definitions.go, filekind.go and spelled.go,
//   - records alone in recordsalone.go,
//   - title in report.go,
//   - exact errors in sameerror.go,
//   - look up in lookup.go and names.go,
//   - files in fileevidence.go,
//   - lessons first in rank.go,
//   - both sides in sides.go,
//   - own versions in versions.go,
//   - budget, fill, more code and late code in fill.go and gates.go,
//   - file names in filenames.go.
//
// match.go finds records for the contexts of requests. anchorfind.go finds the code that a
// lesson is about when it is told, anchors.go compares it with the disk when the lesson is
// shown.
//
// Vocabulary. A candidate is a document that may be answered with: a retriever found it,
// or it reports the quoted error, or the question names its code. Its relevance says how
// surely it has to do with the question, by words and vectors together, on a scale that
// means the same for every question (see Calibration). Its strength follows from it by the
// levels of its kind: what is sure or likely is shown in full, what is maybe in a line, and
// what is below is withheld. Its match is its fused score, 1 for the best candidate of the
// question. The match, times bounded factors, orders what is equally sure. Exact error
// matches and explicitly named code rank first. A gate reads the text of code again from
// disk and lets it through only if it is there now.
//
// The stages before fill use the indexes and the store, and read no file of a repository.
// The receipt has what they decided and by which settings, so that an answer can be
// explained and its question asked again.
package recall

import (
	"cmp"
	"context"
	"log/slog"
	"path"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// Corpus is the searched data.
type Corpus interface {
	// Sources returns the retrievers, those that cannot take part included.
	Sources() []index.Source
	// Select turns a selection into the documents that may be returned and
	// those whose statistics count. The caller must not change them.
	Select(sel memory.Selection) (allow, universe *roaring.Bitmap)
	// AppendCandidates appends the records and chunks of a document that a selection
	// allows.
	AppendCandidates(to []memory.Candidate, doc uint32, sel *memory.Selection) []memory.Candidate
	// Seq is the number of the last change that searches find.
	Seq() uint64
	// Record and Location read what a candidate names. They return CodeNotFound if it
	// was replaced meanwhile.
	Record(id string) (memory.Record, error)
	// IDs returns at most most ids of records that begin with a prefix, in order.
	IDs(prefix string, most int) []string
	// Selected says whether a selection allows a record.
	Selected(id string, sel memory.Selection) bool
	// Repo says whether any record, recalled or not, names a repository. Repos returns
	// the repositories that the records of a selection name.
	Repo(name string) bool
	Repos(sel memory.Selection) []string
	// ChunksByPrefix returns the code of a selection whose ids begin with a prefix. It reads
	// every file of the project.
	ChunksByPrefix(ctx context.Context, prefix string, sel memory.Selection) ([]memory.ChunkRef, error)
	Location(c memory.Candidate) (memory.Location, error)
	// Symbols returns what each chunk declares, empty for one that is not there any more.
	Symbols(chunks []memory.Candidate) []string
	// Definitions returns the documents of a selection that declare a name. If some are
	// declared where the name says, it returns only those.
	Definitions(name memory.Name, sel memory.Selection) []memory.Definition
	// Called returns the documents of a project that are not code and have a name, which is
	// given folded: see memory.FoldName.
	Called(folded, project string) []memory.NamedDoc
	// At returns the chunks of a selection at a location, from the file that fits
	// best first. Without a line it returns all chunks of the file, in order.
	At(place memory.CodeLocation, sel memory.Selection) []memory.Candidate
	// Places returns the places of a document that a selection allows.
	Places(doc memory.DocID, sel memory.Selection) []memory.Candidate
	// RecordCount returns how many records a selection has. OrderedIDs returns their ids in an
	// order, at most so many after those that are skipped, and how many there are.
	RecordCount(sel memory.Selection) int
	OrderedIDs(sel memory.Selection, order memory.LessonOrder, skip, most int) (ids []string, total int)
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
	Projects memory.ProjectResolver
	Verifier memory.Verifier
	Ledger   Ledger
	// Analyze turns text into terms as the lexical index does. It is used to find the
	// best lines of a chunk and near-duplicates.
	Analyze func(text string) index.Terms
	// Content returns the terms of a question that say what it is about.
	// Default: all.
	Content func(question index.Terms) index.Terms
	// Embedder compares questions with the names of places in code. Default: they do not count.
	Embedder embedder.Embedder
	// History ranks files by what their commits said; nil if it is off.
	History History
	// Names returns the names of all projects, for the hint of an error about an unknown
	// one. Default: none.
	Names func() []string
	// FileNames finds files by name where the full index cannot answer for code; nil if
	// there is no such index.
	FileNames FileNames
	// Anchors reads the code that lessons are about; nil reads none. Roots returns the
	// folders of a project: of a caller's folder that is in one, only this one. Both or
	// none are set.
	Anchors memory.AnchorReader
	Roots   func(project, dir string) []string
	// Relative returns an absolute path from the top of the folder of a project that contains
	// it, first of the one that dir is in. Default: none does.
	Relative func(project, dir, path string) (rel string, inside bool)
	// Missing says in a few words why code of a project is missing from the full index,
	// "indexing is paused"; empty if none is. Default: none is.
	Missing func(project string) string
	// Lost returns what the store has lost; see memory.StoreDamage. If it has lost
	// anything, every search is incomplete. Default: nothing.
	Lost func() *memory.StoreDamage
	// ReadOnly says in a few words why nothing can be stored for now; empty if the store
	// can be written. Default: it can.
	ReadOnly func() string
	// Current finds a caller's session where the caller does not name it: for the scope
	// "current", and for receipts. Default: there is none.
	Current Current
	// Turn returns the turn that a session is at, see memory.Receipt. Default: 0.
	Turn func(memory.SessionKey) int
	// Redact takes secrets out of what is shown. Default: nothing.
	Redact func(text string) (string, int)
	// Stale says whether the index of a project may be older than its files. Seen says
	// that this answer met code that was outdated.
	Stale func(project string, seen bool) bool
	// Settings are the user's choices; nil is DefaultSettings.
	Settings    *Settings
	Calibration Calibration
	Clock       func() time.Time
	Logger      *slog.Logger
}

func (o *Options) validate() error {
	if err := memory.Required(map[string]bool{
		"corpus": o.Corpus == nil, "sessions": o.Sessions == nil, "projects": o.Projects == nil,
		"verifier": o.Verifier == nil, "ledger": o.Ledger == nil, "analyze": o.Analyze == nil,
	}); err != nil {
		return err
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
	o.Settings = cmp.Or(o.Settings, new(DefaultSettings()))
	if o.Calibration.Version == "" {
		o.Calibration = ShippedCalibration()
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
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

// Receipt returns the receipt of an answer.
func (s *Service) Receipt(_ context.Context, id string) (*memory.Receipt, error) {
	r, err := s.opts.Ledger.Receipt(id)
	if err != nil {
		return nil, memory.ReceiptError("id", id, err)
	}
	return &r, nil
}

// Rank returns what a question finds, in order, without threshold, ranking factors,
// gates and budget: what evaluation measures. Records that share a text follow one
// another with the same score.
func (s *Service) Rank(ctx context.Context, query string, sel memory.Selection, limit int) ([]Ranked, []memory.Degraded) {
	r := s.newSearch(ctx, s.settings, Digest(query), sel)
	r.find()
	out := make([]Ranked, 0, limit)
	for _, c := range r.candidates {
		for _, place := range append([]memory.Candidate{c.Candidate}, c.others...) {
			if len(out) == limit {
				return out, r.degraded
			}
			id := place.ID
			if place.Kind == memory.Chunk {
				at, err := s.opts.Corpus.Location(place)
				if err != nil { // replaced since the search
					continue
				}
				id = memory.ChunkID(at.Sandbox, at.Path, at.Chunk)
			}
			out = append(out, Ranked{ID: id, Score: c.fused})
		}
	}
	return out, r.degraded
}

// Ranked is one hit of Rank.
type Ranked struct {
	ID    string
	Score float64
}

// withRelated adds what is asked for together with tasks to kinds with them: blockers, and
// the session summaries of colleagues.
func withRelated(kinds []memory.Kind) []memory.Kind {
	if !slices.Contains(kinds, memory.Task) {
		return kinds
	}
	kinds = slices.Clone(kinds)
	for _, k := range []memory.Kind{memory.Blocker, memory.SessionSummary} {
		if !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// selection turns a request into what is searched.
func selection(req memory.RecallRequest, project string, now time.Time) (memory.Selection, error) {
	sel := memory.Selection{
		Kinds: withRelated(req.Kinds), Project: project,
		// A named project is searched alone. Lessons of other projects follow the caller's
		// own, marked.
		AllLessons: req.Project == "",
	}
	if f := req.Filters; f != nil {
		if _, err := path.Match(f.Path, ""); err != nil {
			return sel, memory.Invalid("filters.path", "a folder, a file, or a pattern with *, ** and ?", "%q is not a pattern", f.Path)
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
