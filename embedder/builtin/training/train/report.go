package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/recalld/recalld/embedder/builtin/contrast"
)

// reporter measures models on held-out pairs and on sets.
type reporter struct {
	corpus *corpus
	// held are pairs of all kinds, sources the held-out pairs by source: people usually
	// search one repository at a time.
	held    []int
	sources [][]int
	sets    []*set
}

// heldMost is how many held-out pairs are ranked among one another, and sourceMost how many
// of one source. A source with fewer than sourceLeast is skipped.
const (
	heldMost    = 10_000
	sourceMost  = 2_000
	sourceLeast = 200
)

func newReporter(c *corpus, dir string) (*reporter, error) {
	r := &reporter{corpus: c}
	_, held := c.split()
	r.held = r.evenly(held, heldMost)
	for _, at := range c.bySource(held) {
		if len(at) >= sourceLeast {
			r.sources = append(r.sources, r.evenly(at, sourceMost))
		}
	}
	if dir != "" {
		var err error
		if r.sets, err = loadSets(dir, c.vocabulary); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// evenly takes at most most indices, with the same bound for every kind.
func (r *reporter) evenly(held []int, most int) []int {
	draw := rand.New(rand.NewPCG(0, 0)) // the same pairs in every run
	kinds := r.corpus.byKind(held)
	for _, at := range kinds {
		draw.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
	}
	slices.SortStableFunc(kinds, func(a, b []int) int { return len(a) - len(b) })
	var chosen []int
	for i, at := range kinds {
		chosen = append(chosen, at[:min(len(at), (most-len(chosen))/(len(kinds)-i))]...)
	}
	return chosen
}

// recall returns the share of held-out pairs whose b is first, and among the
// first ten, by kind; the mean over kinds is under "".
func (r *reporter) recall(m *contrast.Model, width int) map[string][2]float64 {
	ranks := contrast.Ranks(m, &r.corpus.Pairs, r.held, width)
	found, n := map[string][2]float64{}, map[string]float64{}
	for i, p := range r.held {
		kind := r.corpus.Kinds[r.corpus.KindOf[p]]
		f := found[kind]
		for j, depth := range []int{1, 10} {
			if ranks[i] <= depth {
				f[j]++
			}
		}
		found[kind] = f
		n[kind]++
	}
	var mean [2]float64
	for kind, f := range found {
		for j := range f {
			f[j] /= n[kind]
			mean[j] += f[j] / float64(len(n))
		}
		found[kind] = f
	}
	found[""] = mean
	return found
}

// within returns the share of pairs whose b ranks first within its source, as the mean over
// sources; 0 without sources.
func (r *reporter) within(m *contrast.Model) float64 {
	var mean float64
	for _, at := range r.sources {
		first := 0
		for _, rank := range contrast.Ranks(m, &r.corpus.Pairs, at, m.Width) {
			if rank == 1 {
				first++
			}
		}
		mean += float64(first) / float64(len(at)) / float64(len(r.sources))
	}
	return mean
}

// line formats the figures of a model in one line.
func (r *reporter) line(m *contrast.Model) string {
	var b strings.Builder
	found := r.recall(m, m.Width)
	code, prose := meansOf(found)
	fmt.Fprintf(&b, "even %.4f code %.4f prose %.4f held out R@1 %.4f R@10 %.4f within R@1 %.4f",
		(code+prose)/2, code, prose, found[""][0], found[""][1], r.within(m))
	headline := 0.0
	for _, s := range r.sets {
		score := s.ndcg(m, m.Width)
		fmt.Fprintf(&b, " %s %.3f", s.name, score)
		if s.name != sanitySet {
			headline += score
		}
	}
	if len(r.sets) > 1 {
		fmt.Fprintf(&b, " headline %.4f", headline/float64(len(r.sets)-1))
	}
	return b.String()
}

// prose are the kinds whose texts are both plain English. There are fewer of them than
// kinds of code, which would dominate a mean over all.
var prose = []string{"heading", "question", "passage", "cloze", "claim", "turn", "recall", "retold", "summary", "gloss"}

// meansOf returns the mean of R@1 and R@10 over the kinds of code and over the kinds of
// prose, 0 if there are none. Choosing a model by the mean of both gives conversations and
// documents the same weight as code.
func meansOf(found map[string][2]float64) (ofCode, ofProse float64) {
	var sums, kinds [2]float64
	for kind, f := range found {
		group := 0
		switch {
		case kind == "":
			continue
		case slices.Contains(prose, kind):
			group = 1
		}
		sums[group] += (f[0] + f[1]) / 2
		kinds[group]++
	}
	return sums[0] / max(kinds[0], 1), sums[1] / max(kinds[1], 1)
}

// sanitySet is left out of the headline.
const sanitySet = "scifact"

// table formats the figures of a model at its width and at half of it.
func (r *reporter) table(m *contrast.Model) string {
	var b strings.Builder
	full, half := r.recall(m, m.Width), r.recall(m, m.Width/2)
	fmt.Fprintf(&b, "%-20s %8s %8s %8s %8s\n", "held out", "R@1", "R@10", "half R@1", "R@10")
	for _, kind := range append([]string{""}, r.corpus.Kinds...) {
		if f, ok := full[kind]; ok {
			fmt.Fprintf(&b, "%-20s %8.4f %8.4f %8.4f %8.4f\n", kind, f[0], f[1], half[kind][0], half[kind][1])
		}
	}
	for _, s := range r.sets {
		fmt.Fprintf(&b, "%-20s %8.4f          %8.4f\n", s.name, s.ndcg(m, m.Width), s.ndcg(m, m.Width/2))
	}
	return b.String()
}

// report prints the figures of a model.
func report(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("report", flag.ContinueOnError)
	corpusFile := flags.String("corpus", "corpus", "file that prepare wrote")
	model := flags.String("model", "trained", "model to measure")
	sets := flags.String("eval", "", "folder of sets")
	bits := flags.Int("bits", 0, "measure it as quantised: 8 or 4")
	if err := flags.Parse(args); err != nil {
		return err
	}
	c, m, err := loadBoth(*corpusFile, *model)
	if err != nil {
		return err
	}
	r, err := newReporter(c, *sets)
	if err != nil {
		return err
	}
	if *bits != 0 {
		if m, err = quantised(c, m, *bits); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, r.line(m))
	fmt.Fprint(out, r.table(m))
	return nil
}
