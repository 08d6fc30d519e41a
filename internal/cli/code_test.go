package cli

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testkit/golden"
)

// troubled are sandboxes of which something is wrong, or odd.
func troubled() []memory.SandboxState {
	return []memory.SandboxState{
		{ProjectName: "full", Sandbox: memory.Sandbox{ID: "s5", Project: "p5", Root: "/src/full", LastError: "write chunks: disk full", LastErrorAt: noon.Add(-5 * time.Minute)}},
		{ProjectName: "a-name-that-takes-more-than-a-table-has", Sandbox: memory.Sandbox{ID: "s6", Project: "p6", Root: "/media/stick/\x1b[31mred", GoneAt: noon.Add(-26 * time.Hour), IndexedAt: noon.Add(-27 * time.Hour), Files: 1_000_000, Chunks: 12_345_678, Bytes: 1 << 40}, IndexBytes: 999_900_000},
	}
}

// TestReposFit: what people read by default fits a terminal, but for folders and
// what others have said, which are on lines of their own.
func TestReposFit(t *testing.T) {
	b := newBench(t, sample())
	b.fake.Answers[service.Repos.Name].(*memory.RepoList).Repos[0].Note = "git was not asked:\n\tno git"
	file := golden.Open(t, "testdata/repos.golden")
	file.Equal("repos --wide", b.ok("repos", "--wide"))
	b.fake.Answers[service.Repos.Name] = &memory.RepoList{Repos: troubled()}
	out := b.ok("repos")
	file.Equal("repos in trouble", out)
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "  ") && utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > render.TerminalWidth {
			t.Errorf("the line is longer than %d characters: %q", render.TerminalWidth, line)
		}
	}
	for _, args := range [][]string{{"repos"}, {"repos", "--wide"}, {"status"}, {"files", "x"}} {
		if out := b.ok(args...); strings.ContainsAny(out, "\x1b\r\t") {
			t.Errorf("recalld %v hands on what a terminal acts on: %q", args, out)
		}
	}
}

// TestGoneIsNoReasonToForget: a folder that is missing, a removed worktree for
// instance, is one of a project that has others, and lessons.
func TestGoneIsNoReasonToForget(t *testing.T) {
	gone := memory.SandboxState{ProjectName: "demo", Sandbox: memory.Sandbox{ID: "s", Project: "p1", Root: "/src/gone", GoneAt: noon}}
	for files, want := range map[int]string{3: "its index is dropped after a day, lessons stay", 0: "nothing is indexed of it any more"} {
		gone.Files = files
		b := newBench(t, sample())
		b.fake.Answers[service.Repos.Name] = &memory.RepoList{Repos: []memory.SandboxState{gone}}
		if out := b.ok("repos"); !strings.Contains(out, "missing since 2026-01-15 12:00Z; "+want) || strings.Contains(out, "forget") {
			t.Errorf("with %d files left, repos says:\n%s", files, out)
		}
	}
}

// TestGoneIsNoFailure: that a run has failed over a folder that is missing says nothing
// more.
func TestGoneIsNoFailure(t *testing.T) {
	b := newBench(t, sample())
	b.fake.Answers[service.Repos.Name] = &memory.RepoList{Repos: []memory.SandboxState{{ProjectName: "demo", Sandbox: memory.Sandbox{
		ID: "s", Project: "p1", Root: "/src/gone", GoneAt: noon, LastError: "open sandbox: no such folder", LastErrorAt: noon,
	}}}}
	for _, args := range [][]string{{"repos"}, {"repos", "--wide"}} {
		if out := b.ok(args...); !strings.Contains(out, "missing since") || strings.Contains(out, "failed") {
			t.Errorf("recalld %v of a folder that is missing says:\n%s", args, out)
		}
	}
}

// TestUnreadableIsSaid: files that cannot be read are counted, with the command that lists them.
func TestUnreadableIsSaid(t *testing.T) {
	b := newBench(t, sample())
	b.fake.Answers[service.Repos.Name] = &memory.RepoList{Repos: []memory.SandboxState{{ProjectName: "demo", Sandbox: memory.Sandbox{
		ID: "s", Project: "p1", Root: "/src/demo", Skipped: map[string]int{"ignored": 7, "unreadable": 2},
	}}}}
	for _, args := range [][]string{{"repos"}, {"repos", "--wide"}} {
		if out := b.ok(args...); !strings.Contains(out, "2 files cannot be read; run 'recalld repos --skipped /src/demo' to list them") {
			t.Errorf("recalld %v says:\n%s", args, out)
		}
	}
}

