package connect

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/golden"
)

var server = Server{Command: "recalld", Args: []string{"mcp"}}

func noEnv(string) string { return "" }

// TestClients shows every client's files on every system, and what goes into
// them.
func TestClients(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the golden file has slashes: run it on Linux or macOS")
	}
	var out strings.Builder
	for _, c := range Clients() {
		fmt.Fprintf(&out, "== %s (%s)\n%s\n", c.Name, c.Title, c.Docs)
		for _, system := range []string{"linux", "darwin", "windows"} {
			m := Machine{OS: system, Home: "/home/me", Getenv: noEnv}
			for _, scope := range []Scope{User, Project} {
				for _, p := range c.parts(m, Options{Scope: scope, Dir: "/src/shop", Server: server}, true) {
					fmt.Fprintf(&out, "%s %s %s: %s\n", system, scope, p.what, strings.Join(p.paths, " or "))
				}
			}
		}
		scope := Project
		if len(c.files(Machine{Getenv: noEnv}, Options{Scope: Project}).server) == 0 {
			scope = User
		}
		snippets, err := c.Snippets(Machine{OS: "linux", Home: "/home/me", Getenv: noEnv}, Options{Scope: scope, Dir: "/src/shop", Server: server, Prompts: true, Instructions: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range snippets {
			fmt.Fprintf(&out, "-- %s\n%s\n", s.What, s.Text)
		}
		fmt.Fprintln(&out)
	}
	golden.Equal(t, "testdata/clients.txt", out.String())
}

func TestEnvironmentMovesFolders(t *testing.T) {
	dir := t.TempDir()
	for variable, client := range map[string]string{"CLAUDE_CONFIG_DIR": "claude-code", "CODEX_HOME": "codex", "XDG_CONFIG_HOME": "opencode", "APPDATA": "vscode"} {
		c, err := Find(client)
		if err != nil {
			t.Fatal(err)
		}
		m := Machine{OS: "linux", Home: t.TempDir(), Getenv: func(name string) string {
			return map[string]string{variable: dir}[name]
		}}
		if variable == "APPDATA" {
			m.OS = "windows"
		}
		for _, p := range c.parts(m, Options{Scope: User, Server: server}, true) {
			if !strings.HasPrefix(p.path(), dir) {
				t.Errorf("%s=%s: %s of %s is %s", variable, dir, p.what, client, p.path())
			}
		}
		m.Getenv = func(string) string { return "relative" }
		for _, p := range c.parts(m, Options{Scope: User, Server: server}, true) {
			if !strings.HasPrefix(p.path(), m.Home) {
				t.Errorf("a relative %s: %s of %s is %s, want it below %s", variable, p.what, client, p.path(), m.Home)
			}
		}
	}
}

// rig is a client on an empty machine.
type rig struct {
	t       *testing.T
	client  Client
	machine Machine
	options Options
	created *Created
}

func newRig(t *testing.T, client string) *rig {
	t.Helper()
	c, err := Find(client)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t, c, Machine{OS: runtime.GOOS, Home: t.TempDir(), Getenv: noEnv}, Options{Scope: User, Server: server}, OpenCreated(filepath.Join(t.TempDir(), "created.json"))}
}

// path is the file of a part.
func (r *rig) path(what string) string {
	r.t.Helper()
	for _, p := range r.client.parts(r.machine, r.options, true) {
		if p.what == what {
			return p.path()
		}
	}
	r.t.Fatalf("%s has no %s", r.client.Name, what)
	return ""
}

var at = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

// apply plans and carries out; it returns what was changed.
func (r *rig) apply(plan func(Client, Machine, Options) ([]Change, error)) (changed []string) {
	r.t.Helper()
	changes, err := plan(r.client, r.machine, r.options)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, c := range changes {
		done, err := Apply(c, at, r.created, nil)
		if err != nil {
			r.t.Fatal(err)
		}
		if done.Changed != !c.None() {
			r.t.Errorf("%s: changed is %t", c.Path, done.Changed)
		}
		if done.Changed {
			changed = append(changed, c.What)
		}
		if c.Before != nil && done.Backup != "" && read(r.t, done.Backup) != string(c.Before) {
			r.t.Errorf("the backup %s is not what the file was", done.Backup)
		}
	}
	return changed
}

