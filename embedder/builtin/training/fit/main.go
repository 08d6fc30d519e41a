// Command fit finds the priors of recall.ShippedCalibration: it asks questions of some
// repositories over collections of others, and fits the distribution of the strongest
// evidence found, for each kind. The pairs are those of the miner, over repositories that
// the model was not trained on:
//
//	go run ./mine -list fit/sources.txt -mirrors mirrors -out pairs
//	go run ./fit -list fit/sources.txt -mirrors mirrors -pairs pairs
//
// It prints the parameters as Go and three tables, made with parameters that were fitted on
// the other half of the sources: what share of the questions about something else reaches
// each strength, what share of a collection's own questions reaches it by a right document
// among the first five, and what share of these does by others, as if the right one were
// not there.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
)

func main() {
	var o options
	flag.StringVar(&o.list, "list", "fit/sources.txt", "the list of sources")
	flag.StringVar(&o.mirrors, "mirrors", "", "folder of the mirrors, owner+name/repo each")
	flag.StringVar(&o.pairs, "pairs", "", "what the miner wrote")
	flag.Uint64Var(&o.seed, "seed", 1, "of the draws")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "fit:", err)
		os.Exit(1)
	}
}

type options struct {
	list, mirrors, pairs string
	seed                 uint64
}

func run(ctx context.Context, out io.Writer, o options) error {
	list, err := os.Open(o.list)
	if err != nil {
		return err
	}
	defer list.Close()
	var pools []*pool
	var sources []string
	for lines := bufio.NewScanner(list); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 || fields[0] == "#" {
			continue
		}
		of, err := loadSource(ctx, o.pairs, o.mirrors, fields[0], fields[1])
		if err != nil {
			return err
		}
		sources, pools = append(sources, fields[0]), append(pools, of...)
	}
	if len(sources) < 4 {
		return errors.New("the list needs four sources or more: half of them fit, half of them check")
	}
	e, err := observe(ctx, pools, rand.New(rand.NewPCG(o.seed, 0)))
	if err != nil {
		return err
	}
	all := e.fit(func(string) bool { return true })
	m := all.Vectors[builtin.Name]
	fmt.Fprintf(out, "Vectors[%q]: Mean: %.4f, Deviation: %.4f\n", builtin.Name, m.Mean, m.Deviation)
	for _, kind := range fitted {
		x := all.Kinds[kind]
		fmt.Fprintf(out, "%s: {\n\tWords: %s\n\tVectors: %s\n\tBoth: %s\n}\n", kind, literal(x.Words), literal(x.Vectors), literal(x.Both))
	}
	half := sources[:len(sources)/2]
	in := func(source string) bool { return slices.Contains(half, source) }
	e.tables(out, in, e.fit(in), e.fit(func(source string) bool { return !in(source) }))
	return nil
}

func literal(g recall.Gumbel) string {
	return fmt.Sprintf("Gumbel{Place: %.3f, PlaceLog: %.3f, Length: %.3f, Scale: %.3f, Short: %.3f}", g.Place, g.PlaceLog, g.Length, g.Scale, g.Short)
}

// fitted are the kinds that parameters are fitted for.
var fitted = []memory.Kind{memory.Lesson, memory.Reference, memory.Chunk}

// experiment is the results of all questions: those of other sources and the collections'
// own.
type experiment struct{ foreign, own []*observation }

// draws says how many collections of a size are drawn from each pool, and how many
// questions of each form and other source each of them gets; of its own it gets twenty times
// as many. Code is not drawn in small collections.
var draws = []struct{ size, times, questions int }{{1, 12, 1}, {5, 6, 1}, {20, 6, 1}, {100, 2, 3}, {math.MaxInt, 1, 6}}

const leastCode = 100

