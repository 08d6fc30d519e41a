// Command fit finds the priors of recall.ShippedCalibration in a folder of sets (see
// internal/eval): it asks the questions of each set over unrelated documents of the other
// sets, in collections of many sizes, and fits the distribution of the strongest evidence
// found.
//
//	go run ./fit -sets DIR -related conala,cosqa-dev -related locomo,locomo-session
//
// It prints the parameters as Go and, set by set, what share of the unrelated questions
// would pass the thresholds .5 and .75 with parameters fitted without the set, and what
// share of the related ones.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/internal/recall"
)

func main() {
	var related relations
	sets := flag.String("sets", "", "folder of sets")
	seed := flag.Uint64("seed", 1, "of the draws")
	flag.Var(&related, "related", "sets that may answer one another's questions, with commas between; repeatable")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *sets, related, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "fit:", err)
		os.Exit(1)
	}
}

// relations are groups of sets on related topics.
type relations [][]string

// String implements flag.Value.
func (r *relations) String() string { return fmt.Sprint([][]string(*r)) }

// Set implements flag.Value.
func (r *relations) Set(names string) error {
	*r = append(*r, strings.Split(names, ","))
	return nil
}

func (r relations) related(a, b string) bool {
	return a == b || slices.ContainsFunc(r, func(group []string) bool { return slices.Contains(group, a) && slices.Contains(group, b) })
}

func run(ctx context.Context, out io.Writer, folder string, related relations, seed uint64) error {
	dirs, err := filepath.Glob(filepath.Join(folder, "*", "qrels.tsv*"))
	if err != nil {
		return err
	}
	if len(dirs) < 2 {
		return errors.New("-sets needs a folder with two sets or more")
	}
	var pools []*pool
	for _, dir := range dirs {
		p, err := loadPool(ctx, filepath.Dir(dir))
		if err != nil {
			return err
		}
		pools = append(pools, p)
	}
	e, err := observe(ctx, pools, related, rand.New(rand.NewPCG(seed, 0)))
	if err != nil {
		return err
	}
	c := e.fit("")
	m := c.Vectors[builtin.Name]
	fmt.Fprintf(out, "Lexical: %s\nVectors[%q]: Mean: %.4f, Deviation: %.4f, Best: %s\nTogether: %s\n\n",
		literal(c.Lexical), builtin.Name, m.Mean, m.Deviation, literal(m.Best), literal(c.Together))
	e.table(out, pools)
	return nil
}

func literal(g recall.Gumbel) string {
	return fmt.Sprintf("Gumbel{Place: %.3f, PlaceLog: %.3f, Scale: %.3f, Half: %.2f}", g.Place, g.PlaceLog, g.Scale, g.Half)
}

// experiment is the results of all questions.
type experiment struct {
	related   relations
	unrelated []observation // questions of other sets
	own       []observation // the collection's own questions, judged documents only
}

// draws says how many collections of a size are drawn from each pool, and how many
// questions of each other set each of them gets; from its own set it gets four times as many.
// Small collections differ more from one another.
var draws = []struct{ size, times, questions int }{
	{1, 40, 4}, {2, 40, 4}, {5, 40, 4}, {10, 20, 8}, {30, 10, 15}, {100, 5, 30},
	{300, 4, 50}, {1000, 3, 100}, {3000, 2, 150}, {12000, 1, 300},
}

func observe(ctx context.Context, pools []*pool, related relations, rng *rand.Rand) (*experiment, error) {
	e := &experiment{related: related}
	for _, p := range pools {
		for _, d := range draws {
			if d.size > 1 && d.size/2 > len(p.ids) {
				continue
			}
			for range d.times {
				c, err := p.draw(d.size, rng)
				if err != nil {
					return nil, err
				}
				if err := e.ask(ctx, c, p, pools, d.questions, rng); err != nil {
					return nil, err
				}
			}
		}
	}
	return e, nil
}

