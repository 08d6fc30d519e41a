package lessonlog

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recalld/recalld/configs"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testlong"
)

// shells are the shells of this machine, by what is put before the script.
func shells(t *testing.T) map[string][]string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the paths of Windows are not those of its shells: run it on Linux or macOS")
	}
	found := map[string][]string{}
	for _, command := range [][]string{{"sh"}, {"dash"}, {"bash", "--posix"}, {"bash"}, {"busybox", "sh"}, {"ksh"}, {"mksh"}, {"yash"}, {"zsh", "--emulate", "sh"}} {
		if path, err := exec.LookPath(command[0]); err == nil {
			found[strings.Join(command, " ")] = append([]string{path}, command[1:]...)
			if !testlong.Enabled() {
				break
			}
		}
	}
	if len(found) == 0 {
		t.Skip("no shell here runs the script: install one and put it on PATH")
	}
	return found
}

// ran is what became of one call of the script.
type ran struct {
	code        int
	out, errors string
}

// repository is a folder with the script in it and no daemon to reach.
type repository struct {
	root string
	env  []string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	root := filepath.Join(t.TempDir(), "my-app")
	mustMkdir(t, root)
	if _, changed, err := InstallScript(root); err != nil || !changed {
		t.Fatalf("InstallScript = %t, %v", changed, err)
	}
	return repository{root, append(os.Environ(), "RECALLD=", "AGENT_ID=tester")}
}

// run starts the script by a shell.
func (r repository) run(shell []string, args ...string) (ran, error) {
	c := exec.Command(shell[0], slices.Concat(shell[1:], []string{filepath.Join(r.root, filepath.FromSlash(ScriptPath))}, args)...)
	var out, problems strings.Builder
	c.Env, c.Stdout, c.Stderr = r.env, &out, &problems
	err := c.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		return ran{}, err
	}
	return ran{c.ProcessState.ExitCode(), out.String(), problems.String()}, nil
}

func (r repository) mustRun(t *testing.T, shell []string, args ...string) ran {
	t.Helper()
	got, err := r.run(shell, args...)
	must(t, err)
	return got
}

func (r repository) logs() string { return filepath.Join(r.root, "agent-knowledge", "logs") }

// lines reads a log of the repository; no line of it may be a problem.
func (r repository) lines(t *testing.T, name string) []memory.LogLine {
	t.Helper()
	var lines []memory.LogLine
	for part, err := range ReadFile(filepath.Join(r.logs(), name)) {
		must(t, err)
		for _, p := range part.Problems {
			t.Errorf("%s:%d: %s", name, p.Line, p.Message)
		}
		lines = append(lines, part.Lines...)
	}
	return lines
}

