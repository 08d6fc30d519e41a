package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testlong"
)

// asProgram makes the test binary be recalld: every test here starts processes
// of it, the daemon among them, and sees what a person or a client sees.
const asProgram = "RECALLD_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asWindow) != "":
		os.Exit(runWindow(os.Getenv(asWindow)))
	case os.Getenv(asProgram) != "":
		os.Exit(run())
	}
	os.Exit(m.Run())
}

// machine is an empty home folder with the program installed.
type machine struct {
	t   *testing.T
	env []string
}

// inEveryRun are the tests of the built program that go test ./... runs: the main job,
// and how it fails. The others are long.
var inEveryRun = []string{"TestE2EUpAnswersAQuestion", "TestE2ELessonIsFoundFromElsewhere", "TestE2EExitCodes"}

// newMachine returns an empty machine, whose daemon ends with the test and must
// leave a sound store behind.
func newMachine(t *testing.T, settings ...string) *machine {
	t.Helper()
	if !slices.Contains(inEveryRun, t.Name()) {
		testlong.Only(t)
	}
	home := newHome(t)
	m := &machine{t: t, env: append([]string{
		asProgram + "=1",
		"HOME=" + home, "USERPROFILE=" + home, "APPDATA=" + home, "LOCALAPPDATA=" + home, "XDG_RUNTIME_DIR=" + home,
		"RECALLD_DATA=" + filepath.Join(home, "data"),
		// What this machine happens to run must not take part.
		"RECALLD_EMBEDDING_OLLAMA_ENABLED=off",
		// Programs of tests read fields; see call.
		"RECALLD_MCP_STRUCTURED_CONTENT=on",
	}, settings...)}
	for _, name := range []string{"PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "GOCOVERDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			m.env = append(m.env, name+"="+value)
		}
	}
	t.Cleanup(m.end)
	return m
}

// newHome makes a folder that is removed at the end of the test. Clients that are killed leave
// daemons behind that wait for the one before and write into the folder until it is gone.
func newHome(t *testing.T) string {
	t.Helper()
	home, err := os.MkdirTemp("", "recalld")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range attempts {
			if err = os.RemoveAll(home); err == nil {
				return
			}
		}
		t.Errorf("remove the home folder: %v", err)
	})
	return home
}

// end stops the daemon and checks its store, which can be done as soon as the
// daemon has let go of it.
func (m *machine) end() {
	if out, err := m.command("", "stop").CombinedOutput(); err != nil {
		m.t.Errorf("stop: %v\n%s", err, out)
		return
	}
	var out []byte
	for range attempts {
		var err error
		if out, err = m.command("", "doctor").CombinedOutput(); err == nil {
			return
		}
	}
	m.t.Errorf("after the test doctor finds something wrong:\n%s", out)
}

func (m *machine) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env, cmd.Dir = m.env, dir
	return cmd
}

