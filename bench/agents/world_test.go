package agents

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/testkit/modelserver"
)

// world is an empty home folder, a repository, a daemon and the model's endpoint.
type world struct {
	t *testing.T

	base, home, repo string
	env              []string
	server           *modelserver.Server
	daemon           int // its process

	mu     sync.Mutex
	script *script
}

// row is a line of the table; a fault is what a cell is not green for.
type row struct {
	client
	listed    int
	called    int
	direct    int
	shown     string
	hooks     string
	briefed   bool
	found     bool
	leftovers int
	faults    []string
}

func newWorld(t *testing.T, bin string) *world {
	base := t.TempDir()
	w := &world{t: t, base: base, home: filepath.Join(base, "home"), repo: filepath.Join(base, "shop")}
	for _, dir := range []string{w.home, w.repo, filepath.Join(base, "tmp")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// What is set for the person who runs this must not reach the agents.
	for _, name := range []string{"LANG", "GOROOT", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"} {
		if value, ok := os.LookupEnv(name); ok {
			w.env = append(w.env, name+"="+value)
		}
	}
	w.env = append(w.env, "HOME="+w.home, "TMPDIR="+filepath.Join(base, "tmp"), "TERM=dumb",
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_PROXY=127.0.0.1,localhost")
	if err := os.WriteFile(filepath.Join(w.repo, "price.go"), []byte("package shop\n\n// Price adds the tax.\nfunc Price(net int) int { return net * 119 / 100 }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "shop: add the tax"}} {
		if _, err := command(t.Context(), w.repo, w.env, "git", args...); err != nil {
			t.Fatal(err)
		}
	}
	w.server = modelserver.New(w.answer)
	t.Cleanup(w.server.Close)
	recalld, _, _ := strings.Cut(bin, string(os.PathListSeparator))
	daemon := exec.Command(filepath.Join(recalld, "recalld"), "serve")
	daemon.Env = w.env
	startDaemon(t, daemon)
	w.daemon = daemon.Process.Pid
	return w
}

// startDaemon starts a daemon, which ends with the test, and returns once it says that it has
// started.
func startDaemon(t *testing.T, daemon *exec.Cmd) {
	t.Helper()
	log, said, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	daemon.Stderr = said
	err = errors.Join(daemon.Start(), said.Close())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = daemon.Process.Signal(os.Interrupt)
		_ = daemon.Wait()
	})
	if err := log.SetReadDeadline(time.Now().Add(3 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "daemon started") {
			_ = log.SetReadDeadline(time.Time{}) // what it says later is dropped
			go func() { _, _ = io.Copy(io.Discard, log); _ = log.Close() }()
			return
		}
	}
	t.Fatalf("the daemon does not start: %v", lines.Err())
}

func (w *world) recalld(args ...string) (string, error) {
	return command(w.t.Context(), w.repo, w.env, "recalld", args...)
}

func (w *world) answer(r modelserver.Request) modelserver.Reply {
	w.mu.Lock()
	s := w.script
	w.mu.Unlock()
	if s == nil {
		return modelserver.Reply{Text: "A turn of the script"}
	}
	return s.answer(r)
}

// turn runs the client once and returns what went wrong.
func (w *world) turn(c client, s *script) []string {
	w.mu.Lock()
	w.script = s
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.script = nil
		w.mu.Unlock()
	}()
	ctx, cancel := context.WithTimeout(w.t.Context(), 4*time.Minute)
	defer cancel()
	_, err := command(ctx, w.repo, append(w.env, c.env(w.server.URL)...), c.program, c.args(w.server.URL, s.prompt)...)
	faults := s.end()
	if err != nil {
		faults = append(faults, err.Error())
	}
	return faults
}

func lesson(c client) string {
	return "The " + c.title + " measurement keeps its ledger in cabinet " + strings.ToUpper(c.name[:2]) + c.version
}

func (w *world) everyTool(c client, r *row) {
	r.client = c
	if err := c.settle(w.home, w.server.URL); err != nil {
		w.t.Fatal(err)
	}
	if out, err := w.recalld("connect", c.name); err != nil || !strings.Contains(out, "onnected") {
		r.faults = append(r.faults, fmt.Sprintf("connect: %s %v", out, err))
		return
	}
	s := &script{prompt: "Call every tool of the script", steps: everyTool(c, lesson(c))}
	r.faults = append(r.faults, w.turn(c, s)...)
	r.listed, r.direct = len(s.offered), 0
	for _, a := range s.answers {
		if a.Tool != c.shell {
			r.called++
		}
		if a.Tool == "recall" {
			r.shown = shown(a.Text)
		}
	}
	if !s.instructed {
		r.shown += ", no instructions"
	}
	r.direct = s.direct
	r.hooks = w.hooks(c)
	r.leftovers = w.bridges()
	if r.leftovers > 0 {
		r.faults = append(r.faults, fmt.Sprintf("%d bridges are left running", r.leftovers))
	}
}

// shown says in which form the model got an answer.
func shown(text string) string {
	switch {
	case strings.HasPrefix(strings.TrimSpace(text), "{"):
		return "JSON"
	case strings.Contains(text, "<recalld note=") && strings.Contains(text, "</recalld>"):
		return "the text"
	}
	return "something else"
}

// hooks says what the hooks of the client recorded of the two commands.
func (w *world) hooks(c client) string {
	var last struct {
		Steps []struct {
			Target string `json:"target"`
			OK     bool   `json:"ok"`
		} `json:"steps"`
	}
	var got []string
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); { // a hook's event may wait for the daemon
		out, err := w.recalld("call", "knowledge_last", `{"n": 50, "scope": "all"}`)
		if err != nil {
			return err.Error()
		}
		if err := json.Unmarshal([]byte(out), &last); err != nil {
			return err.Error()
		}
		got = nil
		for _, step := range last.Steps {
			switch {
			case strings.Contains(step.Target, "measured-"+c.name) && step.OK:
				got = append(got, "steps")
			case strings.Contains(step.Target, "absent-"+c.name) && !step.OK:
				got = append(got, "failures")
			}
		}
		if len(got) == 2 {
			break
		}
	}
	if got == nil {
		return "–"
	}
	return strings.Join(got, ", ")
}

// bridges counts the bridges that outlive the client's turn by five seconds.
func (w *world) bridges() int {
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Second)
	defer cancel()
	out, err := command(w.t.Context(), "", nil, "ps", "-eo", "pid,args")
	if err != nil {
		return 0
	}
	n := 0
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) > 2 && filepath.Base(fields[1]) == "recalld" && fields[2] == "mcp" && exec.CommandContext(ctx, "tail", "--pid", fields[0], "-f", "/dev/null").Run() != nil {
			n++
		}
	}
	return n
}

// lessonOf asks the client's model for the lesson of another client, in other words.
func (w *world) lessonOf(c, teller client, r *row) {
	if len(r.faults) > 0 {
		return
	}
	s := &script{prompt: "Ask for the lesson of another",
		steps: []step{{tool: "recall", arguments: map[string]any{"query": "where is the ledger of the measurement of " + teller.title + " kept"}, want: lesson(teller)}}}
	faults := w.turn(c, s)
	r.briefed = s.briefed
	r.faults = append(r.faults, faults...)
	r.found = len(faults) == 0
}

func lookPath(program string, env []string) (string, error) {
	for _, entry := range env {
		list, _ := strings.CutPrefix(entry, "PATH=")
		for _, dir := range filepath.SplitList(list) {
			if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("%s is not installed", program)
}
