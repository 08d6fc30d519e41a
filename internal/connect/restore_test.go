package connect

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// forms are settings files as they are found, by name. Each holds JSON.
var forms = map[string]string{
	"no text":          "",
	"blank":            "  \n",
	"empty object":     "{}",
	"spaced object":    "{ }\n",
	"empty servers":    "{\n  \"mcpServers\": {}\n}\n",
	"others":           "{\n    \"theme\": \"dark\",\n    \"mcpServers\": {\n        \"other\": {\"command\": \"x\"}\n    }\n}",
	"one line":         `{"mcpServers":{"other":{"command":"x"}},"n":1}`,
	"comments":         "// mine\n{\n  /* a */ \"theme\": \"dark\", // b\n  \"mcpServers\": {\n    // none yet\n  },\n}\n",
	"trailing commas":  "{\n\t\"a\": [1, 2,],\n\t\"mcpServers\": {\"other\": {\"command\": \"x\",},},\n}\n",
	"CRLF":             "{\r\n  \"theme\": \"dark\",\r\n  \"mcpServers\": {}\r\n}\r\n",
	"byte order mark":  "\ufeff{\n  \"theme\": \"dark\"\n}\n",
	"mark and nothing": "\ufeff",
	"key twice":        "{\"a\": 1, \"a\": 2}\n",
}

// TestRemoveRestores: connecting and removing leaves every file byte for byte, with its
// mode, its link and without backups; also after a second connection with other options.
func TestRemoveRestores(t *testing.T) {
	for _, client := range []string{"claude-code", "gemini-cli", "copilot-cli", "vscode"} {
		for name, text := range forms {
			t.Run(client+"/"+name, func(t *testing.T) {
				r := newRig(t, client)
				path := r.path(whatServer)
				put(t, path, text, 0o640)
				r.apply(Client.Connect)
				if state := r.states()[whatServer]; state != Connected {
					t.Fatalf("it is %s with\n%s", state, read(t, path))
				}
				r.options.Toolsets, r.options.Prompts = []string{"all"}, true
				r.apply(Client.Connect)
				r.apply(Client.Disconnect)
				if got := read(t, path); got != text {
					t.Errorf("it was %q, and is %q", text, got)
				}
				if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
					t.Errorf("its mode is %v, %v", info.Mode(), err)
				}
				if left := backups(path); len(left) > 0 {
					t.Errorf("backups are left of a file that is as it was: %q", left)
				}
			})
		}
	}
}

// TestRemoveKeepsWhatCameBetween: what the user wrote while connected stays.
func TestRemoveKeepsWhatCameBetween(t *testing.T) {
	r := newRig(t, "gemini-cli")
	path := r.path(whatServer)
	put(t, path, "{}\n", 0o600)
	r.apply(Client.Connect)
	put(t, path, strings.Replace(read(t, path), "{", "{\n  \"theme\": \"dark\",", 1), 0o600)
	r.apply(Client.Disconnect)
	if got := read(t, path); !strings.Contains(got, `"theme": "dark"`) || strings.Contains(got, name) {
		t.Errorf("after the removal it is %q", got)
	}
}

// TestRewrittenByClient: a client that writes its file anew in another layout does not
// keep the removal from restoring it.
func TestRewrittenByClient(t *testing.T) {
	r := newRig(t, "claude-code")
	r.options.NoHooks = true
	path := r.path(whatServer)
	const before = "{ \"numStartups\": 3 }"
	put(t, path, before, 0o600)
	r.apply(Client.Connect)
	put(t, path, `{"numStartups":3,"mcpServers":{"recalld":{"type":"stdio","command":"recalld","args":["mcp"],"env":{}}}}`, 0o600)
	if state := r.states()[whatServer]; state != Connected {
		t.Errorf("it is %s", state)
	}
	r.apply(Client.Disconnect)
	if got := read(t, path); got != before {
		t.Errorf("it was %q, and is %q", before, got)
	}
}

