package agents

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/recalld/recalld/internal/source/agentlog"
)

// logsEnv has the logs of agents made and imported.
const logsEnv = "RECALLD_TEST_AGENTLOGS"

// The logs that are made: so many, of so many bytes in all, each with so many commands that
// fail, are mended and succeed.
const (
	madeLogs  = 300
	madeBytes = 126 << 20
	madeFixes = 10
)

// TestAgentLogs drives each client through one session of failing and mended commands,
// makes 300 logs of what it wrote, and imports them: every step and fix is there and found,
// once, and no secret.
func TestAgentLogs(t *testing.T) {
	if os.Getenv(logsEnv) == "" {
		t.Skip("not run: it installs six agents from npm; make agentlogs runs it")
	}
	bin := install(t, filepath.Join("..", "..", ".build", "agents"), clients)
	recorded := newWorld(t, bin)
	recorded.record()
	logs, err := agentlog.Find(recorded.home, func(string) string { return "" })
	if err != nil || len(logs) != len(clients) {
		t.Fatalf("%d clients wrote the logs %v, %v", len(clients), logs, err)
	}

	w := newWorld(t, bin)
	m := maker{t: t, from: recorded, to: w, chance: rand.New(rand.NewPCG(7, 300))}
	for i := range madeLogs {
		m.make(logs[i%len(logs)], i)
	}
	m.finish()
	t.Logf("%d logs of %d MB with %d steps, %d fixes and %d secrets", madeLogs, m.bytes>>20, m.steps, madeLogs*madeFixes, len(m.secrets))

	var first, second imported
	began := time.Now()
	w.importLogs(&first)
	t.Logf("imported in %s: %+v; the daemon has %d MB", time.Since(began).Round(100*time.Millisecond), first, w.resident()>>20)
	w.importLogs(&second)
	if first.Added != m.steps || first.fixes() != madeLogs*madeFixes || first.Skipped > 0 || len(first.Problems) > 0 {
		t.Errorf("%d steps, %d fixes were imported and %d skipped, want %d, %d and none: %+v", first.Added, first.fixes(), first.Skipped, m.steps, madeLogs*madeFixes, first.Problems)
	}
	if second.Added != 0 || second.Lessons != 0 || second.Unchanged != madeLogs {
		t.Errorf("imported again: %+v", second)
	}
	missed := 0
	for i := range madeLogs {
		name := ledger(i, i%madeFixes)
		out, err := w.recalld("call", "recall", fmt.Sprintf(`{"query": "error: %s"}`, failureOf(name)))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out, name) {
			missed++
			t.Logf("the fix of %s is not found:\n%.600s", name, out)
		}
	}
	t.Logf("%d of %d fixes are found by their errors", madeLogs-missed, madeLogs)
	if missed > 0 {
		t.Errorf("%d fixes of %d are not found", missed, madeLogs)
	}
	exported := filepath.Join(w.base, "exported")
	if out, err := w.recalld("export", exported); err != nil {
		t.Fatal(out, err)
	}
	steps, lessons := 0, 0
	err = filepath.WalkDir(exported, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, secret := range m.secrets {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s holds the secret %s", path, secret)
			}
		}
		if strings.Contains(path, string(filepath.Separator)+"steps"+string(filepath.Separator)) {
			steps++
		} else if strings.HasSuffix(path, ".jsonl") {
			lessons += strings.Count(string(text), "\n")
		}
		return nil
	})
	if err != nil || steps != m.steps || lessons != first.Lessons {
		t.Errorf("%d steps and %d lessons are stored, %v; want %d and %d", steps, lessons, err, m.steps, first.Lessons)
	}
}

// imported is what recalld import agents says.
type imported struct {
	Added     int `json:"added"`
	Known     int `json:"known"`
	Lessons   int `json:"lessons"`
	Unchanged int `json:"unchanged"`
	Skipped   int `json:"skipped"`
	Sources   []struct {
		Fixes int `json:"fixes"`
	} `json:"sources"`
	Problems []any `json:"problems"`
}

func (i imported) fixes() (n int) {
	for _, s := range i.Sources {
		n += s.Fixes
	}
	return n
}

func (w *world) importLogs(into *imported) {
	cmd := exec.Command("recalld", "import", "agents", "--yes", "--json")
	path, err := lookPath("recalld", w.env)
	if err != nil {
		w.t.Fatal(err)
	}
	cmd.Path, cmd.Env, cmd.Dir, cmd.Err = path, w.env, w.repo, nil
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, into)
	}
	if err != nil {
		w.t.Fatalf("import: %v: %.500s", err, out)
	}
}

