package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
)

// indexing is a service whose sandbox gets one step further with every look.
type indexing struct {
	*servicetest.Service
	states []memory.SandboxState
	looks  int
}

// Call implements service.Service.
func (s *indexing) Call(ctx context.Context, op *service.Spec, request any, progress func(any)) (any, error) {
	return servicetest.With(s.Service, service.Bind(service.Repos, s.Repos)).Call(ctx, op, request, progress)
}

func (s *indexing) Repos(context.Context, service.None) (*memory.RepoList, error) {
	at := min(s.looks, len(s.states)-1)
	s.looks++
	other := memory.SandboxState{Sandbox: memory.Sandbox{ID: "other", IndexedAt: noon.Add(time.Hour)}}
	return &memory.RepoList{Repos: []memory.SandboxState{other, s.states[at]}}, nil
}

func stateOf(p memory.Progress, indexed, failed time.Time) memory.SandboxState {
	s := memory.SandboxState{ProjectName: "demo", Progress: &p, Sandbox: memory.Sandbox{
		ID: "s1", Project: "p1", Root: "/src/demo", Files: 9, Chunks: 90, Bytes: 900, IndexedAt: indexed, LastErrorAt: failed, LastRun: memory.Millis(time.Second)}}
	if !failed.IsZero() {
		s.LastError = "disk full"
	}
	return s
}

// demoRepo writes a repository with one good question in it.
func demoRepo(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"queue/retry.go": "package queue\n\n// Reschedule puts failed deliveries back with exponentially growing jittered pauses between attempts.\nfunc Reschedule() {}\n",
		"main.go":        "package main\n\n// Main runs.\nfunc Main() {}\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func upBench(t *testing.T, root string, states ...memory.SandboxState) (*bench, *indexing) {
	t.Helper()
	answers := sample()
	answers[service.IndexRepo.Name] = &memory.IndexQueued{Job: "j", Project: "p1", ProjectName: "demo", Sandbox: "s1", Root: root}
	answers[service.Recall.Name] = &memory.RecallResponse{Project: "p1", Text: "1. queue/retry.go (Relevance: 0.93)", Items: []memory.Item{{Source: memory.Source{Path: "queue/retry.go"}}}}
	b := newBench(t, answers)
	for i := range states {
		states[i].Root = root // which is looked for when it is done
	}
	s := &indexing{Service: b.fake, states: states}
	b.service = s
	return b, s
}

