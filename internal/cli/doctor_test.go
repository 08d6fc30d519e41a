package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/daemon"
	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
)

// diagnose runs doctor and returns its findings by check.
func diagnose(t *testing.T, b *bench, args ...string) (map[string]render.Finding, diagnosis, int) {
	t.Helper()
	out, errs, code := b.run(append([]string{"doctor", "--json"}, args...)...)
	var d diagnosis
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("doctor --json: %v: %s %s", err, out, errs)
	}
	found := map[string]render.Finding{}
	for _, f := range d.Findings {
		found[f.Check] = f
	}
	return found, d, code
}

func TestDoctorHealthy(t *testing.T) {
	answers := sample()
	delete(answers, service.DeadJobs.Name)
	b := newBench(t, answers)
	found, _, code := diagnose(t, b, "--set", "embedding.ollama.enabled=off")
	if code != ExitOK {
		t.Errorf("exit %d: %+v", code, found)
	}
	for check, level := range map[string]render.Level{"daemon": render.FindingOK, "vectors builtin": render.FindingOK, "vectors ollama/x": render.FindingNote, "queue": render.FindingOK, "ollama": render.FindingOK} {
		if found[check].Level != level {
			t.Errorf("%s: %+v, want level %s", check, found[check], level)
		}
	}
}

// TestDoctorIndexes: a failed index is a fault; one that is held or whose folder is
// away is as somebody wanted it, or may be.
func TestDoctorIndexes(t *testing.T) {
	answers := sample()
	delete(answers, service.DeadJobs.Name)
	answers[service.Repos.Name] = &memory.RepoList{Repos: troubled()}
	status := *answers[service.Status.Name].(*memory.Status)
	status.Code.Paused = true
	answers[service.Status.Name] = &status
	found, _, code := diagnose(t, newBench(t, answers), "--set", "embedding.ollama.enabled=off")
	if code != ExitFailure {
		t.Errorf("exit %d, want %d: an index has failed", code, ExitFailure)
	}
	for check, want := range map[string]render.Finding{
		"index full": {Level: render.FindingFailed, Detail: "disk full", Hint: "run 'recalld index --wait /src/full' to try again"},
		"index a-name-that-takes-more-than-a-table-has": {Level: render.FindingNote, Detail: "is missing since 2026-01-14"},
		"background": {Level: render.FindingNote, Detail: "all background work is paused", Hint: "run 'recalld resume' to resume it"},
	} {
		if f := found[check]; f.Level != want.Level || !strings.Contains(f.Detail, want.Detail) || !strings.Contains(f.Hint, want.Hint) {
			t.Errorf("%s: %+v, want %+v", check, f, want)
		}
	}
	answers[service.Repos.Name] = sample()[service.Repos.Name]
	found, _, code = diagnose(t, newBench(t, answers), "--set", "embedding.ollama.enabled=off")
	if f := found["index demo"]; code != ExitOK || f.Level != render.FindingNote || f.Hint != "run recalld resume '/src/demo worktree' to resume it" {
		t.Errorf("held: exit %d, %+v, want a note with how it goes on", code, f)
	}
	answers[service.Repos.Name] = &memory.RepoList{Repos: []memory.SandboxState{{
		ProjectName: "demo", Sandbox: memory.Sandbox{ID: "s", Root: "/src/demo", IndexedAt: noon}, Watch: "polling: no watches are left",
	}}}
	found, _, code = diagnose(t, newBench(t, answers), "--set", "embedding.ollama.enabled=off")
	if f := found["index demo"]; code != ExitOK || f.Level != render.FindingNote || !strings.Contains(f.Detail, "polling: no watches are left") {
		t.Errorf("polled: exit %d, %+v, want a note with the reason", code, f)
	}
}

func TestDoctorDeadJobs(t *testing.T) {
	b := newBench(t, sample())
	found, d, code := diagnose(t, b)
	if code != ExitFailure || found["queue"].Level != render.FindingFailed || len(d.Dead) != 1 || d.Dead[0].ID != "j9" {
		t.Errorf("exit %d, %+v, dead %+v; want the dead job to be found", code, found["queue"], d.Dead)
	}
	if out, _, _ := b.run("doctor"); !strings.Contains(out, "j9") || !strings.Contains(out, "--requeue all") {
		t.Errorf("doctor does not show the job and the way out:\n%s", out)
	}
	for _, which := range []string{"all", "j9"} {
		b := newBench(t, sample())
		_, d, code := diagnose(t, b, "--requeue", which)
		if code != ExitOK || len(d.Requeued) != 1 || len(d.Dead) != 0 || request[memory.RequeueRequest](t, b, service.RequeueJob.Name).ID != "j9" {
			t.Errorf("--requeue %s: exit %d, %+v", which, code, d)
		}
	}
}