func TestScript(t *testing.T) {
	for name, shell := range shells(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			long := strings.Repeat("𝄞", 4000)
			for i, test := range []struct {
				args []string
				want memory.LogLine
			}{
				{[]string{"--lesson", "x"}, memory.LogLine{Lesson: "x", Type: memory.EventPattern, Repo: "my-app", AgentID: "tester"}},
				{[]string{"--repo", "my-app", "--type=error", "--context", "npm install → EACCES", "--command", "npm install", "--lesson", `quote " back \ slash \n`,
					"--tags", "a, b,,c d", "--success-rate", "9/10", "--agent-id", "me", "--supersedes", "l-1,l-2", "--retracts", "l-3"},
					memory.LogLine{Repo: "my-app", Type: memory.EventError, Context: "npm install → EACCES", Command: "npm install", Lesson: `quote " back \ slash \n`,
						Tags: []string{"a", "b", "c d"}, SuccessRate: "9/10", AgentID: "me", Supersedes: []string{"l-1", "l-2"}, Retracts: []string{"l-3"}}},
				{[]string{"--lesson", "lines\nand\ttabs\r\x01\x1b\x7f %s $HOME `id` 'a' *"},
					memory.LogLine{Lesson: "lines\nand\ttabs\r\x01\x1b\x7f %s $HOME `id` 'a' *", Type: memory.EventPattern, Repo: "my-app", AgentID: "tester"}},
				{[]string{"--lesson", long, "--context=-rf"}, memory.LogLine{Lesson: long, Context: "-rf", Type: memory.EventPattern, Repo: "my-app", AgentID: "tester"}},
				{[]string{"--lesson", "x", "--success-rate", "0/0", "--tags", ""}, memory.LogLine{Lesson: "x", SuccessRate: "0/0", Type: memory.EventPattern, Repo: "my-app", AgentID: "tester"}},
				{[]string{"--lesson", "y", "--event-type", "success"}, memory.LogLine{Lesson: "y", Type: memory.EventSuccess, Repo: "my-app", AgentID: "tester"}},
				{[]string{"--lesson", "z", "--type", "error", "--event-type=error"}, memory.LogLine{Lesson: "z", Type: memory.EventError, Repo: "my-app", AgentID: "tester"}},
			} {
				began := time.Now().UTC().Truncate(time.Second)
				got := r.mustRun(t, shell, test.args...)
				if got.code != 0 || got.errors != "" || !strings.Contains(got.out, "my-app.jsonl") {
					t.Fatalf("%.200q ends with %d, %q, %q", test.args, got.code, got.out, got.errors)
				}
				lines := r.lines(t, "my-app.jsonl")
				if len(lines) != i+1 {
					t.Fatalf("%.200q: the log has %d lines, want %d", test.args, len(lines), i+1)
				}
				line := lines[i]
				if line.Timestamp.Before(began) || line.Timestamp.After(time.Now()) {
					t.Errorf("the timestamp is %s, not now", line.Timestamp)
				}
				// One content gives one hash, written by whom it may be.
				test.want.Timestamp = line.Timestamp
				if line.Hash != Hash(test.want) {
					t.Errorf("%.200q wrote\n%s\nwant\n%s", test.args, Encode(line), Encode(test.want))
				}
			}
			if entries, _ := os.ReadDir(r.logs()); len(entries) != 1 {
				t.Errorf("beside the log there is something left: %v", entries)
			}
		})
	}
}

func TestScriptRefuses(t *testing.T) {
	for name, shell := range shells(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			for _, test := range []struct {
				args  []string
				about string
			}{
				{nil, "--lesson"},
				{[]string{"--lesson", " \n"}, "--lesson"},
				{[]string{"--lesson"}, "--lesson"},
				{[]string{"--lesson", strings.Repeat("ä", 4001)}, "--lesson: 4001 characters"},
				{[]string{"--lesson", "x", "--context", strings.Repeat("ä", 2001)}, "--context"},
				{[]string{"--lesson", "x", "--command", strings.Repeat("ä", 2001)}, "--command"},
				{[]string{"--lesson", "x", "--repo", strings.Repeat("ä", 201)}, "--repo"},
				{[]string{"--lesson", "x", "--agent-id", strings.Repeat("ä", 201)}, "--agent-id"},
				{[]string{"--lesson", "x", "--tags", strings.Repeat("a,", 21)}, "--tags"},
				{[]string{"--lesson", "x", "--tags", "a," + strings.Repeat("b", 65)}, "--tags"},
				{[]string{"--lesson", "x", "--type", "warning"}, "--type"},
				{[]string{"--lesson", "x", "--type", ""}, "--type"},
				{[]string{"--lesson", "x", "--event-type", "warning"}, "--type"},
				{[]string{"--lesson", "x", "--type", "error", "--event-type", "success"}, "one of --type and --event-type"},
				{[]string{"--lesson", "x", "--success-rate", "9"}, "--success-rate"},
				{[]string{"--lesson", "x", "--success-rate", "9/"}, "--success-rate"},
				{[]string{"--lesson", "x", "--success-rate", "9/10/11"}, "--success-rate"},
				{[]string{"--lesson", "x", "--success-rate", "11/10"}, "--success-rate"},
				{[]string{"--lesson", "x", "--success-rate", "-1/10"}, "--success-rate"},
				{[]string{"--lesson", "x", "--success-rate", "1/12345678"}, "--success-rate"},
				{[]string{"--lesson", "x", "--success-rate", "$(id)/1"}, "--success-rate"},
				{[]string{"--lesson", "x", "--colour", "red"}, "--colour"},
				{[]string{"--lesson", "x", "more"}, "more"},
				{[]string{"--lesson", " <private>all of it</private>", "--context", "x"}, "--lesson: nothing is left"},
			} {
				got := r.mustRun(t, shell, test.args...)
				if got.code != 2 || !strings.Contains(got.errors, test.about) {
					t.Errorf("%.100q ends with %d, %q; want 2 and a word on %s", test.args, got.code, got.errors, test.about)
				}
			}
			if entries, err := os.ReadDir(r.logs()); err == nil {
				t.Errorf("what was refused is in a log: %v", entries)
			}
			if got := r.mustRun(t, shell, "--help"); got.code != 0 || !strings.Contains(got.out, "--success-rate") {
				t.Errorf("--help ends with %d, %q", got.code, got.out)
			}
		})
	}
}

