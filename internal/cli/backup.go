package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/backup"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// backupCommand writes, lists and verifies backups.
func backupCommand(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "backup [DIR]",
		Short: "Back up everything remembered",
		Long: `Write a backup of everything remembered into a folder: backup.dir, or DIR. Writes and
questions go on meanwhile. Only what has changed since the last backup is written. The
daemon makes one a day by itself; backups are kept for backup.keep_days.

A backup contains the texts of lessons and steps. Everything in it has a checksum.`,
		Example: "  recalld backup\n  recalld backup /mnt/disk/recalld\n  recalld backup list\n  recalld backup verify",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := notEmpty("path", args); err != nil {
				return err
			}
			var r memory.BackupRequest
			if len(args) > 0 {
				r.Path = a.absolute(args[0])
			}
			b, err := askLong(c.Context(), a, service.Backup, r, "", func(shown *progress, p memory.BackupProgress) {
				shown.show("backing up", p.Done, max(p.Done, p.Total))
			})
			if err != nil {
				return err
			}
			return a.answer(b, func(w io.Writer) {
				fmt.Fprintf(w, "Backup %s in %s: %s, of which %s are new\n", b.Name, render.Printable(b.Path), render.Bytes(b.Size), render.Bytes(b.Written)+" on disk")
				if b.Removed > 0 {
					fmt.Fprintf(w, "Removed %s\n", memory.Count(b.Removed, "older backup"))
				}
			})
		},
	}
	c.AddCommand(backupListCommand(a), backupVerifyCommand(a))
	return c
}

// notEmpty refuses an optional argument that is empty: it is usually an unset variable.
func notEmpty(field string, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return memory.Text(field, args[0], 1, memory.MaxPathText)
}

// backupDir is a folder of backups that was named, or that of the settings.
func (a *App) backupDir(named string) (string, error) {
	if named != "" {
		return a.absolute(named), nil
	}
	cfg, err := a.Config()
	if err != nil {
		return "", err
	}
	return cfg.Paths().Backups, nil
}

// backups is what backup list answers.
type backups struct {
	Path    string          `json:"path"`
	Backups []memory.Backup `json:"backups"`
}

func backupListCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use: "list [DIR]", Short: "List the backups in a folder",
		Long: "List the backups in backup.dir, or in DIR, by store and time. No daemon is started.", Example: "  recalld backup list",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := notEmpty("path", args); err != nil {
				return err
			}
			dir, err := a.backupDir(strings.Join(args, ""))
			if err != nil {
				return err
			}
			all, err := backup.List(dir)
			if _, missing := os.Stat(dir); len(args) > 0 && errors.Is(missing, fs.ErrNotExist) {
				_, err = backup.Some(dir) // that of the settings is made by the first backup
			}
			if err != nil {
				return err
			}
			return a.answer(backups{Path: dir, Backups: orEmpty(all)}, func(w io.Writer) {
				if len(all) == 0 {
					fmt.Fprintf(w, "There are no backups in %s\n", render.Printable(dir))
					return
				}
				rows := [][]string{{"BACKUP", "STORE", "SIZE", "ON DISK", "VERSION", "DATA FOLDER"}}
				for _, b := range all {
					switch {
					case b.Damage != "":
						rows = append(rows, []string{render.Printable(b.Name), b.Store, b.Damage})
						continue
					case b.Newer:
						rows = append(rows, []string{b.Name, b.Store, "only a newer recalld restores it: it is by " + render.Printable(b.Version)})
						continue
					}
					rows = append(rows, []string{b.Name, b.Store, render.Bytes(b.Size), render.Bytes(b.Stored), b.Version, render.Printable(b.Data)})
				}
				render.Table(w, rows)
			})
		},
	}
}

// verified is what backup verify answers.
type verified struct {
	Path   string          `json:"path"`
	Sound  int             `json:"sound"`
	Failed []memory.Backup `json:"failed"`
}

func backupVerifyCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use: "verify [DIR]", Short: "Read every byte of the backups in a folder",
		Long: `Read every byte of the backups in backup.dir, or in DIR, and compare the checksums. No
daemon is started. The command fails if a backup cannot be used.`, Example: "  recalld backup verify",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := notEmpty("path", args); err != nil {
				return err
			}
			dir, err := a.backupDir(strings.Join(args, ""))
			if err != nil {
				return err
			}
			v, err := a.verify(c.Context(), dir)
			if err != nil {
				return err
			}
			if err := a.answer(v, func(w io.Writer) {
				for _, b := range v.Failed {
					fmt.Fprintln(w, render.Printable(b.Damage))
				}
				fmt.Fprintf(w, "%s sound, %d damaged in %s\n", memory.Count(v.Sound, "backup"), len(v.Failed), render.Printable(dir))
			}); err != nil {
				return err
			}
			if len(v.Failed) > 0 {
				return errReported
			}
			return nil
		},
	}
}

func (a *App) verify(ctx context.Context, dir string) (*verified, error) {
	v := &verified{Path: dir, Failed: []memory.Backup{}}
	all, err := backup.Some(dir)
	if err != nil {
		return nil, err
	}
	shown := a.newProgress("")
	defer shown.done()
	for _, b := range all {
		if b.Damage == "" {
			err := backup.Verify(ctx, &b, func(done int64) { shown.show("verifying "+b.Name, done, b.Size) })
			if errors.Is(err, context.Canceled) {
				return nil, err
			}
			if err == nil {
				v.Sound++
				continue
			}
			b.Damage = err.Error()
		} else {
			b.Damage = "the backup " + b.Name + " is damaged: " + b.Damage
		}
		v.Failed = append(v.Failed, b)
	}
	return v, nil
}

// countedRecords lists records by kind.
func countedRecords(records map[string]int) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(records)) {
		parts = append(parts, memory.Count(records[kind], kind))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
