package daemon

import (
	"context"
	"errors"
	"iter"
	"log/slog"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/internal/adaptation"
	"github.com/recalld/recalld/internal/eval"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store"
)

// builtinOf returns the built-in model of a data folder: the adapted one if there is
// one, else the program's own. err says why an adapted one is not used.
func builtinOf(models string) (embedder.Embedder, error) {
	adapted, err := adaptation.Load(models, builtin.File())
	if adapted == nil {
		return builtin.New(), err
	}
	return adapted, nil
}

// adaptedTrouble says for people why the adapted model is not used.
func adaptedTrouble(err error) string {
	text := "the built-in model is used as it was shipped: " + err.Error()
	if errors.Is(err, adaptation.ErrDamaged) || errors.Is(err, adaptation.ErrOtherBase) {
		text += "; `recalld model adapt` makes it anew, `recalld model reset` removes it"
	}
	return text
}

// newAdaptation makes the service that adapts the built-in model.
func (d *Daemon) newAdaptation(ctx context.Context, dir, trouble string) error {
	m, err := d.opts.builtin.Model(ctx)
	if err != nil {
		return err
	}
	d.adaptation = adaptation.New(adaptation.Options{
		Dir: dir, InUse: m.Name, Trouble: trouble, Store: adaptationStore{d.core.Store, d.log}, Read: d.core.Verifier.Whole,
		General: generalPairs, MinPairs: d.opts.minPairs, Logger: d.log,
	})
	return nil
}

// generalPairs are those that an adapted model must go on to find.
func generalPairs() ([]adaptation.Pair, error) {
	set, err := eval.LessonPairs()
	if err != nil {
		return nil, err
	}
	pairs := make([]adaptation.Pair, len(set))
	for i, p := range set {
		pairs[i] = adaptation.Pair{A: p.Question, B: p.Lesson}
	}
	return pairs, nil
}

// adaptationStore is the store as package adaptation reads it.
type adaptationStore struct {
	*store.Store
	log *slog.Logger
}

var _ adaptation.Store = adaptationStore{}

// Lessons implements adaptation.Store. Those that were followed from files of a
// repository are left out: all projects share the model.
func (s adaptationStore) Lessons() iter.Seq2[memory.Record, error] {
	return func(yield func(memory.Record, error) bool) {
		err := s.View(func(v store.View) error {
			for r, err := range v.Records() {
				if (err != nil || r.Kind == memory.Lesson && !r.Provenance.Followed()) && !yield(r, err) {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			s.log.Error("lessons cannot be read", attrPart, "adaptation", attrError, err)
		}
	}
}

// errAdaptStopped is what an adaptation ends with when the daemon does.
var errAdaptStopped = &memory.Error{Code: memory.CodeUnavailable, Message: "the daemon was stopped, and with it the adaptation; nothing has changed", Hint: "`recalld model adapt` begins anew"}

// AdaptModel carries out service.AdaptModel. It ends when the daemon drains: what was learned
// so far is worth less than a stop that is prompt.
func (d *Daemon) AdaptModel(ctx context.Context, req memory.AdaptRequest, progress func(memory.AdaptProgress)) (*memory.Adaptation, error) {
	if err := d.roomFor("an adaptation"); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-d.draining:
			cancel(errAdaptStopped)
		case <-ctx.Done():
		}
	}()
	defer func() { cancel(nil); <-ended }()
	out, err := d.adaptation.Adapt(ctx, req, progress)
	if err != nil && errors.Is(context.Cause(ctx), errAdaptStopped) {
		return nil, errAdaptStopped
	}
	return out, err
}

// ResetModel carries out service.ResetModel.
func (d *Daemon) ResetModel(context.Context) (*memory.BuiltinModel, error) {
	if err := d.adaptation.Reset(); err != nil {
		return nil, err
	}
	return d.adaptation.State(), nil
}