// ask asks a collection p questions of each other pool, and questions from its own pool that
// a document in it answers.
func (e *experiment) ask(ctx context.Context, c *collection, p *pool, pools []*pool, questions int, rng *rand.Rand) error {
	keep := func(list *[]observation, o observation, from string, err error) error {
		o.pool, o.from, o.size = p.name, from, len(c.docs)
		*list = append(*list, o)
		return err
	}
	for _, from := range pools {
		if e.related.related(from.name, p.name) {
			continue
		}
		for range questions {
			o, err := c.ask(ctx, from.queries[rng.IntN(len(from.queries))], nil)
			if err := keep(&e.unrelated, o, from.name, err); err != nil {
				return err
			}
		}
	}
	left := 4 * questions
	for _, i := range rng.Perm(len(p.queries)) {
		q := p.queries[i]
		answered := false
		for id, grade := range p.judged[q.ID] {
			_, in := c.numbers[id]
			answered = answered || in && grade > 0
		}
		if left == 0 || !answered {
			continue
		}
		left--
		o, err := c.ask(ctx, q, p.judged[q.ID])
		if err := keep(&e.own, o, p.name, err); err != nil {
			return err
		}
	}
	return nil
}

// fit finds the parameters from the unrelated questions, without one set's documents and
// questions.
func (e *experiment) fit(without string) recall.Calibration {
	uses := func(o observation) bool { return o.pool != without && o.from != without }
	var m recall.Model
	var sum, squares, n float64
	for _, o := range e.unrelated {
		if r := o.vectors.result; uses(o) && r.Searched >= 1000 {
			n++
			sum += float64(r.Mean)
			squares += float64(r.Deviation) * float64(r.Deviation)
		}
	}
	m.Mean, m.Deviation = sum/n, math.Sqrt(squares/n)
	c := recall.Calibration{Vectors: map[string]recall.Model{builtin.Name: m}}
	fitted := func(figure func(words, vectors recall.Score) float64) recall.Gumbel {
		bySize := map[int][]float64{}
		for _, o := range e.unrelated {
			if uses(o) {
				bySize[o.size] = append(bySize[o.size], o.most(figure))
			}
		}
		return fitGumbel(samples(bySize))
	}
	c.Lexical = fitted(func(words, _ recall.Score) float64 { return c.Evidence(words) })
	m.Best = fitted(func(_, vectors recall.Score) float64 { return c.Evidence(vectors) })
	c.Vectors[builtin.Name] = m
	c.Together = fitted(c.JointEvidence) // by the two above
	return c
}

// samples skips sizes with too few questions for a tail.
func samples(bySize map[int][]float64) []sample {
	const enough = 400
	var list []sample
	for _, n := range slices.Sorted(maps.Keys(bySize)) {
		if len(bySize[n]) >= enough {
			list = append(list, newSample(n, bySize[n]))
		}
	}
	return list
}

// table says what passes the thresholds: set by set with parameters fitted without the
// set, and by size with parameters fitted over all sets.
func (e *experiment) table(out io.Writer, pools []*pool) {
	const heading = "| unrelated ≥ .5 | ≥ .75 | own ≥ .5 | ≥ .75 |\n|---|---|---|---|---|\n"
	fmt.Fprint(out, "| set "+heading)
	for _, p := range pools {
		of := func(o observation) bool { return o.pool == p.name }
		e.row(out, p.name, of, e.fit(p.name))
	}
	fmt.Fprint(out, "\n| documents "+heading)
	all := e.fit("")
	from := 1
	for _, to := range []int{2, 10, 30, 300, 1000, 10_000, math.MaxInt} {
		of := func(o observation) bool { return o.size >= from && o.size <= to }
		name := fmt.Sprintf("%d–%d", from, to)
		if to == math.MaxInt {
			name = fmt.Sprintf("%d and more", from)
		}
		e.row(out, name, of, all)
		from = to + 1
	}
}

func (e *experiment) row(out io.Writer, name string, of func(observation) bool, c recall.Calibration) {
	fmt.Fprintf(out, "| %s | %s | %s |\n", name, passing(e.unrelated, of, c), passing(e.own, of, c))
}

// passing is the share of the observations with at least .5 and .75.
func passing(list []observation, of func(observation) bool, c recall.Calibration) string {
	var n, half, most float64
	for _, o := range list {
		if !of(o) {
			continue
		}
		n++
		r := o.most(c.Joint)
		if r >= 0.5 {
			half++
		}
		if r >= 0.75 {
			most++
		}
	}
	if n == 0 {
		return "– | –"
	}
	return fmt.Sprintf("%.1f %% | %.1f %%", 100*half/n, 100*most/n)
}