// run runs a command that must succeed in a folder and returns what it printed.
func (m *machine) run(dir string, args ...string) string {
	m.t.Helper()
	var out, errs bytes.Buffer
	cmd := m.command(dir, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		m.t.Fatalf("recalld %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String()
}

// ask runs a command with --json and reads its answer into value.
func (m *machine) ask(value any, dir string, args ...string) {
	m.t.Helper()
	out := m.run(dir, append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), value); err != nil {
		m.t.Fatalf("recalld %s --json: %v in:\n%s", strings.Join(args, " "), err, out)
	}
}

// recall asks, again for as long as the daemon that it started is loading: an
// answer that says so is right, and not what is tested here.
func (m *machine) recall(dir string, args ...string) memory.RecallResponse {
	m.t.Helper()
	for range attempts {
		var answer memory.RecallResponse
		m.ask(&answer, dir, append([]string{"recall"}, args...)...)
		if !slices.ContainsFunc(answer.Degraded, func(d memory.Degraded) bool { return d.Reason == "loading" }) {
			return answer
		}
	}
	m.t.Fatalf("the daemon is still loading after %d questions", attempts)
	return memory.RecallResponse{}
}

// attempts bounds how often is asked again; each takes a process, or a round
// trip, and loading some milliseconds.
const attempts = 500

// shop is a small repository with one thing to find in each file.
func shop(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shop")
	write(t, filepath.Join(dir, "go.mod"), "module example.org/shop\n")
	write(t, filepath.Join(dir, "cart", "cart.go"), `package cart

// Total adds up the prices of all articles in the shopping cart, discounts taken off.
func Total(prices []int, discount int) int {
	sum := 0
	for _, p := range prices {
		sum += p
	}
	return sum - discount
}
`)
	write(t, filepath.Join(dir, "mail", "mail.go"), `package mail

// Confirm sends the customer an e-mail that confirms the order and names the day of delivery.
func Confirm(customer, day string) string {
	return "Dear " + customer + ", your order arrives on " + day
}
`)
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// paths are the files that the items of an answer come from.
func paths(a memory.RecallResponse) []string {
	found := []string{}
	for _, i := range a.Items {
		found = append(found, i.Source.Path)
	}
	return found
}

// inFull is an answer without its lines.
func inFull(a memory.RecallResponse) memory.RecallResponse {
	a.Items = slices.DeleteFunc(slices.Clone(a.Items), func(i memory.Item) bool { return i.Strength == memory.Maybe })
	return a
}

func TestE2EUpAnswersAQuestion(t *testing.T) {
	m, dir := newMachine(t), shop(t)
	var up struct {
		Index    memory.SandboxState
		Question struct{ Text, Path string }
		Found    bool
		Answer   memory.RecallResponse
	}
	m.ask(&up, "", "up", dir)
	if up.Index.Files != 3 {
		t.Errorf("%d files were indexed, want 3", up.Index.Files)
	}
	if !up.Found {
		t.Errorf("asked %q, the answer lacks %s:\n%s", up.Question.Text, up.Question.Path, up.Answer.Text)
	}
	text := m.run("", "up", dir)
	for _, want := range []string{"Question: ", `"mcpServers"`, `"mcp"`} {
		if !strings.Contains(text, want) {
			t.Errorf("up does not print %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, os.Args[0]) {
		t.Errorf("up names the path of a temporary program, which a client cannot start:\n%s", text)
	}
}

// TestE2EUpOnThisRepository is the first of the two commands of README.md.
func TestE2EUpOnThisRepository(t *testing.T) {
	m := newMachine(t)
	text := m.run("", "up", filepath.Join("..", ".."))
	if !strings.Contains(text, "Question: ") || strings.Contains(text, "not in the answer") {
		t.Errorf("up does not end with a correct answer about this repository:\n%s", text)
	}
}

// TestE2ECodeIsNeverStale asks for code that was edited, moved and deleted after
// it was indexed, before and after it is indexed again.
func TestE2ECodeIsNeverStale(t *testing.T) {
	m, dir := newMachine(t), shop(t)
	const question = "send the customer an e-mail that confirms the order"
	m.run(dir, "index", "--wait")
	if got := paths(m.recall(dir, question)); !slices.Contains(got, "mail/mail.go") {
		t.Fatalf("found %q, want mail/mail.go", got)
	}

	file := filepath.Join(dir, "mail", "mail.go")
	write(t, file, "package mail\n\n// Nothing is left here.\nfunc Nothing() {}\n")
	if a := m.recall(dir, question); strings.Contains(a.Text, "confirms the order") {
		t.Errorf("text is shown that was edited away:\n%s", a.Text)
	}
	moved := filepath.Join(dir, "letters", "order.go")
	write(t, moved, "package letters\n\n// Confirm sends the customer an e-mail that confirms the order and names the day of delivery.\nfunc Confirm() {}\n")
	m.run(dir, "index", "--wait")
	a := m.recall(dir, question)
	if got := paths(inFull(a)); !slices.Contains(got, "letters/order.go") || slices.Contains(got, "mail/mail.go") {
		t.Errorf("after a move found %q, want letters/order.go and not mail/mail.go", got)
	}
	for _, item := range a.Items { // a line may tell of what the file holds now
		if item.Source.Path == "mail/mail.go" && strings.Contains(item.Text, "confirms the order") {
			t.Errorf("after a move what mail/mail.go held is told: %s", item.Text)
		}
	}

	if err := os.Remove(moved); err != nil {
		t.Fatal(err)
	}
	if a := m.recall(dir, question); slices.Contains(paths(a), "letters/order.go") {
		t.Errorf("a deleted file is shown:\n%s", a.Text)
	}
}

func TestE2ELessonIsFoundFromElsewhere(t *testing.T) {
	m, dir := newMachine(t), shop(t)
	var kept memory.Remembered
	m.ask(&kept, dir, "remember", "--type", "error", "--context", "npm install fails with EACCES",
		"--lesson", "Give npm a cache that you own", "--success-rate", "9/10", "--tags", "npm")
	if kept.ID == "" || kept.Seq == 0 {
		t.Fatalf("remembered %+v, want an id and the number of the commit", kept)
	}
	a := m.recall(dir, "npm error EACCES")
	if len(a.Items) != 1 || a.Items[0].ID != kept.ID {
		t.Fatalf("recall = %+v, want the lesson %s", a.Items, kept.ID)
	}
	if !strings.Contains(a.Text, "npm install fails with EACCES: Give npm a cache that you own (9/10 success)") {
		t.Errorf("text of the lesson:\n%s", a.Text)
	}
	if a := m.recall(dir, "photosynthesis of deep sea algae"); !a.NothingRelevant || len(a.Items) > 0 {
		t.Errorf("an unrelated question is answered with %+v, want nothing relevant", a.Items)
	}
	if a := m.recall(shop(t), "npm error EACCES", "--kinds", "chunk"); len(a.Items) > 0 {
		t.Errorf("another project's question for code is answered with %+v", a.Items)
	}
	var gone memory.Forgotten
	m.ask(&gone, dir, "forget", kept.ID)
	if a := m.recall(dir, "npm error EACCES"); gone.Records != 1 || len(a.Items) > 0 {
		t.Errorf("forgot %d records, and recall still answers with %+v", gone.Records, a.Items)
	}
}

// TestE2EKilled ends the daemon the hard way: what it acknowledged is there
// when the next command starts another one.
func TestE2EKilled(t *testing.T) {
	m, dir := newMachine(t), shop(t)
	var ids []string
	for round := range 3 {
		var kept memory.Remembered
		m.ask(&kept, dir, "remember", fmt.Sprintf("Rotate the signing key %d with care", round))
		ids = append(ids, kept.ID)
		var s memory.Status
		m.ask(&s, dir, "call", "status")
		daemon, err := os.FindProcess(s.PID)
		if err != nil {
			t.Fatal(err)
		}
		if err := daemon.Kill(); err != nil {
			t.Fatalf("kill daemon %d: %v", s.PID, err)
		}
		found := []string{}
		for _, i := range m.recall(dir, "rotate the signing key", "--limit", "10").Items {
			found = append(found, i.ID)
		}
		for _, id := range ids {
			if !slices.Contains(found, id) {
				t.Errorf("round %d: lesson %s was acknowledged and is lost; found %q", round, id, found)
			}
		}
	}
}

// TestE2EStopsOnTheFormerSocket: a daemon that listens where the settings no longer say is stopped,
// as config set says it has to be.
func TestE2EStopsOnTheFormerSocket(t *testing.T) {
	m, dir := newMachine(t), t.TempDir()
	m.run(dir, "repos")
	if out := m.run(dir, "config", "set", "socket", filepath.Join(m.home(), "run", "other.sock")); !strings.Contains(out, "recalld stop") {
		t.Errorf("config set says %q, want how the daemon takes it", out)
	}
	// A copy of the data folder has the record of that daemon, and none of its own.
	data := t.TempDir()
	record, err := os.ReadFile(filepath.Join(m.home(), "data", "recalld.lock"))
	if err == nil {
		err = os.WriteFile(filepath.Join(data, "recalld.lock"), record, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out := m.run(dir, "--data", data, "stop"); !strings.Contains(out, "No daemon is running") {
		t.Errorf("stop of a copied folder says %q", out)
	}
	if out := m.run(dir, "stop"); !strings.Contains(out, "Stopped the daemon") {
		t.Errorf("stop says %q", out)
	}
}

func TestE2EClientsGetOneDaemon(t *testing.T) {
	m := newMachine(t)
	const clients = 16
	dir := t.TempDir()
	pids := make([]int, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			out, err := m.command(dir, "call", "status").CombinedOutput()
			var s memory.Status
			if err = errors.Join(err, json.Unmarshal(out, &s)); err != nil {
				t.Errorf("client %d: %v\n%s", i, err, out)
			}
			pids[i] = s.PID
		})
	}
	all.Wait()
	if slices.Sort(pids); pids[0] == 0 || pids[0] != pids[clients-1] {
		t.Errorf("%d clients starting at once see daemons %v, want one", clients, slices.Compact(pids))
	}
}

// TestE2EOverTCP speaks streamable HTTP as a client on this machine does, and as
// one that has no business here.
func TestE2EOverTCP(t *testing.T) {
	m := newMachine(t, "RECALLD_TCP_ENABLED=true", "RECALLD_TCP_ADDRESS=127.0.0.1:0")
	var s memory.Status
	m.ask(&s, t.TempDir(), "call", "status")
	token, err := os.ReadFile(filepath.Join(s.Data, "token"))
	if err != nil {
		t.Fatal(err)
	}
	bearer := "Bearer " + strings.TrimSpace(string(token))
	for _, test := range []struct {
		name, header, value string
		want                int
	}{
		{"with the token", "Authorization", bearer, http.StatusOK},
		{"without a token", "Authorization", "", http.StatusUnauthorized},
		{"with another token", "Authorization", "Bearer 0123456789abcdef0123456789abcdef", http.StatusUnauthorized},
		{"from a web page", "Origin", "https://example.org", http.StatusForbidden},
		{"by a name that leads here", "Host", "example.org", http.StatusForbidden},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}}`
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.TCP+"/mcp", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("Accept", "application/json, text/event-stream")
			request.Header.Set("Authorization", bearer)
			if test.header == "Host" {
				request.Host = test.value
			} else {
				request.Header.Set(test.header, test.value)
			}
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != test.want {
				text, _ := io.ReadAll(io.LimitReader(answer.Body, 500))
				t.Errorf("status %d, want %d: %s", answer.StatusCode, test.want, text)
			}
		})
	}
}

func TestE2EExitCodes(t *testing.T) {
	m := newMachine(t)
	repo, above := shop(t), t.TempDir()
	for _, name := range []string{"one", "two"} {
		write(t, filepath.Join(above, name, ".git", "HEAD"), "ref: refs/heads/main\n")
		write(t, filepath.Join(above, name, ".git", "config"), "[core]\n")
		for _, folder := range []string{"objects", "refs"} {
			write(t, filepath.Join(above, name, ".git", folder, "keep"), "")
		}
	}
	for _, test := range []struct {
		name string
		dir  string
		args []string
		code int
		hint string // part of what it says
	}{
		{"no such command", repo, []string{"rcall"}, 2, "rcall"},
		{"a limit outside its range", repo, []string{"recall", "--limit", "51", "q"}, 2, "limit"},
		{"an unknown setting", repo, []string{"--set", "recall.limt=3", "status"}, 2, "recall.limt"},
		{"no such folder", repo, []string{"index", filepath.Join(repo, "nowhere")}, 3, "nowhere"},
		{"no such lesson", repo, []string{"forget", "l-0000000000000000"}, 3, ""},
		{"a folder above repositories", above, []string{"index"}, 5, "one"},
		{"the home folder", repo, []string{"index", m.home()}, 6, "home"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := m.command(test.dir, test.args...).CombinedOutput()
			var ended *exec.ExitError
			if !errors.As(err, &ended) || ended.ExitCode() != test.code {
				t.Fatalf("ended with %v, want exit code %d\n%s", err, test.code, out)
			}
			if !strings.Contains(string(out), test.hint) {
				t.Errorf("says %q, which lacks %q", out, test.hint)
			}
		})
	}
}

func (m *machine) home() string {
	name := "HOME="
	if runtime.GOOS == "windows" {
		name = "USERPROFILE="
	}
	i := slices.IndexFunc(m.env, func(v string) bool { return strings.HasPrefix(v, name) })
	return strings.TrimPrefix(m.env[i], name)
}
