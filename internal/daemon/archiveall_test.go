package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/agentctx"
	"github.com/recalld/recalld/internal/archive"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// everything stores one of each kind of memory, and forgets some.
func everything(t *testing.T, s *served, dir string) (forgotten string) {
	t.Helper()
	ctx := t.Context()
	in := memory.Caller{Dir: dir, Client: "test"}
	var ids []string
	for _, text := range []string{"Give the cache back before the packages are installed", "Freeze the clock before the coupon expires", "Count the articles before the discount", "Rotate the signing key twice a year"} {
		kept, err := service.Remember.Do(ctx, s, memory.RememberRequest{Lesson: text, Context: "the checkout test is flaky", Command: "go test ./...", SuccessRate: "3/4", Caller: in})
		must(t, err)
		ids = append(ids, kept.ID)
	}
	_, err := service.Remember.Do(ctx, s, memory.RememberRequest{Lesson: "Freeze the clock before the coupon expires", Context: "the checkout test is flaky", Command: "go test ./...", Caller: in})
	must(t, err)
	_, err = service.Remember.Do(ctx, s, memory.RememberRequest{Lesson: "Rotate the signing key four times a year", Supersedes: []string{ids[3]}, Caller: in})
	must(t, err)
	_, err = service.Forget.Do(ctx, s, memory.ForgetRequest{IDs: []string{ids[2]}})
	must(t, err)
	const session = "session-of-archive"
	_, err = service.StartSession.Do(ctx, s, memory.StartSessionRequest{SessionID: session, Goal: "pay back an order", Tags: []string{"refund"}, Caller: in})
	must(t, err)
	own := in
	own.Session = session
	for i := range 5 {
		step := memory.RecordStepRequest{SessionID: session, Tool: memory.StepTool{Name: "Bash", Target: json.RawMessage(fmt.Sprintf(`"npm test %d"`, i))}, Outcome: memory.Outcome{OK: i%2 == 0}, Caller: own}
		if i%2 == 1 {
			step.Outcome.Error = &memory.StepError{Code: "exit 1", Message: "2 tests failed"}
		}
		_, err = service.RecordStep.Do(ctx, s, step)
		must(t, err)
	}
	_, err = service.CompleteTask.Do(ctx, s, memory.CompleteTaskRequest{TaskID: "task-1", RequiresContext: new(true), Intent: "publish", ValidationReport: json.RawMessage(`{"valid": true}`), Caller: own})
	must(t, err)
	_, err = service.BlockTask.Do(ctx, s, memory.BlockTaskRequest{TaskID: "task-2", Reason: "no key", Caller: own})
	must(t, err)
	_, err = service.Register.Do(ctx, s, memory.RegisterRequest{Entries: []memory.CatalogueEntry{{Ref: memory.Ref{Type: memory.Rule, Name: "money"}, Content: "Amounts are in cents.", Include: memory.IncludeAlways}}, Caller: own})
	must(t, err)
	_, err = service.Assemble.Do(ctx, s, memory.AssembleRequest{SessionRef: memory.SessionRef{SessionID: session, Caller: own}, Message: "pay back an order"})
	must(t, err)
	_, err = service.SearchTools.Do(ctx, s, memory.SearchToolsRequest{Query: "start a session", Own: true, SessionRef: memory.SessionRef{SessionID: session, Caller: own}})
	must(t, err)
	a, err := service.Recall.Do(ctx, s, memory.RecallRequest{Query: "coupon expires", Caller: own})
	must(t, err)
	_, err = service.Feedback.Do(ctx, s, memory.FeedbackRequest{Receipt: a.Receipt, Verdict: memory.Worked, Caller: own})
	must(t, err)
	_, err = service.EndSession.Do(ctx, s, memory.EndSessionRequest{SessionID: session, Caller: own})
	must(t, err)
	return ids[2]
}