func (r *rig) states() map[string]State {
	r.t.Helper()
	all, err := r.client.Status(r.machine, r.options)
	if err != nil {
		r.t.Fatal(err)
	}
	states := map[string]State{}
	for _, s := range all {
		states[s.What] = s.State
	}
	return states
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func put(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// TestConnectAndDisconnect: every client on an empty machine and back.
func TestConnectAndDisconnect(t *testing.T) {
	for _, c := range Clients() {
		for _, scope := range []Scope{User, Project} {
			t.Run(c.Name+"/"+string(scope), func(t *testing.T) {
				r := newRig(t, c.Name)
				r.options.Scope, r.options.Dir = scope, t.TempDir()
				if len(c.files(r.machine, Options{Scope: scope, Dir: r.options.Dir}).server) == 0 {
					if _, err := c.Connect(r.machine, r.options); memory.CodeOf(err) != memory.CodeInvalidInput {
						t.Errorf("a client without a file for a project: %v, want it refused", err)
					}
					return
				}
				r.options.Instructions = c.files(r.machine, r.options).instructions != ""
				parts := c.parts(r.machine, r.options, r.options.Instructions)
				if got := r.apply(Client.Connect); len(got) != len(parts) {
					t.Fatalf("connecting changed %v, want all %d parts", got, len(parts))
				}
				for what, state := range r.states() {
					if state != Connected {
						t.Errorf("%s is %s", what, state)
					}
				}
				if got := r.apply(Client.Connect); len(got) > 0 {
					t.Errorf("a second run changed %v", got)
				}
				r.options.Server = Server{Command: "/opt/bin/recalld", Args: []string{"mcp", "--data", "/my data"}}
				if state := r.states()[whatServer]; state != Differs {
					t.Errorf("with another command the server is %s", state)
				}
				r.apply(Client.Connect)
				if state := r.states()[whatServer]; state != Connected {
					t.Errorf("connected anew the server is %s", state)
				}
				r.apply(Client.Disconnect)
				for _, p := range parts {
					if _, err := os.Stat(p.path()); !os.IsNotExist(err) {
						t.Errorf("%s is left of a file that was not there: %v", p.path(), err)
					}
				}
				for _, dir := range []string{r.machine.Home, r.options.Dir} {
					if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
						t.Errorf("%s is left in the folder: %v", left, err)
					}
				}
				if got := r.apply(Client.Disconnect); len(got) > 0 {
					t.Errorf("a second removal changed %v", got)
				}
			})
		}
	}
}

func TestInstructionsWithoutFile(t *testing.T) {
	r := newRig(t, "cursor")
	r.options.Instructions = true
	for name, hint := range map[string]string{"cursor": "--project", "cline": "--project", "claude-desktop": "without instructions"} {
		c, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Connect(r.machine, r.options)
		if e := memory.AsError(err); err == nil || e.Code != memory.CodeInvalidInput || !strings.Contains(e.Hint, hint) {
			t.Errorf("instructions of %s, which has no file for them: %v, hint %q", name, err, e.Hint)
		}
	}
}

// TestInstructionsAlone: a client without settings for one project has its instructions there.
func TestInstructionsAlone(t *testing.T) {
	r := newRig(t, "cline")
	r.options.Scope = Project
	if _, err := r.client.Connect(r.machine, r.options); memory.CodeOf(err) != memory.CodeInvalidInput {
		t.Errorf("without instructions there is nothing to write: %v", err)
	}
	r.options.Instructions = true
	changes, err := r.client.Connect(r.machine, r.options)
	if err != nil || len(changes) != 1 || changes[0].What != whatInstructions || changes[0].None() {
		t.Errorf("with instructions it writes %+v, %v", changes, err)
	}
}

func TestFindNamesTheClients(t *testing.T) {
	_, err := Find("emacs")
	if e := memory.AsError(err); e.Code != memory.CodeInvalidInput || !strings.Contains(e.Limit, "claude-code, codex") {
		t.Errorf("an unknown client: %#v", err)
	}
}

// TestApplyKeeps: links, modes and concurrent changes.
func TestApplyKeeps(t *testing.T) {
	r := newRig(t, "gemini-cli")
	path := r.path(whatServer)
	target := filepath.Join(t.TempDir(), "dotfiles", "gemini.json")
	put(t, target, "{}\n", 0o640)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("no links here: %v", err)
	}
	r.apply(Client.Connect)
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info.Mode(), err)
	}
	if !strings.Contains(read(t, target), "mcpServers") {
		t.Error("what the link leads to was not written")
	}
	if info, err := os.Stat(target); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("its mode is %v, want 0640: %v", info.Mode(), err)
	}
	if got, want := read(t, target+".recalld-20260115-120000.bak"), "{}\n"; got != want {
		t.Errorf("the backup holds %q, want %q", got, want)
	}

	changes, err := r.client.Disconnect(r.machine, r.options)
	if err != nil {
		t.Fatal(err)
	}
	put(t, target, `{"theirs": 1}`, 0o640)
	if _, err := Apply(changes[0], at, r.created, nil); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("a file that was changed since the plan: %v, want a conflict", err)
	}
	if read(t, target) != `{"theirs": 1}` {
		t.Error("the concurrent change is lost")
	}
}

