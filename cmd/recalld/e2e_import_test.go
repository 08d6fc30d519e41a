package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// TestE2EImportKilled ends the import of logs, or the daemon that reads them, the hard way
// and at any moment: the next import takes the rest, and nothing twice.
func TestE2EImportKilled(t *testing.T) {
	m, dir := newMachine(t), shop(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "internal", "source", "agentlog", "testdata", "claude-code.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	const logs, calls = 400, 3
	for i := range logs {
		made := strings.NewReplacer("/src/shop", filepath.ToSlash(dir), "0f3a2c1e-1111", fmt.Sprintf("0f3a2c1e-%04d", i), "toolu_", fmt.Sprintf("toolu_%d_", i),
			"npm install", fmt.Sprintf("npm install package-%d", i)).Replace(string(text))
		write(t, filepath.Join(m.home(), ".claude", "projects", "shop", fmt.Sprintf("log%d.jsonl", i)), made)
	}
	chance := rand.New(rand.NewPCG(1, logs))
	kills := 0
	for round := range 25 {
		cmd := m.command(dir, "import", "agents", "--yes", "--json")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-ended:
			continue
		case <-time.After(time.Duration(20+chance.IntN(120)) * time.Millisecond):
		}
		process := cmd.Process
		if round%2 == 0 {
			var s memory.Status
			m.ask(&s, dir, "call", "status")
			if process, err = os.FindProcess(s.PID); err != nil {
				t.Fatal(err)
			}
		}
		if process.Kill() == nil {
			kills++
		}
		<-ended
	}
	var last memory.AgentImported
	m.ask(&last, dir, "import", "agents", "--yes")
	var s memory.Status
	m.ask(&s, dir, "call", "status")
	out := filepath.Join(t.TempDir(), "exported")
	m.run(dir, "export", out)
	steps, err := filepath.Glob(filepath.Join(out, "*", "*", "steps", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d kills; the last import took %d steps and found %d logs unchanged", kills, last.Added, last.Unchanged)
	if kills < 5 || len(steps) != logs*calls {
		t.Errorf("after %d kills %d steps are stored, want %d", kills, len(steps), logs*calls)
	}
	var again memory.AgentImported
	if m.ask(&again, dir, "import", "agents", "--yes"); again.Added != 0 || again.Unchanged != logs {
		t.Errorf("imported again: %+v", again)
	}
}
