package daemon

import (
	"context"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// checkTries is how often the store is read when writes make what was found uncertain, and
// checkPause the time between: a commit waits for the disk.
const (
	checkTries = 3
	checkPause = 200 * time.Millisecond
)

// Check carries out service.Check, once the store is loaded: before, it has no counts to
// compare with. A check beside writes may find differences that the writes cause: a write is
// in the database before it is counted. What it finds is reported only if no write began or
// ended meanwhile.
func (d *Daemon) Check(ctx context.Context) (*memory.CheckReport, error) {
	if err := d.whenLoaded(ctx); err != nil {
		return nil, err
	}
	began := time.Now()
	found, busy, err := examine(ctx, d.core.Store)
	if err != nil {
		return nil, err
	}
	if damage := d.core.Store.Damage(); damage != nil && !busy {
		found = slices.Insert(found, 0, damage.Text())
	}
	report := &memory.CheckReport{Problems: []string{}, Total: len(found), Busy: busy, Took: memory.Millis(time.Since(began))}
	report.Problems = append(report.Problems, found[:min(len(found), memory.MaxProblems)]...)
	return report, nil
}

// checked is the store as examine reads it.
type checked interface {
	Check() error
	Seq() uint64
	StoredSeq() (uint64, error)
}

// examine returns what is wrong with a store. Busy says that writes made it uncertain each
// time: then nothing is returned.
func examine(ctx context.Context, s checked) (found []string, busy bool, err error) {
	for try := range checkTries {
		if try > 0 {
			time.Sleep(checkPause)
		}
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		counted := s.Seq()
		found := problems(s.Check())
		if len(found) == 0 {
			return nil, false, nil
		}
		if stored, err := s.StoredSeq(); err != nil || stored == counted {
			return found, false, nil
		}
	}
	return nil, true, nil
}

// problems takes joined errors apart.
func problems(err error) []string {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []string{err.Error()}
	}
	var out []string
	for _, e := range joined.Unwrap() {
		out = append(out, problems(e)...)
	}
	return out
}
