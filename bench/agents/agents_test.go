// Package agents drives real coding agents through whole turns against a scripted model
// on loopback, and makes a table of what works in each: listing and calling every tool, what
// their model is shown, hooks, and a lesson of one found by another.
//
// It needs npm, which installs the versions in clients_test.go, and git. Each run has an
// empty home folder; nothing is sent beyond this machine, except by npm.
package agents

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The environment variables of the test: names of clients with commas, or "all"; and the
// file whose table is replaced.
const (
	clientsEnv = "RECALLD_TEST_AGENTS"
	tableEnv   = "RECALLD_AGENTS_TABLE"
)

func TestAgents(t *testing.T) {
	only := os.Getenv(clientsEnv)
	if only == "" {
		t.Skip("not run: it installs six agents from npm; make agents runs it")
	}
	var chosen []client
	for _, c := range clients {
		if only == "all" || strings.Contains(","+only+",", ","+c.name+",") {
			chosen = append(chosen, c)
		}
	}
	if len(chosen) == 0 {
		t.Fatalf("%s: %q names no client", clientsEnv, only)
	}
	bin := install(t, filepath.Join("..", "..", ".build", "agents"), chosen)
	w := newWorld(t, bin)
	rows := make([]row, len(chosen))
	for i, c := range chosen {
		t.Logf("%s %s: every tool", c.title, c.version)
		w.everyTool(c, &rows[i])
	}
	for i, c := range chosen {
		teller := chosen[(i+len(chosen)-1)%len(chosen)]
		t.Logf("%s %s: the lesson of %s", c.title, c.version, teller.title)
		w.lessonOf(c, teller, &rows[i])
	}
	table := table(rows)
	t.Log("\n" + table)
	for _, r := range rows {
		for _, fault := range r.faults {
			t.Errorf("%s: %s", r.title, fault)
		}
	}
	if path := os.Getenv(tableEnv); path != "" && !t.Failed() {
		if err := replaceTable(filepath.Join("..", "..", path), table); err != nil {
			t.Error(err)
		}
	}
}

// install brings the agents and recalld into the folder and returns the folders of
// their programs, as PATH has them.
func install(t *testing.T, dir string, chosen []client) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(dir, "bin")
	if err := os.MkdirAll(own, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := command(t.Context(), "", nil, "go", "build", "-trimpath", "-o", own, "github.com/recalld/recalld/cmd/recalld"); err != nil {
		t.Fatal(err)
	}
	packages := map[string]string{}
	for _, c := range chosen {
		packages[c.pkg] = c.version
	}
	return own + string(os.PathListSeparator) + npm(t, dir, packages)
}

// npm installs packages, by name and version, into the folder, and returns the folder of
// their programs. The test is skipped where that cannot be done.
func npm(t *testing.T, dir string, packages map[string]string) string {
	var missing []string
	for name, version := range packages {
		manifest, err := os.ReadFile(filepath.Join(dir, "node_modules", filepath.FromSlash(name), "package.json"))
		if err != nil || !bytes.Contains(manifest, []byte(`"version": "`+version+`"`)) {
			missing = append(missing, name+"@"+version)
		}
	}
	if len(missing) > 0 {
		t.Logf("npm install %s", strings.Join(missing, " "))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if _, err := command(ctx, "", nil, "npm", append([]string{"install", "--no-audit", "--no-fund", "--no-save", "--fetch-retries", "1", "--fetch-retry-mintimeout", "1000", "--fetch-retry-maxtimeout", "2000", "--fetch-timeout", "60000", "--prefix", dir}, missing...)...); err != nil {
			// npm prints much; the reason is in its first lines.
			t.Skipf("not run: npm (of Node.js: https://nodejs.org, or apt-get install npm) and its registry are needed: %.300v", err)
		}
	}
	return filepath.Join(dir, "node_modules", ".bin")
}

// command runs a program and returns what it printed on both outputs.
func command(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	// The program is looked up where the child would look, not where this process would.
	if path, err := lookPath(name, env); err == nil {
		name = path
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = env
	// A child that the program leaves behind keeps the pipe open.
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args[:min(2, len(args))], " "), err, out)
	}
	return string(out), nil
}