func TestScriptTakesSecretsOut(t *testing.T) {
	key := "-----BEGIN RSA " + "PRIVATE KEY-----"
	for name, shell := range shells(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			for _, test := range []struct{ text, want string }{
				{"set password=hunter22 first", "set password=[redacted:secret] first"},
				{"DB_PASSWORD='s3cret!x' and API_KEY=abcd1234", "DB_PASSWORD='[redacted:secret]' and API_KEY=[redacted:secret]"},
				{`{"token": "abcd1234"}`, `{"token": "[redacted:secret]"}`},
				{"Authorization: Bearer abcdefghij0123456789", "Authorization: Bearer [redacted:authorization]"},
				{"authorization: basic dXNlcjpwYXNz", "authorization: basic [redacted:authorization]"},
				{"AKIA" + "ABCDEFGHIJKLMNOP", "[redacted:aws-key]"},
				{"use ghp_" + strings.Repeat("aB3", 12) + ".", "use [redacted:github-token]."},
				{"sk-" + strings.Repeat("aB3-", 10), "[redacted:api-key]"},
				{"a\n" + key + "\nMIIE\nabc=\n-----END RSA " + "PRIVATE KEY-----\nb", "a\n[redacted:private-key]\nb"},
				{key + "\nMIIE and no end", "[redacted:private-key]"},
				{"postgres://app:p@ss@db/x and http://u:$PASS@h", "postgres://app:[redacted:password]@db/x and http://u:$PASS@h"},
				{"a <PRIVATE>b\nc</private> d <private>e\nf", "a [redacted:private] d [redacted:private]"},
				{"a <Private>b<PRIVATE>c</private>d</private> e", "a [redacted:private] e"},
				{"a <private why=\"hr\"\nuntil='x'>b</private> c <privateer>d", "a [redacted:private] c <privateer>d"},
				{"a </private> b <private>", "a </private> b <private>"},
				{"mysql -u root -P3306 -phunter22 -psecret99 shop; cp -preserve a b", "mysql -u root -P3306 -p[redacted:password] -p[redacted:password] shop; cp -p[redacted:password] a b"},
				{"mysqldump -p'hunter22 x' and ls -pretty\nmariadb -p$PASS -p", "mysqldump -p'[redacted:password]' and ls -p[redacted:password]\nmariadb -p$PASS -p"},
				{"ssh -phunter22 then npm_" + strings.Repeat("aB3", 12), "ssh -phunter22 then [redacted:npm-token]"},
				{"npm_config_prefix, AIza" + strings.Repeat("aB3-_", 7), "npm_config_prefix, [redacted:google-key]"},
				{"sk_live_" + strings.Repeat("aB3", 8) + " rk_test_" + strings.Repeat("aB3", 8), "[redacted:stripe-key] [redacted:stripe-key]"},
				{"cookie eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "cookie [redacted:jwt]"},
				{"token=$TOKEN, task-force-of-many-people-here, password: see the wiki", "token=$TOKEN, task-force-of-many-people-here, password: see the wiki"},
				{"password=[redacted:secret] stays", "password=[redacted:secret] stays"},
			} {
				got := r.mustRun(t, shell, "--lesson", "x", "--context", test.text)
				lines := r.lines(t, "my-app.jsonl")
				if got.code != 0 || len(lines) == 0 {
					t.Fatalf("%q ends with %d: %s", test.text, got.code, got.errors)
				}
				if kept := lines[len(lines)-1].Context; kept != test.want {
					t.Errorf("%q became %q, want %q", test.text, kept, test.want)
				}
				if told := strings.Contains(got.errors, "secret"); told != (test.text != test.want) {
					t.Errorf("%q: it says %q", test.text, got.errors)
				}
			}
		})
	}
}