// TestLinks: a link stays, also one that leads to nothing yet.
func TestLinks(t *testing.T) {
	for _, exists := range []bool{true, false} {
		r := newRig(t, "gemini-cli")
		path := r.path(whatServer)
		target := filepath.Join(t.TempDir(), "dotfiles", "gemini.json")
		if exists {
			put(t, target, "{}\n", 0o600)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Skipf("no links here: %v", err)
		}
		r.apply(Client.Connect)
		if !strings.Contains(read(t, target), name) {
			t.Errorf("what the link leads to (there: %t) was not written", exists)
		}
		r.apply(Client.Disconnect)
		if to, err := os.Readlink(path); err != nil || to != target {
			t.Errorf("the link is %q, %v", to, err)
		}
		if text, err := os.ReadFile(target); exists && string(text) != "{}\n" || !exists && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("its target is %q, %v; there before: %t", text, err, exists)
		}
	}
	r := newRig(t, "gemini-cli")
	path := r.path(whatServer)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, path); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if _, err := r.client.Connect(r.machine, r.options); err == nil {
		t.Error("a link to itself is accepted")
	}
}

// TestBackupsAreFew: three are kept, among them the one from before recalld.
func TestBackupsAreFew(t *testing.T) {
	r := newRig(t, "codex")
	path := r.path(whatServer)
	const mine = "model = \"x\"\n"
	put(t, path, mine, 0o600)
	now := at
	for i := range 15 {
		r.options.Server.Args = []string{"mcp", "--data", fmt.Sprint("/data/", i)}
		changes, err := r.client.Connect(r.machine, r.options)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Apply(changes[0], now, r.created, nil); err != nil {
			t.Fatal(err)
		}
		if i == 12 { // the earlier ones are of one second
			now = now.Add(time.Minute)
		}
	}
	all := backups(path)
	if len(all) != maxBackups || read(t, all[maxBackups-1]) != mine || !strings.Contains(read(t, all[0]), "/data/13") || !strings.Contains(read(t, all[1]), "/data/12") {
		t.Errorf("the backups are %q, the newest\n%s", all, read(t, all[0]))
	}
	r.apply(Client.Disconnect)
	if read(t, path) != mine || len(backups(path)) > 0 {
		t.Errorf("after the removal it is %q, with the backups %q", read(t, path), backups(path))
	}
}

// TestFoldersOfOthersStay: an empty folder that was there stays, one that connecting made
// goes.
func TestFoldersOfOthersStay(t *testing.T) {
	r := newRig(t, "jetbrains")
	home := filepath.Join(r.machine.Home, ".junie")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	r.apply(Client.Connect)
	r.created = OpenCreated(r.created.path) // by another run of the program
	r.apply(Client.Disconnect)
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("the user's folder has %v, %v", left, err)
	}
	if _, err := os.Stat(r.created.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the list of what was made is left: %v", err)
	}
}

// TestUndo: a change that is taken back leaves nothing.
func TestUndo(t *testing.T) {
	for name, before := range map[string]string{"new": "", "there": "{\"theme\": 1}"} {
		r := newRig(t, "cursor")
		path := r.path(whatServer)
		if before != "" {
			put(t, path, before, 0o600)
		}
		changes, err := r.client.Connect(r.machine, r.options)
		if err != nil {
			t.Fatal(err)
		}
		done, err := Apply(changes[0], at, r.created, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := Undo(changes[0], done, r.created); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if string(text) != before || before == "" && !errors.Is(err, fs.ErrNotExist) || len(backups(path)) > 0 {
			t.Errorf("%s: it is %q, %v, with the backups %q", name, text, err, backups(path))
		}
	}
}

// TestFound: in PATH, by a folder, or not at all.
func TestFound(t *testing.T) {
	r := newRig(t, "windsurf")
	if r.client.Found(r.machine).Here() {
		t.Error("it is found on an empty machine")
	}
	r.machine.LookPath = func(program string) (string, error) {
		if program == "windsurf" {
			return "/usr/bin/windsurf", nil
		}
		return "", errors.New("none")
	}
	if got := r.client.Found(r.machine); got != (Found{Program: "/usr/bin/windsurf"}) {
		t.Errorf("with the program in PATH it is %+v", got)
	}
	dir := filepath.Join(r.machine.Home, ".codeium", "windsurf")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := r.client.Found(r.machine); got != (Found{"/usr/bin/windsurf", dir}) {
		t.Errorf("with both it is %+v", got)
	}
}

// TestStarted: programs without the PATH of a shell get the program's path, projects and
// terminals its name; toolsets stay until others are asked for.
func TestStarted(t *testing.T) {
	for client, want := range map[string]string{"claude-desktop": "/opt/bin/recalld", "codex": "recalld"} {
		r := newRig(t, client)
		r.options.Program, r.options.Toolsets = "/opt/bin/recalld", []string{"tasks", "recall"}
		r.apply(Client.Connect)
		if got := read(t, r.path(whatServer)); !strings.Contains(got, `"`+want+`"`) || !strings.Contains(got, `"tasks,recall"`) {
			t.Errorf("%s is started by\n%s", client, got)
		}
		r.options.Toolsets = nil
		if got := r.apply(Client.Connect); len(got) > 0 || r.states()[whatServer] != Connected {
			t.Errorf("%s: a second run changed %v, and it is %s", client, got, r.states()[whatServer])
		}
	}
	r := newRig(t, "cursor")
	r.options.Program, r.options.Scope, r.options.Dir = "/opt/bin/recalld", Project, t.TempDir()
	r.apply(Client.Connect)
	if got := read(t, r.path(whatServer)); strings.Contains(got, "/opt/bin") {
		t.Errorf("a file that a team shares has the path of this machine:\n%s", got)
	}
}

// TestCheck: the test program plays the server, see TestMain.
func TestCheck(t *testing.T) {
	for mode, want := range map[string]string{
		"good": "", "silent": "ended without an answer", "prose": "not MCP", "refuses": "no store", "none": "lists no tools", "dies": "database is locked",
	} {
		t.Setenv("CONNECT_TEST_SERVER", mode)
		tools, err := Check(t.Context(), Server{Command: os.Args[0], Args: []string{"-test.run=^$"}}, t.TempDir())
		if want == "" {
			if err != nil || tools != 2 {
				t.Errorf("%s: %d tools, %v", mode, tools, err)
			}
			continue
		}
		if memory.CodeOf(err) != memory.CodeUnavailable || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", mode, err, want)
		}
	}
	if _, err := Check(t.Context(), Server{Command: filepath.Join(t.TempDir(), "none")}, ""); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("a program that does not exist: %v", err)
	}
}