// resident is the memory of the daemon in bytes, 0 where the system does not say.
func (w *world) resident() int {
	out, err := command(w.t.Context(), "", nil, "ps", "-o", "rss=", "-p", strconv.Itoa(w.daemon))
	if err != nil {
		return 0
	}
	kilobytes, _ := strconv.Atoi(strings.TrimSpace(out))
	return kilobytes << 10
}

// The recorded session: a check that fails until a file is there.
const (
	recordedPrompt = "Repair the ledger checks"
	// Qwen Code may lose the output of a command that ends at once.
	checkScript = `sleep .3; if [ -f "mended-$1" ]; then echo "all checks of $1 passed"; else echo "error: the drawer $1 is locked by pid 4711" >&2; exit 3; fi
`
)

func recordedName(k int) string { return fmt.Sprintf("LEDGER-%d", 700+k) }

// record drives every client through the session.
func (w *world) record() {
	if err := os.WriteFile(filepath.Join(w.repo, "check.sh"), []byte(checkScript), 0o755); err != nil {
		w.t.Fatal(err)
	}
	for _, c := range clients {
		if err := c.settle(w.home, w.server.URL); err != nil {
			w.t.Fatal(err)
		}
		s := &script{prompt: recordedPrompt}
		for k := range madeFixes {
			name := recordedName(k)
			if err := os.RemoveAll(filepath.Join(w.repo, "mended-"+name)); err != nil {
				w.t.Fatal(err)
			}
			for _, do := range [][2]string{{"sh check.sh " + name, "locked"}, {"touch mended-" + name, ""}, {"sh check.sh " + name, "passed"}} {
				s.steps = append(s.steps, step{tool: c.shell, arguments: c.arguments(do[0]), want: do[1], own: true})
			}
		}
		if faults := w.turn(c, s); len(faults) > 0 {
			w.t.Fatalf("%s: %v", c.name, faults)
		}
	}
}

// maker makes logs of recorded ones.
type maker struct {
	t        *testing.T
	from, to *world
	chance   *rand.Rand
	bytes    int
	steps    int
	secrets  []string
	database *sqlite3.Conn
}

// The texts of the failures differ, as those of different work do.
var (
	things = []string{"drawer", "ledger", "printer", "gateway", "cache", "queue", "socket", "schema", "mailbox", "archive", "turbine", "sensor"}
	faults = []string{"locked", "stale", "truncated", "unreachable", "rejected", "duplicated", "overdrawn", "misaligned", "revoked", "saturated"}
)

func ledger(i, k int) string { return fmt.Sprintf("LEDGER-%d", 1000+i*madeFixes+k) }

func failureOf(name string) string {
	n, _ := strconv.Atoi(strings.TrimPrefix(name, "LEDGER-"))
	return fmt.Sprintf("the %s %s is %s by pid %d", things[n%len(things)], name, faults[n/len(things)%len(faults)], 4000+n)
}