func TestScriptMakesTheSameFileNames(t *testing.T) {
	for name, shell := range shells(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			for _, test := range fileNameTests {
				if got := r.mustRun(t, shell, "--lesson", "x", "--repo", test.repo); got.code != 0 {
					t.Fatalf("%q ends with %d: %s", test.repo, got.code, got.errors)
				}
				if lines := r.lines(t, test.want); len(lines) != 1 || lines[0].Repo != test.repo {
					t.Errorf("%s holds %+v, want one line of %q", test.want, lines, test.repo)
				}
			}
		})
	}
}

func TestScriptMendsATornLine(t *testing.T) {
	for name, shell := range shells(t) {
		r := newRepository(t)
		log := filepath.Join(r.logs(), "my-app.jsonl")
		mustWrite(t, log, `{"lesson":"to`)
		if got := r.mustRun(t, shell, "--lesson", "whole"); got.code != 0 {
			t.Fatalf("%s: ends with %d: %s", name, got.code, got.errors)
		}
		first, rest, _ := strings.Cut(mustRead(t, log), "\n")
		if _, err := Parse([]byte(rest)); first != `{"lesson":"to` || err != nil {
			t.Errorf("%s: the log holds %q and %q: %v", name, first, rest, err)
		}
	}
}

func TestScriptStaysInItsRepository(t *testing.T) {
	for name, shell := range shells(t) {
		outside := t.TempDir()
		r := newRepository(t)
		mustLink(t, outside, r.logs())
		if got := r.mustRun(t, shell, "--lesson", "x"); got.code != 1 {
			t.Errorf("%s: a linked folder ends with %d: %s", name, got.code, got.errors)
		}
		r = newRepository(t)
		secret := filepath.Join(outside, "secret")
		mustWrite(t, secret, "")
		mustWrite(t, filepath.Join(r.logs(), "x"), "")
		mustLink(t, secret, filepath.Join(r.logs(), "my-app.jsonl"))
		if got := r.mustRun(t, shell, "--lesson", "x"); got.code != 1 {
			t.Errorf("%s: a linked log ends with %d: %s", name, got.code, got.errors)
		}
		if entries, _ := os.ReadDir(outside); len(entries) != 1 || mustRead(t, secret) != "" {
			t.Errorf("%s: something was written outside: %v", name, entries)
		}
		r.env = append(r.env, "AGENT_KNOWLEDGE_LOGS="+filepath.Join(outside, "named"))
		if got := r.mustRun(t, shell, "--lesson", "x"); got.code != 0 {
			t.Errorf("%s: a folder that was named ends with %d: %s", name, got.code, got.errors)
		}
	}
}