// TestMain also plays the server of TestCheck.
func TestMain(m *testing.M) {
	mode := os.Getenv("CONNECT_TEST_SERVER")
	if mode == "" {
		os.Exit(m.Run())
	}
	line := func(text string) { fmt.Fprintln(os.Stdout, text) }
	switch mode {
	case "silent":
		return
	case "dies":
		fmt.Fprintln(os.Stderr, "database is locked")
		os.Exit(1)
	case "prose":
		line("Welcome!")
		return
	case "refuses":
		line(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no store"}}`)
		return
	}
	line(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
	line(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	if mode == "none" {
		line(`{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}`)
	} else {
		line(`{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"},{"name":"b"}]}}`)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until the client closes it
}

// TestLinkInLinkedFolder: a link relative to a folder that is a link itself leads to where the
// system finds it, not to the file of that name beside the link.
func TestLinkInLinkedFolder(t *testing.T) {
	r := newRig(t, "gemini-cli")
	path := r.path(whatServer)
	dotfiles := t.TempDir()
	target := filepath.Join(dotfiles, "shared", "settings.json")
	put(t, target, "{}\n", 0o600)
	if err := os.Mkdir(filepath.Join(dotfiles, "gemini"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dotfiles, "gemini"), filepath.Dir(path)); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if err := os.Symlink(filepath.Join("..", "shared", "settings.json"), path); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(r.machine.Home, "shared", "settings.json")
	put(t, other, "another's", 0o600)
	r.apply(Client.Connect)
	if got := read(t, other); got != "another's" {
		t.Errorf("a file that the link does not lead to is %q", got)
	}
	if !strings.Contains(read(t, target), name) {
		t.Error("what the link leads to was not written")
	}
	r.apply(Client.Disconnect)
	if got := read(t, target); got != "{}\n" {
		t.Errorf("after the removal it is %q", got)
	}
}

// TestLinkWithLongPath: a link may name its target with more slashes and dots than it needs.
func TestLinkWithLongPath(t *testing.T) {
	r := newRig(t, "codex")
	path := r.path(whatServer)
	dir := t.TempDir()
	put(t, filepath.Join(dir, "config.toml"), "model = \"x\"\n", 0o600)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir+"/././././././././././././././././././config.toml", path); err != nil {
		t.Skipf("no links here: %v", err)
	}
	for i := range 3 {
		r.options.Server.Args = []string{"mcp", "--data", fmt.Sprint("/data/", i)}
		r.apply(Client.Connect)
	}
	if n := len(backups(filepath.Join(dir, "config.toml"))); n != 3 {
		t.Errorf("there are %d backups, want 3", n)
	}
}