// TestRefuses: files that are not understood or not to be written are left alone,
// the others of the client too.
func TestRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		client, what, text string
		mode               os.FileMode
		code               memory.Code
		want               string
	}{
		"broken JSON":        {"cursor", whatServer, "{\n  \"a\": 1,\n  oops\n}\n", 0o644, memory.CodeConflict, "line 3"},
		"cut JSON":           {"zed", whatServer, "// mine\n{\"a\": [1, 2", 0o644, memory.CodeConflict, "line 2"},
		"a list":             {"vscode", whatServer, "[1]", 0o644, memory.CodeConflict, "no JSON object"},
		"servers no object":  {"vscode", whatServer, "{\n\n\"servers\": 3}", 0o644, memory.CodeConflict, "line 3"},
		"hooks no object":    {"claude-code", whatHooks, "{\"hooks\": []}", 0o644, memory.CodeConflict, "line 1"},
		"broken hooks":       {"claude-code", whatHooks, "{\"hooks\": {}", 0o644, memory.CodeConflict, "line 1"},
		"read-only":          {"opencode", whatServer, "{}", 0o444, memory.CodeForbidden, "read-only"},
		"broken TOML":        {"codex", whatServer, "a = 1\nb = \"x\n", 0o600, memory.CodeConflict, "line 2"},
		"key twice":          {"codex", whatServer, "a = 1\na = 2\n", 0o600, memory.CodeConflict, "not TOML"},
		"servers inline":     {"codex", whatServer, "mcp_servers = { a = { command = \"x\" } }\n", 0o600, memory.CodeConflict, "by hand"},
		"server inline":      {"codex", whatServer, "[mcp_servers]\nrecalld = { command = \"x\" }\n", 0o600, memory.CodeConflict, "by hand"},
		"address":            {"cursor", whatServer, `{"mcpServers": {"recalld": {"url": "http://127.0.0.1:7420/mcp"}}}`, 0o600, memory.CodeConflict, "--remove"},
		"Gemini's address":   {"gemini-cli", whatServer, `{"mcpServers": {"recalld": {"httpUrl": "http://127.0.0.1:7420/mcp"}}}`, 0o600, memory.CodeConflict, "--remove"},
		"address in TOML":    {"codex", whatServer, "[mcp_servers.recalld]\nurl = \"http://127.0.0.1:7420/mcp\"\n", 0o600, memory.CodeConflict, "--remove"},
		"half a block":       {"claude-code", whatInstructions, "hello\n<!-- recalld:begin -->\n", 0o644, memory.CodeConflict, "marks"},
		"block upside down":  {"claude-code", whatInstructions, "<!-- recalld:end --><!-- recalld:begin -->\n", 0o644, memory.CodeConflict, "marks"},
		"read-only markdown": {"codex", whatInstructions, "mine\n", 0o400, memory.CodeForbidden, "read-only"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, test.client)
			r.options.Instructions = test.what == whatInstructions
			path := r.path(test.what)
			put(t, path, test.text, test.mode)
			_, err := r.client.Connect(r.machine, r.options)
			if memory.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want %s with %q and the file", err, test.code, test.want)
			}
			if read(t, path) != test.text {
				t.Error("the file was changed")
			}
			if state := r.states()[test.what]; strings.Contains(test.text, "7420") && state != Differs {
				t.Errorf("its state is %s, want %s", state, Differs)
			}
		})
	}
	t.Run("unreadable", func(t *testing.T) { // for root, who reads it, it is read-only
		r := newRig(t, "opencode")
		put(t, r.path(whatServer), "{}", 0)
		if _, err := r.client.Connect(r.machine, r.options); memory.CodeOf(err) != memory.CodeForbidden || !strings.Contains(err.Error(), r.path(whatServer)) {
			t.Errorf("got %v, want %s with the file", err, memory.CodeForbidden)
		}
	})
	t.Run("a folder", func(t *testing.T) {
		r := newRig(t, "cursor")
		if err := os.MkdirAll(r.path(whatServer), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := r.client.Connect(r.machine, r.options); memory.CodeOf(err) != memory.CodeConflict {
			t.Errorf("a folder in the file's place: %v", err)
		}
		if state := r.states()[whatServer]; state != Unreadable {
			t.Errorf("its state is %s, want %s", state, Unreadable)
		}
	})
}

