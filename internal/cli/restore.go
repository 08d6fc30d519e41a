package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/backup"
	"github.com/recalld/recalld/internal/buildinfo"
	"github.com/recalld/recalld/internal/daemon"
	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// restored is what restore answers.
type restored struct {
	Backup *memory.Backup `json:"backup"`
	// Restored says that the store is now the backup's. The former one is in Aside.
	Restored bool           `json:"restored"`
	Kept     map[string]int `json:"kept,omitempty"`
	Aside    string         `json:"aside,omitempty"`
	To       string         `json:"to,omitempty"`
	Note     string         `json:"note,omitempty"`
}

// restoreOptions are the flags of restore.
type restoreOptions struct {
	from, store, to string
	yes             bool
}

// restoreCommand brings a backup back.
func restoreCommand(a *App) *cobra.Command {
	var o restoreOptions
	c := &cobra.Command{
		Use:   "restore [BACKUP]",
		Short: "Bring a backup back",
		Long: `Show what a backup contains, the newest by default, and ask whether to restore it. The
present store is moved aside and kept; with --to, it stays and the backup is restored into
a new data folder. The daemon is stopped; the next command starts it. Until the end the
present store is unchanged, also if the command is killed.

What was forgotten since the backup stays forgotten.`,
		Example: "  recalld restore\n  recalld restore --from /mnt/disk/recalld\n  recalld restore 20260115T120000.000Z --to ~/recalld-then",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := notEmpty("backup", args); err != nil {
				return err
			}
			return a.restore(c.Context(), strings.Join(args, ""), o)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) (names []string, _ cobra.ShellCompDirective) {
			from, err := a.backupDir(o.from)
			if err != nil || len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			all, _ := backup.List(from) // a completion does not complain
			for _, b := range all {
				if b.Damage == "" && !b.Newer && strings.HasPrefix(b.Name, typed) && (o.store == "" || b.Store == o.store) {
					names = append(names, cobra.CompletionWithDesc(b.Name, b.Store+" "+render.Bytes(b.Size)))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().StringVar(&o.from, "from", "", "the folder of the backups (default: backup.dir)")
	c.Flags().StringVar(&o.store, "store", "", "the store's id, if the folder has backups of several")
	c.Flags().StringVar(&o.to, "to", "", "a new data folder; the present one stays as it is")
	c.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
	return c
}

func (a *App) restore(ctx context.Context, name string, o restoreOptions) (err error) {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	from, err := a.backupDir(o.from)
	if err != nil {
		return err
	}
	b, err := backup.Find(from, o.store, name)
	if e, ok := errors.AsType[*memory.Error](err); ok && e.Field == "path" {
		e.Field = "from" // as the flag is called
	}
	if err != nil {
		return err
	}
	result := restored{Backup: b}
	if o.to != "" {
		result.To = a.absolute(o.to)
		if err := daemon.MayRestoreTo(result.To); err != nil { // before the daemon is stopped
			return err
		}
	}
	if !o.yes {
		if a.json || !a.opts.Interactive {
			fmt.Fprintln(a.opts.Err, "Nothing is changed without --yes: this only shows what is in the backup.")
			return a.answer(result, func(w io.Writer) { writeBackup(w, b) })
		}
		writeBackup(a.opts.Err, b)
		question := "Restore it in place of the present store, which is moved aside?"
		if result.To != "" {
			question = "Restore it into " + render.Printable(result.To) + "?"
		}
		if yes, err := a.confirm(question); err != nil || !yes {
			fmt.Fprintln(a.opts.Err, "Nothing was changed.")
			return err
		}
	}
	if _, err := a.stop(ctx); err != nil {
		return err
	}
	shown := a.newProgress("")
	r, err := daemon.PrepareRestore(ctx, cfg, buildinfo.Version(), b, result.To, func(done int64) { shown.show("restoring", done, b.Size) })
	shown.done()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.End()) }()
	result.Aside, err = r.Finish()
	if result.To == "" {
		err = a.noted(logging.ChangeRestore, []string{b.Name}, err)
	}
	if err != nil {
		return err
	}
	result.Restored, result.Kept, result.Note = true, r.Kept, r.Note
	return a.answer(result, func(w io.Writer) { writeRestored(w, result) })
}

// writeBackup shows what is in a backup.
func writeBackup(w io.Writer, b *memory.Backup) {
	render.Table(w, [][]string{
		{"backup", b.Name}, {"made", b.CreatedAt.Format("2006-01-02 15:04:05 MST") + " by recalld " + render.Printable(b.Version)},
		{"of", render.Printable(b.Data)}, {"store", b.Store}, {"contains", countedRecords(b.Records)}, {"size", render.Bytes(b.Size)},
	})
}

func writeRestored(w io.Writer, r restored) {
	into := ""
	if r.To != "" {
		into = " into " + render.Printable(r.To)
	}
	fmt.Fprintf(w, "Restored %s%s: %s\n", r.Backup.Name, into, countedRecords(r.Kept))
	if r.Aside != "" {
		fmt.Fprintf(w, "The former store is kept in %s and can be removed.\n", render.Printable(r.Aside))
	}
	if r.Note != "" {
		fmt.Fprintln(w, render.Printable(r.Note))
	}
}
