package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recalld/recalld/embedder/builtin/contrast"
)

// learnOptions are the flags of learn beside the trainer's options.
type learnOptions struct {
	trainer contrast.Options
	// batch is the pairs of a step, part how many of them come from one cohort.
	batch, part int
	// epoch is the number of steps between two evaluations on held-out pairs.
	epoch int
	// balance is the power of its number of pairs by which a kind is drawn: at 1 every pair
	// is equally likely, at 0 every kind.
	balance float64
	// weights are additional factors for kinds, by name.
	weights map[string]float64
	// hard is the share of cohorts that are clusters by the model's own similarity; the
	// rest are sources.
	hard float64
	// cluster is the mean number of pairs in such a cohort.
	cluster int
	// runs are, by name of a kind, the shares of its source cohorts that are consecutive
	// pairs: of one file, one page, or one group of people (see speakers). The default is
	// 0.
	runs map[string]float64
	// only and without name kinds to train on and to leave out.
	only, without string
}

func (o *learnOptions) flags(flags *flag.FlagSet) {
	flags.IntVar(&o.trainer.Steps, "steps", 1200, "steps of the run")
	flags.IntVar(&o.trainer.WarmUp, "warmup", 50, "steps in which the rates rise")
	flags.Float64Var(&o.trainer.RowRate, "rate", .02, "rate of rows")
	flags.Float64Var(&o.trainer.WeightRate, "weight-rate", .02, "rate of the logarithms of weights")
	flags.BoolVar(&o.trainer.FreezeWeights, "freeze-weights", false, "leave weights as they are")
	flags.Float64Var(&o.trainer.Temperature, "temperature", .05, "that cosines are divided by")
	flags.Float64Var(&o.trainer.Dropout, "dropout", 0, "share of a text's tokens that a step leaves out")
	flags.Float64Var(&o.trainer.Anchor, "anchor", 0, "pull of rows back to where they started")
	flags.Uint64Var(&o.trainer.Seed, "seed", 1, "of what is drawn by chance")
	flags.IntVar(&o.batch, "batch", 2048, "pairs of a step")
	flags.IntVar(&o.part, "part", 32, "pairs of a step that come from one cohort")
	flags.IntVar(&o.epoch, "epoch", 200, "steps between two looks at what is held out")
	flags.Float64Var(&o.balance, "balance", .5, "1: pairs are drawn alike, 0: kinds are")
	flags.Func("weights", "kind=factor, with commas between: how much more often kinds are drawn than -balance says", func(list string) (err error) {
		o.weights, err = parseKinds(list, maxFactor)
		return err
	})
	flags.Float64Var(&o.hard, "hard", 0, "share of cohorts of pairs that the model finds near to one another")
	flags.IntVar(&o.cluster, "cluster", 500, "pairs of such a cohort on average")
	flags.Func("runs", "kind=share, with commas between: what part of a kind's sources comes as pairs that follow one another", func(list string) (err error) {
		o.runs, err = parseKinds(list, 1)
		return err
	})
	flags.StringVar(&o.only, "only", "", "kinds to train on, with commas between; all of them if empty")
	flags.StringVar(&o.without, "without", "", "kinds to leave out")
	flags.Func("widths", "nested widths, with commas between (default half the width and all of it)", func(list string) error {
		for _, w := range strings.Split(list, ",") {
			n, err := strconv.Atoi(w)
			if err != nil {
				return err
			}
			o.trainer.Widths = append(o.trainer.Widths, n)
		}
		return nil
	})
}

func (o *learnOptions) validate() error {
	if o.batch < 2 || o.part < 1 || o.epoch < 1 || o.cluster < 1 || !(o.hard >= 0 && o.hard <= 1) || !(o.balance >= 0 && o.balance <= 1) {
		return fmt.Errorf("batch %d, part %d, epoch %d, cluster %d, hard %v, balance %v: want 2, 1, 1 and 1 at least, and 0 to 1",
			o.batch, o.part, o.epoch, o.cluster, o.hard, o.balance)
	}
	return nil
}

// parseKinds parses "turn=3,commit=.5": a number for each kind, at most most.
func parseKinds(list string, most float64) (map[string]float64, error) {
	kinds := map[string]float64{}
	for _, one := range strings.Split(list, ",") {
		kind, text, _ := strings.Cut(one, "=")
		number, err := strconv.ParseFloat(text, 64)
		if kind == "" || err != nil || !(number >= 0 && number <= most) {
			return nil, fmt.Errorf("%q is not a kind, = and a number of 0 to %v", one, most)
		}
		kinds[kind] = number
	}
	return kinds, nil
}

const maxFactor = 1000

