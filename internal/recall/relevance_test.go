package recall

import (
	"context"
	"math"
	"testing"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/index/vector"
	"github.com/recalld/recalld/internal/memory"
)

const builtinPart = vectorPrefix + builtin.Name

// gumbels calls do with each distribution of the shipped calibration.
func gumbels(do func(name string, g Gumbel)) {
	for kind, e := range ShippedCalibration().Kinds {
		do(string(kind)+" by words", e.Words)
		do(string(kind)+" by vectors", e.Vectors)
		do(string(kind)+" by both", e.Both)
	}
}

func TestGumbelTailAndQuantileAreInverse(t *testing.T) {
	gumbels(func(name string, g Gumbel) {
		for _, of := range []Size{{0, 0}, {1, 1}, {5, 3}, {300, 6}, {55_000, 400}} {
			last := math.Inf(-1)
			for _, p := range []float64{0.05, 0.5, 0.95, 0.99, 0.9999} {
				x := g.Quantile(p, of)
				if got := g.Tail(x, of); math.Abs(got-(1-p)) > 1e-9 {
					t.Errorf("%s: Tail(Quantile(%v), %+v) = %v, want %v", name, p, of, got, 1-p)
				}
				if x <= last {
					t.Errorf("%s: quantile %v of %+v is %v, not above the one before, %v", name, p, of, x, last)
				}
				last = x
			}
		}
	})
}

func TestMoreDocumentsAskForMoreEvidence(t *testing.T) {
	gumbels(func(name string, g Gumbel) {
		last := math.Inf(-1)
		for _, n := range []int{1, 2, 10, 100, 1000, 100_000} {
			if x := g.Quantile(0.98, Size{n, 6}); x <= last {
				t.Errorf("%s: %d documents ask for %v, fewer for %v", name, n, x, last)
			} else {
				last = x
			}
		}
	})
}

// TestLongQuestionsAskForMoreEvidence: a pasted report finds some of its words anywhere. From
// some length on it asks for no more.
func TestLongQuestionsAskForMoreEvidence(t *testing.T) {
	gumbels(func(name string, g Gumbel) {
		last := math.Inf(-1)
		for _, words := range []int{usualWords, 12, 25, manyWords} {
			if x := g.Quantile(0.5, Size{300, words}); x <= last {
				t.Errorf("%s: %d words ask for %v, fewer for %v", name, words, x, last)
			} else {
				last = x
			}
		}
		if x := g.Quantile(0.5, Size{300, 10 * manyWords}); x != last {
			t.Errorf("%s: %d words ask for %v, want %v", name, 10*manyWords, x, last)
		}
		if unknown := g.Quantile(0.5, Size{300, 0}); unknown != g.Quantile(0.5, Size{300, usualWords}) {
			t.Errorf("%s: a question of unknown length asks for %v, unlike one of usual length", name, unknown)
		}
	})
}

func TestRelevancePassesThroughItsMarks(t *testing.T) {
	c := ShippedCalibration()
	for kind, expected := range c.Kinds {
		marks := map[float64]float64{0.03: 0.5, 0.015: 0.75, oddsForLine: 0.2}
		if kind == memory.Chunk {
			marks = map[float64]float64{0.14: 0.5, 0.08: 0.75, oddsForLine: 0.2}
		}
		for share, want := range marks {
			const n, best, words = 1000, 64, 9
			r := index.Result{Best: best, Searched: n, Content: words}
			of := Size{n, words}
			found := func(x float64) Score { // by words
				return Score{"lexical", index.Hit{Score: float32(x * math.Sqrt(best) * n * wordUnit / (n + halfWords))}, &r}
			}
			if got := c.Relevance(kind, found(expected.Words.Quantile(1-share, of))); math.Abs(got-want) > 1e-5 {
				t.Errorf("%q: words that %v find have relevance %v, want %v", kind, share, got, want)
			}
			const mean, deviation = 0.5, 0.1
			x := expected.Vectors.Quantile(1-share, Size{n, 0})
			vectors := Score{"vector/unknown", index.Hit{Score: float32(mean + x*deviation*vectorUnit)}, &index.Result{Best: 1, Searched: n, Mean: mean, Deviation: deviation}}
			if got := c.Relevance(kind, vectors); math.Abs(got-want) > 1e-5 {
				t.Errorf("%q: a vector that %v find has relevance %v, want %v", kind, share, got, want)
			}
			missing := expected.Both.Quantile(1-share, of) - c.Evidence(vectors)
			if got := c.Joint(kind, found(missing), vectors); math.Abs(got-want) > 1e-5 {
				t.Errorf("%q: words and vectors that %v find have relevance %v, want %v", kind, share, got, want)
			}
		}
	}
}