// TestPausedIsSaid: that nothing is done in the background is said wherever its
// results are awaited.
func TestPausedIsSaid(t *testing.T) {
	answers := sample()
	answers[service.Status.Name].(*memory.Status).Code.Paused = true
	answers[service.Repos.Name].(*memory.RepoList).Repos[0].Progress = &memory.Progress{Phase: "paused"}
	for _, args := range [][]string{{"repos"}, {"status"}, {"index"}} {
		if out := newBench(t, answers).ok(args...); !strings.Contains(out, "is paused") || !strings.Contains(out, "recalld resume") {
			t.Errorf("recalld %v does not say that everything is held, and how it goes on:\n%s", args, out)
		}
	}
}

func TestPauseFlags(t *testing.T) {
	b := newBench(t, sample())
	caller := memory.Caller{Dir: b.opts.Dir, Client: "cli"}
	for _, tt := range []struct {
		args []string
		want memory.PauseRequest
	}{
		{[]string{"pause"}, memory.PauseRequest{Caller: caller}},
		{[]string{"pause", "."}, memory.PauseRequest{Path: b.opts.Dir, Caller: caller}},
		{[]string{"resume"}, memory.PauseRequest{Resume: true, Caller: caller}},
		{[]string{"resume", "sub"}, memory.PauseRequest{Path: filepath.Join(b.opts.Dir, "sub"), Resume: true, Caller: caller}},
	} {
		b.ok(tt.args...)
		if diff := cmp.Diff(tt.want, request[memory.PauseRequest](t, b, service.Pause.Name)); diff != "" {
			t.Errorf("recalld %v asks for (-want +got):\n%s", tt.args, diff)
		}
	}
	b.fake.Err = &memory.Error{Code: memory.CodeNotFound, Field: "path", Message: "/src is not indexed"}
	if _, errs, code := b.run("pause", "/src"); code != ExitNotFound || !strings.Contains(errs, "recalld repos") {
		t.Errorf("a folder that is not indexed: exit %d, %q; want %d and where to look", code, errs, ExitNotFound)
	}
	b.fake.Err = nil
	b.fake.Answers[service.Pause.Name] = &memory.Paused{}
	if out := b.ok("resume"); out != "Nothing is paused now.\n" {
		t.Errorf("resume says %q", out)
	}
	if out := b.ok("resume", "--json"); strings.Contains(out, "null") {
		t.Errorf("resume --json says null where a list is empty: %s", out)
	}
}

func TestFilesFlags(t *testing.T) {
	b := newBench(t, sample())
	b.ok("files", "--project", "p", "--limit", "1000", "retry", "client")
	want := memory.FilesRequest{Pattern: "retry client", Project: "p", Limit: 1000, Caller: memory.Caller{Dir: b.opts.Dir, Client: "cli"}}
	if diff := cmp.Diff(want, request[memory.FilesRequest](t, b, service.Files.Name)); diff != "" {
		t.Errorf("request differs (-want +got):\n%s", diff)
	}
	b.fake.Answers[service.Files.Name] = &memory.FileList{Project: "p1", ProjectName: "demo"}
	if out := b.ok("files", "nothing"); out != "No matching files in project demo.\n" {
		t.Errorf("without a match files says %q", out)
	}
	b.fake.Answers[service.Files.Name] = &memory.FileList{Project: "p1", ProjectName: "demo", Missing: "indexing is paused"}
	if out := b.ok("files", "nothing"); !strings.HasSuffix(out, "demo.\nNot all files are known: indexing is paused. Run 'recalld repos' to see more.\n") {
		t.Errorf("with files that are not known files says %q", out)
	}
	if out := b.ok("files", "nothing", "--json"); strings.Contains(out, "null") {
		t.Errorf("files --json says null where a list is empty: %s", out)
	}
	// Of several worktrees each file says which one it is in.
	b.fake.Answers[service.Files.Name] = &memory.FileList{Total: 2, Files: []memory.FileMatch{{Path: "a.go", Sandbox: "/src/one"}, {Path: "a.go", Sandbox: "/src/two"}}}
	if out := b.ok("files", "a.go"); !strings.Contains(out, "/src/one/a.go") || !strings.Contains(out, "/src/two/a.go") {
		t.Errorf("two worktrees are not told apart:\n%s", out)
	}
}

