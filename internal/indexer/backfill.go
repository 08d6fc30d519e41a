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

// The kinds of the jobs that fill a space: of a model that embeds in the background,
// and of the built-in one, which is to embed what another model had embedded before it.
// They are apart since only the former wait for a server. What is to be embedded is
// derived: the documents that have no vector in the space.
const (
	EmbedJob        = "embed"
	EmbedBuiltinJob = "embed-builtin"
)

type embedPayload struct {
	Collection string `json:"space"`
}

func embedJob(s *collection) (worker.Job, error) {
	kind := EmbedBuiltinJob
	if s.background {
		kind = EmbedJob
	}
	payload, err := json.Marshal(embedPayload{s.name})
	return worker.Job{Kind: kind, Key: s.name, Payload: payload}, err
}

// Follow names the jobs that follow from a change: every background space is to
// be filled when there are new documents, and every space when one that it has
// anySkipped over may lie elsewhere now.
func (x *Indexer) Follow(c memory.Change) []worker.Job {
	fresh := slices.ContainsFunc(c.Docs, func(d memory.Doc) bool { return d.Terms != nil })
	// What the change adds is not indexed yet, so that nothing may seem to wait.
	return x.jobsFor(func(s *collection) bool { return fresh && s.background || s.anySkipped(x.written(c)) })
}

// written are the documents of the records and files that a change has put.
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

// BackfillJobs returns the jobs that bring the spaces up to date; none for a space that
// nothing waits for, and that has taken the place of no other.
func (x *Indexer) BackfillJobs() []worker.Job {
	return x.jobsFor(func(s *collection) bool {
		_, waiting, _ := s.progress(x.attrs.Len())
		return waiting > 0 || len(x.replaced(s)) > 0
	})
}

func (x *Indexer) jobsFor(wanted func(*collection) bool) []worker.Job {
	var jobs []worker.Job
	for _, s := range x.collections.list() {
		if !wanted(s) {
			continue
		}
		if job, err := embedJob(s); err == nil {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// Embed is the handler of EmbedJob and EmbedBuiltinJob: it embeds, in batches, every
// document that has no vector in the space, lessons first, then steps and what is
// listed, and code last. When none is left it drops the spaces whose place this one
// has taken. What it has done stays done when it fails, so running it again costs only
// what is missing.
func (x *Indexer) Embed(ctx context.Context, job worker.Job) error {
	var p embedPayload
	if err := json.Unmarshal(job.Payload, &p); err != nil {
		return worker.Permanent(fmt.Errorf("read job: %w", err))
	}
	// What is missing is not known before; most of it may lie in the store.
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
			return ctx.Err() // says nothing about the model
		}
		s.noteOutcome(err)
		if err != nil {
			return fmt.Errorf("fill space %s: %w", s.vectors.Name(), err)
		}
	}
}

// missing returns the documents to be embedded next.
func (x *Indexer) missing(s *collection) []uint32 {
	done := s.embeddedOrSkipped()
	for _, kinds := range [][]string{
		{string(memory.Lesson)}, {string(memory.Step)}, listedKindNames(), nil,
	} {
		var clauses []index.Clause
		if kinds != nil {
			clauses = append(clauses, index.Clause{Key: attrKind, Values: kinds})
		}
		if left := roaring.AndNot(x.attrs.Match(clauses...), done); !left.IsEmpty() {
			batch := make([]uint32, 0, x.opts.EmbedBatch)
			for it := left.Iterator(); it.HasNext() && len(batch) < cap(batch); {
				batch = append(batch, it.Next())
			}
			return batch
		}
	}
	return nil
}

// embedBatch embeds documents and stores their vectors. A document whose text
// cannot be had, or which the model refuses, is passed over until a record or
// file that holds it is written again. A text that failed because the model
// was out of reach is not: the vectors of the others are kept, and the error is
// the batch's.
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
			return ctx.Err() // the text may well be there
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
	if s.background { // a server does the work
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

// transient says that the same text may be embedded another time.
func transient(err error) bool {
	return errors.Is(err, embedder.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

func (x *Indexer) skip(s *collection, a *attempt, num uint32, id memory.DocID, err error) {
	x.opts.Logger.Debug("document is not embedded", "part", "indexer", "space", s.name, "document", id, "error", err)
	s.skip(a, num)
}

// text returns the text that a document is the hash of: a record's from the
// store, a chunk's from disk if it is still there.
func (x *Indexer) text(ctx context.Context, num uint32, id memory.DocID) (string, error) {
	err := error(memory.Errorf(memory.CodeNotFound, "nothing holds the document"))
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
