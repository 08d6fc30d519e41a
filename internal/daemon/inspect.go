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
	report := &memory.CheckReport{Problems: []string{}}
	for try := range checkTries {
		if try > 0 {
			time.Sleep(checkPause)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		counted := d.core.Store.Seq()
		found := problems(d.core.Store.Check())
		if len(found) > 0 {
			stored, err := d.core.Store.StoredSeq()
			if report.Busy = err == nil && stored != counted; report.Busy {
				continue
			}
		}
		if damage := d.core.Store.Damage(); damage != nil {
			found = slices.Insert(found, 0, damage.Text())
		}
		report.Total = len(found)
		report.Problems = append(report.Problems, found[:min(len(found), memory.MaxProblems)]...)
		break
	}
	report.Took = memory.Millis(time.Since(began))
	return report, nil
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
