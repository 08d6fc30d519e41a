package indexer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/vector"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/worker"
)

// The kinds of backfill jobs: of a background model, and of the built-in model, which
// embeds what another model had embedded before. They are two kinds because only the
// first waits for a server. A job lists no documents: it embeds those that have no
// vector in the collection.
const (
	EmbedJob        = "embed"
	EmbedBuiltinJob = "embed-builtin"
)

type embedPayload struct {
	Collection string `json:"space"`
}

func embedJob(s *collection) worker.Job {
	kind := EmbedBuiltinJob
	if s.background {
		kind = EmbedJob
	}
	payload, _ := json.Marshal(embedPayload{s.name}) // a text can always be encoded
	return worker.Job{Kind: kind, Key: s.name, Payload: payload}
}

// Follow returns the jobs that follow from a change. New documents start a backfill of
// every background collection. A written document that a collection has skipped starts
// one of that collection: its text may have another location now.
func (x *Indexer) Follow(c memory.Change) []worker.Job {
	fresh := slices.ContainsFunc(c.Docs, func(d memory.Doc) bool { return d.Terms != nil })
	// The change is not indexed yet, so progress cannot be asked.
	return x.jobsFor(func(s *collection) bool { return fresh && s.background || s.anySkipped(x.written(c)) })
}

// written yields the documents of the records and files that a change has put.
func (x *Indexer) written(c memory.Change) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		put := func(id memory.DocID) bool {
			num, ok := x.numbers.Lookup(id)
			return !ok || yield(num)
		}
		for _, r := range c.Records {
			if r.New != nil && !put(r.New.Doc) {
				return
			}
		}
		for _, f := range c.Files {
			if f.New == nil {
				continue
			}
			for _, chunk := range f.New.Chunks {
				if !put(chunk.Doc) {
					return
				}
			}
		}
	}
}

// BackfillJobs returns the jobs that complete the collections. Complete collections that
// replace no older one get no job.
func (x *Indexer) BackfillJobs() []worker.Job {
	return x.jobsFor(func(s *collection) bool {
		_, waiting, _ := s.progress(x.attrs.Len())
		return waiting > 0 || len(x.replaced(s)) > 0
	})
}

func (x *Indexer) jobsFor(wanted func(*collection) bool) []worker.Job {
	var jobs []worker.Job
	for _, s := range x.collections.list() {
		if wanted(s) {
			jobs = append(jobs, embedJob(s))
		}
	}
	return jobs
}

// Embed is the handler of EmbedJob and EmbedBuiltinJob. It embeds, in batches, every
// document that has no vector in the collection: lessons first, then steps, listed
// records and code. When none is left it drops the collections that this one replaces.
// Each batch is stored, so a retry embeds only what is missing.
func (x *Indexer) Embed(ctx context.Context, job worker.Job) error {
	var p embedPayload
	if err := json.Unmarshal(job.Payload, &p); err != nil {
		return worker.Permanent(fmt.Errorf("read job: %w", err))
	}
	// What is missing is known only when the stored vectors are loaded.
	if err := x.untilReady(ctx); err != nil {
		return err
	}
	s := x.collections.find(p.Collection)
	if s == nil {
		return nil // the model was changed meanwhile
	}
	for {
		batch := x.missing(s)
		if len(batch) == 0 {
			return x.dropReplaced(ctx, s)
		}
		err := x.embedBatch(ctx, s, batch)
		if ctx.Err() != nil {
			return ctx.Err() // not a failure of the model
		}
		s.noteOutcome(err)
		if err != nil {
			return fmt.Errorf("backfill collection %s: %w", s.vectors.Name(), err)
		}
	}
}

