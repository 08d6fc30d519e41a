package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestE2ESharedLog: sixteen processes write lessons of one repository at once, half
// of them through the daemon, half by the script, which finds no daemon and
// appends for itself. Every line is whole, and every lesson is found.
func TestE2ESharedLog(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("a POSIX shell is needed for the script: install one and put it on PATH")
	}
	m, dir := newMachine(t, "RECALLD_FOLLOW_EVERY=100ms"), shop(t)
	gitIn(t, dir)("init", "-q")
	m.run(dir, "index", "--wait")
	m.run(dir, "trust") // or what the script writes is not read
	text, err := os.ReadFile("../../configs/scripts/log_memory.sh")
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "agent-knowledge", "scripts", "log_memory.sh") // where connect installs it
	write(t, script, string(text))
	const writers, each = 16, 5
	names := strings.Fields("anna bruno clara dora emil fritz greta hugo ida jonas karla luis mona nils olga paul")
	lesson := func(w, i int) string {
		return fmt.Sprintf(`%s says in lesson %d: quote "it" and C:\path, then ünïcode`, names[w], i)
	}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				args := []string{"--repo", "shop", "--type", "pattern", "--context", "sixteen writers", "--lesson", lesson(w, i), "--tags", "log,many"}
				cmd := m.command(dir, append([]string{"remember"}, args...)...)
				if w%2 == 1 {
					cmd = exec.Command(shell, append([]string{script}, args...)...)
					cmd.Dir = dir
					cmd.Env = append(slices.Clone(m.env), "RECALLD=/nonexistent/recalld")
				}
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("writer %d: %v\n%s", w, err, out)
				}
			}
		})
	}
	all.Wait()

	log, err := os.ReadFile(filepath.Join(dir, "agent-knowledge", "logs", "shop.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]int{}
	for n, line := range strings.Split(strings.TrimSuffix(string(log), "\n"), "\n") {
		var event struct{ Lesson, Timestamp, Repo string }
		if err := json.Unmarshal([]byte(line), &event); err != nil || event.Repo != "shop" || event.Timestamp == "" {
			t.Errorf("line %d is %q: %v", n+1, line, err)
		}
		written[event.Lesson]++
	}
	for w := range writers {
		for i := range each {
			if n := written[lesson(w, i)]; n != 1 {
				t.Errorf("the log has lesson %d of writer %d %d times, want once", i, w, n)
			}
		}
	}

	// What the script wrote is taken over by the daemon as it follows the log.
	var kept int
	for range attempts {
		var st memory.Status
		m.ask(&st, dir, "call", "status")
		if kept = st.Records[memory.Lesson]; kept == writers*each {
			break
		}
	}
	if kept != writers*each {
		t.Fatalf("the daemon knows %d lessons, want %d", kept, writers*each)
	}
	for w := range writers {
		found := m.recall(dir, "what does "+names[w]+" say", "--kinds", "lesson", "--max-tokens", "8000")
		for i := range each {
			want := lesson(w, i)
			if !slices.ContainsFunc(found.Items, func(i memory.Item) bool { return i.Lesson == want }) {
				t.Errorf("lesson %d of %s is not found: %+v", i, names[w], found.Items)
			}
		}
	}
}