// TestDiff: the hunk, applied, makes the new text of the old.
func TestDiff(t *testing.T) {
	long := strings.Repeat("line\n", 10)
	for name, c := range map[string]Change{
		"new file":   {Path: "f", After: []byte("a\nb\n")},
		"gone":       {Path: "f", Before: []byte("a\nb\n")},
		"in between": {Path: "f", Before: []byte(long + "x\ny\nz\n" + long), After: []byte(long + "x\n1\ny\n2\nz\n" + long)},
		"no newline": {Path: "f", Before: []byte("a\nb"), After: []byte("a\nb\nc")},
		"at the end": {Path: "f", Before: []byte(long), After: []byte(long + "new\n")},
		"all":        {Path: "f", Before: []byte("a\n"), After: []byte("b\n")},
	} {
		diff := c.Diff()
		lines := strings.SplitAfter(diff, "\n")
		var from, fromCount, to, toCount int
		if _, err := fmt.Sscanf(lines[2], "@@ -%d,%d +%d,%d @@", &from, &fromCount, &to, &toCount); err != nil {
			t.Fatalf("%s: %v in\n%s", name, err, diff)
		}
		var old, new []string
		for i, line := range lines[3:] {
			if strings.HasPrefix(line, "\\") || line == "" {
				continue
			}
			text := line[1:]
			if next := lines[3:]; i+1 < len(next) && strings.HasPrefix(next[i+1], "\\") {
				text = strings.TrimSuffix(text, "\n")
			}
			if line[0] != '+' {
				old = append(old, text)
			}
			if line[0] != '-' {
				new = append(new, text)
			}
		}
		before := linesOf(c.Before)
		start := max(0, from-1)
		if fromCount == 0 {
			start = from
		}
		got := strings.Join(before[:start], "") + strings.Join(new, "") + strings.Join(before[start+len(old):], "")
		if got != string(c.After) || len(old) != fromCount || len(new) != toCount {
			t.Errorf("%s: applied it gives %q, want %q:\n%s", name, got, c.After, diff)
		}
	}
	if (Change{Before: []byte("a"), After: []byte("a")}).Diff() != "" {
		t.Error("no change has a diff")
	}
}
