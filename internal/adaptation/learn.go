package adaptation

import (
	"context"
	"fmt"

	"github.com/recalld/recalld/embedder/builtin/contrast"
)

// recipe is how a table is trained further.
type recipe struct {
	batch, part int
	// epochs is how often a pair is learned from on average.
	epochs float64
	// evaluations is how often a run is evaluated on the tuning pairs.
	evaluations int
	// patience is how many evaluations without a gain end the run.
	patience int
	trainer  contrast.Options
}

// shippedRecipe was found by trials on four repositories; docs/model.md has the figures,
// the notebook of the trainer what was tried. Weights are frozen: they come from far more
// text than one user has, and training them caused the largest loss on the general pairs.
var shippedRecipe = recipe{
	batch: minLearned, part: 32, epochs: 16, evaluations: 12, patience: 3,
	trainer: contrast.Options{RowRate: .02, FreezeWeights: true, Dropout: .1, Seed: 1},
}

// learned is the best model of a run.
type learned struct {
	model       *contrast.Model
	steps, best int
	late        bool
}

// learn trains the model of the subset and returns its state with the best figures on the
// tuning pairs.
func (w *subset) learn(ctx context.Context, run *training) (*learned, error) {
	began, r := run.now(), run.recipe
	total := max(int(r.epochs*float64(len(w.learned))/float64(r.batch)), r.evaluations)
	r.trainer.Steps, r.trainer.WarmUp, r.trainer.Widths = total, min(20, total/10), w.widths
	t, err := contrast.NewTrainer(w.model.Clone(), r.trainer)
	if err != nil {
		return nil, fmt.Errorf("make trainer: %w", err)
	}
	out := &learned{model: w.model}
	best := w.tuning(w.model)
	var sampler *contrast.Sampler
	for missed := 0; !t.Done() && missed < r.patience; {
		if sampler == nil {
			all := []contrast.Cohort{{Pairs: w.learned, Weight: 1}}
			if sampler, err = contrast.NewSampler(all, r.part, uint64(t.Steps)); err != nil {
				return nil, err
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if out.late = run.now().Sub(began) > run.timeLimit; out.late {
			break
		}
		if _, err := t.Step(&w.pairs, sampler.Batch(t.Steps, r.batch)); err != nil {
			return nil, err
		}
		run.progress(t.Steps, total)
		if t.Steps%max(total/r.evaluations, 1) != 0 && !t.Done() {
			continue
		}
		if now := w.tuning(t.Model()); now > best {
			best, missed = now, 0
			out.model, out.best = t.Model().Clone(), t.Steps
		} else {
			missed++
		}
		sampler = nil // another sample of pairs until the next evaluation
	}
	out.steps = t.Steps
	return out, nil
}

func (w *subset) tuning(m *contrast.Model) float64 {
	return figuresOf(contrast.Ranks(m, &w.pairs, w.tuned, w.width)).MRR
}