// impatient is a repository whose script waits for a lock for 0.2 seconds, and
// for one that changes hands once.
func impatient(t *testing.T) repository {
	t.Helper()
	r := newRepository(t)
	path := filepath.Join(r.root, filepath.FromSlash(ScriptPath))
	text := mustRead(t, path)
	for was, is := range map[string]string{fmt.Sprintf("lock_stale=%d ", staleAfter/(100*time.Millisecond)): "lock_stale=2 ", "lock_rounds=6 ": "lock_rounds=1 "} {
		changed := strings.Replace(text, was, is, 1)
		if changed == text {
			t.Fatalf("the script lacks %q, the figure of this package", was)
		}
		text = changed
	}
	mustWrite(t, path, text)
	return r
}

func TestScriptTakesTheLockOfAWriterThatWasKilled(t *testing.T) {
	for name, shell := range shells(t) {
		r := impatient(t)
		lock := filepath.Join(r.logs(), "my-app.jsonl.lock")
		mustWrite(t, filepath.Join(r.logs(), "my-app.jsonl"), "")
		mustMkdir(t, lock)
		if got := r.mustRun(t, shell, "--lesson", "x"); got.code != 0 {
			t.Errorf("%s: a lock of before ends with %d: %s", name, got.code, got.errors)
		}
		if lines := r.lines(t, "my-app.jsonl"); len(lines) != 1 {
			t.Errorf("%s: the log has %d lines", name, len(lines))
		}
		// One that is newer than the wait belongs to a writer that is at work.
		mustMkdir(t, lock)
		later := time.Now().Add(time.Hour)
		must(t, os.Chtimes(lock, later, later))
		if got := r.mustRun(t, shell, "--lesson", "y"); got.code != 1 || !strings.Contains(got.errors, "is locked") {
			t.Errorf("%s: a lock that changes hands ends with %d: %s", name, got.code, got.errors)
		}
		if entries, _ := os.ReadDir(r.logs()); len(entries) != 2 {
			t.Errorf("%s: beside the log and the lock there is something left: %v", name, entries)
		}
	}
}

// The script asks recalld first, and writes itself where that cannot.
func TestScriptThroughRecalld(t *testing.T) {
	for name, shell := range shells(t) {
		for _, test := range []struct {
			name        string
			code, want  int
			lines       int
			words, says string
		}{
			{"kept", 0, 0, 0, "Remembered", ""},
			{"no daemon", 4, 0, 1, "Logged", "exit code 4"},
			{"broken", 1, 0, 1, "Logged", "exit code 1"},
			{"in use", 5, 0, 1, "Logged", "exit code 5"},
			{"of another version", 7, 0, 1, "Logged", "exit code 7"},
			{"killed", 137, 0, 1, "Logged", "exit code 137"},
			{"wrong", 2, 2, 0, "", ""},
			{"not found", 3, 3, 0, "", ""},
			{"not allowed", 6, 6, 0, "", ""},
			{"interrupted", 130, 130, 0, "", ""},
		} {
			r := newRepository(t)
			recalld := filepath.Join(t.TempDir(), "recalld")
			calls := recalld + ".calls"
			text := fmt.Sprintf("#!/bin/sh\npwd >%q\nprintf '%%s\\n' \"$@\" >>%q\n[ %d -ne 0 ] || echo Remembered\nexit %d\n", calls, calls, test.code, test.code)
			must(t, os.WriteFile(recalld, []byte(text), 0o777))
			r.env = append(r.env, "RECALLD="+recalld)
			got := r.mustRun(t, shell, "--lesson", "-x \"y\"", "--tags", "a,b", "--success-rate", "1/2", "--context", "")
			if got.code != test.want || !strings.Contains(got.out, test.words) || !strings.Contains(got.errors, test.says) {
				t.Errorf("%s: %s: ends with %d, %q, %q; want %d", name, test.name, got.code, got.out, got.errors, test.want)
			}
			root, err := filepath.EvalSymlinks(r.root)
			must(t, err)
			want := strings.Join([]string{root, "remember", "--type=pattern", `--lesson=-x "y"`, "--agent-id=tester", "--success-rate=1/2", "--tags=a,b", ""}, "\n")
			if call := mustRead(t, calls); call != want {
				t.Errorf("%s: %s: recalld was called with\n%s\nwant\n%s", name, test.name, call, want)
			}
			if named := r.mustRun(t, shell, "--lesson", "x", "--repo", "other"); named.code != test.want || !strings.Contains(mustRead(t, calls), "--repo=other\n") {
				t.Errorf("%s: %s: with a repository it ends with %d, %q; it is to be handed on", name, test.name, named.code, named.errors)
			}
			entries, _ := os.ReadDir(r.logs())
			if len(entries) != 2*test.lines {
				t.Errorf("%s: %s: the folder of logs holds %v, want %d files", name, test.name, entries, 2*test.lines)
			}
		}
	}
}

