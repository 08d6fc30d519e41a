package cli

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/backup"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/store"
)

// backedUp makes a store with a lesson in the data folder of a bench, and a backup of it.
func backedUp(t *testing.T, data string) *memory.Backup {
	t.Helper()
	s, err := store.Open(store.Options{Dir: filepath.Join(data, "store"), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Load(t.Context(), memory.Loader{}); err != nil {
		t.Fatal(err)
	}
	text := "npm needs a clean cache"
	doc := memory.DocumentID(text)
	_, err = s.Commit(t.Context(), memory.Batch{Docs: []memory.Doc{{ID: doc, Terms: []byte("terms")}},
		Records: []memory.Record{{ID: "l-1", Kind: memory.Lesson, Project: "p-1", Text: text, Doc: doc, Created: noon, Event: &memory.Event{Type: memory.EventError, Lesson: text}}}})
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	b, err := backup.Create(t.Context(), x, backup.Options{Dir: filepath.Join(data, "backups"), Data: data, Version: "1.2.3"}, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBackupAndRestoreCommands: list and verify read a folder, restore shows what is in a
// backup and changes nothing without --yes.
func TestBackupAndRestoreCommands(t *testing.T) {
	b, data := newBench(t, sample()), t.TempDir()
	made := backedUp(t, data)
	run := func(want int, args ...string) string {
		t.Helper()
		out, errs, code := b.run(append(args, "--data", data)...)
		if code != want {
			t.Fatalf("recalld %q ends with %d: %s%s", args, code, out, errs)
		}
		return out + errs
	}
	for _, test := range []struct {
		args []string
		says []string
	}{
		{[]string{"backup", "list"}, []string{made.Name, made.Store, "1.2.3"}},
		{[]string{"backup", "verify"}, []string{"1 backup sound, 0 damaged"}},
		{[]string{"restore"}, []string{"Nothing is changed without --yes", made.Name, "1 lesson", "1.2.3"}},
	} {
		out := run(ExitOK, test.args...)
		for _, text := range test.says {
			if !strings.Contains(out, text) {
				t.Errorf("recalld %q says %q, want %q in it", test.args, out, text)
			}
		}
	}
	to := filepath.Join(t.TempDir(), "then")
	var r restored
	out, errs, code := b.run("restore", "--yes", "--json", "--to", to, "--data", data)
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != ExitOK || !r.Restored || r.Kept["lesson"] != 1 {
		t.Errorf("restore --to ends with %d, %v: %s%s", code, err, out, errs)
	}
	if _, err := os.Stat(filepath.Join(to, "store", "MANIFEST")); err != nil {
		t.Errorf("there is no store in %s: %v", to, err)
	}
	out = run(ExitOK, "restore", "--yes")
	if !strings.Contains(out, "The former store is kept in "+filepath.Join(data, "store")) {
		t.Errorf("restore in place says %q", out)
	}
	if got := noted(t, data); !slices.Equal(got, []string{logging.ChangeRestore + " " + made.Name}) {
		t.Errorf("the audit log has %q, want the restore in place alone", got)
	}
	if out := run(ExitNotFound, "restore", "--yes", "20000101T000000.000Z"); !strings.Contains(out, "recalld backup list "+filepath.Dir(made.Path)) {
		t.Errorf("an unknown backup: %q, want the command that lists those", out)
	}
	for _, args := range [][]string{{"backup", "list", ""}, {"backup", "verify", ""}, {"restore", ""}} {
		if out := run(ExitUsage, args...); !strings.Contains(out, "is empty") {
			t.Errorf("recalld %q says %q, want that the argument is empty", args, out)
		}
	}
	empty, file := t.TempDir(), filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := run(ExitNotFound, "restore", "--from", empty); !strings.Contains(out, "from: ") {
		t.Errorf("restore --from an empty folder says %q, want the name of the flag", out)
	}
	if out, errs, _ := b.run("restore", "--data", empty); !strings.Contains(out+errs, "recalld: --from: ") {
		t.Errorf("restore without any backups says %q, want the flag that names others", out+errs)
	}
	stop := b.opts.Stop
	b.opts.Stop = func(context.Context, config.Config) (service.Greeting, error) {
		t.Error("a restore that is refused stops the daemon")
		return service.Greeting{}, nil
	}
	if out := run(ExitConflict, "restore", "--yes", "--to", data); !strings.Contains(out, "recalld: --to: ") || !strings.Contains(out, "hint: ") {
		t.Errorf("restore --to a folder in use says %q, want the name of the flag and the next step", out)
	}
	b.opts.Stop = stop
	for dir, says := range map[string]string{empty: empty + " has no backup", filepath.Join(empty, "none"): filepath.Join(empty, "none") + " does not exist"} {
		for _, args := range [][]string{{"backup", "verify", dir}, {"restore", "--from", dir}} {
			if out := run(ExitNotFound, args...); !strings.Contains(out, says) || !strings.Contains(out, "hint: ") {
				t.Errorf("recalld %q says %q, want %q and the next step", args, out, says)
			}
		}
	}
	for _, args := range [][]string{{"backup", "list", file}, {"backup", "verify", file}, {"restore", "--from", file}, {"backup", "list", file + "/x"}} {
		if out := run(ExitUsage, args...); !strings.Contains(out, args[len(args)-1]+" is not a folder") {
			t.Errorf("recalld %q says %q, want that it is not a folder", args, out)
		}
	}
	pack, _ := filepath.Glob(filepath.Join(made.Path, "*.pack"))
	if err := os.Truncate(pack[0], 10); err != nil {
		t.Fatal(err)
	}
	if out := run(ExitFailure, "backup", "verify"); !strings.Contains(out, "is damaged") || !strings.Contains(out, filepath.Base(pack[0])) {
		t.Errorf("verify says %q of a cut file", out)
	}
	if out, errs, code := b.run("restore", "--yes", "--data", data); code == ExitOK || !strings.Contains(errs, "is damaged") {
		t.Errorf("a damaged backup is restored: %d, %s%s", code, out, errs)
	}
}

// TestUnusableBackups: a backup of a newer program is marked, and not the one that is
// restored; one whose manifest is damaged is named.
func TestUnusableBackups(t *testing.T) {
	b, data := newBench(t, sample()), t.TempDir()
	made := backedUp(t, data)
	manifest := filepath.Join(made.Path, made.Name+".manifest")
	text, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	body := strings.Join(lines[:len(lines)-2], "")
	const newer = "30000101T000000.000Z"
	for name, as := range map[string]*strings.Replacer{
		"schema": strings.NewReplacer(`"schema":`, `"schema":9`, made.Name, newer, "1.2.3", "9.9.9"),
		"format": strings.NewReplacer(`"format":1`, `"format":2`, made.Name, newer, "1.2.3", "9.9.9"),
	} {
		body := as.Replace(body)
		if err := os.WriteFile(filepath.Join(made.Path, newer+".manifest"), fmt.Appendf([]byte(body), "%x\n", sha256.Sum256([]byte(body))), 0o600); err != nil {
			t.Fatal(err)
		}
		if out := b.ok("backup", "list", "--data", data); !strings.Contains(out, made.Name) || !strings.Contains(out, "only a newer recalld restores it: it is by 9.9.9") {
			t.Errorf("of a backup of a newer %s the list says %s", name, out)
		}
		if out := b.ok("restore", "--data", data); !strings.Contains(out, made.Name) || strings.Contains(out, newer) {
			t.Errorf("beside one of a newer %s restore takes another than the newest that it can restore: %s", name, out)
		}
		if _, errs, code := b.run("restore", newer, "--yes", "--data", data); code != ExitIncompatible {
			t.Errorf("a backup of a newer %s is restored: %d, %s", name, code, errs)
		}
	}
	if err := os.Remove(filepath.Join(made.Path, newer+".manifest")); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(manifest, 10); err != nil {
		t.Fatal(err)
	}
	_, errs, code := b.run("restore", "--data", data)
	if code != ExitFailure || !strings.Contains(errs, made.Name+" cannot be used: its manifest is damaged") || !strings.Contains(errs, "hint: ") {
		t.Errorf("where the only backup is damaged: %d, %s", code, errs)
	}
}
