package daemon

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// spoilTables changes one bit in the index of every table of a data folder's store.
func spoilTables(t *testing.T, store string) {
	t.Helper()
	tables, err := filepath.Glob(filepath.Join(store, "*.sst"))
	must(t, err)
	if len(tables) == 0 {
		t.Fatal("the store has no table to be damaged")
	}
	for _, path := range tables {
		b, err := os.ReadFile(path)
		must(t, err)
		b[len(b)-100] ^= 1
		must(t, os.WriteFile(path, b, 0o600))
	}
}

// TestDamagedStoreSaysSo: of a store that has lost something every answer says so,
// what can be read is answered, writes are refused with the command that goes on, and
// after the repair all is as ever, over MCP and HTTP alike.
func TestDamagedStoreSaysSo(t *testing.T) {
	cfg, dir := newConfig(t), shop(t)
	s := serve(t, cfg)
	kept := s.keep(dir, "Freeze the clock before the coupon expires")
	s.end()
	must(t, s.wait())
	spoilTables(t, cfg.Paths().Store)
	if found, err := CheckStore(t.Context(), cfg, "test"); err != nil || found == nil || !strings.Contains(found.Error(), memory.RepairCommand) {
		t.Errorf("the check of the damaged store: %v, %v; want what is damaged and the command", found, err)
	}

	s = serve(t, cfg)
	a := s.ask(dir, "freeze the clock coupon", memory.Lesson)
	if len(a.Items) != 1 || a.Items[0].ID != kept.ID {
		t.Errorf("the lesson, which can be read in spite of the index, is not found: %+v", a)
	}
	if len(a.Degraded) == 0 || a.Degraded[0].Part != "store" || !a.Incomplete || a.Why != memory.WhyDamaged || !strings.Contains(a.Text, memory.RepairCommand) {
		t.Errorf("the answer does not say that the store is damaged: degraded %v, why %q, text %q", a.Degraded, a.Why, a.Text)
	}
	if none := s.ask(dir, "the aurora over Tromsø in winter", memory.Lesson); none.NothingRelevant || !strings.Contains(none.Text, memory.RepairCommand) {
		t.Errorf("an answer without a hit says %q, nothing relevant %v; want that something may be lost", none.Text, none.NothingRelevant)
	}
	steps, err := service.SearchSteps.Do(t.Context(), s, memory.SearchStepsRequest{Query: "coupon", Caller: memory.Caller{Dir: dir}})
	if err != nil || !steps.Incomplete || steps.Why != memory.WhyDamaged {
		t.Errorf("the search of steps: %+v, %v; want it incomplete", steps, err)
	}
	status, err := service.Status.Do(t.Context(), s, service.None{})
	if err != nil || status.Damage == nil || !status.Damage.ReadOnly || len(status.Damage.Files) == 0 {
		t.Errorf("status: damage %+v, %v; want the files that are damaged", status.Damage, err)
	}
	report, err := service.Check.Do(t.Context(), s, service.None{})
	if err != nil || report.Total == 0 || !strings.Contains(report.Problems[0], memory.RepairCommand) {
		t.Errorf("check: %+v, %v; want the damage", report, err)
	}
	_, err = service.Remember.Do(t.Context(), s, memory.RememberRequest{Caller: memory.Caller{Dir: dir}, Type: memory.EventError, Lesson: "A lesson that cannot be kept"})
	if e := memory.AsError(err); e.Code != memory.CodeUnavailable || e.Hint != memory.RepairCommand {
		t.Errorf("a write: %v (hint %q), want %s with the command", err, e.Hint, memory.CodeUnavailable)
	}
	notices := 0
	c, err := client.Connect(t.Context(), client.Options{Socket: cfg.Paths().Socket, Notice: func(text string) {
		if strings.Contains(text, memory.RepairCommand) {
			notices++
		}
	}})
	must(t, err)
	_, err = service.Sessions.Do(t.Context(), c, memory.SessionsRequest{Caller: memory.Caller{Dir: dir}})
	must(t, err)
	if notices == 0 {
		t.Error("the answer with sessions has no notice of the damage")
	}
	if _, err := PrepareRepair(t.Context(), cfg, "test"); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("a repair beside the daemon: %v, want %s", err, memory.CodeConflict)
	}
	s.end()
	must(t, s.wait())

	r, err := PrepareRepair(t.Context(), cfg, "test")
	must(t, err)
	if !r.Needed() || r.Left != nil || r.Kept[string(memory.Lesson)] != 1 || len(r.Damage.Lost) > 0 {
		t.Errorf("the repair has %v, lost %v, left %v; want the lesson and nothing lost", r.Kept, r.Damage.Lost, r.Left)
	}
	_, err = r.Finish()
	must(t, err)
	must(t, r.End())
	s = serve(t, cfg)
	if a := s.ask(dir, "freeze the clock coupon", memory.Lesson); len(a.Items) != 1 || len(a.Degraded) > 0 || a.Incomplete {
		t.Errorf("after the repair: %+v", a)
	}
	s.keep(dir, "Write the receipt before the goods leave")
}

