package daemon

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/backup"
	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

const (
	// soakEnv is how many days TestSoak simulates; make soak sets it.
	soakEnv = "RECALLD_SOAK"
	// soakDayEnv is how long one takes at least.
	soakDayEnv = "RECALLD_SOAK_DAY"
	// soakProfilesEnv is a folder for a heap profile of each day; none if it is empty.
	soakProfilesEnv = "RECALLD_SOAK_PROFILES"
	// soakServedEnv is the data folder of the daemon that TestSoakProcess serves.
	soakServedEnv = "RECALLD_TEST_SOAK_SERVE"
)

// soakReceipts is how long the daemon of TestSoak keeps receipts, which it keeps for 90
// days by default. The database keeps no time limit shorter than a minute.
const soakReceipts = time.Minute

// soakKeepDays is how many days its backups are kept.
const soakKeepDays = 2

// TestSoakProcess is no test: run as a process of its own, it serves a data folder. Each
// line of its input is the end of a day, at which the daily backup is due.
func TestSoakProcess(t *testing.T) {
	data := os.Getenv(soakServedEnv)
	if data == "" {
		t.Skip("runs as the child of other tests only")
	}
	cfg := config.Default()
	cfg.Data, cfg.Embedding.Ollama.Enabled, cfg.Backup.KeepDays = data, config.OllamaOff, soakKeepDays
	days, began := make(chan time.Time), time.Now()
	go func() {
		for lines, day := bufio.NewScanner(os.Stdin), 1; lines.Scan(); day++ {
			days <- began.Add(time.Duration(day) * 24 * time.Hour)
			runtime.GC() // so that two days can be compared
			if to := os.Getenv(soakProfilesEnv); to != "" {
				writeHeapProfile(filepath.Join(to, fmt.Sprintf("day-%d.pprof", day)))
			}
		}
	}()
	must(t, Serve(t.Context(), Options{Config: cfg, Version: "soak", Console: os.Stdout, pauses: pauses{
		backup: days, receipts: soakReceipts, reconcile: 10 * time.Second,
	}}))
}

func writeHeapProfile(path string) {
	f, err := os.Create(path)
	if err == nil {
		err = pprof.WriteHeapProfile(f)
		_ = f.Close()
	}
	if err != nil {
		fmt.Println("no heap profile:", err)
	}
}

// usage is what a daemon uses at the end of a day, and what it has.
type usage struct {
	// Bytes. Of the resident ones, anonymous are those that are not pages of files, which
	// the system may take back.
	resident, anonymous, live, store, backups, log int64
	goroutines, files, receipts, kept              int // kept are the backups
	records, documents                             int
}

// TestSoak lets an agent work with a daemon for a week of short days, and measures what the
// daemon uses at the end of each. Goroutines, open files, receipts, backups and the log
// must not grow. Memory and disk may only grow with what is stored.
func TestSoak(t *testing.T) {
	if os.Getenv(soakEnv) == "" {
		t.Skipf("a long test: run make soak, or set %s to a number of days", soakEnv)
	}
	days, err := strconv.Atoi(os.Getenv(soakEnv))
	must(t, err)
	if days < 3 {
		t.Fatalf("%s is %d: thirds of less than 3 days cannot be compared", soakEnv, days)
	}
	day, err := time.ParseDuration(cmp.Or(os.Getenv(soakDayEnv), "30s"))
	must(t, err)
	w := startWorkshop(t)
	used := make([]usage, days)
	t.Logf("%4s %8s %10s %9s %9s %9s %8s %16s %8s %10s %6s %9s", "day", "records", "documents", "resident", "anonymous", "live", "store", "backups", "log", "goroutines", "files", "receipts")
	for n := range days {
		over := time.After(day)
		w.day(n)
		<-over
		w.endDay()
		used[n] = w.usage()
		u := used[n]
		t.Logf("%4d %8d %10d %7.1fMB %7.1fMB %7.1fMB %6.1fMB %3d with %6.1fMB %6.0fkB %10d %6d %9d", n+1, u.records, u.documents, mb(u.resident), mb(u.anonymous), mb(u.live),
			mb(u.store), u.kept, mb(u.backups), float64(u.log)/1e3, u.goroutines, u.files, u.receipts)
	}
	compareThirds(t, used)
	if log := w.log.String(); strings.Contains(log, "level=ERROR") {
		t.Errorf("the daemon logged an error:\n%s", log)
	}
	w.stop()
	idle(t, w.cfg)
}

