// Package ingest is the write path: it validates what is to be remembered,
// takes secrets out, names it, analyses and embeds its text with the built-in
// model, and commits all of that as one batch. When a call returns, what it
// wrote is durable and is found by words and by meaning.
//
// Vocabulary. A record's text is what is searched: its fields, redacted and joined. Two
// lessons are the same if repository, context, lesson and command are equal but for case
// and white space. The second is merged into the first, and every time that a lesson is
// told is an observation of it. A lesson's rate is what the latest observation with a rate
// said, plus the outcomes since; an older rate from a file changes nothing. A lesson that
// was superseded or retracted is withdrawn: kept, and not recalled until it is observed again.
// File imports never change a session started through the daemon. Imported sessions are
// never current. A bare session has steps but no metadata. What was forgotten leaves a
// tombstone, which keeps imports from bringing it back.
//
// A lesson is written in these steps (see RememberLine): validate, resolve the project,
// redact, take out what recall handed out, name the record, add the session, apply the
// change to what is stored, analyse and embed, commit. The commit applies the change again
// to what is stored by then.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/worker"
)

// Committer writes batches durably.
type Committer interface {
	Commit(ctx context.Context, b memory.Batch) (memory.Committed, error)
}

// Projects finds the project that a caller means.
type Projects interface {
	// Resolve returns the project of an id, a name or a folder, or of the caller's folder
	// when none is named, and whether it is known already.
	memory.ProjectResolver
	// Stored says that there is nothing to be written of a project.
	Stored(p memory.Project) (bool, error)
	// ResolveRepo is Resolve, and the name of the repository that the caller speaks of
	// by default.
	ResolveRepo(ctx context.Context, project string, caller memory.Caller) (p memory.Project, repo string, err error)
}

// Sessions finds sessions.
type Sessions interface {
	// Session returns a session, or CodeNotFound.
	Session(project, id string) (memory.Session, error)
	// CurrentSession returns the newest open session of a project and client, and
	// whether there is one.
	CurrentSession(project string, caller memory.Caller) (memory.Session, bool, error)
	// OpenSessions returns the sessions of all projects that have not ended.
	OpenSessions() ([]memory.Session, error)
	Projects() ([]memory.Project, error)
}

// Records looks up what is stored.
type Records interface {
	// Record returns a record, or CodeNotFound.
	Record(id string) (memory.Record, error)
	// Tombstoned says whether a record was forgotten.
	Tombstoned(id string) (bool, error)
	// Known returns, of ids, the records that are stored and those that were forgotten.
	Known(ids []string) (records map[string]memory.Record, forgotten map[string]bool, err error)
	// RecordIDs returns the ids that begin with a prefix, sorted, at most `most`.
	RecordIDs(prefix string, most int) ([]string, error)
}

// Options configure the write path. The fields up to Held are required.
type Options struct {
	Committer Committer
	Projects  Projects
	Sessions  Sessions
	Records   Records
	// Analyze turns a document, its text and the names that it declares, into its
	// encoded terms.
	Analyze func(memory.Document) []byte
	// Embedder is the built-in model: fast, local, always there.
	Embedder embedder.Embedder
	// Held says whether a document with its declared names is already stored, so that it is
	// not analysed again. It may be out of date.
	Held func(memory.Document) bool
	// Redact takes secrets out of a text and says how many. Nil keeps texts as
	// they are.
	Redact func(text string) (clean string, n int)
	// RedactValue is Redact for a value with names: the keys that lead to it in a
	// JSON value, the nearest last. Nil goes by what the value looks like.
	RedactValue func(value string, names ...string) (clean string, n int)
	// QuoteFilter knows what recall has handed out, so that it is not stored again as
	// new. Nil knows nothing.
	QuoteFilter *QuoteFilter
	// Labels derives the labels of a step from its tool's name, its target and
	// whether it failed; see NewLabels. Nil gives none.
	Labels func(tool, target string, failed bool) []string
	// FlowTags are the flow tags that a session may be started with.
	FlowTags []string
	// Git says where the repository of a folder stands, nil outside of one. Nil
	// fills in nothing.
	Git func(dir string) *memory.Git
	// Anchors finds the code that a lesson is about. Nil finds none.
	Anchors func(ctx context.Context, q memory.AnchorQuery) ([]memory.Anchor, error)
	// LineHash returns the id of a log line as the log reader computes it, so that our own
	// lines are recognised when they are read again. Nil leaves lines without an id.
	LineHash func(memory.LogLine) memory.DocID
	// Gate admits file writes while no question is running; nil always admits them.
	Gate *worker.Gate
	// Clock gives the time of writes. Default time.Now.
	Clock func() time.Time
}

