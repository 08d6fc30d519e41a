package eval

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/recalld/recalld/internal/memory"
)

// Engine is both paths of the product over a store of its own.
type Engine interface {
	// Put writes documents of a project. Code must have been called before for chunks.
	Put(ctx context.Context, project memory.Project, docs []Document) error
	// Code indexes the files of a folder as the code of a project.
	Code(ctx context.Context, project memory.Project, dir string) error
	// Remove removes documents that Put wrote, chunks with their whole file. Put brings
	// them back.
	Remove(ctx context.Context, project memory.Project, docs []Document) error
	// Settle returns when all that was put can be found by every model; done
	// is called with the number of texts embedded since the last call.
	Settle(ctx context.Context, done func(n int)) error
	// Rank is the read path's ranking without thresholds, ranking factors, gates and
	// budget: documents of these kinds, best first. One that is stored in parts appears once
	// for each part found. Code that is no document of the set has an id of its own.
	Rank(ctx context.Context, project string, kinds []memory.Kind, query string) ([]Hit, []memory.Degraded, error)
	// Answer asks as an agent does, with the settings in force.
	Answer(ctx context.Context, project string, kinds []memory.Kind, query string) (Answer, error)
}

// MaxDepth is the most documents that a run keeps of a question.
const MaxDepth = 1000

// Options say how a set is run.
type Options struct {
	// Depth is how many documents are kept of each question, 1 to MaxDepth.
	Depth int
	// Answers says that answers are counted too, Removed that the answerable questions are
	// also asked with what answers them removed.
	Answers, Removed bool
	// Out takes the run, a line of question, document and score for each hit,
	// tabs between them; nil for none.
	Out io.Writer
	// Progress is called with the progress of a phase; the total is 0 if it is unknown.
	// Nil is a no-op.
	Progress func(phase string, done, total int)
}

