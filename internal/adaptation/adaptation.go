// Package adaptation trains the built-in model further on what is remembered, keeps the
// adapted model in the data folder, and removes it.
//
// Vocabulary. The shipped model is the one inside the program, the base of training. A pair
// is two texts that belong together, with the document that it comes from. Whole documents
// are held out: the tuning pairs say when to stop, the judged pairs what the training was
// worth, and neither is learned from. The general pairs are unrelated to what is
// remembered: a loss on them is the price. A table that does not improve retrieval is
// refused. The daemon chooses the model when it starts. An adapted model is a separate
// model, whose collection is filled in the background like any other.
package adaptation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// The phases of an adaptation; see memory.AdaptProgress.
const (
	phaseReading  = "reading"
	phaseTraining = "training"
)

// Options configure a Service. All but the last three are required.
type Options struct {
	// Dir is the folder of models. It is made when it is needed.
	Dir string
	// InUse is the name of the model in use. Trouble says why an adapted model exists and
	// is not used.
	InUse, Trouble string
	Store          Store
	Read           Read
	// General are pairs that are unrelated to what is remembered.
	General func() ([]Pair, error)
	// MinPairs is how many pairs are needed. Default 2,000.
	MinPairs int
	// Now is the clock. Default time.Now.
	Now func() time.Time
	// Logger receives the outcome; nil discards it.
	Logger *slog.Logger
}

// Service adapts the built-in model. It is safe for concurrent use.
type Service struct {
	opts Options

	// busy is held while the folder is written to: one adaptation at a time.
	busy sync.Mutex

	mu      sync.Mutex // guards what follows
	running *memory.AdaptProgress
	listen  func(memory.AdaptProgress)
	trouble string
}

// New returns a service.
func New(o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return &Service{opts: o, trouble: o.Trouble}
}

var errBusy = &memory.Error{Code: memory.CodeConflict, Message: "the model is being adapted already", Hint: "`recalld model show` says how far it is"}

// Adapt trains the shipped model further on what is remembered, and keeps the result if it
// finds more. Otherwise Adaptation.Refused says why, and the last adapted model stays.
// progress is called in order, at most a hundred times per phase. The error has
// CodeConflict while another adaptation runs, and when there are too few pairs.
func (s *Service) Adapt(ctx context.Context, req memory.AdaptRequest, progress func(memory.AdaptProgress)) (*memory.Adaptation, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	if !s.busy.TryLock() {
		return nil, errBusy
	}
	defer s.busy.Unlock()
	s.begin(progress)
	defer s.end()
	began := s.opts.Now()
	corpus, err := s.gather(ctx)
	if err != nil {
		return nil, err
	}
	general, err := s.opts.General()
	if err != nil {
		return nil, err
	}
	run := training{
		base: builtin.File(), corpus: corpus, general: general, recipe: shippedRecipe, minPairs: cmp.Or(s.opts.MinPairs, defaultMinPairs),
		workers: max(req.Threads, 1), timeLimit: cmp.Or(req.TimeLimit.Duration(), defaultTimeLimit), now: s.opts.Now,
		progress: func(done, total int) { s.report(memory.AdaptProgress{Phase: phaseTraining, Done: done, Total: total}) },
	}
	result, err := run.run(ctx)
	if little, ok := errors.AsType[*tooLittleError](err); ok {
		return nil, &memory.Error{Code: memory.CodeConflict, Message: little.Error(),
			Hint: "index more repositories first: recalld index PATH", Cause: err}
	}
	if err != nil {
		return nil, fmt.Errorf("adapt model: %w", err)
	}
	out := &result.Adaptation
	out.At, out.Took = s.opts.Now().UTC(), memory.Millis(s.opts.Now().Sub(began))
	log := s.opts.Logger.With("part", "adaptation", "pairs", out.Pairs, "gain", out.Gain, "gain_error", out.Error)
	if !out.Kept {
		log.Info("adapted model was rejected", "why", out.Refused)
		return out, nil
	}
	if err := ctx.Err(); err != nil { // the request has ended
		return nil, err
	}
	if err := keep(s.opts.Dir, result.file, out); err != nil {
		return nil, notKept(s.opts.Dir, err)
	}
	s.mu.Lock()
	s.trouble = ""
	s.mu.Unlock()
	if err := sweep(s.opts.Dir, out.Model); err != nil {
		log.Warn("former adapted model could not be removed", "error", err)
	}
	log.Info("model was adapted", "model", out.Model)
	return out, nil
}

// notKept says of an error of keep what to do where the disk takes no more.
func notKept(dir string, err error) error {
	if !fsx.RefusesWrites(err) {
		return err
	}
	return &memory.Error{Code: memory.CodeReadOnly, Cause: err,
		Message: fmt.Sprintf("the adapted model was not kept: %s cannot be written: %v", dir, err),
		Hint:    "make room there, or let it be written, and adapt again; the model of before stays in use"}
}

// Reset removes the adapted model; the next start uses the shipped one. The error has
// CodeNotFound if there is no adapted model, CodeConflict while one is made.
func (s *Service) Reset() error {
	if !s.busy.TryLock() {
		return errBusy
	}
	defer s.busy.Unlock()
	if report, err := readReport(s.opts.Dir); report == nil && err == nil {
		return &memory.Error{Code: memory.CodeNotFound, Message: "there is no adapted model", Hint: "`recalld model adapt` makes one"}
	}
	if err := discard(s.opts.Dir); err != nil {
		return err
	}
	s.mu.Lock()
	s.trouble = ""
	s.mu.Unlock()
	s.opts.Logger.Info("the adapted model was removed", "part", "adaptation")
	return nil
}

// State returns the model in use, the model of the next start, and how that was made.
func (s *Service) State() *memory.BuiltinModel {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &memory.BuiltinModel{InUse: s.opts.InUse, Shipped: builtin.Name, Next: builtin.Name, Running: s.running, Trouble: s.trouble}
	report, err := readReport(s.opts.Dir)
	if out.Adapted = report; report != nil && s.trouble == "" {
		out.Next = report.Model
	}
	if err != nil && out.Trouble == "" { // it was sound when the daemon started
		out.Trouble = err.Error()
	}
	return out
}

// Running returns the progress of the adaptation under way, nil if there is none. It must
// not be written to.
func (s *Service) Running() *memory.AdaptProgress {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// Trouble says why the adapted model is not used. It is empty if there is no reason, and
// after the model was replaced or removed.
func (s *Service) Trouble() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trouble
}

// InUse returns the name of the model in use.
func (s *Service) InUse() string { return s.opts.InUse }

func (s *Service) begin(progress func(memory.AdaptProgress)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listen, s.running = progress, &memory.AdaptProgress{Phase: phaseReading}
}

func (s *Service) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listen, s.running = nil, nil
}

// report notes how far it is, and passes on when another hundredth begins.
func (s *Service) report(p memory.AdaptProgress) {
	s.mu.Lock()
	last, listen := *s.running, s.listen
	s.running = &p
	s.mu.Unlock() // listen may be slow, or call Running

	hundredth := func(done int) int { return done * 99 / max(p.Total, 1) } // 0 to 99
	if listen != nil && (p.Phase != last.Phase || hundredth(p.Done) != hundredth(last.Done)) {
		listen(p)
	}
}