// TestRepairFromBackup: what a damaged store has lost comes back from the last backup; what
// was written since is kept if it can be read, and what was forgotten stays forgotten as
// long as that can be read.
func TestRepairFromBackup(t *testing.T) {
	cfg, dir := newConfig(t), shop(t)
	s := serve(t, cfg)
	in := memory.Caller{Dir: dir, Client: "test", Session: "session-of-repair"}
	var kept []string
	for _, lesson := range []string{"Freeze the clock before the coupon expires", "Count the articles before the discount", "Rotate the signing key twice a year"} {
		kept = append(kept, s.keep(dir, lesson).ID)
	}
	_, err := service.StartSession.Do(t.Context(), s, memory.StartSessionRequest{SessionID: in.Session, Goal: "pay back an order", Caller: in})
	must(t, err)
	_, err = service.RecordStep.Do(t.Context(), s, memory.RecordStepRequest{SessionID: in.Session, Tool: memory.StepTool{Name: "Bash"}, Outcome: memory.Outcome{OK: true}, Caller: in})
	must(t, err)
	_, err = service.Backup.Do(t.Context(), s, memory.BackupRequest{}, nil)
	must(t, err)
	s.end()
	must(t, s.wait())
	// All tables are made empty; what is written from now on is in the log.
	tables, err := filepath.Glob(filepath.Join(cfg.Paths().Store, "*.sst"))
	must(t, err)
	for _, path := range tables {
		info, err := os.Stat(path)
		must(t, err)
		must(t, os.WriteFile(path, make([]byte, info.Size()), 0o600))
	}

	r, err := PrepareRepair(t.Context(), cfg, "test")
	must(t, err)
	if !r.Needed() || r.Left != nil || r.Backup == nil || r.Refilled["lesson"] != 3 || r.Refilled["step"] != 1 || r.Refilled["session"] != 1 || r.Kept["lesson"] != 3 {
		t.Fatalf("the repair takes %v from the backup %+v, keeps %v, lost %v, left %v", r.Refilled, r.Backup, r.Kept, r.Damage.Lost, r.Left)
	}
	_, err = r.Finish()
	must(t, err)
	must(t, r.End())
	s = serve(t, cfg)
	for i, query := range []string{"freeze the clock coupon", "count the articles", "rotate the signing key"} {
		if a := s.ask(dir, query, memory.Lesson); len(a.Items) == 0 || a.Items[0].ID != kept[i] || a.Incomplete {
			t.Errorf("%q is answered with %+v", query, a.Items)
		}
	}
	// Forgotten since, and written since: the second repair brings back neither.
	_, err = service.Forget.Do(t.Context(), s, memory.ForgetRequest{IDs: kept[:1]})
	must(t, err)
	late := s.keep(dir, "Write the receipt before the goods leave").ID
	s.end()
	must(t, s.wait())
	spoilTables(t, cfg.Paths().Store)
	r, err = PrepareRepair(t.Context(), cfg, "test")
	must(t, err)
	if len(r.Refilled) > 0 || r.Kept["lesson"] != 3 {
		t.Errorf("of a store that can be read it takes %v, and keeps %v", r.Refilled, r.Kept)
	}
	_, err = r.Finish()
	must(t, err)
	must(t, r.End())
	s = serve(t, cfg)
	if a := s.ask(dir, "write the receipt", memory.Lesson); len(a.Items) == 0 || a.Items[0].ID != late {
		t.Errorf("a lesson after the backup: %+v", a.Items)
	}
	if a := s.ask(dir, "freeze the clock coupon", memory.Lesson); len(a.Items) > 0 && a.Items[0].ID == kept[0] {
		t.Error("a forgotten lesson came back")
	}
	s.end()
	must(t, s.wait())

	// A damaged backup is left out.
	packs, err := filepath.Glob(filepath.Join(cfg.Paths().Backups, "*", "*"))
	must(t, err)
	for _, path := range packs {
		if info, err := os.Stat(path); err == nil && !strings.HasSuffix(path, ".json") {
			must(t, os.WriteFile(path, make([]byte, info.Size()), 0o600))
		}
	}
	spoilTables(t, cfg.Paths().Store)
	r, err = PrepareRepair(t.Context(), cfg, "test")
	must(t, err)
	if r.Kept["lesson"] != 3 {
		t.Errorf("beside a damaged backup it keeps %v", r.Kept)
	}
	_, err = r.Finish()
	must(t, err)
	must(t, r.End())
}

// TestRepairBesideOldBackup: a backup of an older schema gives nothing to a repair, which
// says so, and how to use it.
func TestRepairBesideOldBackup(t *testing.T) {
	cfg := newConfig(t)
	s := serve(t, cfg)
	s.keep(shop(t), "Freeze the clock before the coupon expires")
	made, err := service.Backup.Do(t.Context(), s, memory.BackupRequest{}, nil)
	must(t, err)
	s.end()
	must(t, s.wait())
	path := filepath.Join(made.Path, made.Name+".manifest")
	text, err := os.ReadFile(path)
	must(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	body := strings.Replace(strings.Join(lines[:len(lines)-2], ""), fmt.Sprintf(`"schema":%d`, made.Schema), fmt.Sprintf(`"schema":%d`, made.Schema-1), 1)
	must(t, os.WriteFile(path, fmt.Appendf([]byte(body), "%x\n", sha256.Sum256([]byte(body))), 0o600))
	r, err := PrepareRepair(t.Context(), cfg, "test")
	must(t, err)
	defer func() { must(t, r.End()) }()
	if len(r.Refilled) > 0 || !strings.Contains(r.Note, made.Name) || !strings.Contains(r.Note, "recalld restore") {
		t.Errorf("beside a backup of an older schema it takes %v and says %q", r.Refilled, r.Note)
	}
}