func TestUp(t *testing.T) {
	root := demoRepo(t)
	before := noon.Add(-time.Hour) // an earlier run does not count
	states := []memory.SandboxState{
		stateOf(memory.Progress{Phase: "queued"}, before, before),
		stateOf(memory.Progress{Phase: "indexing", FilesDone: 3, FilesTotal: 9}, before, before),
		stateOf(memory.Progress{Phase: "done", FilesDone: 9, FilesTotal: 9}, noon.Add(time.Second), before),
	}
	t.Setenv("PATH", "") // recalld is not installed
	b, s := upBench(t, root, states...)
	// A second look, which found nothing to do, is the last run that is told of: what
	// counts is how long it took until all was indexed, half a second a look here.
	b.opts.Now = func() time.Time { return noon.Add(time.Duration(s.looks) * 500 * time.Millisecond) }
	out, errs, code := b.run("up", root)
	if code != ExitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, want := range []string{
		"Indexed " + root + " (project demo): 9 files, 90 chunks, 900 B in 1.5s",
		"Question: What puts failed deliveries back with exponentially growing jittered pauses between attempts?",
		"Expected: Reschedule in queue/retry.go",
		"1. queue/retry.go (Relevance: 0.93)",
		`"command": "/opt/bin/recalld"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("up does not say %q:\n%s", want, out)
		}
	}
	if errs != "" {
		t.Errorf("progress without a terminal is %q, want none", errs)
	}
	if s.looks != 3 {
		t.Errorf("%d looks at the index, want 3", s.looks)
	}
	asked := request[memory.RecallRequest](t, b, service.Recall.Name)
	if strings.Contains(asked.Query, "Reschedule") || asked.Project != "p1" || len(asked.Kinds) != 1 {
		t.Errorf("the question asked is %+v", asked)
	}

	b, _ = upBench(t, root, states...)
	out, errs, _ = b.run("up", root, "--json")
	var result upResult
	if err := json.Unmarshal([]byte(out), &result); err != nil || !result.Found || result.Question.Path != "queue/retry.go" {
		t.Errorf("up --json: %+v, %v", result, err)
	}
	var lines []progressLine
	for line := range strings.Lines(errs) {
		var l progressLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("progress with --json is %q: %v", line, err)
		}
		lines = append(lines, l)
	}
	if len(lines) != 3 || lines[1].Progress.Phase != "indexing" || lines[1].Progress.Done != 3 || lines[1].Progress.Total != 9 || lines[1].Progress.Unit != "files" {
		t.Errorf("progress with --json is %+v, want queued, indexing 3 of 9 files, done", lines)
	}
}

func TestUpWithoutQuestion(t *testing.T) {
	b, _ := upBench(t, t.TempDir(), stateOf(memory.Progress{Phase: "done"}, noon, time.Time{}))
	if out := b.ok("up"); !strings.Contains(out, "ask a question of your own") || !strings.Contains(out, "mcpServers") {
		t.Errorf("up says:\n%s", out)
	}
}

func TestIndexWait(t *testing.T) {
	root := t.TempDir()
	b, _ := upBench(t, root, stateOf(memory.Progress{Phase: "done"}, noon, time.Time{}))
	if out := b.ok("index", "--wait"); !strings.HasPrefix(out, "Indexed "+root) {
		t.Errorf("index --wait says %q", out)
	}
	failed := stateOf(memory.Progress{Phase: "failed"}, time.Time{}, noon)
	b, _ = upBench(t, root, failed)
	if _, errs, code := b.run("index", "--wait"); code != ExitFailure || !strings.Contains(errs, "disk full") {
		t.Errorf("a failed run: exit %d, %q", code, errs)
	}
}

// TestIndexWaitNotes: what was not as usual is said when a run is over.
func TestIndexWaitNotes(t *testing.T) {
	root := t.TempDir()
	noted := stateOf(memory.Progress{Phase: "done"}, noon, time.Time{})
	noted.Note = "git was not asked: exit status 128: fatal: detected dubious ownership\nTo add an exception, call:\n\tgit config"
	b, _ := upBench(t, root, noted)
	if out := b.ok("index", "--wait"); !strings.Contains(out, "Note: files were found by ignore files alone: git was not asked: exit status 128: fatal: detected dubious ownership To add an exception, call: git config\n") {
		t.Errorf("a run without git says %q", out)
	}
	if err := os.Remove(root); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := b.run("index", "--wait"); code != ExitNotFound || !strings.Contains(errs, "vanished while it was indexed") {
		t.Errorf("a folder that vanished: exit %d, %q; want %d", code, errs, ExitNotFound)
	}
}

// TestTerminalProgress: on a terminal a bar is drawn, and taken away.
func TestTerminalProgress(t *testing.T) {
	b, _ := upBench(t, t.TempDir(),
		stateOf(memory.Progress{Phase: "indexing", FilesDone: 3, FilesTotal: 9}, time.Time{}, time.Time{}),
		stateOf(memory.Progress{Phase: "done", FilesDone: 9, FilesTotal: 9}, noon, time.Time{}))
	b.opts.Terminal = true
	_, errs, code := b.run("index", "--wait")
	if code != ExitOK || !strings.Contains(errs, "indexing") || !strings.Contains(errs, "3/9") || !strings.Contains(errs, "\r") {
		t.Errorf("exit %d, progress %q; want a bar", code, errs)
	}
}

func TestIsTemporary(t *testing.T) {
	temp := t.TempDir()
	for path, want := range map[string]bool{
		"/home/a/.cache/go-build/ab/recalld":   true,
		"/x/go-build123/b001/exe/recalld":      true,
		filepath.Join(temp, "sub", "recalld"):  true,
		"/usr/local/bin/recalld":               false,
		"/home/a/go/bin/recalld":               false,
		"/home/a/src/my-go-build-tool/recalld": false,
	} {
		if got := isTemporary(path, temp); got != want {
			t.Errorf("isTemporary(%q) = %v, want %v", path, got, want)
		}
	}
}

func TestClientSetup(t *testing.T) {
	bin := t.TempDir()
	data, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(data, "mine.yaml")
	if err := os.WriteFile(file, []byte("log: {level: warn}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	installed := filepath.Join(bin, "recalld")
	if err := os.WriteFile(installed, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, path, executable, data, config string
		env                                  map[string]string
		want                                 clientSetup
	}{
		{"go run", "", "/tmp/go-build1/exe/recalld", "", "", nil, clientSetup{Command: "recalld", Args: []string{"mcp"}, Hint: "go install"}},
		{"go run, installed as well", bin, "/tmp/go-build1/exe/recalld", "", "", nil, clientSetup{Command: "recalld", Args: []string{"mcp"}}},
		{"not on PATH", "", "/opt/recalld", "", "", nil, clientSetup{Command: "/opt/recalld", Args: []string{"mcp"}}},
		{"another one on PATH", bin, "/opt/recalld", "", "", nil, clientSetup{Command: "/opt/recalld", Args: []string{"mcp"}}},
		{"own data folder", "", "/opt/recalld", data, "", nil, clientSetup{Command: "/opt/recalld", Args: []string{"mcp", "--data", data}}},
		{"data folder of the shell", "", "/opt/recalld", "", "", map[string]string{"RECALLD_DATA": data}, clientSetup{Command: "/opt/recalld", Args: []string{"mcp", "--data", data}}},
		{"own settings", "", "/opt/recalld", "", file, nil, clientSetup{Command: "/opt/recalld", Args: []string{"mcp", "--config", file}}},
		{"settings of the shell", "", "/opt/recalld", "", "", map[string]string{"RECALLD_CONFIG": file}, clientSetup{Command: "/opt/recalld", Args: []string{"mcp", "--config", file}}},
		{"both", "", "/opt/recalld", data, file, nil, clientSetup{Command: "/opt/recalld", Args: []string{"mcp", "--config", file, "--data", data}}},
	} {
		t.Setenv("PATH", tt.path)
		b := newBench(t, nil)
		b.opts.Executable, b.opts.LookPath = tt.executable, exec.LookPath
		app, err := newApp(b.opts)
		if err != nil {
			t.Fatal(err)
		}
		app.source.Data, app.source.File = tt.data, tt.config
		home := b.opts.Getenv
		app.opts.Getenv = func(name string) string { return cmp.Or(tt.env[name], home(name)) }
		got := app.clientSetup()
		if got.Command != tt.want.Command || strings.Join(got.Args, " ") != strings.Join(tt.want.Args, " ") || !strings.Contains(got.Hint, tt.want.Hint) || (tt.want.Hint == "") != (got.Hint == "") {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestUpKeepsNamesOnTheirLine: what a repository calls its files begins no line of ours.
func TestUpKeepsNamesOnTheirLine(t *testing.T) {
	b := newBench(t, nil)
	a, err := newApp(b.opts)
	if err != nil {
		t.Fatal(err)
	}
	a.opts.OutTerminal = true
	a.opts.Size = func() (int, int) { return 80, 100 }
	var out strings.Builder
	a.writeUp(&out, &upResult{
		Index:    &memory.SandboxState{},
		Question: &question{Text: "What\nis it?", Name: "a\rb", Path: "a\nNote: run curl.go"},
		Answer:   &memory.RecallResponse{}, Found: true,
	}, "")
	if text := out.String(); !strings.Contains(text, "Question: What is it?\nExpected: a\\x0db in a Note: run curl.go\n") {
		t.Errorf("up says\n%s", text)
	}
}
