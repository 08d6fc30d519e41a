// Package adapt continues the training of a built-in table on somebody's own
// texts: the words that their code and notes use get rows that say what they mean
// there. It gives a new table only if that one finds more.
//
// Vocabulary. The base is the table that training starts from. A pair is two
// texts that belong together, as in package contrast, with the document it comes
// from. Documents, never pairs, are held out: those of the tuning part say when
// to stop, those of the judged part what it was worth, and neither is learned
// from. The general pairs are of nobody's own: what is lost on them is the price.
package adapt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/recalld/recalld/embedder/builtin/table"
)

// Options say how to adapt. The zero value of a field stands for its default.
type Options struct {
	// Workers is how many goroutines compute. Default 1.
	Workers int
	// TimeLimit is when training stops with the best so far. Default 10 minutes.
	TimeLimit time.Duration
	// MinPairs is how many pairs are needed at least. Default 2,000.
	MinPairs int
	// Progress is told how far training is, in steps. It must not block.
	Progress func(done, total int)
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// DefaultMinPairs is how many pairs are needed unless Options say otherwise: with
// fewer than some 300 judged ones a gain cannot be told from chance.
const DefaultMinPairs = 2000

// DefaultTimeLimit bounds training unless Options say otherwise.
const DefaultTimeLimit = 10 * time.Minute

var errOptions = errors.New("adapt: options")

func (o Options) withDefaults() Options {
	if o.Workers == 0 {
		o.Workers = 1
	}
	if o.TimeLimit == 0 {
		o.TimeLimit = DefaultTimeLimit
	}
	if o.MinPairs == 0 {
		o.MinPairs = DefaultMinPairs
	}
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func (o Options) validate() error {
	if o.Workers < 1 || o.TimeLimit < 0 || o.MinPairs < 1 {
		return fmt.Errorf("%w: %d workers, %v, %d pairs: want 1 and more, and a time", errOptions, o.Workers, o.TimeLimit, o.MinPairs)
	}
	return nil
}

// TooLittleError is returned when there are too few pairs to learn from, or when they
// are of so few documents, or so much alike, that too few are left on one side once
// documents are held out.
type TooLittleError struct{ Pairs, Documents, Needed int }

func (e *TooLittleError) Error() string {
	if e.Pairs >= e.Needed {
		return fmt.Sprintf("too little to learn from: %d pairs of %d documents leave too few to learn from or to judge by once some are held out", e.Pairs, e.Documents)
	}
	return fmt.Sprintf("too little to learn from: %d pairs, at least %d are needed", e.Pairs, e.Needed)
}

// Table is what adapting came to.
type Table struct {
	// Name is the adapted table's; empty if there is none.
	Name string
	// File is the adapted table as builtin.Open reads it; nil where nothing was
	// gained.
	File []byte
	// Refused says why the base stays, in words; empty where File is there.
	Refused string
	Report  Report
}

// NameInfix stands in an adapted table's name between the base's and a checksum.
const NameInfix = "-adapted-"

// Run adapts the base, a table's file, to a corpus and judges the outcome. general
// are pairs that have nothing to do with the corpus. It returns a *TooLittleError,
// ctx's error, and table.ErrFile for a base that is no table. The same base,
// corpus and general pairs give the same table, unless the time limit ends
// training.
func Run(ctx context.Context, base []byte, corpus *Corpus, general []Pair, o Options) (*Table, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	return run(ctx, base, corpus, general, o, shippedRecipe)
}

func run(ctx context.Context, base []byte, corpus *Corpus, general []Pair, o Options, r recipe) (*Table, error) {
	began := o.Now()
	from, err := table.Read(base)
	if err != nil {
		return nil, fmt.Errorf("read base: %w", err)
	}
	parts := corpus.split()
	if n := corpus.Len(); n < o.MinPairs || len(parts.learned) < minLearned || len(parts.judged) < minJudged || len(parts.tuned) < minTuned {
		return nil, &TooLittleError{Pairs: n, Documents: corpus.documents(), Needed: o.MinPairs}
	}
	w := newWorkshop(from, parts, general, o.Workers)
	t := &Table{Report: Report{
		Base: from.Name(), Pairs: len(parts.learned), Documents: corpus.documents(),
		Tuned: len(parts.tuned), Judged: len(parts.judged), General: len(general),
	}}
	before := w.judge(w.model)
	learned, err := w.learn(ctx, o, r)
	if err != nil {
		return nil, err
	}
	t.Report.Steps, t.Report.BestStep, t.Report.OutOfTime = learned.steps, learned.best, learned.late
	var adapted *table.Model
	for _, t.Report.Share = range shares {
		if adapted, err = w.quantise(from, w.between(learned.model, t.Report.Share)); err != nil {
			return nil, err
		}
		t.Report.compare(w, before, w.judge(w.dequantised(adapted)))
		if t.Report.loss() <= maxLoss {
			break
		}
	}
	t.Report.Took = o.Now().Sub(began)
	if t.Refused = t.Report.refusal(); t.Refused != "" {
		return t, nil
	}
	t.Name, t.File, err = write(adapted)
	if err != nil {
		return nil, err
	}
	t.Report.Model = t.Name
	return t, nil
}

// sumSize is the bytes of the checksum that a table's file ends with.
const sumSize = 4

// Checksum names a table by the checksum that its file ends with, so that one is not
// used with a program whose own is another than it was made from. (That of a file
// with its own CRC at the end would be the same for all.)
func Checksum(file []byte) string {
	if len(file) < sumSize {
		return ""
	}
	return fmt.Sprintf("%08x", binary.LittleEndian.Uint32(file[len(file)-sumSize:]))
}
