package contrast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/viterin/vek/vek32"
)

// Trainer trains a model in place. It is for one goroutine at a time; a step itself uses as
// many as the model has Workers. Training is deterministic: the same model, options and
// batches give the same result.
type Trainer struct {
	// State may be set to that of an interrupted run with the same options, together with the
	// rows and weights of its model: the run then continues as it would have.
	State

	model   *Model
	options Options
	loss    *loss
	// start holds the initial rows, if the options anchor rows to them.
	start []float32

	weight []float32 // e^LogWeights of the tokens of the step
	seen   occurrences
}

// State is what a run has come to, besides its model.
type State struct {
	// Steps is the number of steps made.
	Steps int
	// Rows and Weights are the moments of the model's.
	Rows, Weights Moments
}

// NewTrainer returns a trainer of the model. The trainer modifies the model.
func NewTrainer(m *Model, o Options) (*Trainer, error) {
	o = o.withDefaults(m.Width)
	if err := m.validate(); err != nil {
		return nil, err
	}
	if err := o.validate(m.Width); err != nil {
		return nil, err
	}
	t := &Trainer{
		State: State{Rows: newMoments(len(m.Rows)), Weights: newMoments(m.Tokens())},
		model: m, options: o, loss: newLoss(o.Widths, o.Temperature, m.Workers),
		weight: make([]float32, m.Tokens()), seen: occurrences{first: make([]int, m.Tokens())},
	}
	if o.Anchor > 0 {
		t.start = slices.Clone(m.Rows)
	}
	return t, nil
}

// Model returns the model under training.
func (t *Trainer) Model() *Model { return t.model }

// Done says whether the run has made all its steps.
func (t *Trainer) Done() bool { return t.Steps >= t.options.Steps }

// Step makes one step on the pairs at these indices and returns their loss before it, in
// nats.
func (t *Trainer) Step(pairs *Pairs, at []int) (float64, error) {
	if len(at) < 2 {
		return 0, fmt.Errorf("train step: a batch needs at least two pairs, got %d", len(at))
	}
	// Dropout depends only on the seed and the step, so that an interrupted run continues
	// exactly as it would have without the interruption.
	draw := rand.New(rand.NewPCG(t.options.Seed, uint64(t.Steps)))
	b := gather(pairs, at, t.options.Dropout, draw)
	value := t.forward(b)
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return value, fmt.Errorf("train step: the loss of step %d is %v: a lower rate may help", t.Steps, value)
	}
	fall := t.options.fall(t.Steps)
	t.Steps++
	inParallel(t.model.Workers, len(t.seen.tokens), func(first, end int) {
		u := newUpdate(t, fall)
		for i := first; i < end; i++ {
			u.token(b, i)
		}
	})
	return value, nil
}

// forward computes the vectors of the batch and returns its loss. Afterwards vectors holds
// the derivatives by the unnormalised sums.
func (t *Trainer) forward(b *batch) float64 {
	width := t.model.Width
	t.seen.index(b)
	for _, token := range t.seen.tokens {
		t.weight[token] = exp32(t.model.LogWeights[token])
	}
	b.vectors, b.lengths = make([]float32, 2*b.pairs*width), make([]float32, 2*b.pairs)
	inParallel(t.model.Workers, 2*b.pairs, func(first, end int) {
		scratch := make([]float32, width)
		for i := first; i < end; i++ {
			v := b.vectors[i*width : (i+1)*width]
			for _, u := range b.text(i) {
				addScaled(v, t.model.Row(u.token), t.weight[u.token]*u.share, scratch)
			}
			b.lengths[i] = unit(v)
		}
	})
	half := b.pairs * width
	value, da, db := t.loss.of(b.vectors[:half], b.vectors[half:], b.pairs, b.masked)
	throughLengths(b.vectors[:half], da, b.lengths[:b.pairs], t.model.Workers)
	throughLengths(b.vectors[half:], db, b.lengths[b.pairs:], t.model.Workers)
	return value
}

// throughLengths propagates d, the derivatives by the unit vectors v, through the
// normalisation: it replaces v by (d − (d·v)v)/length.
func throughLengths(v, d, lengths []float32, workers int) {
	width := len(v) / len(lengths)
	inParallel(workers, len(lengths), func(first, end int) {
		for i := first; i < end; i++ {
			v, d := v[i*width:(i+1)*width], d[i*width:(i+1)*width]
			if lengths[i] == 0 {
				clear(v)
				continue
			}
			vek32.MulNumber_Inplace(v, -vek32.Dot(d, v))
			vek32.Add_Inplace(v, d)
			vek32.MulNumber_Inplace(v, 1/lengths[i])
		}
	})
}

// occurrences lists the texts of a batch by token.
type occurrences struct {
	// tokens are the tokens of the batch, in order of appearance.
	tokens []uint32
	// Token i occurs in in[ends[i-1]:ends[i]].
	in   []occurrence
	ends []int
	// first is the index of a token in tokens plus 1, 0 between batches.
	first []int
}

// occurrence is a text of a batch and the factor of a token's weight there.
type occurrence struct {
	text  int32
	share float32
}

// index lists the occurrences of a batch.
func (o *occurrences) index(b *batch) {
	o.tokens, o.ends = o.tokens[:0], o.ends[:0]
	for _, u := range b.uses {
		if o.first[u.token] == 0 {
			o.tokens, o.ends = append(o.tokens, u.token), append(o.ends, 0)
			o.first[u.token] = len(o.tokens)
		}
		o.ends[o.first[u.token]-1]++
	}
	at := 0 // ends become starts, and ends again as the lists fill
	for i, n := range o.ends {
		o.ends[i] = at
		at += n
	}
	o.in = grown(o.in, at)
	for i := range b.ends {
		for _, u := range b.text(i) {
			end := &o.ends[o.first[u.token]-1]
			o.in[*end] = occurrence{int32(i), u.share}
			*end++
		}
	}
	for _, t := range o.tokens {
		o.first[t] = 0
	}
}

// of returns the occurrences of tokens[i].
func (o *occurrences) of(i int) []occurrence {
	if i == 0 {
		return o.in[:o.ends[0]]
	}
	return o.in[o.ends[i-1]:o.ends[i]]
}