func exportAll(t *testing.T, s *served) (path string, a *memory.Archive) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "all.jsonl")
	a, err := service.ExportAll.Do(t.Context(), s, memory.ArchiveRequest{Path: path}, nil)
	must(t, err)
	return path, a
}

func importAll(t *testing.T, s *served, path string) (*memory.Archive, error) {
	t.Helper()
	return service.ImportAll.Do(t.Context(), s, memory.ArchiveRequest{Path: path}, nil)
}

// archived are the lines of an archive that are memories, sorted.
func archived(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, `{"kind":"recalld-archive"`) || strings.HasPrefix(l, `{"kind":"end"`) || strings.HasPrefix(l, `{"kind":"settings"`)
	})
	slices.Sort(lines)
	return lines
}

// TestArchiveIsEqual: what is exported and imported into an empty store is equal, by id, and
// answers alike; imported again, or into the same store, it changes nothing.
func TestArchiveIsEqual(t *testing.T) {
	dir := t.TempDir()
	from := serve(t, newConfig(t))
	forgotten := everything(t, from, dir)
	path, a := exportAll(t, from)
	for _, kind := range []memory.ArchiveKind{memory.ArchivedProject, memory.ArchivedForgotten, memory.ArchivedSession, memory.ArchivedRecord, memory.ArchivedStateOf, memory.ArchivedReceipt, memory.ArchivedSettings} {
		if a.Counts[kind] == 0 {
			t.Errorf("there is no %s in it: the test proves nothing about it: %v", kind, a.Counts)
		}
	}
	info, err := os.Stat(path)
	must(t, err)
	if info.Size() != a.Bytes || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("the file has %d bytes and mode %v; it says %d", info.Size(), info.Mode(), a.Bytes)
	}
	if _, err := service.ExportAll.Do(t.Context(), from, memory.ArchiveRequest{Path: path}, nil); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("a file that exists: %v", err)
	}

	to := serve(t, newConfig(t))
	got, err := importAll(t, to, path)
	must(t, err)
	if got.Added[memory.ArchivedRecord] != a.Counts[memory.ArchivedRecord] || got.Redacted > 0 || got.LeftOut > 0 {
		t.Errorf("it imports %+v of %+v", got.Added, a.Counts)
	}
	again, _ := exportAll(t, to)
	if diff := cmp.Diff(archived(t, path), archived(t, again)); diff != "" {
		t.Errorf("the imported store is not equal (-exported +imported):\n%s", diff)
	}
	for _, s := range []*served{from, to} {
		got, err := importAll(t, s, path)
		must(t, err)
		for kind, n := range got.Added {
			if n > 0 {
				t.Errorf("imported again, %d lines of kind %s are new", n, kind)
			}
		}
	}
	last, _ := exportAll(t, to)
	if diff := cmp.Diff(archived(t, path), archived(t, last)); diff != "" {
		t.Errorf("imported again, the store is not equal:\n%s", diff)
	}
	for _, query := range []string{"coupon expires", "2 tests failed", "give the cache back"} {
		var texts []string
		for _, s := range []*served{from, to} {
			a, err := service.Recall.Do(t.Context(), s, memory.RecallRequest{Query: query, Caller: memory.Caller{Dir: dir, Client: "test"}})
			must(t, err)
			var ids []string
			for _, i := range a.Items {
				ids = append(ids, i.ID)
			}
			if len(ids) == 0 || slices.Contains(ids, forgotten) {
				t.Errorf("%q is answered with %v", query, ids)
			}
			texts = append(texts, strings.Join(ids, " "))
		}
		if texts[0] != texts[1] {
			t.Errorf("%q is answered with %s, from the import with %s", query, texts[0], texts[1])
		}
	}
}

