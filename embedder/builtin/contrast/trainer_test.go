package contrast

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// topics returns pairs that can be learned: a token of a goes with one of b,
// among others that say nothing.
func topics(tokens, pairs int) *Pairs {
	draw := rand.New(rand.NewPCG(5, 5))
	p := &Pairs{}
	half := uint32(tokens / 2)
	for range pairs {
		topic := draw.Uint32N(half - 2)
		p.A.Add([]uint32{topic, half - 1, half - 2})
		p.B.Add([]uint32{half + topic, uint32(tokens) - 1, half - 2, half - 2})
	}
	return p
}

func blank(tokens, width int) *Model {
	draw := rand.New(rand.NewPCG(6, 6))
	m := NewModel(tokens, width)
	for i := range m.Rows {
		m.Rows[i] = float32(draw.NormFloat64()) / 4
	}
	return m
}

func trained(t *testing.T, m *Model, pairs *Pairs, o Options, upTo int) *Trainer {
	t.Helper()
	trainer, err := NewTrainer(m, o)
	if err != nil {
		t.Fatal(err)
	}
	run(t, trainer, pairs, upTo)
	return trainer
}

func run(t *testing.T, trainer *Trainer, pairs *Pairs, upTo int) {
	t.Helper()
	s, err := NewSampler([]Cohort{{Pairs: all(pairs.Len()), Weight: 1}}, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	for trainer.Steps < upTo {
		if _, err := trainer.Step(pairs, s.Batch(trainer.Steps, 48)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLearns trains on pairs of which no token of one text is in the other
// but those that all texts have.
func TestLearns(t *testing.T) {
	const tokens = 80
	pairs := topics(tokens, 400)
	m := blank(tokens, 16)
	one := map[uint64]bool{} // one pair of each topic
	var at []int
	for i := range pairs.Len() {
		if key := pairs.A.At(i).key(); !one[key] {
			one[key] = true
			at = append(at, i)
		}
	}
	first := func(width int) (n int) {
		for _, r := range Ranks(m, pairs, at, width) {
			if r == 1 {
				n++
			}
		}
		return n
	}
	if n := first(16); n > len(at)/4 {
		t.Fatalf("%d of %d pairs are found before training: the test shows nothing", n, len(at))
	}
	noise := m.LogWeights[tokens/2-2]
	trained(t, m, pairs, Options{Steps: 150, Widths: []int{8, 16}, Dropout: .1, Anchor: .1, WarmUp: 5}, 150)
	for _, width := range []int{8, 16} {
		if n := first(width); n < len(at)*9/10 {
			t.Errorf("%d of %d pairs are found at width %d, want nine in ten", n, len(at), width)
		}
	}
	if got := m.LogWeights[tokens/2-2]; got >= noise {
		t.Errorf("the logarithm of the weight of a token that every text has went from %v to %v, want less", noise, got)
	}
}

// TestFirstStep holds that a first step moves every component by its rate,
// whatever its derivative: Adam divides by the size of what it has seen.
func TestFirstStep(t *testing.T) {
	const tokens, rate = 60, .03
	pairs := topics(tokens, 200)
	m := blank(tokens, 16)
	before := m.Clone()
	trained(t, m, pairs, Options{Steps: 9, RowRate: rate}, 1)
	token := pairs.A.At(0).Tokens[1] // all texts have it
	for i, x := range m.Row(token) {
		if moved := math.Abs(float64(x - before.Row(token)[i])); math.Abs(moved-rate) > rate/100 {
			t.Errorf("component %d moved by %v, want %v", i, moved, rate)
		}
	}
	if slices.Equal(m.LogWeights, before.LogWeights) {
		t.Error("no weight moved")
	}
	frozen := before.Clone()
	trained(t, frozen, pairs, Options{Steps: 9, FreezeWeights: true}, 1)
	if !slices.Equal(frozen.LogWeights, before.LogWeights) {
		t.Error("a weight moved that was to stay")
	}
}

// TestAnchor holds that anchored rows end nearer to where they started.
func TestAnchor(t *testing.T) {
	const tokens = 60
	pairs := topics(tokens, 200)
	start := blank(tokens, 16)
	moved := func(anchor float64) (sum float64) {
		m := start.Clone()
		trained(t, m, pairs, Options{Steps: 40, Anchor: anchor}, 40)
		for i, x := range m.Rows {
			sum += math.Pow(float64(x-start.Rows[i]), 2)
		}
		return sum
	}
	if free, anchored := moved(0), moved(5); anchored > free*.8 {
		t.Errorf("anchored rows moved %v, free ones %v, want a fifth less at least", anchored, free)
	}
}

// TestSameAgain holds that a run depends on its seed and nothing else.
func TestSameAgain(t *testing.T) {
	const tokens = 60
	pairs := topics(tokens, 200)
	rows := func(seed uint64, processors int) []float32 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		m := blank(tokens, 16)
		trained(t, m, pairs, Options{Steps: 20, Dropout: .3, Seed: seed}, 20)
		return m.Rows
	}
	want := rows(1, 1)
	for _, processors := range []int{1, 2, 3} {
		if !slices.Equal(rows(1, processors), want) {
			t.Errorf("on %d processors the same seed gives other rows", processors)
		}
	}
	if slices.Equal(rows(2, 1), want) {
		t.Error("another seed gives the same rows")
	}
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"no steps":         {},
		"widths not mine":  {Steps: 1, Widths: []int{4, 8}},
		"widths backwards": {Steps: 1, Widths: []int{16, 4}},
		"a width twice":    {Steps: 1, Widths: []int{8, 8, 16}},
		"cold":             {Steps: 1, Temperature: .001},
		"only warming up":  {Steps: 3, WarmUp: 3},
		"drops all":        {Steps: 1, Dropout: 1},
		"pulls too far":    {Steps: 1, Anchor: 100},
		"rate":             {Steps: 1, RowRate: -1},
	} {
		if _, err := NewTrainer(blank(10, 16), o); !errors.Is(err, errOptions) {
			t.Errorf("%s: error %v, want %v", name, err, errOptions)
		}
	}
	for name, m := range map[string]*Model{
		"no tokens": NewModel(0, 4), "rows missing": {Width: 4, Rows: make([]float32, 7), LogWeights: make([]float32, 2)},
	} {
		if _, err := NewTrainer(m, Options{Steps: 1}); !errors.Is(err, errModel) {
			t.Errorf("%s: error %v, want %v", name, err, errModel)
		}
	}
	trainer, err := NewTrainer(blank(80, 16), Options{Steps: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := trainer.Step(topics(80, 2), []int{1}); err == nil {
		t.Error("a batch of one pair is taken")
	}
}
