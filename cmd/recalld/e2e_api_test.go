package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestE2EAPIPage runs the calls of docs/api.md as they stand there.
func TestE2EAPIPage(t *testing.T) {
	for _, program := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("not run: %s is needed", program)
		}
	}
	m, repo := newMachine(t), shop(t)
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "api.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(page), "```sh\n")
	script, _, _ = strings.Cut(script, "```")
	bin := t.TempDir()
	if err := os.Symlink(os.Args[0], filepath.Join(bin, "recalld")); err != nil {
		t.Skipf("not run: %v", err)
	}
	// Each answer is one line.
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", script)
	cmd.Dir = repo
	cmd.Env = append(m.env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	answers := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i, want := range []string{"", "belonged to root", "belonged to root", "", `"files":`} {
		switch {
		case i >= len(answers):
			t.Errorf("there are %d answers, want 5:\n%s", len(answers), out)
		case !json.Valid([]byte(answers[i])), strings.HasPrefix(answers[i], `{"error"`), !strings.Contains(answers[i], want):
			t.Errorf("answer %d is %s, want it to hold %q", i+1, answers[i], want)
		}
	}
}