// Eight processes and as many writers of our own at once: every line is whole.
func TestScriptAndAppendAtOnce(t *testing.T) {
	byName := shells(t)
	r := newRepository(t)
	var commands [][]string
	for _, shell := range byName {
		commands = append(commands, shell)
	}
	const writers, each = 8, 5
	text := func(who string, i int) string {
		return fmt.Sprintf("%s %d \"%s\"", who, i, strings.Repeat("é\n", 1500)+"!")
	}
	want := map[string]bool{}
	var all sync.WaitGroup
	for w := range writers {
		script, own := fmt.Sprint("script", w), fmt.Sprint("own", w)
		want[text(script, 0)] = true
		all.Go(func() {
			got, err := r.run(commands[w%len(commands)], "--lesson", text(script, 0))
			if err != nil || got.code != 0 {
				t.Errorf("%s ends with %d: %s %v", script, got.code, got.errors, err)
			}
		})
		for i := range each {
			want[text(own, i)] = true
		}
		all.Go(func() {
			for i := range each {
				if _, err := Append(t.Context(), r.root, "agent-knowledge/logs", "my-app", memory.LogLine{Lesson: text(own, i), Repo: "my-app"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, l := range r.lines(t, "my-app.jsonl") {
		if !want[l.Lesson] {
			t.Errorf("a line appears twice or was not written: %.60q", l.Lesson)
		}
		delete(want, l.Lesson)
	}
	if len(want) > 0 {
		t.Errorf("%d lines are missing", len(want))
	}
	if entries, _ := os.ReadDir(r.logs()); len(entries) != 1 {
		t.Errorf("beside the log there is something left: %v", entries)
	}
}

func TestInstallScript(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "agent-knowledge", "scripts", "log_memory.sh")
	install := func(want bool) {
		t.Helper()
		got, changed, err := InstallScript(root)
		if err != nil || got != path || changed != want {
			t.Fatalf("InstallScript = %s, %t, %v; want %s, %t", got, changed, err, path, want)
		}
		if mustRead(t, path) != string(configs.LogScript) {
			t.Fatal("what was installed is not the script")
		}
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode()&0o100 == 0 {
			t.Fatalf("the script cannot be started: %v, %v", info.Mode(), err)
		}
	}
	install(true)
	install(false)
	if runtime.GOOS != "windows" {
		must(t, os.Chmod(path, 0o600))
		install(true)
	}
	mustWrite(t, path, "# "+scriptMark+", an older version\n")
	install(true)
	mustWrite(t, path, "another program")
	if _, _, err := InstallScript(root); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("InstallScript over another program: %v, want conflict", err)
	}
	if mustRead(t, path) != "another program" {
		t.Error("another program was overwritten")
	}
	outside := t.TempDir()
	linked := t.TempDir()
	mustLink(t, outside, filepath.Join(linked, "agent-knowledge"))
	if _, _, err := InstallScript(linked); err == nil {
		t.Error("a link led the script out of the repository")
	}
}