// What a stored document may take in memory, with its terms and its vector of 1 kB, and a
// record in the store; and what both may take besides. The store's logs are allocated some
// megabytes in advance.
const (
	livePerDocument = 4 << 10
	diskPerRecord   = 4 << 10
	soakSlack       = 10e6
)

// compareThirds compares the most of each figure in the first third of the days with that
// in the last third.
func compareThirds(t *testing.T, used []usage) {
	t.Helper()
	first, last := used[:len(used)/3], used[len(used)-len(used)/3:]
	most := func(days []usage, of func(usage) int64) (most int64) {
		for _, u := range days {
			most = max(most, of(u))
		}
		return most
	}
	documents := int64(last[len(last)-1].documents - first[0].documents)
	records := int64(last[len(last)-1].records - first[0].records)
	for _, figure := range []struct {
		name string
		of   func(usage) int64
		more int64 // than in the first third
	}{
		{"live bytes", func(u usage) int64 { return u.live }, soakSlack/2 + documents*livePerDocument},
		{"bytes of the store", func(u usage) int64 { return u.store }, soakSlack + records*diskPerRecord},
		{"bytes of the log", func(u usage) int64 { return u.log }, 2 * logSize},
		{"goroutines", func(u usage) int64 { return int64(u.goroutines) }, 8},
		{"open files", func(u usage) int64 { return int64(u.files) }, 16},
		{"backups", func(u usage) int64 { return int64(u.kept) }, soakKeepDays},
		// Days are not equally long, so a minute has receipts of more or fewer sessions.
		{"receipts", func(u usage) int64 { return int64(u.receipts) }, 2 * soakSessions},
	} {
		before, after := most(first, figure.of), most(last, figure.of)
		t.Logf("%s: %d in the first third, %d in the last; may grow by %d", figure.name, before, after, figure.more)
		if after > before+figure.more {
			t.Errorf("%s grow from %d to %d, by more than %d", figure.name, before, after, figure.more)
		}
	}
}

// workshop is a daemon in a process of its own, and a repository in which an agent works.
type workshop struct {
	child
	days io.Writer // the daemon's input
	dir  string
	ids  []string // of lessons
	// receipts are those of one question a session, which a person asks. A person has no
	// session, so they are kept for soakReceipts; an agent's are kept with its session.
	receipts []string
}

// The work of a day.
const (
	soakSessions = 10
	soakSteps    = 50 // of a session
	soakFiles    = 200
)

func startWorkshop(t *testing.T) *workshop {
	t.Helper()
	cfg, out := newConfig(t), newLines()
	cmd := exec.CommandContext(context.Background(), os.Args[0], "-test.run=^TestSoakProcess$", "-test.v", "-test.timeout=0")
	cmd.Env = append(os.Environ(), soakServedEnv+"="+cfg.Data, "HOME="+t.TempDir())
	cmd.Stdout, cmd.Stderr = out, out
	days, err := cmd.StdinPipe()
	must(t, err)
	listens := out.await("daemon started")
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // where the test ends early
	select {
	case <-listens:
	case <-time.After(patience):
		t.Fatalf("the child does not listen:\n%s", out)
	}
	c, err := client.Connect(t.Context(), client.Options{Socket: cfg.Paths().Socket})
	must(t, err)
	w := &workshop{child: child{served: served{Client: c, t: t, cfg: cfg, log: out}, cmd: cmd}, days: days, dir: large(t, soakFiles)}
	w.git("init", "-q")
	w.commit("the first day")
	w.indexed(w.index(w.dir))
	return w
}

