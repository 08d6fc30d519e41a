package agentlog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
)

// openCodeTables are those of OpenCode 1.18.33 that are read, with what else they require
// left out.
const openCodeTables = `PRAGMA journal_mode=WAL;
CREATE TABLE session (id text PRIMARY KEY, directory text NOT NULL, title text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
`

// openCodeParts are parts as it writes them, recorded in a driven turn and shortened.
var openCodeParts = []string{
	`{"type":"text","text":"Repair the ledger check"}`,
	`{"snapshot":"2b070d66","type":"step-start"}`,
	`{"type":"tool","tool":"bash","callID":"call_10","state":{"status":"completed","input":{"command":"sh check.sh"},"output":"error: locked\n","metadata":{"output":"error: locked\n","exit":3,"truncated":false},"title":"sh check.sh","time":{"start":1795476985603,"end":1795476986131}}}`,
	`{"type":"tool","tool":"recalld_recall","callID":"call_11","state":{"status":"completed","input":{"query":"q"},"output":"nothing","metadata":{},"time":{"start":1795476986133,"end":1795476986140}}}`,
	`{"type":"tool","tool":"read","callID":"call_12","state":{"status":"error","input":{"filePath":"/src/gone"},"error":"File not found: /src/gone","time":{"start":1795476986150,"end":1795476986160}}}`,
	`{"type":"tool","tool":"bash","callID":"call_13","state":{"status":"running","input":{"command":"sleep 9"},"time":{"start":1795476986170}}}`,
	`{"type":"tool","tool":"bash","callID":"call_14","state":{"status":"completed","input":{"command":"sh check.sh"},"output":"all 12 checks passed\n","metadata":{"exit":0},"time":{"start":1795476987864,"end":1795476987966}}}`,
}

// openCode makes a database in a home folder. It is open until the test ends.
func openCode(t testing.TB, home string) *sqlite3.Conn {
	t.Helper()
	dir := filepath.Join(home, ".local", "share", "opencode")
	must(t, os.MkdirAll(dir, 0o700))
	db, err := sqlite3.Open(filepath.Join(dir, openCodeDatabase))
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	exec(t, db, openCodeTables)
	return db
}

func exec(t testing.TB, db *sqlite3.Conn, sql string) {
	t.Helper()
	must(t, db.Exec(sql))
}

func addSession(t testing.TB, db *sqlite3.Conn, id string, parts []string) {
	t.Helper()
	exec(t, db, fmt.Sprintf("INSERT INTO session VALUES ('%s', '/src/shop', 'a title', 1795476981686, %d)", id, 1795476981686+int64(len(parts))))
	for i, part := range parts {
		exec(t, db, fmt.Sprintf("INSERT INTO part VALUES ('prt_%s_%02d', 'msg', '%[1]s', %[3]d, 0, '%[4]s')", id, i, 1795476982000+i, strings.ReplaceAll(part, "'", "''")))
	}
}

// found lists the logs of OpenCode in a home folder.
func found(t *testing.T, home string) []Log {
	t.Helper()
	logs, err := Find(home, func(string) string { return "" })
	must(t, err)
	return slices.DeleteFunc(logs, func(l Log) bool { return l.Client != OpenCode })
}

func readLog(t *testing.T, l Log) (Contents, []string) {
	t.Helper()
	var calls []string
	got, err := Read(l, func(_ Session, c Call) error {
		calls = append(calls, fmt.Sprintf("%s %s %s failed=%v %q %s %d", c.ID, c.Tool, c.Input, c.Failed, c.Error, c.Response, c.At.UnixMilli()))
		return nil
	})
	must(t, err)
	return got, calls
}

// TestOpenCode reads the sessions of a database that is open elsewhere, and of one that is
// not, and leaves no trace beside it.
func TestOpenCode(t *testing.T) {
	home := t.TempDir()
	db := openCode(t, home)
	addSession(t, db, "ses_1", openCodeParts)
	addSession(t, db, "ses_2", openCodeParts[:1])
	want := []string{
		`call_10 bash {"command":"sh check.sh"} failed=true "Exit code 3\nerror: locked\n"  1795476986131`,
		`call_11 mcp__recalld__recall {"query":"q"} failed=false ""  1795476986140`,
		`call_12 read {"filePath":"/src/gone"} failed=true "File not found: /src/gone"  1795476986160`,
		`call_14 bash {"command":"sh check.sh"} failed=false "" {"stdout":"all 12 checks passed\n"} 1795476987966`,
	}
	folder := filepath.Join(home, ".local", "share", "opencode")
	for _, state := range []string{"open", "closed"} {
		if state == "closed" {
			must(t, db.Close())
		}
		before, _ := filepath.Glob(filepath.Join(folder, "*"))
		logs := found(t, home)
		if len(logs) != 2 || logs[0].Path() == logs[1].Path() || logs[1].Session != "ses_1" || logs[1].Size != int64(len(openCodeParts)) {
			t.Fatalf("%s: it finds %+v", state, logs)
		}
		got, calls := readLog(t, logs[1])
		if s := got.Session; s.ID != "ses_1" || s.Dir != "/src/shop" || s.Title != "Repair the ledger check" || len(got.Problems) > 0 {
			t.Errorf("%s: the session is %+v with problems %v", state, s, got.Problems)
		}
		if !slices.Equal(calls, want) {
			t.Errorf("%s: the calls are\n%s\nwant\n%s", state, strings.Join(calls, "\n"), strings.Join(want, "\n"))
		}
		if after, _ := filepath.Glob(filepath.Join(folder, "*")); !slices.Equal(before, after) {
			t.Errorf("%s: reading left %v, before it there were %v", state, after, before)
		}
	}
}