// TestForgetAsks: a person is asked before a project goes, and only a yes is one.
func TestForgetAsks(t *testing.T) {
	for _, tt := range []struct {
		input  string
		forget bool
	}{{"y\n", true}, {" YES \n", true}, {"yes", true}, {"n\n", false}, {"\n", false}, {"", false}, {"yet\n", false}} {
		b := newBench(t, sample())
		b.fake.Answers[service.Lessons.Name] = &memory.LessonList{Project: "p1", ProjectName: "demo"}
		b.opts.Interactive, b.opts.In = true, strings.NewReader(tt.input)
		out, errs, code := b.run("forget", "--project", "demo")
		if code != ExitOK || strings.Contains(out, "Forgotten") != tt.forget || strings.Contains(errs, "Nothing was removed") == tt.forget {
			t.Errorf("answered %q: exit %d, %q, %q; want it forgotten: %v", tt.input, code, out, errs, tt.forget)
		}
		if !strings.Contains(errs, "/src/demo: 12 files, 345 chunks") || strings.Contains(errs, "/src/new") {
			t.Errorf("asked without saying what goes, and only that: %q", errs)
		}
	}
	b := newBench(t, sample())
	b.opts.Interactive, b.opts.In = true, strings.NewReader("y\n")
	if _, errs, code := b.run("forget", "--project", "demo", "--json"); code != ExitUsage || !strings.Contains(errs, "--yes") {
		t.Errorf("with --json: exit %d, %q; want a refusal that names --yes", code, errs)
	}
	b.opts.Interactive = false
	if _, errs, code := b.run("forget", "--project", "demo"); code != ExitUsage || !strings.Contains(errs, "--yes") {
		t.Errorf("in a script: exit %d, %q; want a refusal that names --yes", code, errs)
	}
	b.ok("forget", "--project", "demo", "--yes") // asks nobody
}

// TestForgetFolder: a folder stands for its project, whose folders are named before they go; one
// of which nothing is remembered is refused before it is asked about.
func TestForgetFolder(t *testing.T) {
	b := newBench(t, sample())
	b.fake.Answers[service.Lessons.Name] = &memory.LessonList{Project: "p1", ProjectName: "demo"}
	b.opts.Interactive, b.opts.In = true, strings.NewReader("y\n")
	if _, errs, code := b.run("forget", "--project", "."); code != ExitOK || !strings.Contains(errs, "project demo") || !strings.Contains(errs, "/src/demo: 12 files") || strings.Contains(errs, "/src/new") {
		t.Errorf("of a folder: exit %d, %q; want its project named", code, errs)
	}
	if got := request[memory.ForgetRequest](t, b, service.Forget.Name); got.Project != "p1" {
		t.Errorf("it forgets %q, want the project that was asked about", got.Project)
	}
	asked := 0
	b.fake.Before = func(context.Context, string) {
		if asked++; asked == 2 { // by the id
			b.fake.Err = &memory.Error{Code: memory.CodeNotFound, Field: "project", Message: "no project is called p1"}
		}
	}
	if _, errs, code := b.run("forget", "--project", "/tmp"); code != ExitNotFound || !strings.Contains(errs, "--project: nothing is remembered of project demo") || strings.Contains(errs, "Go on?") {
		t.Errorf("of a folder of which nothing is remembered: exit %d, %q", code, errs)
	}
}

