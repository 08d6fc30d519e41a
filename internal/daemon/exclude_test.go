package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestRepositoryStaysClean: what is written into a repository, and into a worktree of it,
// does not show in git status, unless the team shares it or somebody took the pattern back.
func TestRepositoryStaysClean(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for name, test := range map[string]struct {
		change  func(*config.Config)
		exclude string
		want    string // git status
	}{
		"by default":     {nil, "", ""},
		"a file of git":  {nil, "# git ls-files\n*.tmp", ""},
		"shared":         {func(c *config.Config) { c.Lessons.Shared = true }, "", "?? agent-knowledge/"},
		"taken back":     {nil, "!/agent-knowledge/logs\n", "?? agent-knowledge/"},
		"another folder": {func(c *config.Config) { c.Sessions.Dir = "notes/runs" }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := shop(t)
			git := func(dir string, args ...string) string {
				t.Helper()
				cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
				cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("git %v: %v\n%s", args, err, out)
				}
				return strings.TrimSpace(string(out))
			}
			git(dir, "init", "-q")
			git(dir, "add", ".")
			git(dir, "commit", "-q", "-m", "shop")
			tree := filepath.Join(filepath.Dir(dir), "tree")
			git(dir, "worktree", "add", "-q", tree)
			exclude := filepath.Join(dir, ".git", "info", "exclude")
			if test.exclude != "" {
				must(t, os.WriteFile(exclude, []byte(test.exclude), 0o600))
			}
			cfg := newConfig(t)
			if test.change != nil {
				test.change(&cfg)
			}
			s := serve(t, cfg)
			for _, at := range []string{dir, tree} {
				in := memory.Caller{Dir: at, Client: "c"}
				s.keep(at, "Confirm mails are sent once")
				state, err := service.StartSession.Do(t.Context(), s, memory.StartSessionRequest{Goal: "g", Caller: in})
				must(t, err)
				_, err = service.RecordStep.Do(t.Context(), s, memory.RecordStepRequest{SessionID: state.ID, Tool: memory.StepTool{Name: "edit"}, Outcome: memory.Outcome{OK: true}, Caller: in})
				must(t, err)
				if _, err := os.Stat(filepath.Join(at, cfg.Sessions.Dir, state.ID, "session.json")); err != nil {
					t.Errorf("no file of the session: %v", err)
				}
				if got := git(at, "status", "--porcelain"); got != test.want {
					t.Errorf("git status of %s: %q, want %q", filepath.Base(at), got, test.want)
				}
			}
			text, err := os.ReadFile(exclude)
			must(t, err)
			if !strings.HasPrefix(string(text), test.exclude) || strings.Count(string(text), "/"+cfg.Sessions.Dir+"\n") != 1 {
				t.Errorf("the file is now\n%s", text)
			}
		})
	}
}