func (w *workshop) git(args ...string) {
	w.t.Helper()
	c := exec.Command("git", append([]string{"-C", w.dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
	if out, err := c.CombinedOutput(); err != nil {
		w.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (w *workshop) commit(subject string) {
	w.t.Helper()
	w.git("add", "-A")
	w.git("commit", "-q", "-m", subject)
}

// day is a day's work: ten sessions, each with a connection of its own, and between them
// changes of the repository.
func (w *workshop) day(n int) {
	w.t.Helper()
	for s := range soakSessions {
		w.session(n, s)
		for f := range 10 {
			file := (n*100 + s*10 + f) % soakFiles
			place(w.t, w.dir, fmt.Sprintf("p%d/f%d.go", file%20, file),
				fmt.Sprintf("package p%d\n\n// Handle%d answers request %d on day %d.\nfunc Handle%d() int { return %d }\n", file%20, file, file, n, file, n*1000+s))
		}
		if s%5 == 4 {
			w.commit(fmt.Sprintf("change the handlers of day %d, %d", n, s))
		}
	}
	w.indexed(w.index(w.dir))
	old := w.ids[:min(len(w.ids), 5)]
	w.ids = w.ids[len(old):]
	_, err := service.Forget.Do(w.t.Context(), w, memory.ForgetRequest{IDs: old})
	must(w.t, err)
}

// session is one run of an agent.
func (w *workshop) session(day, n int) {
	w.t.Helper()
	ctx := w.t.Context()
	c, err := client.Connect(ctx, client.Options{Socket: w.cfg.Paths().Socket})
	must(w.t, err)
	defer c.Close()
	id := fmt.Sprintf("soak-%d-%d", day, n)
	in := memory.Caller{Dir: w.dir, Client: "soak", Session: id}
	_, err = service.StartSession.Do(ctx, c, memory.StartSessionRequest{SessionID: id, Goal: fmt.Sprintf("Mend handler %d of day %d", n, day), Caller: in})
	must(w.t, err)
	ask := func(query string) {
		a, err := service.Recall.Do(ctx, c, memory.RecallRequest{Query: query, Caller: memory.Caller{Dir: w.dir, Client: "person"}})
		must(w.t, err)
		if len(w.receipts) <= day*soakSessions+n {
			w.receipts = append(w.receipts, a.Receipt)
		}
	}
	for i := range soakSteps {
		step := memory.RecordStepRequest{
			SessionID: id, Tool: memory.StepTool{Name: "Bash", Input: json.RawMessage(fmt.Sprintf(`{"command":"go test ./p%d -run Handle%d"}`, i%20, i))},
			Outcome: memory.Outcome{OK: i%10 != 9}, Caller: in,
		}
		if !step.Outcome.OK {
			step.Outcome.Error = &memory.StepError{Message: fmt.Sprintf("handler_test.go:%d: Handle%d() = %d, want %d", i+day, i, n, day)}
		}
		_, err := service.RecordStep.Do(ctx, c, step)
		must(w.t, err)
		switch {
		case !step.Outcome.OK:
			ask(step.Outcome.Error.Message)
		case i%10 == 4:
			ask(fmt.Sprintf("which handler answers request %d", i))
		case i%25 == 7:
			kept, err := service.Remember.Do(ctx, c, memory.RememberRequest{
				Lesson: fmt.Sprintf("Handler %d of day %d needs the clock of test %d", i, day, n), Context: "the handler's test is flaky", SuccessRate: "1/1", Caller: in,
			})
			must(w.t, err)
			w.ids = append(w.ids, kept.ID)
		case i%20 == 3:
			_, err := service.Assemble.Do(ctx, c, memory.AssembleRequest{
				SessionRef: memory.SessionRef{SessionID: id, Caller: in}, Message: fmt.Sprintf("mend handler %d", i),
			})
			must(w.t, err)
		}
	}
	_, err = service.EndSession.Do(ctx, c, memory.EndSessionRequest{SessionID: id, Caller: in})
	must(w.t, err)
}

// endDay lets the daemon make its daily backup, and waits for it.
func (w *workshop) endDay() {
	w.t.Helper()
	before, err := backup.List(w.cfg.Paths().Backups)
	must(w.t, err)
	_, err = io.WriteString(w.days, "the day is over\n")
	must(w.t, err)
	w.until("backed up", func(*memory.Status) bool {
		all, err := backup.List(w.cfg.Paths().Backups)
		must(w.t, err)
		return len(all) > 0 && (len(before) == 0 || all[len(all)-1].Name != before[len(before)-1].Name)
	})
	w.until("at rest", func(st *memory.Status) bool { return st.Queue.Waiting+st.Queue.Running == 0 })
}

// usage measures.
func (w *workshop) usage() usage {
	w.t.Helper()
	st, err := service.Status.Do(w.t.Context(), w, service.None{})
	must(w.t, err)
	u := usage{resident: st.RSSBytes, live: st.LiveBytes, goroutines: st.Goroutines, store: st.DiskBytes, documents: st.Documents, records: recordsOf(st)}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", w.cmd.Process.Pid))
	must(w.t, err)
	u.files = len(files)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid))
	must(w.t, err)
	if _, rest, ok := strings.Cut(string(status), "RssAnon:"); ok {
		kilobytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		must(w.t, err)
		u.anonymous = kilobytes << 10
	}
	all, err := backup.List(w.cfg.Paths().Backups)
	must(w.t, err)
	u.kept = len(all)
	paths := w.cfg.Paths()
	u.backups = sizeUnder(w.t, paths.Backups)
	u.log = sizeUnder(w.t, paths.Data) - u.backups - sizeUnder(w.t, paths.Store)
	for _, id := range w.receipts {
		_, err := service.Receipt.Do(w.t.Context(), w, memory.ReceiptRequest{ID: id})
		switch {
		case err == nil:
			u.receipts++
		case memory.CodeOf(err) != memory.CodeNotFound:
			w.t.Fatal(err)
		}
	}
	return u
}

func recordsOf(st *memory.Status) (n int) {
	for _, count := range st.Records {
		n += count
	}
	return n
}

// sizeUnder returns the size of the files in a folder and the folders in it.
func sizeUnder(t *testing.T, dir string) (size int64) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // it was removed meanwhile
		}
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
		return nil
	}))
	return size
}