// learn trains a model. It also keeps a checkpoint, from which the same command continues;
// another run needs another output file.
func learn(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("learn", flag.ContinueOnError)
	corpusFile := flags.String("corpus", "corpus", "file that prepare wrote")
	from := flags.String("from", "start", "model to start from")
	to := flags.String("out", "trained", "file to write")
	sets := flags.String("eval", "", "folder of sets to report on after each epoch")
	var o learnOptions
	o.flags(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := o.validate(); err != nil {
		return err
	}
	c, m, err := loadBoth(*corpusFile, *from)
	if err != nil {
		return err
	}
	if o.trainer.Widths == nil {
		o.trainer.Widths = []int{m.Width / 2, m.Width}
	}
	t, err := contrast.NewTrainer(m, o.trainer)
	if err != nil {
		return err
	}
	checkpoint := *to + ".checkpoint"
	switch err := resume(t, checkpoint); {
	case err == nil:
		fmt.Fprintf(out, "goes on after step %d\n", t.Steps)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	r, err := newReporter(c, *sets)
	if err != nil {
		return err
	}
	if missing := o.missing(c); len(missing) > 0 {
		fmt.Fprintf(out, "no pairs are of the kinds %s\n", strings.Join(missing, ", "))
	}
	train, _ := c.split()
	train = o.choose(c, train)
	for first := true; !t.Done(); first = false {
		if first {
			fmt.Fprintf(out, "before: %s\n", r.line(m))
		}
		if err := o.trainEpoch(t, c, train, out); err != nil {
			return err
		}
		fmt.Fprintf(out, "step %d: %s\n", t.Steps, r.line(m))
		if err := writeFile(checkpoint, func(w io.Writer) error { return writeCheckpoint(w, t) }); err != nil {
			return err
		}
	}
	fmt.Fprint(out, r.table(m))
	return saveModel(*to, m)
}

// resume sets a trainer to its checkpoint. It returns fs.ErrNotExist if there is
// none.
func resume(t *contrast.Trainer, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("open checkpoint: %w", err)
	}
	defer f.Close()
	return readCheckpoint(f, t)
}

// trainEpoch trains to the end of the epoch.
func (o *learnOptions) trainEpoch(t *contrast.Trainer, c *corpus, train []int, out io.Writer) error {
	began := time.Now()
	cohorts := o.cohorts(t.Model(), c, train, o.trainer.Seed+uint64(t.Steps))
	sampler, err := contrast.NewSampler(cohorts, o.part, o.trainer.Seed)
	if err != nil {
		return err
	}
	drawn := time.Since(began)
	var sum float64
	n := 0
	for !t.Done() && (n == 0 || t.Steps%o.epoch != 0) {
		loss, err := t.Step(&c.Pairs, sampler.Batch(t.Steps, o.batch))
		if err != nil {
			return err
		}
		sum += loss
		n++
	}
	fmt.Fprintf(out, "step %d: loss %.4f over %d steps, %d cohorts in %s, %s\n", t.Steps, sum/float64(n), n,
		len(cohorts), drawn.Round(time.Second/10), time.Since(began).Round(time.Second/10))
	return nil
}

// missing returns the kinds that the options name and the corpus lacks. A corpus need not
// have all kinds, but a typing error would silently train another model.
func (o *learnOptions) missing(c *corpus) []string {
	named := slices.Concat(slices.Collect(maps.Keys(o.weights)), slices.Collect(maps.Keys(o.runs)), strings.Split(o.only, ","), strings.Split(o.without, ","))
	slices.Sort(named)
	return slices.DeleteFunc(slices.Compact(named), func(kind string) bool { return kind == "" || slices.Contains(c.Kinds, kind) })
}

// choose removes the pairs of unwanted kinds.
func (o *learnOptions) choose(c *corpus, at []int) []int {
	named := func(list, kind string) bool { return strings.Contains(","+list+",", ","+kind+",") }
	var chosen []int
	for _, i := range at {
		if kind := c.Kinds[c.KindOf[i]]; (o.only == "" || named(o.only, kind)) && !named(o.without, kind) {
			chosen = append(chosen, i)
		}
	}
	return chosen
}

// cohorts makes the cohorts of an epoch: for each kind the clusters of near pairs and the
// sources. A kind's weight is divided among its cohorts, for clusters by their size and for
// sources by the root of it, so that no repository dominates.
func (o *learnOptions) cohorts(m *contrast.Model, c *corpus, train []int, seed uint64) []contrast.Cohort {
	var all []contrast.Cohort
	for _, at := range c.byKind(train) {
		if len(at) == 0 {
			continue
		}
		kind := c.Kinds[c.KindOf[at[0]]]
		weight := math.Pow(float64(len(at)), o.balance)
		if factor, named := o.weights[kind]; named {
			weight *= factor
		}
		if o.hard > 0 {
			all = append(all, weighed(clusters(m, &c.Pairs, at, o.cluster, seed), weight*o.hard, 1)...)
		}
		var sources []contrast.Cohort
		for _, of := range c.bySource(at) {
			sources = append(sources, contrast.Cohort{Pairs: of})
		}
		for _, source := range weighed(sources, weight*(1-o.hard), .5) {
			if share := o.runs[kind]; share > 0 {
				var runs []contrast.Cohort
				for run := range slices.Chunk(source.Pairs, sameNames) {
					runs = append(runs, contrast.Cohort{Pairs: run})
				}
				all = append(all, weighed(runs, source.Weight*share, 1)...)
				source.Weight *= 1 - share
			}
			all = append(all, source)
		}
	}
	return all
}

// weighed divides a weight among cohorts by a power of their sizes.
func weighed(cohorts []contrast.Cohort, weight, power float64) []contrast.Cohort {
	sum := 0.0
	for i := range cohorts {
		cohorts[i].Weight = math.Pow(float64(len(cohorts[i].Pairs)), power)
		sum += cohorts[i].Weight
	}
	for i := range cohorts {
		cohorts[i].Weight *= weight / sum
	}
	return cohorts
}