var (
	times  = regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}`)
	calls  = regexp.MustCompile(`\bcall_(\d{6})\b`)
	epochs = regexp.MustCompile(`\b1[78]\d{11}\b`)
)

// replacer makes log i of a recorded one: another session, folder and time, other failures,
// and longer outputs.
func (m *maker) replacer(session string, i, filler int) func(string) string {
	hours := time.Duration(madeLogs-i) * time.Hour
	id := fmt.Sprintf("%s%06x", session[:len(session)-6], i)
	pairs := []string{session, id, m.from.repo, m.to.repo, "msg_", fmt.Sprintf("msg_%d", i), "prt_", fmt.Sprintf("prt_%d", i)}
	for k := range madeFixes {
		name, words := ledger(i, k), m.words(filler)
		if k == 0 && i%10 == 0 {
			const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			secret := "ghp_"
			for range 36 {
				secret += string(letters[m.chance.IntN(len(letters))])
			}
			m.secrets = append(m.secrets, secret)
			words += " GITHUB_TOKEN=" + secret
		}
		pairs = append(pairs, fmt.Sprintf("the drawer %s is locked by pid 4711", recordedName(k)), failureOf(name)+" "+words, recordedName(k), name)
	}
	r := strings.NewReplacer(pairs...)
	return func(text string) string {
		text = times.ReplaceAllStringFunc(text, func(at string) string {
			const layout = "2006-01-02T15:04:05.000"
			parsed, err := time.Parse(layout, at)
			if err != nil {
				return at
			}
			return parsed.Add(-hours).Format(layout)
		})
		text = calls.ReplaceAllString(text, fmt.Sprintf("call_%d_$1", i))
		text = epochs.ReplaceAllStringFunc(text, func(at string) string {
			n, _ := strconv.ParseInt(at, 10, 64)
			return strconv.FormatInt(n-hours.Milliseconds(), 10)
		})
		return r.Replace(text)
	}
}

func (m *maker) words(n int) string {
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "%s %s %d ", things[m.chance.IntN(len(things))], faults[m.chance.IntN(len(faults))], m.chance.IntN(10_000))
	}
	return b.String()
}

// make writes log i, about as long as its share.
func (m *maker) make(l agentlog.Log, i int) {
	steps := 0
	contents, err := agentlog.Read(l, func(agentlog.Session, agentlog.Call) error { steps++; return nil })
	if err != nil || steps < 3*madeFixes {
		m.t.Fatalf("%s has %d calls, %v", l.Path(), steps, err)
	}
	m.steps += steps
	if l.Session != "" {
		m.copySession(l, contents.Session.ID, i)
		return
	}
	text, err := os.ReadFile(l.Path())
	if err != nil {
		m.t.Fatal(err)
	}
	times := strings.Count(string(text), "is locked by pid 4711")
	filler := max(0, madeBytes/madeLogs-len(text)) / max(1, times)
	replace := m.replacer(contents.Session.ID, i, filler)
	home, err := filepath.Rel(m.from.home, l.Place)
	if err != nil {
		m.t.Fatal(err)
	}
	name := strings.ReplaceAll(l.Name, contents.Session.ID, fmt.Sprintf("%s%06x", contents.Session.ID[:len(contents.Session.ID)-6], i))
	if name == l.Name { // it names the session by a part of its id
		ext := filepath.Ext(name)
		name = strings.TrimSuffix(name, ext) + strconv.Itoa(i) + ext
	}
	path := filepath.Join(m.to.home, home, name)
	made := replace(string(text))
	m.bytes += len(made)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(made), 0o600); err != nil {
		m.t.Fatal(err)
	}
	// Gemini CLI keeps the folder of the project beside its chats.
	if root, err := os.ReadFile(filepath.Join(l.Place, strings.Split(filepath.ToSlash(l.Name), "/")[0], ".project_root")); err == nil {
		beside := filepath.Join(m.to.home, home, strings.Split(filepath.ToSlash(name), "/")[0], ".project_root")
		if err := os.WriteFile(beside, []byte(strings.ReplaceAll(string(root), m.from.repo, m.to.repo)), 0o600); err != nil {
			m.t.Fatal(err)
		}
	}
}

// copySession adds a session to the database of OpenCode.
func (m *maker) copySession(l agentlog.Log, session string, i int) {
	if m.database == nil {
		rel, err := filepath.Rel(m.from.home, l.Place)
		if err != nil {
			m.t.Fatal(err)
		}
		dir := filepath.Join(m.to.home, rel)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			m.t.Fatal(err)
		}
		if m.database, err = sqlite3.Open(filepath.Join(dir, l.Name)); err != nil {
			m.t.Fatal(err)
		}
		m.do("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; ATTACH '" + strings.ReplaceAll(filepath.Join(l.Place, l.Name), "'", "''") + "' AS old")
		for _, table := range []string{"session", "message", "part"} {
			m.do("CREATE TABLE " + table + " AS SELECT * FROM old." + table + " WHERE 0")
		}
	}
	replace := m.replacer(session, i, madeBytes/madeLogs/madeFixes/2)
	m.do("BEGIN")
	for _, table := range []string{"session", "message", "part"} {
		m.copyRows(table, replace)
	}
	m.do("COMMIT")
}

func (m *maker) copyRows(table string, replace func(string) string) {
	rows, _, err := m.database.Prepare("SELECT * FROM old." + table)
	if err != nil {
		m.t.Fatal(err)
	}
	defer rows.Close()
	insert, _, err := m.database.Prepare("INSERT INTO " + table + " VALUES (?" + strings.Repeat(",?", rows.ColumnCount()-1) + ")")
	if err != nil {
		m.t.Fatal(err)
	}
	defer insert.Close()
	for rows.Step() {
		for c := range rows.ColumnCount() {
			if rows.ColumnType(c) == sqlite3.NULL {
				err = insert.BindNull(c + 1)
			} else {
				text := replace(rows.ColumnText(c))
				m.bytes += len(text)
				err = insert.BindText(c+1, text)
			}
			if err != nil {
				m.t.Fatal(err)
			}
		}
		if err := insert.Exec(); err != nil {
			m.t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		m.t.Fatal(err)
	}
}

func (m *maker) do(sql string) {
	if err := m.database.Exec(sql); err != nil {
		m.t.Fatalf("%s: %v", sql, err)
	}
}

// finish closes the database.
func (m *maker) finish() {
	if m.database != nil {
		m.do("DETACH old")
		if err := m.database.Close(); err != nil {
			m.t.Fatal(err)
		}
	}
}