// afterStart is how long a daemon works after its start besides its jobs: it compares the
// indexes with the store, and the database stops its compactions.
const afterStart = 30 * time.Second

// idle serves the data folder as usual and measures the processor that the daemon takes in a
// minute in which nobody asks. The figure is printed only: a busy machine makes it larger.
func idle(t *testing.T, cfg config.Config) {
	t.Helper()
	c := startChild(t, cfg)
	c.until("at rest", func(st *memory.Status) bool { return st.State == stateReady && st.Queue.Waiting+st.Queue.Running == 0 })
	<-time.After(afterStart)
	before, began := processor(t, c.cmd.Process.Pid), time.Now()
	<-time.After(time.Minute)
	used, took := processor(t, c.cmd.Process.Pid)-before, time.Since(began)
	t.Logf("idle: %s of the processor in %s, %.2f %%", used, took.Round(time.Second), 100*used.Seconds()/took.Seconds())
	_, err := service.Stop.Do(context.Background(), c, service.None{})
	must(t, err)
	must(t, c.cmd.Wait())
}

// processor is the time that a process has had of the processor; see proc_pid_stat(5).
func processor(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	must(t, err)
	// The fields follow the name, which is in parentheses; utime and stime are the 14th and
	// 15th of the line, in hundredths of a second.
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	user, err := strconv.Atoi(fields[11])
	must(t, err)
	system, err := strconv.Atoi(fields[12])
	must(t, err)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// stop ends the daemon and checks its store.
func (w *workshop) stop() {
	w.t.Helper()
	_, err := service.Stop.Do(context.Background(), w, service.None{})
	must(w.t, err)
	must(w.t, w.cmd.Wait())
	found, err := CheckStore(context.Background(), w.cfg, "soak")
	must(w.t, err)
	if found != nil {
		w.t.Errorf("the store is not sound: %v", found)
	}
}