// TestMoreEvidenceIsMoreRelevance: over the whole curve, also where its slope changes.
func TestMoreEvidenceIsMoreRelevance(t *testing.T) {
	c := ShippedCalibration()
	r := index.Result{Best: 64, Searched: 300, Content: 8}
	for kind := range c.Kinds {
		last := -1.0
		for score := float32(0); score <= 64; score += 0.25 {
			got := c.Relevance(kind, Score{"lexical", index.Hit{Score: score}, &r})
			if got < last || got == last && got > 0.001 && got < 0.999 {
				t.Fatalf("%q: score %v has relevance %v, a lower one %v", kind, score, got, last)
			}
			last = got
		}
	}
}

func TestRelevanceIsAFigureBetweenZeroAndOne(t *testing.T) {
	c := ShippedCalibration()
	for _, part := range []string{"lexical", builtinPart, "vector/unknown"} {
		for _, r := range []index.Result{
			{},
			{Searched: 1},
			{Best: 1, Searched: 1, Mean: 0.4},
			{Best: 1e-30, Searched: 3},
			{Best: 400, Searched: 1 << 30, Mean: -1, Deviation: 1e-20},
		} {
			for _, score := range []float64{-1, 0, 0.4, 1, 300} {
				f := Score{part, index.Hit{Score: float32(score)}, &r}
				if got := c.Relevance(memory.Lesson, f); !(got >= 0 && got <= 1) {
					t.Errorf("%s: relevance of %v in %+v is %v", part, score, r, got)
				}
				if got := c.Joint(memory.Lesson, Score{"lexical", f.Hit, &r}, f); !(got >= 0 && got <= 1) {
					t.Errorf("%s: relevance of %v in %+v together with words is %v", part, score, r, got)
				}
			}
		}
	}
}

// TestNothingToCompareWithIsNoEvidence: without moments of its own, of the
// collection or the model, a cosine says nothing.
func TestNothingToCompareWithIsNoEvidence(t *testing.T) {
	c := ShippedCalibration()
	for name, r := range map[string]index.Result{
		"vector/unknown": {Best: 1, Searched: 1, Mean: 0.9},
		"lexical":        {Searched: 10},
	} {
		if got := c.Evidence(Score{name, index.Hit{Score: 0.9}, &r}); got != 0 {
			t.Errorf("evidence of %s is %v, want 0", name, got)
		}
	}
}

func TestModelIsTheLongestNameThatFits(t *testing.T) {
	c := Calibration{Vectors: map[string]Model{
		"":             {Mean: 1},
		"ollama/":      {Mean: 2},
		"ollama/nomic": {Mean: 3},
	}}
	for part, want := range map[string]float64{
		"vector/builtin/static-v1":  1,
		"vector/ollama/bge-m3":      2,
		"vector/ollama/nomic-embed": 3,
	} {
		if got := c.model(part).Mean; got != want {
			t.Errorf("%s has the parameters of model %v, want %v", part, got, want)
		}
	}
}

// TestRelevanceIsOfWhatAnswered: words and vectors count together, and either alone
// where the other did not answer or does not know the document.
func TestRelevanceIsOfWhatAnswered(t *testing.T) {
	c := ShippedCalibration()
	const doc = 1
	words := index.Ranking{Name: "lexical", Result: index.Result{
		Hits: []index.Hit{{Doc: doc, Score: 9}, {Doc: 2, Score: 4}}, Best: 40, Searched: 1000, Content: 3,
	}}
	none := words
	none.Result.Hits = words.Result.Hits[1:]
	vectors := func(name string, searched int, hits ...index.Hit) index.Ranking {
		return index.Ranking{Name: name, Result: index.Result{Hits: hits, Best: 1, Searched: searched, Mean: .01, Deviation: .06}}
	}
	found := func(p index.Ranking, score float32) Score {
		return Score{p.Name, index.Hit{Doc: doc, Score: score}, &p.Result}
	}
	near := vectors(builtinPart, 1000, index.Hit{Doc: doc, Score: .4}, index.Hit{Doc: 2, Score: .2})
	far := vectors(builtinPart, 1000, index.Hit{Doc: 2, Score: .4}, index.Hit{Doc: 3, Score: .2})
	unknown := vectors(builtinPart, 2, far.Result.Hits...)
	other := vectors("vector/ollama/other", 1000, index.Hit{Doc: doc, Score: .5})
	for name, test := range map[string]struct {
		parts []index.Ranking
		want  float64
	}{
		"both":                       {[]index.Ranking{words, near}, c.Joint(memory.Lesson, found(words, 9), found(near, .4))},
		"no vectors":                 {[]index.Ranking{words}, c.Relevance(memory.Lesson, found(words, 9))},
		"vectors found nothing":      {[]index.Ranking{words, vectors(builtinPart, 1000)}, c.Relevance(memory.Lesson, found(words, 9))},
		"the document has no vector": {[]index.Ranking{words, unknown}, c.Relevance(memory.Lesson, found(words, 9))},
		"below the last vector":      {[]index.Ranking{words, far}, c.Joint(memory.Lesson, found(words, 9), found(far, .2))},
		"no words":                   {[]index.Ranking{near}, c.Relevance(memory.Lesson, found(near, .4))},
		"the document has no word":   {[]index.Ranking{none, near}, c.Joint(memory.Lesson, found(none, 0), found(near, .4))},
		"the surer of two models":    {[]index.Ranking{words, far, other}, c.Joint(memory.Lesson, found(words, 9), found(other, .5))},
		"in any order":               {[]index.Ranking{other, far, words}, c.Joint(memory.Lesson, found(words, 9), found(other, .5))},
	} {
		for i := range test.parts {
			test.parts[i].Weight = 1
		}
		for _, fused := range index.Fuse(test.parts, 10) {
			if got := c.relevance(memory.Lesson, fused.Raw, test.parts); fused.Doc == doc && got != test.want {
				t.Errorf("%s: relevance %v, want %v", name, got, test.want)
			}
		}
	}
}

