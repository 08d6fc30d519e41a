package adapt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/embedder/builtin/adapt"
)

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

// private is a corpus of somebody whose words mean something only there: each has a
// partner, and what is asked with words is answered with their partners. With mixed,
// answers belong to other questions.
func private(documents int, mixed bool) *adapt.Corpus {
	draw := rand.New(rand.NewPCG(7, 7))
	asked, answered := invented(60, draw), invented(60, draw)
	c := &adapt.Corpus{}
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
			c.AddPair(fmt.Sprint("document ", d), strings.Join(a, " "), strings.Join(b, " "))
		}
	}
	return c
}

// general are pairs whose sides have most of their words in common.
func general() (pairs []adapt.Pair) {
	things := strings.Fields("database socket password window thread printer network backup certificate container compiler calendar")
	deeds := strings.Fields("restart configure delete encrypt resize compress mount rename synchronise verify")
	for _, thing := range things {
		for _, deed := range deeds {
			pairs = append(pairs, adapt.Pair{A: "how to " + deed + " the " + thing, B: "In order to " + deed + " a " + thing + " use its settings"})
		}
	}
	return pairs
}

func adaptTo(t *testing.T, c *adapt.Corpus, o adapt.Options) *adapt.Table {
	t.Helper()
	out, err := adapt.Run(t.Context(), builtin.File(), c, general(), o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// learned is what adapting to private words comes to, which several tests look at.
var learned = sync.OnceValues(func() (*adapt.Table, error) {
	return adapt.Run(context.Background(), builtin.File(), private(300, false), general(), adapt.Options{})
})

// TestLearns: what words mean to one person alone is learned from some documents and
// found in others, what is general is still found, and the table is one that embeds.
func TestLearns(t *testing.T) {
	out, err := learned()
	if err != nil {
		t.Fatal(err)
	}
	r := out.Report
	if out.File == nil || r.Before.MRR > .2 || r.After.MRR < .5 || r.Gain < 10*r.Error {
		t.Fatalf("MRR %.3f, then %.3f, a gain of %.3f ± %.3f; refused: %q", r.Before.MRR, r.After.MRR, r.Gain, r.Error, out.Refused)
	}
	if r.GeneralAfter.MRR < r.GeneralBefore.MRR-.02 {
		t.Errorf("general pairs: MRR %.3f, then %.3f", r.GeneralBefore.MRR, r.GeneralAfter.MRR)
	}
	e, err := builtin.Open(out.File)
	if err != nil {
		t.Fatal(err)
	}
	m, err := e.Model(t.Context())
	if err != nil || m.Name != "builtin/"+out.Name || !strings.HasPrefix(m.Name, builtin.Name+adapt.NameInfix) || r.Model != out.Name {
		t.Errorf("the model is %q, the table %q, the report's %q, %v", m.Name, out.Name, r.Model, err)
	}
	shipped, err := builtin.New().Model(t.Context())
	if err != nil || embedder.SameModel(shipped.Probes, m.Probes) && m.Space() == shipped.Space() {
		t.Errorf("the adapted model's space is %s, the shipped one's %s, %v", m.Space(), shipped.Space(), err)
	}
}

// TestSame: how many goroutines work changes nothing.
func TestSame(t *testing.T) {
	one, err := learned()
	if err != nil {
		t.Fatal(err)
	}
	if three := adaptTo(t, private(300, false), adapt.Options{Workers: 3}); one.File == nil || !bytes.Equal(one.File, three.File) {
		t.Errorf("one goroutine makes %s, three %s", one.Name, three.Name)
	}
}

// TestNoise: where nothing can be learned nothing is kept.
func TestNoise(t *testing.T) {
	out := adaptTo(t, private(300, true), adapt.Options{})
	if out.File != nil || out.Name != "" || !strings.Contains(out.Refused, "nothing is gained") {
		t.Errorf("noise gives %q, refused %q, %+v", out.Name, out.Refused, out.Report)
	}
}

// TestTooLittle tells how much there is and how much is needed.
func TestTooLittle(t *testing.T) {
	_, err := adapt.Run(t.Context(), builtin.File(), private(30, false), general(), adapt.Options{})
	little, ok := errors.AsType[*adapt.TooLittleError](err)
	if !ok || little.Pairs != 240 || little.Needed != adapt.DefaultMinPairs {
		t.Fatalf("240 pairs: %v", err)
	}
	if want := "240 pairs, at least 2000 are needed"; !strings.Contains(err.Error(), want) {
		t.Errorf("%q does not say %q", err, want)
	}
}

// TestFewDocuments: many pairs of a few documents leave none to judge by.
func TestFewDocuments(t *testing.T) {
	c := &adapt.Corpus{}
	for i := range 2500 {
		c.AddPair(fmt.Sprint("document ", i%4), fmt.Sprintf("entry number %d of the register", i), fmt.Sprintf("register says of entry %d that it is there", i))
	}
	_, err := adapt.Run(t.Context(), builtin.File(), c, general(), adapt.Options{})
	if little, ok := errors.AsType[*adapt.TooLittleError](err); !ok || little.Documents != 4 || !strings.Contains(err.Error(), "of 4 documents leave too few") {
		t.Errorf("2500 pairs of four documents: %v", err)
	}
}

// TestAllAlike: where everything is about the same, what is held out leaves nothing to
// learn from.
func TestAllAlike(t *testing.T) {
	c := &adapt.Corpus{}
	for i := range 2500 {
		c.AddPair(fmt.Sprint("document ", i), "the build of the warehouse fails", fmt.Sprintf("register says of entry %d that it is there", i))
	}
	_, err := adapt.Run(t.Context(), builtin.File(), c, general(), adapt.Options{})
	if little, ok := errors.AsType[*adapt.TooLittleError](err); !ok || little.Pairs != 2500 {
		t.Errorf("2500 pairs with one text in common: %v", err)
	}
}

// TestCancelled ends between two steps.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	_, err := adapt.Run(ctx, builtin.File(), private(300, false), general(), adapt.Options{Progress: func(done, _ int) {
		if steps = done; done == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || steps != 3 {
		t.Errorf("cancelled in step 3: %v after %d steps", err, steps)
	}
}

// TestTimeLimit: what was learned until then counts.
func TestTimeLimit(t *testing.T) {
	now := time.Unix(0, 0)
	out := adaptTo(t, private(300, false), adapt.Options{TimeLimit: 12 * time.Second, Now: func() time.Time {
		now = now.Add(time.Second)
		return now
	}})
	r := out.Report
	if !r.OutOfTime || r.Steps < 8 || r.Steps > 12 || r.BestStep == 0 || r.BestStep > r.Steps {
		t.Errorf("with 12 seconds and one a step: %+v", r)
	}
	if longer, err := learned(); err != nil || out.File == nil || out.Name == longer.Name || adapt.Checksum(out.File) == adapt.Checksum(longer.File) {
		t.Errorf("two tables are named %s and %s, %v", out.Name, longer.Name, err)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []adapt.Options{{Workers: -1}, {TimeLimit: -1}, {MinPairs: -1}} {
		if _, err := adapt.Run(t.Context(), builtin.File(), &adapt.Corpus{}, nil, o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	damaged := bytes.Clone(builtin.File())
	damaged[len(damaged)/2] ^= 1
	if _, err := adapt.Run(t.Context(), damaged, private(300, false), nil, adapt.Options{}); err == nil {
		t.Error("a damaged base is taken")
	}
	if _, err := builtin.Open(damaged); err == nil {
		t.Error("a damaged table is opened")
	}
}