// missing returns the next batch of documents to embed.
func (x *Indexer) missing(s *collection) []uint32 {
	done := s.embeddedOrSkipped()
	for _, kinds := range [][]memory.Kind{{memory.Lesson}, {memory.Step}, listedKinds, nil} {
		var clauses []index.Clause
		if kinds != nil {
			clauses = append(clauses, index.Clause{Key: attrKind, Values: kindNames(kinds)})
		}
		if left := roaring.AndNot(x.attrs.Match(clauses...), done); !left.IsEmpty() {
			batch := make([]uint32, x.opts.EmbedBatch)
			return batch[:left.ManyIterator().NextMany(batch)]
		}
	}
	return nil
}

// embedBatch embeds documents and stores their vectors. A document whose text cannot
// be read, or that the model refuses, is skipped until a record or file with its text
// is written again. If the model could not be reached for some documents, the vectors
// of the others are stored and the error is returned.
func (x *Indexer) embedBatch(ctx context.Context, s *collection, batch []uint32) error {
	a := s.begin()
	defer s.end(a)
	var nums []uint32
	var ids []memory.DocID
	var texts []string
	for _, num := range batch {
		id, ok := x.numbers.ID(num)
		if !ok {
			continue
		}
		text, err := x.text(ctx, num, id)
		if ctx.Err() != nil {
			return ctx.Err() // not a missing text
		}
		if err != nil {
			x.skip(s, a, num, id, err)
			continue
		}
		nums, ids, texts = append(nums, num), append(ids, id), append(texts, text)
	}
	if len(texts) == 0 {
		return ctx.Err()
	}
	var vectors [][]float32
	embed := func() (err error) {
		vectors, err = x.embedAs(ctx, s, embedder.Document, texts)
		return err
	}
	var err error
	if s.background { // a server embeds
		err = embed()
	} else {
		err = x.opts.Gate.Do(ctx, embed)
	}
	partial, ok := errors.AsType[*embedder.PartialError](err)
	if err != nil && !ok {
		return err
	}
	var late error
	out := make([]memory.DocVector, 0, len(vectors))
	for i, v := range vectors {
		err := vector.Check(v, s.vectors.Dim())
		if partial != nil && partial.Failed[i] != nil {
			err = partial.Failed[i]
		}
		switch refused, _ := errors.AsType[*vector.RefusedError](err); {
		case err == nil:
			out = append(out, memory.DocVector{Doc: ids[i], Vector: v})
		case transient(err):
			late = err
		case refused != nil && refused.Reason == vector.WrongWidth && v != nil:
			return fmt.Errorf("embed document %s: %w", ids[i], err) // it is another model
		default:
			x.skip(s, a, nums[i], ids[i], err)
		}
	}
	_, err = x.store.PutVectors(ctx, s.name, out)
	return errors.Join(err, late)
}

// transient reports whether the same text may be embedded later.
func transient(err error) bool {
	return errors.Is(err, embedder.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

func (x *Indexer) skip(s *collection, a *attempt, num uint32, id memory.DocID, err error) {
	x.opts.Logger.Debug("document is not embedded", "part", "indexer", "collection", s.name, "document", id, "error", err)
	s.skip(a, num)
}

// text returns the text of a document: a record's from the store, a chunk's from disk
// if it is still there. The text must have the hash that is the document's id.
func (x *Indexer) text(ctx context.Context, num uint32, id memory.DocID) (string, error) {
	err := error(memory.Errorf(memory.CodeNotFound, "no record or file has the document"))
	for _, c := range x.allCandidates(num) {
		var text string
		if text, err = x.textOf(ctx, c); err != nil {
			continue
		}
		if memory.DocumentID(text) == id {
			return text, nil
		}
		err = memory.Errorf(memory.CodeNotFound, "the text has changed")
	}
	return "", err
}

func (x *Indexer) textOf(ctx context.Context, c memory.Candidate) (string, error) {
	if c.ID != "" {
		r, err := x.store.Record(c.ID)
		return r.Text, err
	}
	at, err := x.Location(c)
	if err != nil {
		return "", err
	}
	return x.opts.ChunkText(ctx, at)
}
