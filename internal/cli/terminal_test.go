package cli

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/recalld/recalld/internal/buildinfo"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
	"github.com/recalld/recalld/internal/testkit/golden"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// onTerminal makes a bench's output a terminal of some size.
func (b *bench) onTerminal(width, height int, env map[string]string) *bench {
	home := b.opts.Getenv("HOME")
	all := map[string]string{"HOME": home, "USERPROFILE": home, "TERM": "xterm-256color"}
	maps.Copy(all, env)
	b.opts.Getenv = func(name string) string { return all[name] }
	b.opts.OutTerminal, b.opts.Terminal = true, true
	b.opts.Size = func() (int, int) { return width, height }
	return b
}

// TestColour: the flag decides, then NO_COLOR, then CLICOLOR_FORCE, then the terminal.
func TestColour(t *testing.T) {
	for _, tt := range []struct {
		terminal bool
		env      map[string]string
		args     []string
		want     bool
	}{
		{true, nil, nil, true},
		{false, nil, nil, false},
		{true, map[string]string{"NO_COLOR": "1"}, nil, false},
		{true, map[string]string{"NO_COLOR": "1"}, []string{"--color", "always"}, true},
		{true, map[string]string{"TERM": "dumb"}, nil, false},
		{false, map[string]string{"CLICOLOR_FORCE": "1"}, nil, true},
		{false, map[string]string{"CLICOLOR_FORCE": "0"}, nil, false},
		{false, map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, nil, false},
		{false, nil, []string{"--color=always"}, true},
		{true, nil, []string{"--color=never"}, false},
		{true, nil, []string{"--json"}, false},
	} {
		b := newBench(t, sample()).onTerminal(80, 50, tt.env)
		b.opts.OutTerminal = tt.terminal
		if out := b.ok(append([]string{"repos"}, tt.args...)...); strings.Contains(out, "\x1b[") != tt.want {
			t.Errorf("terminal %v, %v, %v: %.60q, want colours %v", tt.terminal, tt.env, tt.args, out, tt.want)
		}
	}
	b := newBench(t, sample())
	if _, errs, code := b.run("repos", "--color", "blue"); code != ExitUsage || !strings.Contains(errs, `--color: "blue" is none of them (limit: auto, always or never)`) {
		t.Errorf("--color blue: exit %d, %q", code, errs)
	}
	if _, errs, _ := b.onTerminal(80, 50, nil).run("nosuch"); !strings.HasPrefix(errs, "\x1b[1m\x1b[31mrecalld:\x1b[0m unknown") {
		t.Errorf("an error on a terminal is %q, want its beginning in colour", errs)
	}
}

// TestPaintedIsSafe: a terminal gets no control sequences but colours, whatever was stored.
func TestPaintedIsSafe(t *testing.T) {
	underrace.Skip(t, "one command after the other")
	for _, c := range commands(t) {
		if operator[strings.TrimPrefix(c.CommandPath(), "recalld ")] {
			continue
		}
		for _, line := range examples(c) {
			// Some speak JSON, write files, work on stores of their own, or wait for an end
			// that the fake never tells.
			if slices.Contains([]string{"hook", "mcp", "man", "serve", "eval", "restore", "doctor", "index", "up"}, line[0]) {
				continue
			}
			b := newBench(t, nil).onTerminal(100, 10_000, nil)
			b.opts.Terminal = false // bars draw; TestBarsStillDraw looks at them
			b.opts.Dir = t.TempDir()
			b.opts.In = strings.NewReader("text")
			b.fake = servicetest.Full(hostile, noon)
			b.service = b.fake
			out, errs, _ := b.run(append(line, "--color", "always")...)
			for _, text := range []string{out, errs} {
				for _, colour := range []string{"0", "1", "2", "31", "32", "33", "36"} {
					text = strings.ReplaceAll(text, "\x1b["+colour+"m", "")
				}
				if bad := acted(text); bad != "" {
					t.Errorf("recalld %q hands %s to a terminal:\n%q", line, bad, text)
				}
			}
		}
	}
}