// laidAside is a service that lists its dead jobs in pages, as the daemon does.
type laidAside struct {
	*servicetest.Service
	dead []memory.DeadJob
}

// Call implements service.Service.
func (s *laidAside) Call(ctx context.Context, op *service.Spec, request any, progress func(any)) (any, error) {
	return servicetest.With(s.Service, service.Bind(service.DeadJobs, s.DeadJobs), service.Bind(service.RequeueJob, s.RequeueJob)).Call(ctx, op, request, progress)
}

func (s *laidAside) DeadJobs(context.Context, service.None) (*memory.DeadJobList, error) {
	return &memory.DeadJobList{Jobs: s.dead[:min(len(s.dead), 3)]}, nil
}

func (s *laidAside) RequeueJob(_ context.Context, r memory.RequeueRequest) (*service.None, error) {
	s.dead = slices.DeleteFunc(slices.Clone(s.dead), func(j memory.DeadJob) bool { return j.ID == r.ID && r.ID != "sick" })
	return &service.None{}, nil
}

// TestDoctorRequeuesAll: also those that the first answer does not list; one
// that dies at once is not tried again and again.
func TestDoctorRequeuesAll(t *testing.T) {
	b := newBench(t, sample())
	s := &laidAside{Service: b.fake, dead: []memory.DeadJob{{ID: "sick"}}}
	for i := range 10 {
		s.dead = append(s.dead, memory.DeadJob{ID: fmt.Sprint(i)})
	}
	b.service = s
	_, d, code := diagnose(t, b, "--requeue", "all", "--set", "embedding.ollama.enabled=off")
	if len(d.Requeued) != 11 || len(s.dead) != 1 || code != ExitOK {
		t.Errorf("exit %d: %d jobs got another try, %d are left; want 11 and the one that dies at once", code, len(d.Requeued), len(s.dead))
	}
}

// TestDoctorAsksTheDaemon: a store that is in use is checked by who uses it.
func TestDoctorAsksTheDaemon(t *testing.T) {
	for name, tc := range map[string]struct {
		report memory.CheckReport
		level  render.Level
		detail string
	}{
		"sound":   {memory.CheckReport{}, render.FindingOK, "sound"},
		"damaged": {memory.CheckReport{Problems: []string{"record x: gone"}, Total: 1}, render.FindingFailed, "1 problem; record x: gone"},
		"busy":    {memory.CheckReport{Busy: true}, render.FindingNote, "too many writes"},
	} {
		answers := sample()
		delete(answers, service.DeadJobs.Name)
		answers[service.Check.Name] = &tc.report
		found, _, code := diagnose(t, newBench(t, answers), "--set", "embedding.ollama.enabled=off")
		if f := found["store"]; f.Level != tc.level || !strings.Contains(f.Detail, tc.detail) || (code == ExitOK) != (tc.level != render.FindingFailed) {
			t.Errorf("%s: exit %d, %+v; want %s with %q", name, code, f, tc.level, tc.detail)
		}
	}
}

