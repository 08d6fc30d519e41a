package cli

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/connect"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/lessonlog"
)

// connectBench is a command line in a repository of its own.
func connectBench(t *testing.T) (b *bench, home, repo string) {
	t.Helper()
	b = newBench(t, nil)
	home = b.opts.Getenv("HOME")
	repo = b.opts.Dir
	if err := os.MkdirAll(filepath.Join(repo, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": ""} {
		if err := os.WriteFile(filepath.Join(repo, ".git", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return b, home, repo
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestConnectClaudeCode(t *testing.T) {
	b, home, repo := connectBench(t)
	settings := filepath.Join(home, ".claude", "settings.json")
	if out := b.ok("connect", "claude-code", "--dry-run"); !strings.Contains(out, "+++ "+settings) || exists(settings) {
		t.Errorf("a dry run shows\n%s\nand has written: %t", out, exists(settings))
	}
	if out := b.ok("connect", "claude-code", "--print"); !strings.Contains(out, `"mcpServers"`) || exists(settings) {
		t.Errorf("--print shows\n%s", out)
	}
	out := b.ok("connect", "claude-code", "--script", "--instructions")
	text, err := os.ReadFile(settings)
	if err != nil || !strings.Contains(string(text), "/opt/bin/recalld hook claude-code PostToolUse") {
		t.Errorf("the hooks are %s (%v)", text, err)
	}
	script := filepath.Join(repo, filepath.FromSlash(lessonlog.ScriptPath))
	for _, path := range []string{filepath.Join(home, ".claude.json"), filepath.Join(home, ".claude", "CLAUDE.md"), script} {
		if !exists(path) {
			t.Errorf("%s is not there after\n%s", path, out)
		}
	}
	out = b.ok("connect", "claude-code", "--script", "--instructions")
	if !strings.Contains(out, "already connected") || strings.Contains(out, "written") {
		t.Errorf("a second run says\n%s", out)
	}
	var result connectResult
	if err := json.Unmarshal([]byte(b.ok("connect", "claude-code", "--json")), &result); err != nil || len(result.Files) != 2 || result.Files[0].Result != "unchanged" {
		t.Errorf("as JSON it is %+v (%v)", result, err)
	}
	if out := b.ok("connect"); !strings.Contains(out, "claude-code  user   hooks         connected") {
		t.Errorf("the list is\n%s", out)
	}
	b.ok("connect", "claude-code", "--prompts")
	var list struct{ Clients []clientState }
	if err := json.Unmarshal([]byte(b.ok("connect", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	for _, p := range list.Clients[0].Parts {
		if p.Scope == connect.User && p.State != connect.Connected {
			t.Errorf("with the hook for prompts %s is %s", p.What, p.State)
		}
	}
	if out := b.ok("connect", "claude-code", "--remove"); !strings.Contains(out, "no longer connected") || exists(settings) {
		t.Errorf("removal says\n%s", out)
	}
	if out := b.ok("connect", "claude-code", "--remove"); !strings.Contains(out, "was not connected") {
		t.Errorf("a second removal says\n%s", out)
	}
}

// TestConnectNotes: that hooks are to be trusted is said where there are some.
func TestConnectNotes(t *testing.T) {
	b, _, _ := connectBench(t)
	const note = "Codex asks about new hooks"
	if out := b.ok("connect", "codex", "--project"); strings.Contains(out, note) {
		t.Errorf("a project has no hooks of Codex, and it says\n%s", out)
	}
	if out := b.ok("connect", "codex", "--no-hooks"); strings.Contains(out, note) {
		t.Errorf("without hooks it says\n%s", out)
	}
	if out := b.ok("connect", "codex"); !strings.Contains(out, note) {
		t.Errorf("with hooks it says\n%s", out)
	}
}

func TestConnectProject(t *testing.T) {
	b, home, repo := connectBench(t)
	below := filepath.Join(repo, "cmd", "x")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	b.ok("connect", "cursor", "--project", "--dir", below, "--data", filepath.Join(home, "other data"))
	text, err := os.ReadFile(filepath.Join(repo, ".cursor", "mcp.json"))
	if err != nil || !strings.Contains(string(text), "--data") {
		t.Errorf("the repository's file is %s (%v)", text, err)
	}
	if exists(filepath.Join(home, ".cursor")) {
		t.Error("the user's files were touched")
	}
}

// TestConnectLeavesTheRepositoryClean: the backup of a file of the repository does not show
// in git status.
func TestConnectLeavesTheRepositoryClean(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is needed: install it and put it on PATH")
	}
	b, _, dir := connectBench(t)
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	for name, text := range map[string]string{".mcp.json": `{"mcpServers": {"other": {"command": "x"}}}`, ".claude/settings.local.json": `{"model": "x"}`} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "first")
	b.ok("connect", "claude-code", "--project")
	if backups, err := filepath.Glob(filepath.Join(dir, ".mcp.json.recalld-*.bak")); err != nil || len(backups) != 1 {
		t.Fatalf("the backups are %v, %v", backups, err)
	}
	if got := git("status", "--porcelain"); strings.Contains(got, "??") {
		t.Errorf("git status says\n%s", got)
	}
}

func TestConnectRefuses(t *testing.T) {
	b, home, _ := connectBench(t)
	for _, args := range [][]string{
		{"emacs"}, {"cursor", "codex"}, {"--remove"}, {"cursor", "--user", "--project"}, {"cursor", "--print", "--dry-run"},
		{"cursor", "--instructions"}, {"claude-code", "--hooks", "--no-hooks"},
	} {
		if out, errs, code := b.run(append([]string{"connect"}, args...)...); code != ExitUsage || errs == "" {
			t.Errorf("connect %q ends with %d: %s%s", args, code, out, errs)
		}
	}
	if _, errs, _ := b.run("connect", "--dry-run"); !strings.Contains(errs, "--dry-run needs a client or --all: claude-code, ") {
		t.Errorf("connect --dry-run says %q, want what it needs", errs)
	}
	// Nothing is written when one of a client's files cannot be.
	settings := filepath.Join(home, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte("{\n  broken"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, errs, code := b.run("connect", "claude-code")
	if code != ExitConflict || !strings.Contains(errs, "line 2") || exists(filepath.Join(home, ".claude.json")) {
		t.Errorf("beside a broken file it ends with %d, %q; written: %t", code, errs, exists(filepath.Join(home, ".claude.json")))
	}
	b.ok("connect", "claude-code", "--no-hooks")
	if out := b.ok("connect"); !strings.Contains(out, "unreadable") {
		t.Errorf("the list hides a broken file:\n%s", out)
	}
}

func TestConnectTemporaryProgram(t *testing.T) {
	b, home, _ := connectBench(t)
	b.opts.Executable = filepath.Join(os.TempDir(), "go-build1", "recalld")
	b.ok("connect", "codex")
	text, err := os.ReadFile(filepath.Join(home, ".codex", "config.toml"))
	if err != nil || !strings.Contains(string(text), `command = "recalld"`) {
		t.Errorf("the path of a program that will be gone is in %s (%v)", text, err)
	}
}

// TestConnectAllOfProject: clients with one file of instructions in a project share it.
func TestConnectAllOfProject(t *testing.T) {
	b, home, repo := connectBench(t)
	for _, dir := range []string{".codex", ".gemini", filepath.Join(".config", "zed")} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.ok("connect", "--all", "--project", "--instructions")
	for _, name := range []string{".codex/config.toml", ".gemini/settings.json", ".zed/settings.json", "GEMINI.md"} {
		if !exists(filepath.Join(repo, filepath.FromSlash(name))) {
			t.Errorf("%s is not there", name)
		}
	}
	text, err := os.ReadFile(filepath.Join(repo, "AGENTS.md"))
	if n := strings.Count(string(text), "recalld:begin"); err != nil || n != 1 {
		t.Errorf("AGENTS.md has the instructions %d times, want once (%v)", n, err)
	}
	b.ok("connect", "codex", "--project", "--remove")
	if text, err = os.ReadFile(filepath.Join(repo, "AGENTS.md")); err != nil || !strings.Contains(string(text), "recalld:begin") {
		t.Errorf("AGENTS.md lost the instructions, which Zed reads, with Codex: %q (%v)", text, err)
	}
	b.ok("connect", "--all", "--project", "--remove")
	if left, err := os.ReadDir(repo); err != nil || len(left) != 1 {
		t.Errorf("the project has %v after the removal, want .git alone (%v)", left, err)
	}
}

// TestConnectLinkedInstructions: a link to AGENTS.md shares it, too.
func TestConnectLinkedInstructions(t *testing.T) {
	b, home, repo := connectBench(t)
	for _, dir := range []string{".codex", ".gemini"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	shared, mine := filepath.Join(repo, "AGENTS.md"), "Be kind.\n"
	if err := os.WriteFile(shared, []byte(mine), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("AGENTS.md", filepath.Join(repo, "GEMINI.md")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	b.ok("connect", "--all", "--project", "--instructions")
	b.ok("connect", "gemini-cli", "--project", "--remove")
	if text, err := os.ReadFile(shared); err != nil || strings.Count(string(text), "recalld:begin") != 1 {
		t.Errorf("AGENTS.md lost the instructions, which Codex reads: %q (%v)", text, err)
	}
	b.ok("connect", "--all", "--project", "--remove")
	if text, err := os.ReadFile(shared); err != nil || string(text) != mine {
		t.Errorf("AGENTS.md is %q after the removal, want %q (%v)", text, mine, err)
	}
}

// TestConnectAll: every client that was found is connected, and one that cannot be does not
// keep the others from it.
func TestConnectAll(t *testing.T) {
	b, home, _ := connectBench(t)
	if _, errs, code := b.run("connect", "--all"); code != ExitNotFound || !strings.Contains(errs, "no supported agent") {
		t.Errorf("without any client it ends with %d, %q", code, errs)
	}
	for _, dir := range []string{".codex", ".cursor", ".gemini"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	broken := filepath.Join(home, ".cursor", "mcp.json")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := b.run("connect", "--all")
	if code != ExitConflict || !strings.Contains(errs, "mcp.json") || !strings.Contains(out, "codex is connected") || !strings.Contains(out, "cursor is not connected") || !strings.Contains(out, "gemini-cli is connected") {
		t.Errorf("it ends with %d and says\n%s%s", code, out, errs)
	}
	if strings.Contains(errs, "nothing was changed") {
		t.Errorf("others were connected, and it says %s", errs)
	}
	if out, _, code := b.run("connect", "--all", "--remove"); code != ExitConflict || !strings.Contains(out, "cursor stays as it is") || !strings.Contains(out, "codex is no longer connected") {
		t.Errorf("the removal ends with %d and says\n%s", code, out)
	}
	if err := os.Remove(broken); err != nil {
		t.Fatal(err)
	}
	var result struct{ Clients []connectResult }
	if err := json.Unmarshal([]byte(b.ok("connect", "--all", "--json")), &result); err != nil || len(result.Clients) != 3 || result.Clients[1].Files[0].Result != "written" || result.Clients[1].Tools != 5 {
		t.Errorf("as JSON it is %+v (%v)", result, err)
	}
	b.ok("connect", "--all", "--remove")
	for _, dir := range []string{".codex", ".cursor", ".gemini"} {
		if left, err := os.ReadDir(filepath.Join(home, dir)); err != nil || len(left) > 0 {
			t.Errorf("%s has %v after the removal (%v)", dir, left, err)
		}
	}
}

// TestConnectChecksFirst: a server that does not start is in no file.
func TestConnectChecksFirst(t *testing.T) {
	b, home, _ := connectBench(t)
	var started connect.Server
	b.opts.Check = func(_ context.Context, s connect.Server, _ string) (int, error) {
		started = s
		return 0, memory.Errorf(memory.CodeUnavailable, "the server does not start")
	}
	out, errs, code := b.run("connect", "codex", "--toolsets", "tasks,knowledge")
	if code != ExitUnavailable || !strings.Contains(errs, "does not start") || strings.Contains(out, "connected") || exists(filepath.Join(home, ".codex")) {
		t.Errorf("it ends with %d and says\n%s%s", code, out, errs)
	}
	if want := "mcp --toolsets tasks,knowledge"; strings.Join(started.Args, " ") != want {
		t.Errorf("the server was started with %q, want %q", started.Args, want)
	}
	if _, errs, code := b.run("connect", "codex", "--toolsets", "No Such"); code != ExitUsage {
		t.Errorf("toolsets that do not exist: %d, %q", code, errs)
	}
	b.ok("connect", "codex", "--dry-run") // starts nothing
}

// TestConnectAsksAboutSharing once, and keeps the answer where git and the daemon read it.
func TestConnectAsksAboutSharing(t *testing.T) {
	for answer, want := range map[string]string{"y\n": "!/agent-knowledge/logs\n", "n\n": "/agent-knowledge/logs\n", "": "/agent-knowledge/logs\n"} {
		b, _, repo := connectBench(t)
		b.fake.Answers = map[string]any{"repos": &memory.RepoList{Repos: []memory.SandboxState{{Sandbox: memory.Sandbox{Root: repo}}}}}
		excluded := func() string {
			text, _ := os.ReadFile(filepath.Join(repo, ".git", "info", "exclude"))
			return string(text)
		}
		if b.ok("connect", "codex"); excluded() != "" {
			t.Errorf("without a terminal it writes %q", excluded())
		}
		b.opts.Interactive, b.opts.In = true, strings.NewReader(answer)
		if _, errs, _ := b.run("connect", "codex"); !strings.Contains(errs, "Share them with your team") || excluded() != want {
			t.Errorf("%q writes %q: %s", answer, excluded(), errs)
		}
		if _, errs, _ := b.run("connect", "codex"); strings.Contains(errs, "Share") || excluded() != want {
			t.Errorf("it asks again: %s, %q", errs, excluded())
		}
	}
	b, _, repo := connectBench(t)
	if err := os.MkdirAll(filepath.Join(repo, "agent-knowledge", "logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.fake.Answers = map[string]any{"repos": &memory.RepoList{Repos: []memory.SandboxState{{Sandbox: memory.Sandbox{Root: repo}}}}}
	b.opts.Interactive, b.opts.In = true, strings.NewReader("y\n")
	if _, errs, _ := b.run("connect", "codex"); strings.Contains(errs, "Share") {
		t.Errorf("it asks about a folder that exists: %s", errs)
	}
}

// TestConnectIndexes: a flag has the repository indexed, and a person is asked once.
func TestConnectIndexes(t *testing.T) {
	b, _, repo := connectBench(t)
	b.fake.Answers = map[string]any{"index_repo": &memory.IndexQueued{Root: repo, ProjectName: "work"}}
	b.ok("connect", "codex")
	if calls := b.fake.Calls(); len(calls) > 1 || len(calls) == 1 && calls[0].Operation == "index_repo" {
		t.Errorf("without the flag it calls %+v", calls)
	}
	if out := b.ok("connect", "codex", "--index"); !strings.Contains(out, "Queued "+repo) {
		t.Errorf("with the flag it says\n%s", out)
	}
	b.opts.Interactive, b.opts.In = true, strings.NewReader("y\nn\n")
	if out, errs, _ := b.run("connect", "codex"); !strings.Contains(errs, "is not indexed") || !strings.Contains(out, "Queued") {
		t.Errorf("at a terminal it says\n%s%s", out, errs)
	}
	b.fake.Answers["repos"] = &memory.RepoList{Repos: []memory.SandboxState{{Sandbox: memory.Sandbox{Root: repo}}}}
	if _, errs, _ := b.run("connect", "codex"); strings.Contains(errs, "is not indexed") {
		t.Errorf("it asks about an indexed repository: %s", errs)
	}
}