func (o *Options) validate() error {
	if o.Depth < 1 || o.Depth > MaxDepth {
		return memory.Invalid("depth", fmt.Sprintf("1–%d", MaxDepth), "%d is out of range", o.Depth)
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	return nil
}

// Report is what a run came to.
type Report struct {
	Set       string `json:"set"`
	Documents int    `json:"documents"`
	// Unjudged counts the questions that no document answers: they are asked
	// and written, and left out of the means.
	Unjudged int `json:"unjudged,omitempty"`
	Metrics
	// Answers are the figures of all questions, then by split and by kind.
	Answers []Answers `json:"answers,omitempty"`
	// Degraded says what did not take part, and for how many questions.
	Degraded map[string]int `json:"degraded,omitempty"`
}

// Phases of a run, as Progress receives them.
const (
	phaseWrite = "documents"
	phaseEmbed = "embedding"
	phaseAsk   = "questions"
)

// Run writes a set's documents, asks its questions and scores the answers. It
// holds a few hundred documents at a time; what is held for the whole run is
// ids, questions and judgements.
func Run(ctx context.Context, set *Set, engine Engine, opts Options) (*Report, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	report := &Report{Set: set.Name, Degraded: map[string]int{}}
	k := &asker{set: set, engine: engine, opts: opts, judged: map[string]Document{}}
	if dir := set.Code(); dir != "" {
		if err := engine.Code(ctx, project(set, ""), dir); err != nil {
			return nil, fmt.Errorf("index code: %w", err)
		}
		k.kinds = []memory.Kind{memory.Chunk} // asked for although no document is code
	}
	if err := write(ctx, k, report); err != nil {
		return nil, err
	}
	embedded := 0
	settled := func(n int) {
		embedded += n
		opts.Progress(phaseEmbed, embedded, report.Documents)
	}
	if err := engine.Settle(ctx, settled); err != nil {
		return nil, fmt.Errorf("embed documents: %w", err)
	}
	return report, ask(ctx, k, report)
}

// Bounds of what is gathered before it is written: documents of one group, and
// bytes of all groups together.
const (
	writeDocuments = 200
	writeBytes     = 8 << 20
)

// write hands the documents to the write path in batches of one group each.
func write(ctx context.Context, k *asker, report *Report) error {
	set := k.set
	waiting := map[string][]Document{}
	size := 0
	put := func(group string) error {
		docs := waiting[group]
		delete(waiting, group)
		for _, d := range docs {
			size -= len(d.Title) + len(d.Text)
		}
		if err := k.engine.Put(ctx, project(set, group), docs); err != nil {
			return fmt.Errorf("write documents: %w", err)
		}
		report.Documents += len(docs)
		k.opts.Progress(phaseWrite, report.Documents, 0)
		return nil
	}
	putAll := func() error {
		for _, group := range slices.Sorted(maps.Keys(waiting)) {
			if err := put(group); err != nil {
				return err
			}
		}
		return nil
	}
	for d, err := range set.Documents() {
		if err != nil {
			return err
		}
		if _, judged := set.named[d.ID]; judged && k.opts.Removed {
			k.judged[d.ID] = d
		}
		if !slices.Contains(k.kinds, d.Kind) {
			k.kinds = append(k.kinds, d.Kind)
		}
		waiting[d.Group] = append(waiting[d.Group], d)
		size += len(d.Title) + len(d.Text)
		switch {
		case size > writeBytes:
			err = putAll()
		case len(waiting[d.Group]) == writeDocuments:
			err = put(d.Group)
		}
		if err != nil {
			return err
		}
	}
	return putAll()
}

// project is the project that a group becomes; a set without groups is one.
func project(set *Set, group string) memory.Project {
	name := set.Name
	if group != "" {
		name += "/" + group
	}
	// Questions name it by its id, and a name with slashes would be a folder.
	return memory.Project{ID: "set:" + url.PathEscape(name), Name: name}
}

// ask ranks every question's documents, writes them and scores them.
func ask(ctx context.Context, k *asker, report *Report) error {
	set, asked, total := k.set, 0, len(k.set.Queries)
	one := func(q Query, do func() error) error {
		err := do()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("ask question %q: %w", q.ID, err)
		}
		asked++
		k.opts.Progress(phaseAsk, asked, total)
		return nil
	}
	if k.opts.Answers {
		total += len(set.Unanswered)
	}
	for _, q := range set.Queries {
		err := one(q, func() error {
			ranked, err := rank(ctx, k, q, report)
			if err == nil && k.opts.Answers {
				err = k.ask(ctx, q, ranked)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	report.Metrics = report.mean()
	if !k.opts.Answers {
		return nil
	}
	for _, q := range set.Unanswered {
		if err := one(q, func() error { return k.ask(ctx, q, nil) }); err != nil {
			return err
		}
	}
	report.Answers = k.means()
	return nil
}

// rank ranks the documents of a question, writes them and scores them.
func rank(ctx context.Context, k *asker, q Query, report *Report) ([]Hit, error) {
	found, degraded, err := k.engine.Rank(ctx, project(k.set, q.Group).ID, k.kinds, q.Text)
	if err != nil {
		return nil, err
	}
	for _, d := range degraded {
		report.Degraded[d.Part+": "+d.Reason]++
	}
	ranked := best(found, k.opts.Depth)
	if err := writeHits(k.opts.Out, q.ID, ranked); err != nil {
		return nil, fmt.Errorf("write run: %w", err)
	}
	if grades, judged := k.set.Judged[q.ID]; judged {
		report.add(ranked, grades)
	} else {
		report.Unjudged++
	}
	return ranked, nil
}

// best keeps each document's best part, at most depth of them: ordered by score, highest first,
// ties by document, because a run file says nothing else of their order.
func best(found []Hit, depth int) []Hit {
	scores := make(map[string]float64, len(found))
	for _, h := range found {
		if score, ok := scores[h.Document]; !ok || h.Score > score {
			scores[h.Document] = h.Score
		}
	}
	ranked := make([]Hit, 0, len(scores))
	for document, score := range scores {
		ranked = append(ranked, Hit{document, score})
	}
	slices.SortFunc(ranked, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Document, b.Document))
	})
	return ranked[:min(depth, len(ranked))]
}

// writeHits writes scores with all digits, so that sorting the run by score restores its
// order.
func writeHits(w io.Writer, query string, ranked []Hit) error {
	var lines []byte
	for _, h := range ranked {
		lines = append(lines, query...)
		lines = append(lines, '\t')
		lines = append(lines, h.Document...)
		lines = append(lines, '\t')
		lines = strconv.AppendFloat(lines, h.Score, 'g', -1, 64)
		lines = append(lines, '\n')
	}
	_, err := w.Write(lines)
	return err
}