// TestArchiveForgets: what was forgotten on either side does not come back, and a memory
// that lives here is not forgotten because it was there.
func TestArchiveForgets(t *testing.T) {
	dir := t.TempDir()
	in := memory.Caller{Dir: dir, Client: "test"}
	from := serve(t, newConfig(t))
	tell := func(s *served, text string) string {
		kept, err := service.Remember.Do(t.Context(), s, memory.RememberRequest{Lesson: text, Caller: in})
		must(t, err)
		return kept.ID
	}
	forget := func(s *served, id string) {
		_, err := service.Forget.Do(t.Context(), s, memory.ForgetRequest{IDs: []string{id}})
		must(t, err)
	}
	const here, there = "Water the plants on Monday", "Feed the printer on Tuesday"
	tell(from, here)
	id := tell(from, there)
	forget(from, id)
	path, _ := exportAll(t, from)
	to := serve(t, newConfig(t))
	forget(to, tell(to, here))
	alive := tell(to, there)
	got, err := importAll(t, to, path)
	must(t, err)
	if got.LeftOut != 1 || got.Added[memory.ArchivedForgotten] != 0 {
		t.Errorf("it says %+v", got)
	}
	again, _ := exportAll(t, to)
	text := strings.Join(archived(t, again), "\n")
	if strings.Contains(text, here) || !strings.Contains(text, there) || strings.Contains(text, `{"kind":"forgotten","value":"`+alive) {
		t.Errorf("the store holds\n%s", text)
	}
}

// TestArchiveForgetsSessions: a session that was forgotten here does not come back, nor do
// its steps, its context and its receipts.
func TestArchiveForgetsSessions(t *testing.T) {
	dir := t.TempDir()
	from := serve(t, newConfig(t))
	everything(t, from, dir)
	path, _ := exportAll(t, from)
	to := serve(t, newConfig(t))
	_, err := importAll(t, to, path)
	must(t, err)
	_, err = service.Forget.Do(t.Context(), to, memory.ForgetRequest{IDs: []string{"session-of-archive"}})
	must(t, err)
	before, _ := exportAll(t, to)
	got, err := importAll(t, to, path)
	must(t, err)
	after, _ := exportAll(t, to)
	if diff := cmp.Diff(archived(t, before), archived(t, after)); diff != "" || got.LeftOut == 0 {
		t.Errorf("%d were left out, and this came back:\n%s", got.LeftOut, diff)
	}
}

// TestArchivePrivateSession: a session that is private in an archive is so in the store that
// has it already.
func TestArchivePrivateSession(t *testing.T) {
	s := serve(t, newConfig(t))
	const project = `{"kind":"project","value":{"id":"p-1","name":"shop"}}`
	session := func(private bool) string {
		return fmt.Sprintf(`{"kind":"session","value":{"sessionId":"session-a","project":"p-1","createdAt":"2026-01-01T00:00:00Z","private":%t}}`, private)
	}
	for _, private := range []bool{false, true, false} {
		_, err := importAll(t, s, sealed(t, project, session(private)))
		must(t, err)
	}
	path, _ := exportAll(t, s)
	if text := strings.Join(archived(t, path), "\n"); !strings.Contains(text, `"private":true`) {
		t.Errorf("the store holds\n%s", text)
	}
}

// sealed makes an archive of lines as someone would who knows the format.
func sealed(t *testing.T, lines ...string) string {
	t.Helper()
	counts := map[string]int{}
	text := `{"kind":"recalld-archive","value":{"format":1,"version":"x","store":"1","created_at":"2026-11-23T00:00:00Z"}}` + "\n"
	for _, l := range lines {
		var kind struct{ Kind string }
		_ = json.Unmarshal([]byte(l), &kind)
		counts[kind.Kind]++
		text += l + "\n"
	}
	sum := sha256.Sum256([]byte(text))
	end, err := json.Marshal(map[string]any{"kind": "end", "value": map[string]any{"counts": counts, "sha256": hex.EncodeToString(sum[:])}})
	must(t, err)
	path := filepath.Join(t.TempDir(), "made.jsonl")
	must(t, os.WriteFile(path, []byte(text+string(end)+"\n"), 0o600))
	return path
}

