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

	"github.com/recalld/recalld/internal/memory"
)

// Repair is a repair that was prepared: a store of all that could be read, beside the
// damaged one, which is untouched until Finish.
type Repair struct {
	// Damage is what is lost. It has neither files nor counts if nothing is.
	Damage memory.StoreDamage
	// Kept is what is in the repaired store, by kind.
	Kept map[string]int
	// Left is what is wrong with the repaired store: nothing, unless the program is.
	Left error

	opts   Options
	id     uint64
	seq    uint64
	totals totals
}

// Names beside the folder of the database: a store that is being made, and one that is
// made and is to take the place of the damaged one.
func repairingPath(dir string) string { return filepath.Clean(dir) + ".repairing" }
func repairedPath(dir string) string  { return filepath.Clean(dir) + ".repaired" }

// PrepareRepair reads what can be read of the store in opts.Dir into a new one beside
// it. Nobody may have the store open.
func PrepareRepair(ctx context.Context, opts Options) (*Repair, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	x, err := examineFirst(&opts)
	if err != nil {
		return nil, err
	}
	if err := roomForCopy(filepath.Dir(repairingPath(opts.Dir)), copyRoom(opts.Dir)); err != nil {
		return nil, fmt.Errorf("prepare repair: %w", err)
	}
	r := &Repair{opts: opts}
	if x.damage == nil && !x.empty { // Badger may know more, or be at fault
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
	made := opts
	made.Dir, made.NoSync = repairingPath(opts.Dir), false
	made.Apply, made.Follow = func([]memory.Change) {}, nil
	if err := made.validate(); err != nil {
		return nil, err
	}
	if err := r.make(ctx, made, x); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare repair: %w", err), os.RemoveAll(made.Dir))
	}
	return r, nil
}

// make makes the new store and learns what it has.
func (r *Repair) make(ctx context.Context, opts Options, x *examination) error {
	if err := rebuild(r.opts.Dir, x, opts); err != nil {
		return err
	}
	db, err := openBadger(badgerOptions(opts))
	if err != nil {
		return err
	}
	s, err := newStore(opts, &handle{DB: db})
	if err != nil {
		return err
	}
	s.start()
	_, err = s.Load(ctx, discardLoader())
	if err == nil {
		if r.totals = s.totals; x.last.Counts != nil {
			r.Damage.Lost = x.last.Counts.minus(s.totals)
		}
		_, err = s.Update(ctx, func(tx *Tx) error {
			tx.Audit("repair", r.Damage)
			return nil
		})
	}
	if err == nil {
		r.Left, r.id, r.seq = s.Check(), s.id, s.Seq()
		r.Kept = map[string]int{}
		for what, n := range r.totals {
			if n > 0 {
				r.Kept[what] = n
			}
		}
	}
	return errors.Join(err, s.Close())
}

// discardLoader wants nothing: what Load itself counts and sweeps is enough.
func discardLoader() memory.Loader {
	return memory.Loader{
		Session: func(memory.Session) error { return nil },
		Record:  func(memory.Record) error { return nil },
		File:    func(memory.File) error { return nil },
		Terms:   func(memory.DocID, []byte) error { return nil },
		Vector:  func(string, memory.DocID, []float32) error { return nil },
	}
}

// Needed says that the store has lost something.
func (r *Repair) Needed() bool { return len(r.Damage.Files)+len(r.Damage.Lost) > 0 }

// Discard removes what was prepared.
func (r *Repair) Discard() error { return os.RemoveAll(repairingPath(r.opts.Dir)) }

// Finish puts the new store in the place of the damaged one, which it keeps, with a
// file that says what was damaged, in the folder that it returns. A crash at any
// moment leaves one of both, or has the next start end what was begun.
func (r *Repair) Finish() (aside string, err error) {
	dir := filepath.Clean(r.opts.Dir)
	report, err := json.MarshalIndent(r.Damage, "", "  ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	aside = dir + ".damaged-" + r.opts.Clock().UTC().Format("20060102T150405.000")
	// Beside the database, not in it: its files are left as they were.
	if err := os.WriteFile(aside+".json", append(report, '\n'), 0o600); err != nil {
		return "", fmt.Errorf("write report of damage: %w", err)
	}
	// The list is of the old tables. Without one only less is known.
	if err := os.Remove(tablesPath(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("finish repair: %w", err)
	}
	err = os.Rename(repairingPath(dir), repairedPath(dir))
	if err == nil {
		err = os.Rename(dir, aside)
	}
	if err == nil {
		err = endRepair(dir)
	}
	if err != nil {
		return "", fmt.Errorf("finish repair: %w", err)
	}
	last, _ := readWitness(dir) // a damaged one is made anew
	w, err := openWitness(dir, last)
	if err == nil {
		err = errors.Join(w.put(r.id, r.seq, r.totals), w.noteTables(), w.close())
	}
	if err != nil {
		r.opts.Logger.Warn("the witness is made at the next start", "part", "store", "error", err)
	}
	return aside, nil
}

// endRepair ends a repair that was told to go on and cut off. The repaired store has a
// larger sequence number than the witness, which therefore does not take it for a
// damaged one.
func endRepair(dir string) error {
	dir = filepath.Clean(dir)
	made := repairedPath(dir)
	if _, err := os.Stat(made); err != nil {
		return nil
	}
	if _, err := os.Stat(dir); err == nil {
		if err := os.Rename(dir, dir+".damaged-"+time.Now().UTC().Format("20060102T150405.000")); err != nil {
			return fmt.Errorf("end repair: %w", err)
		}
	}
	if err := os.Rename(made, dir); err != nil {
		return fmt.Errorf("end repair: %w", err)
	}
	if f, err := os.Open(filepath.Dir(dir)); err == nil {
		_ = f.Sync() // what fails here costs the names in a crash of the machine
		_ = f.Close()
	}
	return nil
}
