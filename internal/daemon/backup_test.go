package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/backup"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// TestBackupAndRestore: what a running daemon backs up comes back in place and in a new
// folder, without what was forgotten since.
func TestBackupAndRestore(t *testing.T) {
	cfg, dir := newConfig(t), t.TempDir()
	s := serve(t, cfg)
	kept := s.keep(dir, "Freeze the clock before the coupon expires")
	gone := s.keep(dir, "Drain the queue before the deploy")
	var reports int
	b, err := service.Backup.Do(t.Context(), s, memory.BackupRequest{}, func(memory.BackupProgress) { reports++ })
	must(t, err)
	if b.Records["lesson"] != 2 || b.Data != cfg.Paths().Data || b.Version != "test" || reports == 0 {
		t.Errorf("backup %+v after %d reports, want two lessons", b, reports)
	}
	_, err = service.Forget.Do(t.Context(), s, memory.ForgetRequest{IDs: []string{gone.ID}})
	must(t, err)
	later := s.keep(dir, "Pin the compiler before the release")
	s.end()
	must(t, s.wait())

	to := filepath.Join(t.TempDir(), "new")
	for _, where := range []string{to, ""} {
		r, err := PrepareRestore(t.Context(), cfg, "test", b, where, func(int64) {})
		must(t, err)
		aside, err := r.Finish()
		must(t, err)
		must(t, r.End())
		if (aside == "") != (where != "") || r.Note != "" {
			t.Errorf("restored to %q: the former store is in %q, note %q", where, aside, r.Note)
		}
	}
	if _, err := PrepareRestore(t.Context(), cfg, "test", b, to, func(int64) {}); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("a restore into a folder with a store = %v, want %s", err, memory.CodeConflict)
	}
	third := filepath.Join(t.TempDir(), "third")
	r, err := PrepareRestore(t.Context(), cfg, "test", b, third, func(int64) {})
	must(t, err)
	if _, err := PrepareRestore(t.Context(), cfg, "test", b, third, func(int64) {}); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("a second restore at the same time = %v, want %s", err, memory.CodeConflict)
	}
	must(t, errorOf(r.Finish())) // the second one has removed nothing
	must(t, r.End())
	other := cfg
	other.Data = to
	for _, cfg := range []config.Config{cfg, other} {
		s := serve(t, cfg)
		if a := s.ask(dir, "freeze the clock coupon", memory.Lesson); len(a.Items) != 1 || a.Items[0].ID != kept.ID {
			t.Errorf("in %s the lesson is not found: %+v", cfg.Data, a.Items)
		}
		for id, question := range map[string]string{gone.ID: "drain the queue before the deploy", later.ID: "pin the compiler before the release"} {
			for _, item := range s.ask(dir, question, memory.Lesson).Items {
				if item.ID == id {
					t.Errorf("in %s %s is found, which was forgotten, or told after the backup", cfg.Data, id)
				}
			}
		}
		must(t, errorOf(service.Backup.Do(t.Context(), s, memory.BackupRequest{Path: filepath.Dir(b.Path)}, func(memory.BackupProgress) {})))
		s.end()
		must(t, s.wait())
	}
	all, err := backup.List(filepath.Dir(b.Path))
	must(t, err)
	stores := map[string]int{}
	for _, b := range all {
		stores[b.Store]++
	}
	if len(stores) != 2 || stores[b.Store] != 2 {
		t.Errorf("backups by store are %v: the store in the new folder needs an id of its own", stores)
	}
}

// TestDailyBackup is made once a day, if anything changed.
func TestDailyBackup(t *testing.T) {
	ticks := make(chan time.Time) // unbuffered: a second tick is taken after the first is done
	s := serve(t, newConfig(t), func(o *Options) { o.pauses.backup = ticks })
	tick := func(at time.Time, want int) {
		t.Helper()
		for range 2 {
			ticks <- at
		}
		all, err := backup.List(s.cfg.Paths().Backups)
		must(t, err)
		if len(all) != want {
			t.Errorf("there are %d backups, want %d", len(all), want)
		}
	}
	now := time.Now()
	tick(now, 0) // nothing is stored
	s.keep(t.TempDir(), "Freeze the clock before the coupon expires")
	tick(now, 1)
	s.keep(t.TempDir(), "Drain the queue before the deploy")
	tick(now.Add(time.Hour), 1)
	tick(now.Add(25*time.Hour), 2)
	// The clock is set back: the last backup has a time to come.
	s.keep(t.TempDir(), "Ask the harbour before the crane turns")
	back := now.Add(-30 * 24 * time.Hour)
	tick(back, 3)
	s.keep(t.TempDir(), "Grease the crane before the winter")
	tick(back.Add(time.Hour), 3)
	tick(back.Add(25*time.Hour), 4)
}

// TestDailyBackupFails: doctor says that no backup is made, until one is.
func TestDailyBackupFails(t *testing.T) {
	ticks := make(chan time.Time) // as above
	s := serve(t, newConfig(t), func(o *Options) { o.pauses.backup = ticks })
	folder := s.cfg.Paths().Backups
	found := func() (all []render.Finding) {
		t.Helper()
		for range 2 {
			ticks <- time.Now()
		}
		status, err := service.Status.Do(t.Context(), s, service.None{})
		must(t, err)
		for _, f := range render.Findings(status, nil) {
			if f.Check == "backup" {
				all = append(all, f)
			}
		}
		return all
	}
	s.keep(t.TempDir(), "Freeze the clock before the coupon expires")
	must(t, os.WriteFile(folder, nil, 0o600))
	if all := found(); len(all) != 1 || all[0].Level != render.FindingFailed || !strings.Contains(all[0].Detail, folder) || all[0].Hint == "" {
		t.Errorf("with a file in the place of the folder it finds %+v", all)
	}
	must(t, os.Remove(folder))
	if all := found(); len(all) != 0 {
		t.Errorf("after a backup it finds %+v", all)
	}
}

func errorOf[T any](_ T, err error) error { return err }

// TestBackupToFile: a backup into a file, or below one, or into the store, and an archive in a folder that is
// none are refused with the field, the limit and the next step, and nothing is left.
func TestBackupToFile(t *testing.T) {
	s := serve(t, newConfig(t))
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	none := filepath.Join(filepath.Dir(file), "none", "x")
	for name, err := range map[string]error{
		"backup to a file":          errorOf(service.Backup.Do(t.Context(), s, memory.BackupRequest{Path: file}, nil)),
		"backup below a file":       errorOf(service.Backup.Do(t.Context(), s, memory.BackupRequest{Path: filepath.Join(file, "x")}, nil)),
		"backup into the store":     errorOf(service.Backup.Do(t.Context(), s, memory.BackupRequest{Path: filepath.Join(s.cfg.Paths().Store, "backups")}, nil)),
		"archive in no folder":      errorOf(service.ExportAll.Do(t.Context(), s, memory.ArchiveRequest{Path: none}, nil)),
		"archive in what is a file": errorOf(service.ExportAll.Do(t.Context(), s, memory.ArchiveRequest{Path: filepath.Join(file, "x", "y")}, nil)),
	} {
		e := memory.AsError(err)
		if err == nil || e.Code != memory.CodeInvalidInput || e.Field != "path" || e.Limit == "" || e.Hint == "" {
			t.Errorf("%s: %v, %+v", name, err, e)
		}
	}
}