func (o *Options) validate() error {
	if err := memory.Required(map[string]bool{
		"committer": o.Committer == nil, "projects": o.Projects == nil, "sessions": o.Sessions == nil, "records": o.Records == nil,
		"analyze": o.Analyze == nil, "embedder": o.Embedder == nil, "held": o.Held == nil,
	}); err != nil {
		return err
	}
	if o.Redact == nil {
		o.Redact = func(text string) (string, int) { return text, 0 }
	}
	if o.RedactValue == nil {
		o.RedactValue = func(value string, _ ...string) (string, int) { return o.Redact(value) }
	}
	if o.Labels == nil {
		o.Labels = func(string, string, bool) []string { return nil }
	}
	if o.Git == nil {
		o.Git = func(string) *memory.Git { return nil }
	}
	if o.Anchors == nil {
		o.Anchors = func(context.Context, memory.AnchorQuery) ([]memory.Anchor, error) { return nil, nil }
	}
	if o.LineHash == nil {
		o.LineHash = func(memory.LogLine) memory.DocID { return memory.DocID{} }
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return nil
}

// Service is the write path. It is safe for concurrent use.
type Service struct {
	opts  Options
	space string // of the built-in model
	dim   int    // of its vectors

	failures recent // errors of the last failed steps
	touched  recent // files, the newest first
	attempts attempts
	stepIDs  stepIDs

	// forgetting is held exclusively while records are forgotten. A write that depends on
	// what it has read shares it, otherwise it could bring a record back or add a step to
	// a session that is being removed. An import shares it for one commit at a time,
	// because a waiting Forget blocks all other writes.
	forgetting sync.RWMutex
}

// New returns a write path.
func New(ctx context.Context, opts Options) (*Service, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	m, err := opts.Embedder.Model(ctx)
	if err != nil {
		return nil, fmt.Errorf("open built-in model: %w", err)
	}
	return &Service{opts: opts, space: m.Collection(), dim: m.Dim}, nil
}

// documents analyses and embeds texts, those that are stored already left out
// unless all is asked for.
func (s *Service) documents(ctx context.Context, texts []memory.Document, all bool) ([]memory.Doc, error) {
	var docs []memory.Doc
	var embed []string
	seen := make(map[memory.DocID]bool, len(texts))
	for _, t := range texts {
		if seen[t.ID] || !all && s.opts.Held(t) {
			continue
		}
		seen[t.ID] = true
		docs = append(docs, memory.Doc{ID: t.ID, Terms: s.opts.Analyze(t)})
		embed = append(embed, t.Text)
	}
	if len(docs) == 0 {
		return nil, nil
	}
	vectors, err := s.opts.Embedder.Embed(ctx, embedder.Document, embed)
	// A text that the model refuses is found by its words or not at all, and does
	// not stop the others.
	if _, partial := errors.AsType[*embedder.PartialError](err); err != nil && !partial {
		return nil, fmt.Errorf("embed: %w", err)
	}
	for i, v := range vectors {
		if v == nil {
			continue
		}
		if err := checkVector(v, s.dim); err != nil {
			return nil, fmt.Errorf("embed document %s: %w", docs[i].ID, err)
		}
		docs[i].Vectors = map[string][]float32{s.space: v}
	}
	return docs, nil
}

// checkVector refuses before the commit what the index could not hold.
func checkVector(v []float32, dim int) error {
	if len(v) != dim {
		return memory.Errorf(memory.CodeInternal, "the vector has %d dimensions instead of %d", len(v), dim)
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return memory.Errorf(memory.CodeInternal, "the vector is zero or not a number")
	}
	return nil
}

// gatedTexts is how many texts of a file are analysed and embedded at once: a few
// milliseconds of work.
const gatedTexts = 32

// commit writes a batch with the documents of texts. A document that was left
// out and has been swept meanwhile is put in the second time.
func (s *Service) commit(ctx context.Context, b memory.Batch, texts []memory.Document) (memory.Committed, error) {
	c, err := s.commitWith(ctx, b, texts, false)
	if errors.Is(err, memory.ErrDocMissing) {
		return s.commitWith(ctx, b, texts, true)
	}
	return c, err
}

func (s *Service) commitWith(ctx context.Context, b memory.Batch, texts []memory.Document, all bool) (memory.Committed, error) {
	if len(b.Files) > 0 { // files are written in the background
		for part := range slices.Chunk(texts, gatedTexts) {
			err := s.opts.Gate.Do(ctx, func() error {
				docs, err := s.documents(ctx, part, all)
				b.Docs = append(b.Docs, docs...)
				return err
			})
			if err != nil {
				return memory.Committed{}, err
			}
		}
		return s.opts.Committer.Commit(ctx, b)
	}
	docs, err := s.documents(ctx, texts, all)
	if err != nil {
		return memory.Committed{}, err
	}
	b.Docs = append(b.Docs, docs...)
	return s.opts.Committer.Commit(ctx, b)
}

// now is the time of a write. It has milliseconds, so that it is the same when a
// file that holds it is read again.
func (s *Service) now() time.Time { return s.opts.Clock().UTC().Truncate(time.Millisecond) }

// normalise makes texts equal that differ in case and white space only.
func normalise(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }
