package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
)

// settingsIn is the settings file of a bench, with a text.
func settingsIn(t *testing.T, b *bench, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "recalld.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	home := b.opts.Getenv("HOME")
	b.opts.Getenv = func(name string) string {
		return map[string]string{"HOME": home, "USERPROFILE": home, "RECALLD_CONFIG": file}[name]
	}
	return file
}

func TestConfigSetAndGet(t *testing.T) {
	b := newBench(t, nil)
	file := settingsIn(t, b, "# mine\nlog:\n  level: info # quiet\n")
	if out := b.ok("config", "set", "log.level", "debug"); !strings.Contains(out, "log.level is now debug") && !strings.Contains(out, `log.level is now "debug"`) || !strings.Contains(out, "recalld stop") {
		t.Errorf("set says %q, want the value and how the daemon takes it", out)
	}
	if text, _ := os.ReadFile(file); string(text) != "# mine\nlog:\n  level: debug # quiet\n" {
		t.Errorf("the file is %q", text)
	}
	if out := b.ok("config", "get", "log.level"); out != "debug\n" {
		t.Errorf("get says %q", out)
	}
	if out := b.ok("config", "list", "--changed"); !strings.Contains(out, "log.level") || strings.Contains(out, "log.format") {
		t.Errorf("list --changed says %q", out)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"config", "set", "log.level", "loud"}, "debug, info, warn, error"},
		{[]string{"config", "set", "log.levle", "debug"}, "log.levle: unknown setting\nhint: near names: \"log.level\""},
		{[]string{"config", "get", "log.levle"}, "config list"},
		{[]string{"config", "set", "log.level"}, "recalld config set SETTING VALUE"},
		{[]string{"config", "set", "log.level", "debug", "--set", "log.format=json"}, "--set"},
	} {
		if _, errs, code := b.run(tt.args...); code != ExitUsage || !strings.Contains(errs, tt.want) {
			t.Errorf("recalld %q: exit %d, %q; want %q", tt.args, code, errs, tt.want)
		}
	}
	if text, _ := os.ReadFile(file); !strings.Contains(string(text), "level: debug # quiet") {
		t.Errorf("a refused value changed the file: %q", text)
	}
	before, _ := os.ReadFile(file)
	for setting, value := range map[string]string{"data": file, "mcp.toolsets": "all,nosuch"} {
		if _, errs, code := b.run("config", "set", setting, value); code != ExitUsage || !strings.Contains(errs, "recalld: "+setting+": ") {
			t.Errorf("config set %s %s: exit %d, %q; want it refused", setting, value, code, errs)
		}
		if text, _ := os.ReadFile(file); string(text) != string(before) {
			t.Errorf("a refused %s changed the file: %q", setting, text)
		}
	}
	b.ok("config", "set", "mcp.toolsets", "core,session_start")
	b.absent = true
	if out := b.ok("config", "set", "queue.depth", "20"); strings.Contains(out, "recalld stop") {
		t.Errorf("without a daemon, set says %q", out)
	}
	for _, autostart := range b.connects {
		if autostart {
			t.Error("config started a daemon")
		}
	}
}

func TestConfigMakesTheFile(t *testing.T) {
	b := newBench(t, nil)
	b.absent = true
	file, _, err := config.FindFile(config.Sources{Getenv: b.opts.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, code := b.run("config", "set", "mcp.toolsets", "nosuch"); code != ExitUsage || exists(file) {
		t.Errorf("a refused value ends with %d and makes a file: %t", code, exists(file))
	}
	b.ok("config", "set", "sandboxes", "/a,/b")
	if text, _ := os.ReadFile(file); string(text) != "sandboxes: [/a, /b]\n" {
		t.Errorf("%s has %q", file, text)
	}
}

// newEditor returns a bench with a settings file and an editor, of which the test writes the
// script.
func newEditor(t *testing.T) (b *bench, file, editor string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the editor of this test is a shell script")
	}
	b = newBench(t, nil)
	file = settingsIn(t, b, "log:\n  level: info\n")
	editor = filepath.Join(t.TempDir(), "editor")
	environment := b.opts.Getenv
	b.opts.Getenv = func(name string) string {
		if name == "EDITOR" {
			return editor
		}
		return environment(name)
	}
	b.opts.LookPath = func(name string) (string, error) { return name, nil }
	return b, file, editor
}

// TestConfigEdit: what is valid takes the place of the file; what is not is kept beside
// it, and edited again.
func TestConfigEdit(t *testing.T) {
	b, file, editor := newEditor(t)
	writes := func(text string) {
		if err := os.WriteFile(editor, []byte("#!/bin/sh\ncat \"$1\" >>\""+editor+".saw\"\nprintf '"+text+"' >\"$1\"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	writes(`log:\n  level: loud\n`)
	_, errs, code := b.run("config", "edit")
	if code != ExitUsage || !strings.Contains(errs, "the settings stay as they were") || !strings.Contains(errs, file+".draft") {
		t.Errorf("an invalid text: exit %d, %q", code, errs)
	}
	if text, _ := os.ReadFile(file); string(text) != "log:\n  level: info\n" {
		t.Errorf("the file became %q", text)
	}
	writes(`log:\n  level: warn\n`)
	if out := b.ok("config", "edit"); !strings.Contains(out, "Changed "+file) {
		t.Errorf("edit says %q", out)
	}
	if saw, _ := os.ReadFile(editor + ".saw"); !strings.Contains(string(saw), "loud") {
		t.Errorf("the second edit began with %q, want what was not valid", saw)
	}
	if text, _ := os.ReadFile(file); string(text) != "log:\n  level: warn\n" {
		t.Errorf("the file is %q", text)
	}
	if _, err := os.Stat(file + ".draft"); err == nil {
		t.Error("the draft is left")
	}
	writes(`log:\n  level: warn\n`)
	if out := b.ok("config", "edit"); !strings.Contains(out, "Nothing was changed") {
		t.Errorf("edit without a change says %q", out)
	}
	writes(`log:\n  level: error\n`)
	script, err := os.ReadFile(editor)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(editor, append(script, "echo '# set meanwhile' >>\""+file+"\"\n"...), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, errs, code = b.run("config", "edit"); code != ExitConflict || !strings.Contains(errs, "was changed while you edited it") || !strings.Contains(errs, file+".draft") {
		t.Errorf("the file changed while it was edited: exit %d, %q", code, errs)
	}
	if text, _ := os.ReadFile(file); string(text) != "log:\n  level: warn\n# set meanwhile\n" {
		t.Errorf("the file became %q, want what was set meanwhile", text)
	}
	writes(`log:\n  level: error\n# set meanwhile\n`)
	b.ok("config", "edit")
	if saw, _ := os.ReadFile(editor + ".saw"); !strings.HasSuffix(string(saw), "level: error\n") {
		t.Errorf("the next edit began with %q, want the draft", saw)
	}
	if text, _ := os.ReadFile(file); string(text) != "log:\n  level: error\n# set meanwhile\n" {
		t.Errorf("the file is %q after the next edit", text)
	}
}

// TestConfigEditKeepsWhatWasSet: a draft that was kept does not take back what 'config set' wrote
// since, unless the person was told; a draft in which nothing was written is begun anew.
func TestConfigEditKeepsWhatWasSet(t *testing.T) {
	b, file, editor := newEditor(t)
	does := func(script string) {
		t.Helper()
		if err := os.WriteFile(editor, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	want := func(text, after string) {
		t.Helper()
		if got, _ := os.ReadFile(file); string(got) != text {
			t.Errorf("after %s the file is %q, want %q", after, got, text)
		}
	}
	does(`printf 'log:\n  level: loud\n' >"$1"`)
	b.run("config", "edit")
	b.ok("config", "set", "queue.depth", "20")
	set, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	does(`printf 'log:\n  level: warn\n' >"$1"`)
	if _, errs, code := b.run("config", "edit"); code != ExitConflict || !strings.Contains(errs, "was changed") || !strings.Contains(errs, file+".draft") {
		t.Errorf("an edit with an older draft: exit %d, %q; want it refused", code, errs)
	}
	want(string(set), "the refused edit")
	does(`grep -q warn "$1" || exit 1; cat "` + file + `" >"$1"; echo '# merged' >>"$1"`)
	b.ok("config", "edit")
	want(string(set)+"# merged\n", "an edit of the draft that was kept")

	does("exit 1")
	if _, _, code := b.run("config", "edit"); code == 0 {
		t.Error("an editor that failed is no error")
	}
	b.ok("config", "set", "queue.depth", "30")
	set, _ = os.ReadFile(file)
	does(`grep -q 30 "$1" && echo '# again' >>"$1"`)
	b.ok("config", "edit")
	want(string(set)+"# again\n", "an edit after one in which nothing was written")
	if left, err := filepath.Glob(file + ".*"); err != nil || len(left) > 0 {
		t.Errorf("%q are left, %v", left, err)
	}
	if err := os.WriteFile(file, []byte("log: {}\nnosuch: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := b.run("config", "set", "queue.depth", "20"); code != ExitUsage || !strings.Contains(errs, "the settings file:2: nosuch") || !strings.Contains(errs, "to mend "+file) {
		t.Errorf("over a file with an unknown setting: exit %d, %q", code, errs)
	}
}

// TestCommentedSettings: what a new file begins with changes nothing.
func TestCommentedSettings(t *testing.T) {
	if err := config.Check(commentedSettings()); err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(string(commentedSettings())) {
		if line != "\n" && !strings.HasPrefix(line, "#") {
			t.Errorf("%q is no comment", line)
		}
	}
}

func TestManualPages(t *testing.T) {
	b := newBench(t, nil)
	folder := filepath.Join(t.TempDir(), "man1")
	b.ok("man", folder)
	for _, c := range commands(t) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-")
		text, err := os.ReadFile(filepath.Join(folder, name+".1"))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, want := range []string{".TH ", ".SH NAME\n", ".SH DESCRIPTION\n", ".SH OPTIONS OF ALL COMMANDS\n", ".SH EXAMPLES\n"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s.1 has no %q", name, want)
			}
		}
	}
}

// TestConfigSetBehindLink: a settings file that is a link, to one that is kept elsewhere, stays one.
func TestConfigSetBehindLink(t *testing.T) {
	b := newBench(t, nil)
	b.absent = true
	file := settingsIn(t, b, "")
	kept := filepath.Join(t.TempDir(), "kept.yaml")
	if err := os.Rename(file, kept); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(kept, file); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
	b.ok("config", "set", "queue.depth", "20")
	if info, err := os.Lstat(file); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
	if text, _ := os.ReadFile(kept); string(text) != "queue:\n  depth: 20\n" {
		t.Errorf("the file behind the link has %q", text)
	}
}

// TestHintOfDataFolder: where the data folder cannot be made, the error says how to name another.
func TestHintOfDataFolder(t *testing.T) {
	b := newBench(t, nil)
	a := &App{opts: b.opts}
	a.sources = a.configSources()
	cfg := config.Default()
	cfg.Data = filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(cfg.Data+".gone", cfg.Data); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	_, err := a.dial(t.Context(), cfg, true)
	if e := memory.AsError(err); err == nil || e.Code != memory.CodeUnavailable || !strings.Contains(e.Hint, "--data") {
		t.Errorf("the error is %+v, want a hint that names --data", e)
	}
}

// TestSettingsHint: the hint below a wrong setting names the place where it stands.
func TestSettingsHint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		file string
		env  map[string]string
		args []string
		want string // in the hint; empty if there is none
	}{
		"file":             {"log: {level: loud}\n", nil, nil, "run 'recalld config edit'"},
		"file and flag":    {"log: {level: loud}\n", nil, []string{"--set", "log.format=odd"}, "run 'recalld config edit'"},
		"flag":             {"log: {level: warn}\n", nil, []string{"--set", "log.level=loud"}, "change what --set says"},
		"a file as folder": {"", nil, []string{"--data", file}, "name another folder with --data"},
		"in a variable":    {"log: {level: warn}\n", map[string]string{"RECALLD_DATA": file}, nil, "name another folder with --data"},
		"below a file":     {"", nil, []string{"--data", filepath.Join(file, "data")}, "name another folder with --data"},
		"unknown in flag":  {"", nil, []string{"--set", "nosuch=1"}, "change what --set says"},
		"variable":         {"log: {level: warn}\n", map[string]string{"RECALLD_LOG_LEVEL": "loud"}, nil, "change the variable"},
		"no such file":     {"", nil, []string{"--config", filepath.Join(t.TempDir(), "none.yaml")}, "--config or RECALLD_CONFIG names it"},
		"no home":          {"", map[string]string{"HOME": "", "USERPROFILE": "", "APPDATA": "", "LOCALAPPDATA": ""}, nil, ""},
	} {
		b := newBench(t, nil)
		environment := b.opts.Getenv
		b.opts.Getenv = func(name string) string {
			if value, ok := tt.env[name]; ok {
				return value
			}
			return environment(name)
		}
		if tt.file != "" {
			file, _, err := config.FindFile(config.Sources{Getenv: environment})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, errs, code := b.run(append([]string{"status"}, tt.args...)...)
		_, hint, _ := strings.Cut(errs, "hint: ")
		if code != ExitUsage || !strings.HasPrefix(hint, tt.want) || tt.want == "" && hint != "" {
			t.Errorf("%s: exit %d, %q; want the hint %q", name, code, errs, tt.want)
		}
	}
}
