package daemon

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	"github.com/recalld/recalld/internal/backup"
	"github.com/recalld/recalld/internal/memory"
)

// How often the daemon looks whether the daily backup is due, and how old the last one is
// then.
const (
	backupLook  = 15 * time.Minute
	backupEvery = 24 * time.Hour
)

// Backup carries out service.Backup. Writes go on meanwhile: it reads one state.
func (d *Daemon) Backup(ctx context.Context, req memory.BackupRequest, progress func(memory.BackupProgress)) (*memory.Backup, error) {
	return d.backUp(ctx, time.Now(), req, progress)
}

// backUp makes a backup. Now is the time that it gets, and by which older ones are removed.
func (d *Daemon) backUp(ctx context.Context, now time.Time, req memory.BackupRequest, progress func(memory.BackupProgress)) (*memory.Backup, error) {
	if !d.backups.TryLock() {
		return nil, memory.Errorf(memory.CodeConflict, "a backup is being made already")
	}
	defer d.backups.Unlock()
	if err := d.whenLoaded(ctx); err != nil {
		return nil, err
	}
	cfg := d.opts.Config
	x, err := d.core.Store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer x.Close()
	x.Counts = withoutOwn(x.Counts, d.core.Indexer)
	opts := backup.Options{
		Dir: cmp.Or(req.Path, cfg.Paths().Backups), Data: cfg.Paths().Data, Version: d.opts.Version, Logger: d.log,
		Keep: time.Duration(cfg.Backup.KeepDays) * 24 * time.Hour, MaxSize: int64(cfg.Backup.MaxSize),
		Clock: func() time.Time { return now }, Turn: d.core.yield,
	}
	if !filepath.IsAbs(opts.Dir) {
		return nil, memory.Invalid("path", "an absolute path", "%s is relative", memory.Quote(opts.Dir))
	}
	if rel, err := filepath.Rel(cfg.Paths().Store, opts.Dir); err == nil && filepath.IsLocal(rel) {
		return nil, &memory.Error{Code: memory.CodeInvalidInput, Field: "path", Limit: "a folder outside the store",
			Message: opts.Dir + " is in the store, which a restore moves away", Hint: "name another folder"}
	}
	var total int64
	if last, err := backup.Find(opts.Dir, backup.StoreName(x.Store), ""); err == nil {
		total = last.Size
	}
	b, err := backup.Create(ctx, x, opts, func(done int64) { progress(memory.BackupProgress{Done: done, Total: total}) })
	if err == nil {
		if opts.Dir == cfg.Paths().Backups {
			d.backupError.Store("")
		}
		d.log.Info("backup made", attrPart, "backup", "path", b.Path, "name", b.Name, "size", b.Size, "written", b.Written)
	}
	return b, err
}

// backupPatience is how long a block of a backup waits for its turn. Other background work
// waits until there is memory again; a backup needs little, and must end.
const backupPatience = 50 * time.Millisecond

// yield runs a block of a backup when no request needs the processor, or after
// backupPatience.
func (c *Core) yield(ctx context.Context, work func() error) error {
	waiting, cancel := context.WithTimeout(ctx, backupPatience)
	defer cancel()
	ran := false
	err := c.Gate.Do(waiting, func() error { ran = true; return work() })
	if !ran && ctx.Err() == nil {
		return work()
	}
	return err
}

// backUpDaily makes a backup a day until ctx ends. Without a backup, or with an old one, it
// is made at the first tick.
func (d *Daemon) backUpDaily(ctx context.Context) {
	ticks := cmp.Or(d.opts.pauses.backup, time.Tick(backupLook))
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticks:
			if !d.backupDue(now) {
				continue
			}
			if _, err := d.backUp(ctx, now, memory.BackupRequest{}, func(memory.BackupProgress) {}); err != nil && ctx.Err() == nil {
				d.backupError.Store(err.Error())
				d.log.Error("the daily backup was not made", attrPart, "backup", attrError, err)
			}
		}
	}
}

// backupDue reports whether the store has records that its last backup may lack, which is
// old.
func (d *Daemon) backupDue(now time.Time) bool {
	if len(d.core.Store.Counts()) == 0 || d.core.Store.Damage() != nil {
		return false
	}
	id := backup.StoreName(d.core.Store.ID())
	last, err := backup.Find(d.opts.Config.Paths().Backups, id, "")
	if err != nil {
		return true
	}
	age := now.Sub(last.CreatedAt).Abs() // the clock may have been set back
	return age >= backupEvery && last.Seq != d.core.Store.Seq()
}
