package contrast

import (
	"math"

	"github.com/viterin/vek/vek32"
)

// Adam's constants (Kingma and Ba, "Adam", 2015, algorithm 1). The second moment decays
// faster than in the paper (.999): many tokens are in few batches, and a moment still near
// its start of 0 would make their steps too long.
const (
	decay1  = .9
	decay2  = .99
	epsilon = 1e-12
)

// Moments are the running means of gradients and of their squares. A step updates only the
// tokens of its batch and their moments (the sparse variant); the bias correction counts
// all steps.
type Moments struct{ First, Second []float32 }

func newMoments(n int) Moments { return Moments{make([]float32, n), make([]float32, n)} }

// update applies gradients to tokens. Each goroutine of a step has its own.
type update struct {
	t                   *Trainer
	rowRate, weightRate float32
	correct1, correct2  float32
	grad, scratch       []float32
}

func newUpdate(t *Trainer, fall float64) *update {
	return &update{
		t: t, rowRate: float32(t.options.RowRate * fall), weightRate: float32(t.options.WeightRate * fall),
		correct1: float32(1 / (1 - math.Pow(decay1, float64(t.Steps)))),
		correct2: float32(1 / (1 - math.Pow(decay2, float64(t.Steps)))),
		grad:     make([]float32, t.model.Width), scratch: make([]float32, t.model.Width),
	}
}

// token updates the row and the weight of the batch's i-th token.
func (u *update) token(b *batch, i int) {
	t := u.t
	token := t.seen.tokens[i]
	dWeight := t.gradient(b, i, u.grad, u.scratch)
	at := int(token) * t.model.Width
	end := at + t.model.Width
	u.row(t.model.Rows[at:end], t.Rows.First[at:end], t.Rows.Second[at:end])
	if t.start != nil {
		vek32.Sub_Into(u.scratch, t.start[at:end], t.model.Rows[at:end])
		vek32.MulNumber_Inplace(u.scratch, u.rowRate*float32(t.options.Anchor))
		vek32.Add_Inplace(t.model.Rows[at:end], u.scratch)
	}
	if !t.options.FreezeWeights {
		first, second := &t.Weights.First[token], &t.Weights.Second[token]
		*first += (1 - decay1) * (dWeight - *first)
		*second += (1 - decay2) * (dWeight*dWeight - *second)
		t.model.LogWeights[token] -= u.weightRate * *first * u.correct1 / (float32(math.Sqrt(float64(*second*u.correct2))) + epsilon)
	}
}

// gradient sets grad to the gradient of the loss by the row of the batch's i-th token and
// returns the derivative by the logarithm of its weight. scratch has the length of grad.
func (t *Trainer) gradient(b *batch, i int, grad, scratch []float32) float32 {
	token, width := t.seen.tokens[i], t.model.Width
	clear(grad)
	for _, o := range t.seen.of(i) {
		addScaled(grad, b.vectors[int(o.text)*width:(int(o.text)+1)*width], o.share, scratch)
	}
	vek32.MulNumber_Inplace(grad, t.weight[token])
	return vek32.Dot(grad, t.model.Row(token))
}

// row updates a row by grad, which it overwrites.
func (u *update) row(row, first, second []float32) {
	vek32.MulNumber_Inplace(first, decay1)
	vek32.MulNumber_Into(u.scratch, u.grad, 1-decay1)
	vek32.Add_Inplace(first, u.scratch)
	vek32.MulNumber_Inplace(second, decay2)
	vek32.MulNumber_Into(u.scratch, u.grad, 1-decay2)
	vek32.Mul_Inplace(u.scratch, u.grad)
	vek32.Add_Inplace(second, u.scratch)

	vek32.MulNumber_Into(u.scratch, second, u.correct2)
	vek32.Sqrt_Inplace(u.scratch)
	vek32.AddNumber_Inplace(u.scratch, epsilon)
	vek32.Div_Into(u.grad, first, u.scratch)
	vek32.MulNumber_Inplace(u.grad, u.rowRate*u.correct1)
	vek32.Sub_Inplace(row, u.grad)
}