func observe(ctx context.Context, pools []*pool, rng *rand.Rand) (*experiment, error) {
	e := &experiment{}
	for _, p := range pools {
		for _, d := range draws {
			if d.size != math.MaxInt && (d.size >= len(p.terms) || p.kind == memory.Chunk && d.size < leastCode) {
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

// ask asks a collection of p questions of each form of the pools of other sources, and
// questions of its own pool that a document in it answers.
func (e *experiment) ask(ctx context.Context, c *collection, p *pool, pools []*pool, questions int, rng *rand.Rand) error {
	for _, from := range pools {
		if from.source == p.source {
			continue
		}
		left := map[string]int{"commit": questions, "question": questions, "ask": questions, "doc": questions, report: questions}
		for _, i := range rng.Perm(len(from.questions)) {
			q := from.questions[i]
			if left[q.form] == 0 {
				continue
			}
			left[q.form]--
			o, err := c.ask(ctx, p, q, false)
			if err != nil {
				return err
			}
			e.foreign = append(e.foreign, o)
		}
	}
	left := 20 * questions
	for _, i := range rng.Perm(len(p.questions)) {
		q := p.questions[i]
		if left == 0 || !slices.ContainsFunc(c.docs, func(d int) bool { return q.right[d] }) {
			continue
		}
		left--
		o, err := c.ask(ctx, p, q, true)
		if err != nil {
			return err
		}
		e.own = append(e.own, o)
	}
	return nil
}

// fit finds the parameters from what questions about something else find in the collections
// of some sources.
func (e *experiment) fit(uses func(source string) bool) recall.Calibration {
	// perSize bounds the observations of one kind and size.
	const perSize = 700
	var m recall.Model
	var sum, squares, n float64
	for _, o := range e.foreign {
		if r := o.vectors.result; uses(o.pool.source) && r.Searched >= 300 {
			n++
			sum += float64(r.Mean)
			squares += float64(r.Deviation) * float64(r.Deviation)
		}
	}
	m.Mean, m.Deviation = sum/max(n, 1), math.Sqrt(squares/max(n, 1))
	c := recall.Calibration{Vectors: map[string]recall.Model{builtin.Name: m}, Kinds: map[memory.Kind]recall.Expected{}}
	for _, kind := range fitted {
		used := map[int]int{}
		var list []*observation
		rng := rand.New(rand.NewPCG(1, 0))
		for _, i := range rng.Perm(len(e.foreign)) {
			o := e.foreign[i]
			if size := roughly(o.size); uses(o.pool.source) && o.pool.kind == kind && used[size] < perSize {
				used[size]++
				list = append(list, o)
			}
		}
		of := func(figure func(words, vectors recall.Score) float64) recall.Gumbel {
			var seen []sighting
			for _, o := range list {
				x := o.most(o.others, func(_ memory.Kind, words, vectors recall.Score) float64 { return figure(words, vectors) })
				seen = append(seen, sighting{x, o.words.result.Searched, o.words.result.Content})
			}
			return fitGumbel(seen)
		}
		c.Kinds[kind] = recall.Expected{
			Words:   of(func(words, _ recall.Score) float64 { return c.Evidence(words) }),
			Vectors: of(func(_, vectors recall.Score) float64 { return c.Evidence(vectors) }),
			Both:    of(func(words, vectors recall.Score) float64 { return c.Evidence(words) + c.Evidence(vectors) }),
		}
	}
	return c
}

// roughly is the drawn size that a size belongs to, so that all get the same say.
func roughly(size int) int {
	for _, d := range draws {
		if size <= d.size {
			return d.size
		}
	}
	return size
}

// tables prints what reaches each strength, with the calibration that was not fitted on the
// collection's source.
func (e *experiment) tables(out io.Writer, firstHalf func(source string) bool, first, second recall.Calibration) {
	relevance := func(o *observation, hits []pairOfHits) float64 {
		c := first
		if firstHalf(o.pool.source) {
			c = second
		}
		return o.most(hits, c.Joint)
	}
	lengths := []int{2, 4, 8, 16, 32, math.MaxInt}
	sizes := []int{1, 5, 20, 100, 1000, math.MaxInt}
	fmt.Fprintln(out, "\n| kind | | questions about something else: sure | likely | a line | own: sure | likely | a line | right one taken out: sure | likely | a line |\n|---|---|---|---|---|---|---|---|---|---|---|")
	for _, kind := range fitted {
		row := func(name string, of func(o *observation) bool) {
			mine := func(o *observation) bool { return o.pool.kind == kind && of(o) }
			fmt.Fprintf(out, "| %s | %s | %s | %s | %s |\n", kind, name,
				reached(e.foreign, mine, kind, func(o *observation) float64 { return relevance(o, o.others) }),
				reached(e.own, mine, kind, func(o *observation) float64 { return relevance(o, o.right) }),
				reached(e.own, mine, kind, func(o *observation) float64 { return relevance(o, o.others) }))
		}
		row("all", func(*observation) bool { return true })
		for i, to := range sizes {
			from := 0
			if i > 0 {
				from = sizes[i-1]
			}
			row(span(from+1, to)+" documents", func(o *observation) bool { return o.size > from && o.size <= to })
		}
		for i, to := range lengths {
			from := 0
			if i > 0 {
				from = lengths[i-1]
			}
			row(span(from+1, to)+" words", func(o *observation) bool {
				return o.words.result.Content > from && o.words.result.Content <= to
			})
		}
	}
}

func span(from, to int) string {
	switch {
	case to == math.MaxInt:
		return fmt.Sprintf("%d and more", from)
	case from == to:
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d–%d", from, to)
}

// lineFrom is the least relevance of what is shown in a line.
const lineFrom = 0.18

// reached is the share of observations with the relevance of each strength of a kind.
func reached(list []*observation, of func(*observation) bool, kind memory.Kind, relevance func(*observation) float64) string {
	var n, sure, likely, maybe float64
	likelyFrom, sureFrom := memory.DefaultMinRelevance(kind), 0.75
	if kind == memory.Chunk {
		sureFrom = 0.95
	}
	for _, o := range list {
		if !of(o) {
			continue
		}
		n++
		r := relevance(o)
		if r >= sureFrom {
			sure++
		}
		if r >= likelyFrom {
			likely++
		}
		if r >= lineFrom {
			maybe++
		}
	}
	if n == 0 {
		return "– | – | –"
	}
	return fmt.Sprintf("%.1f %% | %.1f %% | %.1f %%", 100*sure/n, 100*likely/n, 100*maybe/n)
}
