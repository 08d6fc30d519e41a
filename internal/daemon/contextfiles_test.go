package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestContextFiles: what a repository's files have is in the catalogue of whoever asks
// in it, follows the files, comes back after the project was forgotten, and stays out
// if the settings say so.
func TestContextFiles(t *testing.T) {
	cfg := newConfig(t)
	dir := t.TempDir()
	agents := filepath.Join(dir, "AGENTS.md")
	must(t, os.WriteFile(agents, []byte("Write tests first.\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, ".mcp.json"), []byte(`{"mcpServers": {"files": {"command": "run-me", "env": {"TOKEN": "hidden"}}}}`), 0o644))
	s := serve(t, cfg)
	in := memory.Caller{Dir: dir, Client: "test"}
	s.trust(dir)
	list := func(want ...string) {
		t.Helper()
		found, err := service.Entries.Do(t.Context(), s, memory.EntriesRequest{Content: true, Caller: in})
		must(t, err)
		var got []string
		for _, e := range found.Entries {
			got = append(got, e.Source+" "+e.Content)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("the catalogue has %q, want %q", got, want)
		}
		if len(want) > 0 && (len(found.Servers) != 1 || found.Servers[0].Name != "files") {
			t.Errorf("the servers are %+v, want files by name alone", found.Servers)
		}
	}
	list("file:AGENTS.md Write tests first.")
	must(t, os.WriteFile(agents, []byte("Write tests first, and last.\n"), 0o644))
	list("file:AGENTS.md Write tests first, and last.")
	_, err := service.StartSession.Do(t.Context(), s, memory.StartSessionRequest{SessionID: "files-1", Caller: in})
	must(t, err)
	a, err := service.Assemble.Do(t.Context(), s, memory.AssembleRequest{Message: "What comes first?", SessionRef: memory.SessionRef{SessionID: "files-1", Caller: in}})
	must(t, err)
	if !strings.Contains(a.Text, "and last") {
		t.Errorf("the context lacks the rule of AGENTS.md:\n%s", a.Text)
	}
	_, err = service.Forget.Do(t.Context(), s, memory.ForgetRequest{Project: a.Project})
	must(t, err)
	list() // what was agreed to went with the project
	s.trust(dir)
	list("file:AGENTS.md Write tests first, and last.")
	found, err := service.Entries.Do(t.Context(), s, memory.EntriesRequest{Caller: in})
	must(t, err)
	_, err = service.Forget.Do(t.Context(), s, memory.ForgetRequest{IDs: []string{found.Entries[0].ID}})
	must(t, err)
	list()
	must(t, os.Remove(agents))
	must(t, os.Remove(filepath.Join(dir, ".mcp.json")))
	list()

	cfg = newConfig(t)
	cfg.Context.Files = false
	s = serve(t, cfg)
	s.trust(dir)
	must(t, os.WriteFile(agents, []byte("Write tests first.\n"), 0o644))
	list()
}

// TestContextFileProblems: what is wrong with a file is logged once, as an error that status
// shows with the file's whole path, without the secret that stands where a name should.
func TestContextFileProblems(t *testing.T) {
	const secret = "ghp_" + "a8Kd93mXz71QwErTyUiOpAsDfGhJkLzXcVbN"
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, ".recalld"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, ".recalld", "context.yaml"), []byte("rules: []\n"+secret+": []\n"), 0o644))
	s := serve(t, newConfig(t))
	s.trust(dir)
	for range 2 {
		_, err := service.Entries.Do(t.Context(), s, memory.EntriesRequest{Caller: memory.Caller{Dir: dir, Client: "test"}})
		must(t, err)
	}
	log := s.log.String()
	if strings.Count(log, "unknown field") != 1 || strings.Contains(log, secret) {
		t.Errorf("logged:\n%s\nwant one unknown field, and no secret", log)
	}
	file := filepath.Join(filepath.Base(dir), ".recalld", "context.yaml")
	s.until("told of the bad line", func(st *memory.Status) bool {
		return len(st.Errors) == 1 && strings.Contains(st.Errors[0].Message, file+":2: ")
	})
}

// TestContextFilesOfWorktrees: two worktrees of a repository have one catalogue. While
// their files are the same, asking in one and in the other writes nothing; when they
// are not, those of the one that is asked in count.
func TestContextFilesOfWorktrees(t *testing.T) {
	main, side := t.TempDir(), t.TempDir()
	aside := filepath.Join(main, ".git", "worktrees", "side")
	must(t, os.MkdirAll(aside, 0o755))
	for path, text := range map[string]string{
		filepath.Join(main, ".git", "HEAD"): "ref: refs/heads/main\n", filepath.Join(aside, "HEAD"): "ref: refs/heads/side\n",
		filepath.Join(aside, "commondir"): "../..\n", filepath.Join(aside, "gitdir"): filepath.Join(side, ".git") + "\n",
		filepath.Join(side, ".git"): "gitdir: " + aside + "\n",
	} {
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write := func(dir, text string) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte(text), 0o644))
	}
	write(main, "Write tests first.")
	write(side, "Write tests first.")
	s := serve(t, newConfig(t))
	s.trust(side) // and with it the folder that it is a worktree of
	project := ""
	list := func(dir, content string, version int) {
		t.Helper()
		found, err := service.Entries.Do(t.Context(), s, memory.EntriesRequest{Content: true, Caller: memory.Caller{Dir: dir, Client: "test"}})
		must(t, err)
		if project == "" {
			project = found.Project
		}
		if len(found.Entries) != 1 || found.Entries[0].Content != content || found.Entries[0].Version != version || found.Project != project {
			t.Errorf("in %s project %s has %+v; want project %s with the rule %q, version %d", dir, found.Project, found.Entries, project, content, version)
		}
	}
	list(main, "Write tests first.", 1)
	list(side, "Write tests first.", 1)
	list(main, "Write tests first.", 1)
	write(side, "Write no tests.")
	list(side, "Write no tests.", 2)
	list(main, "Write tests first.", 3)
}

// TestAuditFile: every event of working memory is a line in the caller's repository, if
// the settings say so.
func TestAuditFile(t *testing.T) {
	for name, write := range map[string]bool{"on": true, "off": false} {
		t.Run(name, func(t *testing.T) {
			cfg := newConfig(t)
			cfg.Tasks.AuditFile = write
			s, dir := serve(t, cfg), t.TempDir()
			// Outside of git nothing is written, unless the folder is there.
			must(t, os.Mkdir(filepath.Join(dir, "logs"), 0o755))
			caller := memory.Caller{Dir: dir}
			kept, err := service.CompleteTask.Do(t.Context(), s, memory.CompleteTaskRequest{TaskID: "task-1", ValidationReport: []byte(`{"valid":true}`), Caller: caller})
			must(t, err)
			_, err = service.BlockTask.Do(t.Context(), s, memory.BlockTaskRequest{TaskID: "task-2", Reason: "waits for review", Caller: caller})
			must(t, err)
			text, err := os.ReadFile(filepath.Join(dir, "logs", "audit.log.jsonl"))
			if !write {
				if err == nil || kept.AuditFile != "" {
					t.Errorf("nothing is to be written: %v, %q", err, kept.AuditFile)
				}
				return
			}
			must(t, err)
			if lines := strings.Split(strings.TrimSpace(string(text)), "\n"); len(lines) != 2 || !strings.Contains(lines[0], "task-1") || !strings.Contains(lines[1], "waits for review") {
				t.Errorf("the audit file holds:\n%s", text)
			}
		})
	}
}
