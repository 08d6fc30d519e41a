package adaptation

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/recalld/recalld/embedder/builtin/table"
	"github.com/recalld/recalld/internal/memory"
)

// defaultMinPairs is the default of Options.MinPairs. With fewer than about 300 judged
// pairs a gain cannot be distinguished from chance.
const defaultMinPairs = 2000

// defaultTimeLimit bounds training unless a request says otherwise.
const defaultTimeLimit = 10 * time.Minute

// nameInfix stands in an adapted table's name between the base's name and a checksum.
const nameInfix = "-adapted-"

// training is what one run needs.
type training struct {
	base      []byte // a table's file
	corpus    *corpus
	general   []Pair
	recipe    recipe
	minPairs  int
	workers   int
	timeLimit time.Duration
	now       func() time.Time
	progress  func(done, total int)
}

// result is the outcome of a run.
type result struct {
	memory.Adaptation
	file     []byte // the adapted table; nil if it is refused
	bestStep int
}

// tooLittleError is returned when there are too few pairs, or when too few remain after
// documents are held out, because the pairs come from too few documents or are too similar.
type tooLittleError struct{ pairs, documents, needed int }

func (e *tooLittleError) Error() string {
	if e.pairs >= e.needed {
		return fmt.Sprintf("too little to learn from: of %d pairs from %d documents too few remain for training or for the test", e.pairs, e.documents)
	}
	return fmt.Sprintf("too little to learn from: %d pairs, at least %d are needed", e.pairs, e.needed)
}

// run adapts the base to the corpus and judges the outcome. It returns a
// *tooLittleError, ctx's error, and table.ErrFile for a base that is not a table. The
// same input gives the same table, unless the time limit ends training.
func (t *training) run(ctx context.Context) (*result, error) {
	from, err := table.Read(t.base)
	if err != nil {
		return nil, fmt.Errorf("read base: %w", err)
	}
	parts := t.corpus.split()
	if n := len(t.corpus.pairs); n < t.minPairs || len(parts.learned) < minLearned || len(parts.judged) < minJudged || len(parts.tuned) < minTuned {
		return nil, &tooLittleError{n, t.corpus.documents(), t.minPairs}
	}
	w := newSubset(from, parts, t.general, t.workers)
	r := &result{Adaptation: memory.Adaptation{
		Base: provider + from.Name(), BaseSum: checksum(t.base),
		Pairs: len(parts.learned), Judged: len(parts.judged), Documents: t.corpus.documents(), General: len(t.general),
	}}
	before := w.judge(w.model)
	learned, err := w.learn(ctx, t)
	if err != nil {
		return nil, err
	}
	r.Steps, r.bestStep, r.OutOfTime = learned.steps, learned.best, learned.late
	var adapted *table.Model
	for _, r.Share = range shares {
		if adapted, err = w.quantise(from, w.between(learned.model, r.Share)); err != nil {
			return nil, err
		}
		r.compare(w, before, w.judge(w.dequantised(adapted)))
		if r.loss() <= maxLoss {
			break
		}
	}
	if r.Refused = r.refusal(); r.Refused != "" {
		return r, nil
	}
	name, file, err := write(adapted)
	if err != nil {
		return nil, err
	}
	r.Kept, r.Model, r.file = true, provider+name, file
	return r, nil
}

// write returns the file of a table and its name, which ends with the checksum of the file
// before the name was set.
func write(m *table.Model) (name string, file []byte, err error) {
	var plain, named bytes.Buffer
	if err := m.Write(&plain); err != nil {
		return "", nil, err
	}
	base, _, _ := strings.Cut(m.Name(), nameInfix)
	name = base + nameInfix + checksum(plain.Bytes())
	if err := m.Renamed(name).Write(&named); err != nil {
		return "", nil, err
	}
	return name, named.Bytes(), nil
}

// checksum names a table by the checksum at the end of its file. (The checksum of a
// file that ends with its own CRC would be the same for all files.)
func checksum(file []byte) string {
	const size = 4
	if len(file) < size {
		return ""
	}
	return fmt.Sprintf("%08x", binary.LittleEndian.Uint32(file[len(file)-size:]))
}