// unshown are the commands that print nothing of their own to a person, or what differs
// from run to run.
var unshown = map[string]string{
	"call": "its answers are JSON; testdata/call.golden has its list", "completion": "it prints a shell's script", "config": "it only has commands below it",
	"config edit": "it opens an editor", "connect": "it shows the files of this machine", "doctor": "it looks at this machine", "eval": "it works on a store of its own",
	"hook": "it speaks JSON", "mcp": "it speaks JSON", "restore": "it works on a store", "backup list": "it reads a folder", "backup verify": "it reads a folder",
	"serve": "it writes a log", "team init": operators, "team add": operators, "team remove": operators, "token": "it prints a new token", "token add": "it prints a new token",
	"ui": "it opens a browser", "up": "it waits for an index", "version": "it shows the version of Go",
}

const operators = "it speaks to the server of a team"

// TestEveryCommandShown holds what every command prints, on terminals of 80 and 200 columns
// in colour and in a pipe, in a golden file each.
func TestEveryCommandShown(t *testing.T) {
	answers := servicetest.Full("text", noon).Answers
	maps.Copy(answers, sample())
	answers[service.Recall.Name] = &memory.RecallResponse{Project: "p1", ProjectName: "demo", Receipt: "8ab8b9aaaa", Text: "1. what agents read\n", Items: []memory.Item{
		{ID: "l-4f2a9c00aa", Kind: memory.Lesson, Strength: memory.Sure, Relevance: 0.97, CreatedAt: noon, SuccessRate: "9/10", Context: "publishing from CI",
			Lesson: "npm fails with EACCES when its cache belongs to root: use a cache inside the project", Command: "npm ci --cache .npm"},
		{ID: "c-77d0e1f2aa", Kind: memory.Chunk, Strength: memory.Likely, Relevance: 0.81, Text: "// retryNpm installs again.\nfunc retryNpm() {\n\tinstall(\"npm\")\n}\n",
			Source: memory.Source{Path: "ci/retry.go", Lines: &[2]int{41, 44}, Symbol: "retryNpm"}},
		{ID: "s-91a0c400aa", Kind: memory.Step, Strength: memory.Maybe, Relevance: 0.35, CreatedAt: noon, Text: "s-91a0c4 [2026-01-15] npm install failed in payments-api"},
	}}
	answers[service.Lessons.Name] = &memory.LessonList{ProjectName: "demo", Total: 1, Lessons: []memory.Item{{ID: "l-4f2a9c00aa", Kind: memory.Lesson, CreatedAt: noon, SuccessRate: "9/10",
		Text: "publishing from CI: npm fails with EACCES when its cache belongs to root: use a cache inside the project — `npm ci --cache .npm`"}}}
	lines := [][]string{{"--help"}, {"recall", "--help"}}
	for _, c := range commands(t) {
		switch name := strings.TrimPrefix(c.CommandPath(), "recalld "); {
		case unshown[name] != "":
		case name == "config list":
			lines = append(lines, []string{"config", "list", "--changed", "--set", "log.level=debug"})
		case !slices.ContainsFunc(lines, func(line []string) bool { return slices.Equal(line, examples(c)[0]) }): // one that begins with its command below
			lines = append(lines, examples(c)[0])
		}
	}
	for width, name := range map[int]string{80: "testdata/terminal80.golden", 200: "testdata/terminal200.golden", 0: "testdata/piped.golden"} {
		file := golden.Open(t, name)
		for _, line := range lines {
			b := newBench(t, answers)
			if width > 0 {
				b.onTerminal(width, 10_000, nil)
				b.opts.Terminal = false // bars draw; TestBarsStillDraw looks at them
			}
			out, errs, code := b.run(line...)
			if errs != "" {
				out += "-- on standard error, exit code " + strconv.Itoa(code) + "\n" + errs
			}
			file.Equal(strings.Join(line, " "), strings.NewReplacer("\x1b", "␛", b.opts.Getenv("HOME"), "~").Replace(out))
			for text := range strings.Lines(out) {
				for _, colour := range []string{"0", "1", "2", "31", "32", "33", "36"} {
					text = strings.ReplaceAll(text, "\x1b["+colour+"m", "")
				}
				if n := len([]rune(text)) - 1; width > 0 && n > width && strings.Contains(text, "  ") && line[0] != "config" {
					t.Errorf("recalld %s in %d columns writes a line of %d: %q", line, width, n, text)
				}
				if width == 0 && strings.Contains(text, "\x1b") {
					t.Errorf("recalld %s paints in a pipe: %q", line, text)
				}
			}
		}
	}
}