// TestArchiveHostile: an archive that is whole, but says what it must not, is refused as a
// whole, in words that name the line.
func TestArchiveHostile(t *testing.T) {
	s := serve(t, newConfig(t))
	const project = `{"kind":"project","value":{"id":"p-1","name":"shop"}}`
	const session = `{"kind":"session","value":{"sessionId":"session-a","project":"p-1","createdAt":"2026-01-01T00:00:00Z"}}`
	lesson := func(change string) string {
		return `{"kind":"record","value":{"id":"l-1","kind":"lesson","project":"p-1","created_at":"2026-01-01T00:00:00Z","doc":"` + strings.Repeat("0", 32) + `","text":"water the plants","event":{"lesson":"water the plants"}` + change + `}}`
	}
	if _, err := importAll(t, s, sealed(t, project, lesson(""))); err != nil {
		t.Fatalf("a right one is refused: %v", err)
	}
	for name, lines := range map[string][]string{
		"an unknown kind":         {project, `{"kind":"sandbox","value":{}}`},
		"a wrong order":           {lesson(""), project},
		"an unknown project":      {lesson("")},
		"an unknown field":        {project, lesson(`,"trusted":true`)},
		"no content":              {project, strings.Replace(lesson(""), `"event"`, `"task"`, 1)},
		"no id":                   {project, strings.Replace(lesson(""), "l-1", "", 1)},
		"a control character":     {project, strings.Replace(lesson(""), "l-1", `l-\u0000`, 1)},
		"a consent":               {project, `{"kind":"state","value":{"project":"p-1","kind":"trust","value":["/"]}}`},
		"a session without id":    {project, `{"kind":"session","value":{"project":"p-1","createdAt":"2026-01-01T00:00:00Z"}}`},
		"a value of another type": {project, `{"kind":"record","value":[]}`},
		"a step of no session":    {project, strings.NewReplacer(`"kind":"lesson"`, `"kind":"step"`, `"event":{"lesson":"water the plants"}`, `"step":{"tool":{"name":"x"},"outcome":{"ok":true}}`).Replace(lesson(""))},
		"a record twice":          {project, lesson(""), lesson("")},
		"a session twice":         {project, session, session},
		"a state of no session":   {project, `{"kind":"state","value":{"project":"p-1","kind":"session","id":"session-b","value":{}}}`},
		"a state of another form": {project, session, `{"kind":"state","value":{"project":"p-1","kind":"session","id":"session-a","value":[1]}}`},
		"servers of another form": {project, `{"kind":"state","value":{"project":"p-1","kind":"servers","value":"x"}}`},
		"a long document id":      {project, strings.Replace(lesson(""), `"doc":"`, `"doc":"0000`, 1)},
		"no JSON":                 {project, `{"kind":"record","value":`},
		"a long text":             {project, strings.Replace(lesson(""), `"text":"water`, `"text":"`+strings.Repeat("x", 1<<20), 1)},
		"a second header":         {project, `{"kind":"recalld-archive","value":{"format":1}}`},
	} {
		_, err := importAll(t, s, sealed(t, lines...))
		if memory.CodeOf(err) != memory.CodeInvalidInput || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	newer := sealed(t, project)
	text, err := os.ReadFile(newer)
	must(t, err)
	must(t, os.WriteFile(newer, []byte(strings.Replace(string(text), `"format":1`, `"format":2`, 1)), 0o600))
	if _, err := importAll(t, s, newer); memory.CodeOf(err) != memory.CodeIncompatible {
		t.Errorf("a newer format: %v", err)
	}
	// An archive may have recalld's own tools, which it enters itself. They are not taken.
	own := strings.Replace(strings.Replace(lesson(""), "l-1", "l-own", 1), "p-1", memory.OwnProject, 1)
	if got, err := importAll(t, s, sealed(t, project, own)); err != nil || got.Added[memory.ArchivedRecord] != 0 {
		t.Errorf("recalld's own tools in an archive: %+v, %v", got, err)
	}
	// A known record stays as it is.
	_, err = importAll(t, s, sealed(t, project, strings.ReplaceAll(lesson(""), "water", "burn")))
	must(t, err)
	path, _ := exportAll(t, s)
	if text := strings.Join(archived(t, path), "\n"); strings.Contains(text, "burn") || !strings.Contains(text, "water the plants") {
		t.Errorf("an archive changed a record:\n%s", text)
	}
	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	got, err := importAll(t, s, sealed(t, project, strings.ReplaceAll(strings.Replace(lesson(""), "l-1", "l-2", 1), "water the plants", "the token is "+secret)))
	must(t, err)
	path, _ = exportAll(t, s)
	if text := strings.Join(archived(t, path), "\n"); got.Redacted != 1 || strings.Contains(text, secret) || !strings.Contains(text, "l-2") {
		t.Errorf("%d lines were redacted:\n%s", got.Redacted, text)
	}
}

// TestArchiveDamaged: an archive with any damage is refused before anything of it is taken,
// or says the same as before.
func TestArchiveDamaged(t *testing.T) {
	underrace.Skip(t, "one import after the other")
	from := serve(t, newConfig(t))
	everything(t, from, t.TempDir())
	path, _ := exportAll(t, from)
	whole, err := os.ReadFile(path)
	must(t, err)
	chance := rand.New(rand.NewPCG(1, 1000))
	lines := strings.SplitAfter(string(whole), "\n")
	damaged := filepath.Join(t.TempDir(), "damaged.jsonl")
	empty := openQuiet(t)
	importer := archive.Importer{Writer: empty.Ingest, Store: empty.Store, CheckState: agentctx.CheckState}
	refused := 0
	for n := range 1000 {
		text := slices.Clone(whole)
		what := ""
		switch i := chance.IntN(len(text)); n % 5 {
		case 0:
			what = fmt.Sprintf("bit flipped at %d", i)
			text[i] ^= 1 << chance.IntN(8)
		case 1:
			what = fmt.Sprintf("cut at %d", i)
			text = text[:i]
		case 2:
			what = fmt.Sprintf("byte removed at %d", i)
			text = slices.Delete(text, i, i+1)
		case 3:
			k := chance.IntN(len(lines) - 1)
			what = fmt.Sprintf("line %d twice", k+1)
			text = []byte(strings.Join(slices.Insert(slices.Clone(lines), k, lines[k]), ""))
		case 4:
			k := chance.IntN(len(lines) - 2)
			what = fmt.Sprintf("lines %d and %d swapped", k+1, k+2)
			swapped := slices.Clone(lines)
			swapped[k], swapped[k+1] = swapped[k+1], swapped[k]
			text = []byte(strings.Join(swapped, ""))
		}
		must(t, os.WriteFile(damaged, text, 0o600))
		if _, err := importer.Import(t.Context(), damaged, n%2 == 0, func(memory.ArchiveProgress) {}); err == nil {
			t.Errorf("%s: it is imported", what)
		} else {
			refused++
		}
	}
	projects, err := empty.Store.Projects()
	must(t, err)
	if len(projects) > 0 {
		t.Errorf("%d damaged archives were refused, and the projects %v imported", refused, projects)
	}
}

func writeArchive(ctx context.Context, core *Core, path string) error {
	x, err := core.Store.Snapshot()
	if err != nil {
		return err
	}
	defer x.Close()
	_, err = archive.Write(ctx, x, path, archive.WriteOptions{Now: time.Now(), Progress: func(int) {}})
	return err
}

// failing is a write path that ends after some batches.
type failing struct {
	archive.Writer
	left int
}

func (f *failing) Write(ctx context.Context, p memory.Project, b memory.Batch) (memory.Committed, error) {
	if f.left--; f.left < 0 {
		return memory.Committed{}, errors.New("the process was killed")
	}
	return f.Writer.Write(ctx, p, b)
}

// TestArchiveInterrupted: an import that ends after any batch goes on when it is repeated,
// and an export that is given up leaves no file.
func TestArchiveInterrupted(t *testing.T) {
	underrace.Skip(t, "one import after the other")
	dir := t.TempDir()
	from := serve(t, newConfig(t))
	everything(t, from, dir)
	for i := range 300 {
		_, err := service.Remember.Do(t.Context(), from, memory.RememberRequest{Lesson: fmt.Sprintf("drawer %d holds the %d. key", i, i*7), Caller: memory.Caller{Dir: dir, Client: "test"}})
		must(t, err)
	}
	path, _ := exportAll(t, from)
	for batches := range 8 {
		core := openQuiet(t)
		_, err := archive.Importer{Writer: &failing{core.Ingest, batches}, Store: core.Store, CheckState: agentctx.CheckState}.Import(t.Context(), path, false, func(memory.ArchiveProgress) {})
		if err == nil && batches < 5 {
			t.Errorf("after %d batches it does not fail", batches)
		}
		_, err = archive.Importer{Writer: core.Ingest, Store: core.Store, CheckState: agentctx.CheckState}.Import(t.Context(), path, false, func(memory.ArchiveProgress) {})
		must(t, err)
		again := filepath.Join(t.TempDir(), "again.jsonl")
		must(t, writeArchive(t.Context(), core, again))
		if diff := cmp.Diff(archived(t, path), archived(t, again)); diff != "" {
			t.Errorf("interrupted after %d batches, the store is not equal:\n%s", batches, diff)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	left := filepath.Join(t.TempDir(), "left.jsonl")
	if _, err := service.ExportAll.Do(gone, from, memory.ArchiveRequest{Path: left}, nil); err == nil {
		t.Error("an export that was given up succeeds")
	}
	if entries, err := os.ReadDir(filepath.Dir(left)); err != nil || len(entries) > 0 {
		t.Errorf("it leaves %v, %v", entries, err)
	}
	if _, err := service.ExportAll.Do(t.Context(), from, memory.ArchiveRequest{Path: "relative.jsonl"}, nil); memory.CodeOf(err) != memory.CodeInvalidInput {
		t.Errorf("a relative path: %v", err)
	}
	if _, err := service.ExportAll.Do(t.Context(), from, memory.ArchiveRequest{Path: filepath.Join(dir, "no", "folder", "x.jsonl")}, nil); err == nil {
		t.Error("a folder that does not exist is written to")
	}
}

// BenchmarkArchive exports lessons and imports them into an empty store.
func BenchmarkArchive(b *testing.B) {
	for _, lessons := range []int{10_000, 100_000} {
		b.Run(strconv.Itoa(lessons), func(b *testing.B) {
			h := newHistory(b, lessons, 1)
			path := filepath.Join(b.TempDir(), "all.jsonl")
			for b.Loop() {
				_ = os.Remove(path)
				begin := time.Now()
				if err := writeArchive(b.Context(), h.core, path); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(time.Since(begin).Seconds(), "export-s")
				to, err := OpenCore(b.Context(), CoreOptions{Dir: b.TempDir(), Config: config.Default()})
				if err == nil {
					err = to.Load(b.Context())
				}
				if err != nil {
					b.Fatal(err)
				}
				begin = time.Now()
				a, err := archive.Importer{Writer: to.Ingest, Store: to.Store, CheckState: agentctx.CheckState}.Import(b.Context(), path, false, func(memory.ArchiveProgress) {})
				if err != nil || a.Added[memory.ArchivedRecord] < lessons {
					b.Fatalf("import: %+v, %v", a, err)
				}
				b.ReportMetric(time.Since(begin).Seconds(), "import-s")
				b.ReportMetric(float64(a.Bytes)/1e6, "MB")
				if err := to.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
