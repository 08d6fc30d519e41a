package adaptation

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/embedder/builtin/table"
)

// documents is how many documents private texts come from, with eight pairs each.
const documents = 300

// syllables make words that no model knows.
var syllables = strings.Fields("zor bla vex ilt qua mur den hoy pax wib kro fen tul sag jep nid")

// invented returns n words, all different.
func invented(n int, draw *rand.Rand) []string {
	seen := map[string]bool{}
	var words []string
	for len(words) < n {
		w := ""
		for range 3 {
			w += syllables[draw.IntN(len(syllables))]
		}
		if !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	return words
}

// coinedPairs is a corpus of words that mean something only there: each has a partner, and a
// question in such words is answered with their partners. With mixed, answers belong to
// other questions.
func coinedPairs(documents int, mixed bool) *corpus {
	draw := rand.New(rand.NewPCG(7, 7))
	asked, answered := invented(60, draw), invented(60, draw)
	c := &corpus{}
	for d := range documents {
		for range 8 {
			var a, b []string
			for range 4 {
				i := draw.IntN(len(asked))
				a = append(a, asked[i])
				if mixed {
					i = draw.IntN(len(asked))
				}
				b = append(b, answered[i])
			}
			c.addPair(fmt.Sprint("document ", d), strings.Join(a, " "), strings.Join(b, " "))
		}
	}
	return c
}

// general are pairs whose sides have most of their words in common.
func general() (pairs []Pair) {
	things := strings.Fields("database socket password window thread printer network backup certificate container compiler calendar")
	deeds := strings.Fields("restart configure delete encrypt resize compress mount rename synchronise verify")
	for _, thing := range things {
		for _, deed := range deeds {
			pairs = append(pairs, Pair{A: "how to " + deed + " the " + thing, B: "In order to " + deed + " a " + thing + " use its settings"})
		}
	}
	return pairs
}

// smallBase is a table of some words and random rows, which is trained in a tenth of the
// time of the shipped one: nearly all of that is quantising rows that nothing moved.
var smallBase = sync.OnceValue(func() []byte {
	words := map[string]bool{}
	for _, p := range general() {
		for _, w := range strings.Fields(strings.ToLower(p.A + " " + p.B)) {
			words[w] = true
		}
	}
	v, err := table.NewVocabulary(slices.Collect(maps.Keys(words)), 4000)
	if err != nil {
		panic(err)
	}
	draw := rand.New(rand.NewPCG(3, 4))
	s := table.Spec{Name: "small", Vocabulary: v, Widths: []int{128}, Bits: 4, Weights: slices.Repeat([]float32{1}, v.Size()), Rows: make([]float32, v.Size()*128)}
	for i := range s.Rows {
		s.Rows[i] = float32(draw.NormFloat64())
	}
	m, err := table.New(s)
	if err != nil {
		panic(err)
	}
	_, file, err := write(m)
	if err != nil {
		panic(err)
	}
	return file
})

// train runs a training on a corpus; what a test does not set has its default.
func train(ctx context.Context, c *corpus, t training) (*result, error) {
	t.corpus, t.general, t.recipe = c, general(), shippedRecipe
	if t.base == nil {
		t.base = smallBase()
	}
	t.workers, t.minPairs, t.timeLimit = cmp.Or(t.workers, 1), cmp.Or(t.minPairs, 500), cmp.Or(t.timeLimit, defaultTimeLimit)
	if t.now == nil {
		t.now = time.Now
	}
	if t.progress == nil {
		t.progress = func(int, int) {}
	}
	return t.run(ctx)
}

// TestLearns: what words mean to one user alone is learned from some documents and found
// in others, general pairs are still found, and the table embeds. It trains the shipped table.
func TestLearns(t *testing.T) {
	out, err := train(t.Context(), coinedPairs(documents, false), training{base: builtin.File()})
	must(t, err)
	if out.file == nil || out.Before.MRR > .2 || out.After.MRR < .5 || out.Gain < 10*out.Error {
		t.Fatalf("MRR %.3f, then %.3f, a gain of %.3f ± %.3f; refused: %q", out.Before.MRR, out.After.MRR, out.Gain, out.Error, out.Refused)
	}
	t.Logf("%d steps, MRR %.3f, then %.3f ± %.3f", out.Steps, out.Before.MRR, out.After.MRR, out.Error)
	if out.GeneralAfter.MRR < out.GeneralBefore.MRR-maxLoss {
		t.Errorf("general pairs: MRR %.3f, then %.3f", out.GeneralBefore.MRR, out.GeneralAfter.MRR)
	}
	e, err := builtin.Open(out.file)
	must(t, err)
	m, err := e.Model(t.Context())
	if err != nil || m.Name != out.Model || !strings.HasPrefix(m.Name, builtin.Name+nameInfix) {
		t.Errorf("the model is %q, reported %q, %v", m.Name, out.Model, err)
	}
	shipped, err := builtin.New().Model(t.Context())
	if err != nil || embedder.SameModel(shipped.Probes, m.Probes) && m.Collection() == shipped.Collection() {
		t.Errorf("the adapted model's space is %s, the shipped one's %s, %v", m.Collection(), shipped.Collection(), err)
	}
}

// TestSame: the number of goroutines changes nothing.
func TestSame(t *testing.T) {
	one, err := train(t.Context(), coinedPairs(documents, false), training{})
	must(t, err)
	three, err := train(t.Context(), coinedPairs(documents, false), training{workers: 3})
	if err != nil || one.file == nil || !bytes.Equal(one.file, three.file) {
		t.Errorf("one goroutine makes %s, three %s, %v", one.Model, three.Model, err)
	}
}

// TestNoise: a table that has learned nothing is not kept.
func TestNoise(t *testing.T) {
	out, err := train(t.Context(), coinedPairs(documents, true), training{})
	must(t, err)
	if out.Kept || out.file != nil || out.Model != "" || !strings.Contains(out.Refused, "no certain gain") {
		t.Errorf("noise gives %q, refused %q, %+v", out.Model, out.Refused, out)
	}
}

// TestTooLittle tells how much there is and how much is needed.
func TestTooLittle(t *testing.T) {
	_, err := train(t.Context(), coinedPairs(30, false), training{minPairs: defaultMinPairs})
	little, ok := errors.AsType[*tooLittleError](err)
	if !ok || little.pairs != 240 || little.needed != defaultMinPairs {
		t.Fatalf("240 pairs: %v", err)
	}
	if want := "240 pairs, at least 2000 are needed"; !strings.Contains(err.Error(), want) {
		t.Errorf("%q does not say %q", err, want)
	}
}

// TestFewDocuments: many pairs of a few documents leave none to judge by.
func TestFewDocuments(t *testing.T) {
	c := &corpus{}
	for i := range 2500 {
		c.addPair(fmt.Sprint("document ", i%4), fmt.Sprintf("entry number %d of the register", i), fmt.Sprintf("register says of entry %d that it is there", i))
	}
	_, err := train(t.Context(), c, training{})
	if little, ok := errors.AsType[*tooLittleError](err); !ok || little.documents != 4 || !strings.Contains(err.Error(), "from 4 documents too few remain") {
		t.Errorf("2500 pairs of four documents: %v", err)
	}
}

// TestAllAlike: if all pairs share a text, holding some out leaves nothing to learn from.
func TestAllAlike(t *testing.T) {
	c := &corpus{}
	for i := range 2500 {
		c.addPair(fmt.Sprint("document ", i), "the build of the warehouse fails", fmt.Sprintf("register says of entry %d that it is there", i))
	}
	_, err := train(t.Context(), c, training{})
	if little, ok := errors.AsType[*tooLittleError](err); !ok || little.pairs != 2500 {
		t.Errorf("2500 pairs with one text in common: %v", err)
	}
}

// TestCancelled ends between two steps.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	_, err := train(ctx, coinedPairs(documents, false), training{progress: func(done, _ int) {
		if steps = done; done == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || steps != 3 {
		t.Errorf("cancelled in step 3: %v after %d steps", err, steps)
	}
}

// TestTimeLimit: the best table until the limit counts.
func TestTimeLimit(t *testing.T) {
	now := time.Unix(0, 0)
	out, err := train(t.Context(), coinedPairs(documents, false), training{timeLimit: 12 * time.Second, now: func() time.Time {
		now = now.Add(time.Second)
		return now
	}})
	must(t, err)
	if !out.OutOfTime || out.Steps < 8 || out.Steps > 12 || out.bestStep == 0 || out.bestStep > out.Steps {
		t.Errorf("with 12 seconds and one a step: %+v", out)
	}
	longer, err := train(t.Context(), coinedPairs(documents, false), training{})
	if err != nil || out.file == nil || out.Model == longer.Model || checksum(out.file) == checksum(longer.file) {
		t.Errorf("two tables are named %s and %s, %v", out.Model, longer.Model, err)
	}
}

func TestDamagedBase(t *testing.T) {
	damaged := bytes.Clone(builtin.File())
	damaged[len(damaged)/2] ^= 1
	if _, err := train(t.Context(), coinedPairs(documents, false), training{base: damaged}); err == nil {
		t.Error("a damaged base is taken")
	}
	if _, err := builtin.Open(damaged); err == nil {
		t.Error("a damaged table is opened")
	}
}