func TestDoctorWithoutDaemon(t *testing.T) {
	b := newBench(t, nil)
	b.absent = true
	data := t.TempDir()
	if err := os.Chmod(data, 0o700); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(data, "store")
	core, err := daemon.OpenCore(t.Context(), daemon.CoreOptions{Dir: folder, Config: config.Default()})
	if err != nil {
		t.Fatal(err)
	}
	if err := core.Close(); err != nil {
		t.Fatal(err)
	}
	found, _, _ := diagnose(t, b, "--data", data)
	if found["daemon"].Level != render.FindingNote || found["store"].Level != render.FindingOK {
		t.Errorf("%+v; want a sound store", found)
	}
	if err := os.WriteFile(filepath.Join(folder, "MANIFEST"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	found, _, code := diagnose(t, b, "--data", data)
	if code != ExitFailure || found["store"].Level != render.FindingFailed {
		t.Errorf("exit %d, %+v; want the store's damage to be found", code, found)
	}
	if _, _, code := b.run("doctor", "--requeue", "all"); code != ExitUnavailable {
		t.Errorf("--requeue without a daemon ends with %d, want %d", code, ExitUnavailable)
	}
}

func TestDoctorFolders(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits: run it on Linux or macOS")
	}
	b := newBench(t, sample())
	data := t.TempDir()
	if err := os.Chmod(data, 0o755); err != nil {
		t.Fatal(err)
	}
	found, _, code := diagnose(t, b, "--data", data)
	if f := found["data folder"]; code != ExitFailure || f.Level != render.FindingFailed || !strings.HasPrefix(f.Hint, "chmod 700 ") {
		t.Errorf("exit %d, a data folder open to others: %+v", code, f)
	}
	if err := os.Chmod(data, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	found, _, code = diagnose(t, b, "--data", data)
	if f := found["data folder"]; code != ExitFailure || f.Level != render.FindingFailed || strings.Contains(f.Hint, "chmod") {
		t.Errorf("exit %d, a data folder for all users: %+v", code, f)
	}
}

func TestDoctorIncompatible(t *testing.T) {
	b := newBench(t, nil)
	b.opts.Connect = func(context.Context, config.Config, bool) (Daemon, error) {
		return nil, &memory.Error{Code: memory.CodeIncompatible, Message: "protocol 9", Hint: "update"}
	}
	found, _, code := diagnose(t, b)
	if f := found["daemon"]; code != ExitFailure || f.Level != render.FindingFailed || f.Hint != "update" {
		t.Errorf("exit %d, %+v", code, f)
	}
}

func TestDoctorOllama(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/version" {
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	defer broken.Close()
	for _, tt := range []struct {
		enabled, url string
		want         render.Level
		detail       string
	}{
		{"auto", server.URL, render.FindingOK, "model"}, {"on", server.URL, render.FindingOK, "model"}, {"auto", gone.URL, render.FindingNote, "no server"},
		{"on", gone.URL, render.FindingFailed, "no server"}, {"off", gone.URL, render.FindingOK, "turned off"},
		{"auto", broken.URL, render.FindingNote, "it answers 500"}, {"on", broken.URL, render.FindingFailed, "it answers 500"},
	} {
		found, _, _ := diagnose(t, newBench(t, sample()), "--set", "embedding.ollama.enabled="+tt.enabled, "--set", "embedding.ollama.url="+tt.url)
		if f := found["ollama"]; f.Level != tt.want || !strings.Contains(f.Detail, tt.detail) {
			t.Errorf("ollama %s at %s: %+v, want %s, %s", tt.enabled, tt.url, f, tt.want, tt.detail)
		}
	}
}

// TestDoctorNotes: what the daemon has left aside is said, once.
func TestDoctorNotes(t *testing.T) {
	answers := sample()
	delete(answers, service.DeadJobs.Name)
	status := *answers[service.Status.Name].(*memory.Status)
	answers[service.Status.Name] = &status
	b := newBench(t, answers)
	home := b.opts.Getenv
	b.opts.Getenv = func(name string) string {
		if name == "OLLAMA_HOST" {
			return "gpu.example.com"
		}
		return home(name)
	}
	app, err := newApp(b.opts)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := app.Config()
	if err != nil {
		t.Fatal(err)
	}
	status.Notes = []string{"Ollama is not used: " + cfg.Embedding.Ollama.Unused, "something else"}
	found, d, _ := diagnose(t, b)
	said := 0
	for _, f := range d.Findings {
		if strings.Contains(f.Detail, "gpu.example.com") {
			said++
		}
	}
	if said != 1 || found["ollama"].Level != render.FindingNote || found["settings"].Detail != "something else" {
		t.Errorf("the other machine is named %d times: %+v", said, d.Findings)
	}
}

// TestDoctorDamagedModel: an adapted model that cannot be used is a fault, with what to
// do about it, said once; how far one is that is being made is none.
func TestDoctorDamagedModel(t *testing.T) {
	answers := sample()
	delete(answers, service.DeadJobs.Name)
	const trouble = "the adapted model is damaged"
	answers[service.BuiltinModel.Name] = &memory.BuiltinModel{InUse: "builtin/static-v1", Trouble: trouble}
	status := *answers[service.Status.Name].(*memory.Status)
	status.Notes = []string{trouble}
	answers[service.Status.Name] = &status
	found, _, code := diagnose(t, newBench(t, answers), "--set", "embedding.ollama.enabled=off")
	if f := found["adapted model"]; code != ExitFailure || f.Level != render.FindingFailed || !strings.Contains(f.Hint, "recalld model reset") {
		t.Errorf("exit %d, %+v", code, f)
	}
	if f, said := found["settings"]; said {
		t.Errorf("it is said again: %+v", f)
	}
}

// TestDoctorRepair: a repair shows what is damaged and changes nothing until it was
// told to go on, by --yes or by a person.
func TestDoctorRepair(t *testing.T) {
	folder := t.TempDir()
	store := filepath.Join(folder, "store")
	core, err := daemon.OpenCore(t.Context(), daemon.CoreOptions{Dir: store, Config: config.Default()})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(core.Load(t.Context()), core.Close()); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, sample())
	b.absent = true
	b.opts.Stop = func(context.Context, config.Config) (service.Greeting, error) {
		return service.Greeting{}, &memory.Error{Code: memory.CodeUnavailable, Message: "no daemon is running"}
	}
	if out := b.ok("doctor", "--repair", "--data", folder); !strings.Contains(out, "nothing to repair") {
		t.Errorf("the repair of a sound store says %q", out)
	}
	manifest := filepath.Join(store, "MANIFEST")
	if err := os.Remove(manifest); err != nil {
		t.Fatal(err)
	}
	out, _, code := b.run("doctor", "--repair", "--data", folder, "--json")
	var plan repaired
	if err := json.Unmarshal([]byte(out), &plan); err != nil || code != ExitFailure || plan.Repaired || plan.Damage == nil || len(plan.Damage.Files) == 0 {
		t.Errorf("without --yes: exit %d, %v, %s; want the damage and nothing repaired", code, err, out)
	}
	b.opts.Interactive = true
	for _, word := range []string{"n\n", "", "maybe\n"} {
		b.opts.In = strings.NewReader(word)
		out, errs, code := b.run("doctor", "--repair", "--data", folder)
		if code != ExitFailure || !strings.Contains(errs, "MANIFEST") || !strings.Contains(out, "Nothing was changed") {
			t.Errorf("answered %q: exit %d, %s%s; want the damage shown and nothing changed", word, code, errs, out)
		}
	}
	if _, err := os.Stat(manifest); err == nil {
		t.Error("the MANIFEST was made anew before anybody said yes")
	}
	b.opts.In = strings.NewReader("y\n")
	out = b.ok("doctor", "--repair", "--data", folder)
	aside, err := filepath.Glob(store + ".damaged-*")
	if err != nil || len(aside) != 2 || !strings.Contains(out, aside[0]) {
		t.Errorf("after a yes: %v, %v; want the damaged store and its report, named in %s", aside, err, out)
	}
	if got := noted(t, folder); !slices.Equal(got, []string{logging.ChangeRepair}) {
		t.Errorf("the audit log has %q, want the repair that was made and no other", got)
	}
	found, _, code := diagnose(t, b, "--data", folder, "--set", "embedding.ollama.enabled=off")
	if f := found["store"]; f.Level != render.FindingOK || !strings.Contains(f.Detail, "nothing that was acknowledged is missing") {
		t.Errorf("doctor after the repair: exit %d, %+v", code, f)
	}
}

// TestRepairTable: each kind has one row, what comes from the backup included, and what else
// may have it is named.
func TestRepairTable(t *testing.T) {
	var b strings.Builder
	writeLosses(&b, repaired{
		Damage: &memory.StoreDamage{Lost: map[string]int{"lesson": 2, "step": -1}}, Kept: map[string]int{"lesson": 4, "step": 3, "session": 1},
		FromBackup: map[string]int{"lesson": 3, "session": 1}, BackupAt: noon, Notes: []string{"Nothing is taken"},
	})
	at := "2026-01-15 12:00Z"
	for _, want := range []string{
		"lesson   2 lost, 4 kept, 3 of them from the backup of " + at, "session  0 lost, 1 kept, 1 of them from the backup of " + at,
		"step     1 more than there should be, 3 in all", "Nothing is taken",
	} {
		if strings.Count(b.String(), want) != 1 {
			t.Errorf("it has not %q once:\n%s", want, b.String())
		}
	}
}

// TestNoticeOnce: an error that says what the notice above it says is only its hint.
func TestNoticeOnce(t *testing.T) {
	var errs strings.Builder
	a, err := newApp(Options{In: strings.NewReader(""), Out: io.Discard, Err: &errs, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	a.notice("the store is damaged")
	a.reportError(&memory.Error{Code: memory.CodeUnavailable, Message: "the store is damaged", Hint: memory.RepairCommand})
	a.flush()
	if got, want := errs.String(), "recalld: the store is damaged\nhint: "+memory.RepairCommand+"\n"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}