// TestPager: a long answer on a terminal goes to the pager, a short one and one in a pipe
// do not.
func TestPager(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the pager of this test is a shell script")
	}
	seen := filepath.Join(t.TempDir(), "seen")
	pager := filepath.Join(t.TempDir(), "pager")
	if err := os.WriteFile(pager, []byte("#!/bin/sh\ncat >\"$1\"\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	paged := func(height int, env map[string]string, args ...string) (out, text string) {
		os.Remove(seen)
		b := newBench(t, sample()).onTerminal(80, height, env)
		b.opts.LookPath = exec.LookPath
		out = b.ok(args...)
		got, _ := os.ReadFile(seen)
		return out, string(got)
	}
	env := map[string]string{"PAGER": pager + " " + seen}
	if out, text := paged(5, env, "repos"); out != "" || !strings.Contains(text, "/src/demo worktree") {
		t.Errorf("a long answer: output %q, pager %q", out, text)
	}
	for name, run := range map[string]func() (string, string){
		"short":      func() (string, string) { return paged(100, env, "repos") },
		"--no-pager": func() (string, string) { return paged(5, env, "repos", "--no-pager") },
		"--json":     func() (string, string) { return paged(5, env, "repos", "--json") },
		"no program": func() (string, string) { return paged(5, map[string]string{"PAGER": "/no/such"}, "repos") },
		"cat":        func() (string, string) { return paged(5, map[string]string{"PAGER": "cat"}, "repos") },
	} {
		if out, text := run(); text != "" || !strings.Contains(out, "/src/demo worktree") {
			t.Errorf("%s: output %q, pager %q, want all on the terminal", name, out, text)
		}
	}
}

func TestEditorArguments(t *testing.T) {
	for editor, want := range map[string]string{"vim": "+7 f", "/usr/bin/nvim": "+7 f", "code": "--goto f:7", "hx": "f:7", "ed": "f"} {
		if got := strings.Join(editorArguments(editor, "f", 7), " "); got != want {
			t.Errorf("%s is given %q, want %q", editor, got, want)
		}
	}
}

func TestVersionFlag(t *testing.T) {
	if out := newBench(t, nil).ok("--version"); out != "recalld "+buildinfo.Version()+"\n" {
		t.Errorf("--version says %q", out)
	}
}

// TestAlone: recalld alone prints its help unless a person is at a terminal.
func TestAlone(t *testing.T) {
	if out := newBench(t, nil).ok(); !strings.Contains(out, "Usage:") {
		t.Errorf("in a pipe it prints %q, want the help", out)
	}
	for _, name := range []string{"dumb", ""} {
		if name == "" && runtime.GOOS == "windows" {
			continue // no terminal has a name there
		}
		var out bytes.Buffer
		b := newBench(t, nil).onTerminal(80, 1000, map[string]string{"TERM": name})
		b.opts.Interactive, b.opts.Out, b.opts.Err = true, &out, &out
		b.opts.Screen = func() (tcell.Screen, error) { return nil, errors.New("no such terminal") }
		if code := Run(t.Context(), nil, b.opts); code != ExitOK || !strings.Contains(out.String(), "Usage:") {
			t.Errorf("on a terminal of the name %q it ends with %d and prints %q, want the help", name, code, out.String())
		}
	}
}

// TestPipeProgress: in a pipe, what takes long leaves a line now and then; the rest is silent.
func TestPipeProgress(t *testing.T) {
	var out strings.Builder
	now := noon
	p := &progress{out: &out, unit: "files", now: func() time.Time { return now }, last: noon}
	for done := range int64(8) {
		p.show("indexing", done, 8)
		now = now.Add(10 * time.Second)
	}
	p.unit = ""
	now = now.Add(time.Minute)
	p.show("copying\x1b[2J", 1_500_000, 0)
	p.done()
	if got, want := out.String(), "indexing: 3 files, 37 %\nindexing: 6 files, 75 %\ncopying\\x1b[2J: 1.5 MB\n"; got != want {
		t.Errorf("a pipe gets %q, want %q", got, want)
	}
}

// TestEnvironmentTopic: the page names every variable that the commands read.
func TestEnvironmentTopic(t *testing.T) {
	page := environmentTopic().Long
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	read := regexp.MustCompile(`(?:Getenv|LookupEnv)\("([A-Z_]+)"\)`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range read.FindAllStringSubmatch(string(text), -1) {
			if name := m[1]; !slices.Contains([]string{"LESS", "HOME", "USERPROFILE"}, name) && !strings.Contains(page, name) {
				t.Errorf("%s reads %s; help environment does not say so", file, name)
			}
		}
	}
}