// bench is the retrievers that are always there, over a few texts.
type bench struct {
	lexical *lexical.Index
	vectors index.Retriever
}

func newBench(t *testing.T, texts ...string) *bench {
	t.Helper()
	words, err := lexical.New(lexical.Options{})
	if err != nil {
		t.Fatalf("make lexical index: %v", err)
	}
	space, err := vector.NewCollection(vector.Options{Name: builtin.Name, Dim: builtin.Dim})
	if err != nil {
		t.Fatalf("make space: %v", err)
	}
	model := builtin.New()
	vectors, err := model.Embed(t.Context(), embedder.Document, texts)
	if err != nil {
		t.Fatalf("embed: %v", err)
	}
	for i, text := range texts {
		words.Upsert(uint32(i), lexical.Analyze(text))
		if err := space.Upsert(uint32(i), vectors[i]); err != nil {
			t.Fatalf("put vector: %v", err)
		}
	}
	return &bench{words, space.Retriever(func(ctx context.Context, text string) ([]float32, error) {
		v, err := model.Embed(ctx, embedder.Query, []string{text})
		if err != nil {
			return nil, err
		}
		return v[0], nil
	})}
}

// best is the relevance of document 0 and that of the best of the others.
func (b *bench) best(t *testing.T, question string) (first, others float64) {
	t.Helper()
	var parts []index.Ranking
	for _, r := range []index.Retriever{b.lexical, b.vectors} {
		res, err := r.Retrieve(t.Context(), index.Query{Text: question, Limit: 100})
		if err != nil {
			t.Fatalf("ask %s: %v", r.Name(), err)
		}
		parts = append(parts, index.Ranking{Name: r.Name(), Result: res, Weight: 1})
	}
	c := ShippedCalibration()
	for _, fused := range index.Fuse(parts, 1000) {
		if got := c.relevance(memory.Lesson, fused.Raw, parts); fused.Doc == 0 {
			first = got
		} else {
			others = max(others, got)
		}
	}
	return first, others
}

// TestSmallStores: the first lessons of a user must be found, though statistics
// of a handful of texts say nothing, and must not answer everything.
func TestSmallStores(t *testing.T) {
	lessons := []string{
		"npm install\nEACCES: run chown on the cache folder\nsudo chown -R $USER ~/.npm",
		"database migration\nlock timeout must be raised before the index is built",
		"deploy to staging\nthe health check needs the new certificate",
		"flaky browser test\nwait for the network to be idle instead of sleeping",
		"docker build\ncopy the lock file before the sources so that the layer is cached",
	}
	for n := 1; n <= len(lessons); n++ {
		b := newBench(t, lessons[:n]...)
		for _, question := range []string{"npm error", "npm install fails with EACCES", "npm cache permission problem"} {
			if first, _ := b.best(t, question); first < 0.5 {
				t.Errorf("%d lessons: %q finds the npm lesson with relevance %.2f, want .5 or more", n, question, first)
			}
		}
		for _, question := range []string{"how long does sourdough bread bake", "who painted the ceiling of the chapel", "capital of Mongolia"} {
			if first, others := b.best(t, question); max(first, others) >= 0.5 {
				t.Errorf("%d lessons: %q finds one with relevance %.2f, want less than .5", n, question, max(first, others))
			}
		}
	}
}

// What holds every content word of a question is relevant, however common each is. A
// question of function words finds nothing.
func TestDocumentThatHoldsTheWholeQuestionIsRelevant(t *testing.T) {
	texts := []string{"check the lockfile before the build"}
	for i := range 400 { // every word is common, but not all together
		texts = append(texts, []string{"check the build of the day", "a lockfile is a file", "the build before this one"}[i%3])
	}
	b := newBench(t, texts...)
	for question, want := range map[string]struct{ from, below float64 }{
		"lockfile check":          {0.5, 0.75},
		"how to check a lockfile": {0.5, 0.75},
		"build":                   {0.5, 0.75},
		"lockfile check on mars":  {0, 0.5},
		"what is it":              {0, 0.5},
	} {
		first, others := b.best(t, question)
		if got := max(first, others); got < want.from || got >= want.below {
			t.Errorf("%q: relevance %.2f, want %.2f or more and less than %.2f", question, got, want.from, want.below)
		}
	}
}
