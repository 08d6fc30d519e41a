package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/worker"
)

// Repair is a prepared repair: a store of everything that could be read, beside the
// damaged one, which is unchanged until Finish.
type Repair struct {
	// Damage is what is lost. It has no files and no counts if nothing is lost.
	Damage memory.StoreDamage
	// Kept counts what the repaired store has, by kind, without recalld's own tools.
	Kept map[string]int
	// Refilled counts what of it came from the backup.
	Refilled map[string]int
	// Left is what Check found in the repaired store: nil, unless there is a bug.
	Left error

	opts   Options
	id     uint64
	seq    uint64
	totals totals
}

// Names beside the database's folder: a store that is being made, and one that is finished
// and will replace the damaged one.
func repairingPath(dir string) string { return filepath.Clean(dir) + ".repairing" }
func repairedPath(dir string) string  { return filepath.Clean(dir) + ".repaired" }

// asideLayout is the time, in UTC, in the name of a store that was replaced.
const asideLayout = "20060102T150405.000"

// PrepareRepair copies what can be read of the store in opts.Dir into a new one beside it,
// and takes what is missing from refill, if that is not nil. No process may have the store
// open.
func PrepareRepair(ctx context.Context, opts Options, refill *Refill) (*Repair, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	x, err := examineFirst(&opts)
	if err != nil {
		return nil, err
	}
	if err := roomFor(filepath.Dir(repairingPath(opts.Dir)), copyRoom(opts.Dir)); err != nil {
		return nil, fmt.Errorf("prepare repair: %w", err)
	}
	if err := x.refusal(); err != nil {
		return nil, err
	}
	r := &Repair{opts: opts}
	if x.damage == nil && !x.empty { // Badger may find more
		dropUnused(opts.Dir)
		db, err := openForWriting(opts)
		if err == nil {
			err = db.Close()
		} else if memory.CodeOf(err) != memory.CodeConflict {
			x.damage, err = damagedBy(opts.Dir, x, err), nil
		}
		if err != nil {
			return nil, err
		}
	}
	if x.damage != nil {
		r.Damage = *x.damage
	}
	made := optionsBeside(opts)
	err = rebuild(opts.Dir, x, made, refill)
	if err == nil {
		err = r.make(ctx, made, x, "repair")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("prepare repair: %w", err), os.RemoveAll(made.Dir))
	}
	if refill != nil {
		r.Refilled = refill.put
	}
	return r, nil
}

// optionsBeside returns the options of a store that is made beside that of opts.
func optionsBeside(opts Options) Options {
	opts.Dir, opts.NoSync = repairingPath(opts.Dir), false
	opts.Apply = func([]memory.Change) {}
	opts.Follow = func(memory.Change) []worker.Job { return nil }
	return opts
}

// make opens the new store, counts what it has and notes the action in its audit log.
func (r *Repair) make(ctx context.Context, opts Options, x *examination, action string) error {
	s, err := openMade(opts)
	if err != nil {
		return err
	}
	s.start()
	own := 0
	loader := discardLoader()
	loader.Record = func(r memory.Record) error {
		if r.Project == memory.OwnProject {
			own++
		}
		return nil
	}
	_, err = s.Load(ctx, loader)
	if err == nil {
		if r.totals = s.totals; x.last.Counts != nil {
			r.Damage.Lost = x.last.Counts.minus(s.totals)
		}
		_, err = s.Update(ctx, func(tx *Tx) error {
			tx.Audit(action, r.Damage)
			return nil
		})
	}
	if err == nil {
		r.Left, r.id, r.seq, r.Kept = s.Check(), s.id, s.Seq(), r.totals.positive()
		// No user registered recalld's own tools.
		if r.Kept[string(memory.Tool)] -= own; r.Kept[string(memory.Tool)] <= 0 {
			delete(r.Kept, string(memory.Tool))
		}
	}
	return errors.Join(err, s.Close())
}

// discardLoader ignores everything: Load itself counts and sweeps.
func discardLoader() memory.Loader {
	return memory.Loader{
		Session: func(memory.Session) error { return nil },
		Record:  func(memory.Record) error { return nil },
		File:    func(memory.File) error { return nil },
		Terms:   func(memory.DocID, []byte) error { return nil },
		Vector:  func(string, memory.DocID, []float32) error { return nil },
	}
}

// Needed reports whether the store has lost something.
func (r *Repair) Needed() bool { return len(r.Damage.Files)+len(r.Damage.Lost) > 0 }

// Discard removes what was prepared.
func (r *Repair) Discard() error { return os.RemoveAll(repairingPath(r.opts.Dir)) }

// Finish replaces the damaged store with the new one. It keeps the damaged one in the
// folder that it returns, with a report beside it. After a crash at any moment, one of
// both stores is in place, or the next start finishes the repair.
func (r *Repair) Finish() (damaged string, err error) {
	dir := filepath.Clean(r.opts.Dir)
	report, err := json.MarshalIndent(r.Damage, "", "  ")
	if err != nil {
		return "", err
	}
	if err := fsx.MakeFolder(dir, 0o700); err != nil {
		return "", err
	}
	damaged = dir + ".damaged-" + r.opts.Clock().UTC().Format(asideLayout)
	// Beside the database, not in it: its files stay unchanged.
	if err := os.WriteFile(damaged+".json", append(report, '\n'), 0o600); err != nil {
		return "", fmt.Errorf("write report of damage: %w", err)
	}
	if err := r.replace(damaged); err != nil {
		return "", fmt.Errorf("finish repair: %w", err)
	}
	return damaged, nil
}

// replace puts the new store in the place of the old one, which it moves to aside.
func (r *Repair) replace(aside string) error {
	dir := filepath.Clean(r.opts.Dir)
	// The list describes the old tables. Without it, less damage can be explained.
	if err := os.Remove(tablesPath(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	last, _ := readWitness(dir) // a damaged one is replaced
	if last.Store != 0 && last.Store != r.id {
		// A crash must not leave the new store with the witness of another.
		if err := os.Remove(witnessPath(dir)); err != nil {
			return err
		}
	}
	syncFolder(repairingPath(dir))
	err := os.Rename(repairingPath(dir), repairedPath(dir))
	if err == nil {
		err = os.Rename(dir, aside)
	}
	if err == nil {
		err = endRepair(dir)
	}
	if err != nil {
		return err
	}
	w, err := openWitness(dir, last)
	if err == nil {
		err = errors.Join(w.put(r.id, r.seq, r.totals), w.noteTables(), w.close())
	}
	if err != nil {
		r.opts.Logger.Warn("the witness is created at the next start", "part", "store", "error", err)
	}
	return nil
}

// endRepair finishes a repair whose Finish was interrupted. The repaired store has a
// larger sequence number than the witness, so it is not taken for a damaged one.
func endRepair(dir string) error {
	dir = filepath.Clean(dir)
	made := repairedPath(dir)
	if _, err := os.Stat(made); err != nil {
		return nil
	}
	if _, err := os.Stat(dir); err == nil {
		if err := os.Rename(dir, dir+".damaged-"+time.Now().UTC().Format(asideLayout)); err != nil {
			return fmt.Errorf("end repair: %w", err)
		}
	}
	if err := os.Rename(made, dir); err != nil {
		return fmt.Errorf("end repair: %w", err)
	}
	syncFolder(filepath.Dir(dir))
	return nil
}

// syncFolder makes the names in a folder durable: without it, a crash of the machine may
// lose files that were created or renamed. Windows cannot sync a folder and need not.
func syncFolder(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}