// TestForgetUnknown: an id that nothing has is named, and the command fails, also where others
// were forgotten.
func TestForgetUnknown(t *testing.T) {
	b := newBench(t, sample())
	b.fake.Answers[service.Forget.Name] = &memory.Forgotten{Records: 1, Documents: 1, Unknown: []string{"l-mistyped"}}
	for _, args := range [][]string{{"forget", "l-1", "l-mistyped"}, {"forget", "l-1", "l-mistyped", "--json"}} {
		if out, errs, code := b.run(args...); code != ExitNotFound || errs != "" || !strings.Contains(out, "l-mistyped") {
			t.Errorf("%q: exit %d, %q, %q; want %d and the id", args, code, out, errs, ExitNotFound)
		}
	}
}

// TestInterruptedWhileItReads: a command that waits for an answer or for its input ends when it
// is interrupted, and does nothing.
func TestInterruptedWhileItReads(t *testing.T) {
	for _, args := range [][]string{{"forget", "--project", "demo"}, {"recall", "-"}} {
		b := newBench(t, sample())
		in, typed := io.Pipe()
		defer typed.Close()
		ctx, cancel := context.WithCancel(t.Context())
		opts := b.opts
		opts.Interactive, opts.Out, opts.Err = true, io.Discard, io.Discard
		opts.In = readerFunc(func(p []byte) (int, error) {
			cancel() // it has asked, and nothing is typed
			return in.Read(p)
		})
		ended := make(chan int, 1)
		go func() { ended <- Run(ctx, args, opts) }()
		select {
		case code := <-ended:
			if code != ExitInterrupted {
				t.Errorf("%q: exit %d, want %d", args, code, ExitInterrupted)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%q still waits, though it was interrupted", args)
		}
		for _, call := range b.fake.Calls() {
			if call.Operation == service.Forget.Name || call.Operation == service.Recall.Name {
				t.Errorf("%q: %s was called", args, call.Operation)
			}
		}
	}
}

// readerFunc is a reader that is a function.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestWaitEnds: a run that will never be over is not waited for.
func TestWaitEnds(t *testing.T) {
	queued, gone := &memory.IndexQueued{Sandbox: "s", Root: "/src"}, filepath.Join(t.TempDir(), "gone")
	for name, tc := range map[string]struct {
		repos []memory.SandboxState
		code  int
	}{
		"forgotten": {[]memory.SandboxState{}, ExitNotFound},
		"dropped":   {[]memory.SandboxState{{Sandbox: memory.Sandbox{ID: "s", Root: "/src"}}}, ExitUnavailable},
		"held":      {[]memory.SandboxState{{Sandbox: memory.Sandbox{ID: "s", Root: "/src", Paused: true}, Progress: &memory.Progress{Phase: "queued"}}}, ExitConflict},
		"gone":      {[]memory.SandboxState{{Sandbox: memory.Sandbox{ID: "s", Root: gone, GoneAt: noon}}}, ExitNotFound},
		"vanished":  {[]memory.SandboxState{{Sandbox: memory.Sandbox{ID: "s", Root: gone, LastError: "no such folder", LastErrorAt: noon}}}, ExitNotFound},
	} {
		b := newBench(t, map[string]any{service.IndexRepo.Name: queued, service.Repos.Name: &memory.RepoList{Repos: tc.repos}})
		if _, errs, code := b.run("index", "--wait"); code != tc.code {
			t.Errorf("%s: exit %d (%s), want %d", name, code, errs, tc.code)
		}
	}
	waiting := []memory.SandboxState{{Sandbox: memory.Sandbox{ID: "s", Root: "/src"}, Progress: &memory.Progress{Phase: "paused"}}}
	b := newBench(t, map[string]any{service.IndexRepo.Name: queued, service.Repos.Name: &memory.RepoList{Repos: waiting}})
	if _, errs, code := b.run("up"); code != ExitConflict || !strings.Contains(errs, "run 'recalld resume' to resume it") {
		t.Errorf("everything paused: exit %d (%s), want %d and how it goes on", code, errs, ExitConflict)
	}
}

// TestRunErrorIsOneLine: the name of a file in the error of a run begins no hint of ours.
func TestRunErrorIsOneLine(t *testing.T) {
	err := runError(&memory.SandboxState{Sandbox: memory.Sandbox{Root: t.TempDir(), LastError: "put a\nhint: run x"}})
	if text := memory.AsError(err).Message; !strings.HasSuffix(text, "failed: put a hint: run x") {
		t.Errorf("the error says %q, want one line", text)
	}
}