// TestOpenCodeChanges: a session that has grown is another log to the one who follows.
func TestOpenCodeChanges(t *testing.T) {
	home := t.TempDir()
	db := openCode(t, home)
	addSession(t, db, "ses_1", openCodeParts[:3])
	before := found(t, home)
	exec(t, db, "INSERT INTO part VALUES ('prt_z', 'msg', 'ses_1', 1795476999000, 0, '"+openCodeParts[6]+"'); UPDATE session SET time_updated = 1795476999000")
	after := found(t, home)
	if len(before) != 1 || len(after) != 1 || before[0].Changed.Equal(after[0].Changed) || before[0].Size == after[0].Size {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if _, calls := readLog(t, after[0]); len(calls) != 2 {
		t.Errorf("it has %d calls", len(calls))
	}
}

// TestOpenCodeWithoutTime: a call without a time is of its session's.
func TestOpenCodeWithoutTime(t *testing.T) {
	home := t.TempDir()
	addSession(t, openCode(t, home), "ses_1", []string{`{"type":"tool","tool":"read","callID":"call_1","state":{"status":"error","input":{},"error":"gone"}}`})
	if _, calls := readLog(t, found(t, home)[0]); len(calls) != 1 || !strings.HasSuffix(calls[0], " 1795476981686") {
		t.Errorf("the calls are %q, want one at the session's time", calls)
	}
}

// TestFindKeepsTheNewest: of more logs than are read the oldest are left out, of a database and
// of all clients together.
func TestFindKeepsTheNewest(t *testing.T) {
	home := t.TempDir()
	db := openCode(t, home)
	exec(t, db, fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i <= %d)
INSERT INTO session SELECT 'ses_' || i, '/src/shop', 'a title', i, i FROM n`, maxLogs))
	log := filepath.Join(home, ".claude", "projects", "shop", "one.jsonl")
	must(t, errors.Join(os.MkdirAll(filepath.Dir(log), 0o700), os.WriteFile(log, nil, 0o600)))
	logs, err := Find(home, func(string) string { return "" })
	if err != nil || len(logs) != maxLogs {
		t.Fatalf("Find returns %d logs, %v, want %d", len(logs), err, maxLogs)
	}
	oldest, before, newest := logs[0], logs[maxLogs-2], logs[maxLogs-1]
	if oldest.Session != "ses_3" || before.Session != fmt.Sprintf("ses_%d", maxLogs+1) || newest.Client != Claude {
		t.Errorf("the logs go from %+v to %+v and %+v, want the newest", oldest, before, newest)
	}
}

// TestOpenCodeDamaged: what cannot be read is named, and the rest is read; a schema is not
// carried out.
func TestOpenCodeDamaged(t *testing.T) {
	home := t.TempDir()
	db := openCode(t, home)
	addSession(t, db, "ses_1", slices.Concat([]string{"{torn", `{"type":7}`, strings.Repeat("[", 20_000), strings.Repeat("x", maxLine+1)}, openCodeParts))
	got, calls := readLog(t, found(t, home)[0])
	if len(got.Problems) != 4 || !strings.Contains(got.Problems[0].Message, "prt_ses_1_00") || len(calls) != 4 {
		t.Errorf("problems %v, %d calls", got.Problems, len(calls))
	}
	file := filepath.Join(home, ".local", "share", "opencode", openCodeDatabase)
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"a view", func() { exec(t, db, "ALTER TABLE part RENAME TO p; CREATE VIEW part AS SELECT * FROM p") }},
		{"no tables", func() { exec(t, db, "DROP VIEW part; DROP TABLE session") }},
		{"no database", func() {
			_ = db.Close()
			must(t, os.WriteFile(file, []byte(strings.Repeat("no database ", 1000)), 0o600))
		}},
		{"a folder", func() {
			must(t, errors.Join(os.Remove(file), os.Mkdir(file, 0o700)))
		}},
	} {
		step.do()
		logs := found(t, home)
		if len(logs) != 1 {
			t.Errorf("%s: it finds %+v", step.name, logs)
			continue
		}
		if _, err := Read(logs[0], func(Session, Call) error { return nil }); err == nil {
			t.Errorf("%s is read without an error", step.name)
		}
	}
}

// FuzzOpenCode: a part is read, or named.
func FuzzOpenCode(f *testing.F) {
	for _, part := range openCodeParts {
		f.Add([]byte(part))
	}
	f.Fuzz(func(t *testing.T, part []byte) {
		r := newReader(func(_ Session, c Call) error {
			if c.Tool == "" || c.ID == "" {
				t.Errorf("a call without a tool or an id: %+v", c)
			}
			return nil
		})
		r.begin(Session{ID: "ses_1"})
		_ = r.openCodePart(part)
	})
}
