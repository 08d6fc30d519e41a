package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/buildinfo"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/daemon"
	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// repaired is what doctor --repair answers.
type repaired struct {
	// Damage is what is lost; nil when nothing is.
	Damage *memory.StoreDamage `json:"damage,omitempty"`
	// Kept is what can be read, by kind.
	Kept map[string]int `json:"kept"`
	// FromBackup is what of it comes from the backup that was made at BackupAt, by kind.
	FromBackup map[string]int `json:"from_backup,omitempty"`
	BackupAt   time.Time      `json:"backup_at,omitzero"`
	// Notes say where else what is lost may be.
	Notes []string `json:"notes,omitempty"`
	// Repaired says that the store now holds only what can be read. The damaged one
	// is then in Aside.
	Repaired bool   `json:"repaired"`
	Aside    string `json:"aside,omitempty"`
}

// repair shows what the store has lost. If the user agrees, it replaces the store by
// what can be read.
func (a *App) repair(ctx context.Context, cfg config.Config, yes bool) (err error) {
	if !yes && (a.json || !a.opts.Interactive) {
		fmt.Fprintln(a.opts.Err, "Nothing is changed without --yes: this only shows what is lost.")
	}
	if _, err := a.stop(ctx); err != nil {
		return err
	}
	r, err := daemon.PrepareRepair(ctx, cfg, buildinfo.Version())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.End()) }()
	result := repaired{Kept: r.Kept, FromBackup: r.Refilled}
	if r.Backup != nil && len(r.Refilled) > 0 {
		result.BackupAt = r.Backup.CreatedAt
	}
	if r.Needed() {
		result.Damage = &r.Damage
		if r.Note != "" {
			result.Notes = append(result.Notes, r.Note)
		}
		if r.Damage.Lost[string(memory.Lesson)] > 0 && cfg.Lessons.Log {
			logs := cfg.Lessons.Dir
			if !filepath.IsAbs(logs) {
				logs = filepath.Join("REPOSITORY", logs)
			}
			result.Notes = append(result.Notes, "Repositories keep logs of their lessons: after the repair, `recalld import "+logs+"` takes these back.")
		}
	}
	if result.Damage != nil && (yes || a.goOn(result)) {
		if r.Left != nil {
			return memory.Errorf(memory.CodeInternal, "the store that was made of what can be read is not sound, so nothing was changed: %w", r.Left)
		}
		result.Aside, err = r.Finish()
		if err = a.noted(logging.ChangeRepair, nil, err); err != nil {
			return err
		}
		result.Repaired = true
	}
	if err := a.answer(result, func(w io.Writer) { writeRepaired(w, result) }); err != nil {
		return err
	}
	if result.Damage != nil && !result.Repaired {
		return errReported
	}
	return nil
}

// goOn shows the damage and asks whether to go on without what is lost. Without a
// terminal the answer is no.
func (a *App) goOn(r repaired) bool {
	if a.json || !a.opts.Interactive {
		return false
	}
	writeLosses(a.opts.Err, r)
	yes, err := a.confirm("Go on with what can be read? The damaged files are kept.")
	return yes && err == nil
}

// writeLosses lists what is gone and what is left.
func writeLosses(w io.Writer, r repaired) {
	rows := [][]string{{"DAMAGE", ""}}
	for _, f := range r.Damage.Files {
		rows = append(rows, []string{f.Name, f.What})
	}
	if r.Damage.Found < r.Damage.Acknowledged {
		rows = append(rows, []string{"updates", fmt.Sprintf("%d–%d are gone", r.Damage.Found+1, r.Damage.Acknowledged)})
	}
	kinds := slices.Concat(slices.Collect(maps.Keys(r.Damage.Lost)), slices.Collect(maps.Keys(r.FromBackup)))
	slices.Sort(kinds)
	for _, kind := range slices.Compact(kinds) {
		text := fmt.Sprintf("%d lost, %d kept", r.Damage.Lost[kind], r.Kept[kind])
		if n := r.Damage.Lost[kind]; n < 0 {
			text = fmt.Sprintf("%d more than there should be, %d in all", -n, r.Kept[kind])
		}
		if n := r.FromBackup[kind]; n > 0 {
			text += fmt.Sprintf(", %d of them from the backup of %s", n, render.Time(r.BackupAt, "?"))
		}
		rows = append(rows, []string{kind, text})
	}
	render.Table(w, rows)
	if len(r.FromBackup) > 0 {
		fmt.Fprintln(w, "What was forgotten after that backup may be among them; forget it again.")
	}
	for _, note := range r.Notes {
		fmt.Fprintln(w, render.Printable(note))
	}
}

func writeRepaired(w io.Writer, r repaired) {
	if r.Damage == nil {
		fmt.Fprintln(w, "Nothing is lost: there is nothing to repair.")
		return
	}
	writeLosses(w, r)
	if !r.Repaired {
		fmt.Fprintln(w, "\nNothing was changed. To go on with what can be read: "+memory.RepairCommand+" --yes")
		return
	}
	fmt.Fprintf(w, "\nThe store has what could be read. The damaged one is kept in %s\nand can be removed; %s.json says what was damaged.\n", render.Printable(r.Aside), render.Printable(r.Aside))
}
